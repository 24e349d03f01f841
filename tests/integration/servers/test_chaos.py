"""Nothing that was acknowledged is lost or doubled, whatever is killed, and everything goes on afterwards."""

from pathlib import Path

import pytest

from tests.chaos import run

PARTS = ("nursery", "server", "relay", "worker", "opponents", "opponents-long", "fleet", "api", "stream")
TURNS = 3
KILLS = TURNS * len(PARTS)


@pytest.mark.timeout(240)
def test_killed_parts_come_back_and_nothing_is_lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = run(tmp_path, KILLS, 12.0, seed=20261120)
    with capsys.disabled():
        print(f"\n{report}")
    assert report.kills == dict.fromkeys(PARTS, TURNS)
    assert report.acknowledged > KILLS
    assert report.faults == ()
