"""Nothing that was acknowledged is lost or doubled, whatever is killed, and everything goes on afterwards."""

import pytest

from tests.chaos import run

KILLS = 50


@pytest.mark.timeout(240)
def test_killing_every_part_at_random_loses_doubles_and_stops_nothing(tmp_path, capsys):
    report = run(tmp_path, KILLS, 40.0, seed=20261120)
    with capsys.disabled():
        print(f"\n{report}")
    assert sum(report.kills.values()) == KILLS
    assert report.acknowledged > KILLS
    assert report.faults == ()
