"""On a cluster whose slots move, parts and a server are killed under play: nothing is lost, doubled or stopped."""

from pathlib import Path

import pytest

from tests.chaos.campaign import disturb_and_judge
from tests.support.three_masters import ThreeMasters

PARTS = ("broker", "api", "relay")
DISTURBANCES = 3


@pytest.mark.timeout(240)
def test_whatever_is_killed_while_slots_move_nothing_is_lost(cluster: ThreeMasters, tmp_path: Path) -> None:
    report = disturb_and_judge(tmp_path, cluster, DISTURBANCES, 2.0, seed=38, names=PARTS)
    assert sum(report.kills.values()) == DISTURBANCES
    assert report.acknowledged > DISTURBANCES
    assert report.faults == ()
