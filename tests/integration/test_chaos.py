"""Nothing that was acknowledged is lost or doubled, whatever is killed, and everything goes on afterwards."""

import pytest

from tests.chaos import run

PARTS = ("server", "relay", "worker", "opponents-quick", "opponents", "api", "stream")
TURNS = 3
KILLS = TURNS * len(PARTS)


@pytest.mark.timeout(240)
def test_killing_every_part_by_turns_loses_doubles_and_stops_nothing(tmp_path, capsys):
    report = run(tmp_path, KILLS, 12.0, seed=20261120)
    with capsys.disabled():
        print(f"\n{report}")
    assert report.kills == dict.fromkeys(PARTS, TURNS)
    assert report.acknowledged > KILLS
    assert report.faults == ()
