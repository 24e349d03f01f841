"""Nothing that was acknowledged is lost or doubled, whatever is killed, and everything goes on afterwards.

Every part is killed once here; ``python -m tests.chaos`` kills as often as one likes.
"""

import pytest

from tests.chaos import run

SEED = 20261231
"""Kills the opponents first: what they forget is asked for again ten seconds later, while the others are killed."""

PARTS = ("server", "relay", "worker", "opponents-quick", "opponents", "api", "stream")


@pytest.mark.timeout(240)
def test_every_part_that_is_killed_comes_back_and_nothing_is_lost_doubled_or_stopped(tmp_path, capsys):
    report = run(tmp_path, len(PARTS), 4.0, seed=SEED)
    with capsys.disabled():
        print(f"\n{report}")
    assert report.kills == dict.fromkeys(PARTS, 1)
    assert report.acknowledged > len(PARTS)
    assert report.faults == ()
