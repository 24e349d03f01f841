"""The guard of checkpoints: it forgets nothing that was signed, even if two processes write at the same time."""

from pathlib import Path

import pytest

from events.proof.guard import CheckpointGuard, GuardedTree, GuardUnavailableError

SMALL, LARGE, OTHER = GuardedTree(3, "a" * 64), GuardedTree(12, "b" * 64), GuardedTree(12, "c" * 64)


@pytest.mark.parametrize("order", [[SMALL, LARGE], [LARGE, SMALL]])
def test_the_largest_tree_counts_in_whatever_order_they_are_noted(tmp_path: Path, order: list[GuardedTree]) -> None:
    guard = CheckpointGuard(str(tmp_path / "guard"))
    assert guard.largest("id") == []
    for tree in order:
        guard.note("id", tree)
    assert CheckpointGuard(str(tmp_path / "guard")).largest("id") == [LARGE]
    assert guard.largest("another installation") == []


def test_trees_that_contradict_each_other_are_both_kept(tmp_path: Path) -> None:
    guard = CheckpointGuard((tmp_path / "guard").as_uri())
    guard.note("id", LARGE)
    guard.note("id", OTHER)
    assert guard.largest("id") == [LARGE, OTHER]


def test_what_an_operator_accepts_takes_the_place_of_larger_trees(tmp_path: Path) -> None:
    guard = CheckpointGuard("memory://guard")
    guard.note("id", LARGE)
    guard.replace("id", SMALL)
    assert guard.largest("id") == [SMALL]


def test_a_place_that_cannot_be_used_is_an_error_that_goes_away_by_waiting(tmp_path: Path) -> None:
    (tmp_path / "guard").write_text("a file")
    with pytest.raises(GuardUnavailableError, match="cannot be used now"):
        CheckpointGuard(str(tmp_path / "guard")).note("id", SMALL)
    with pytest.raises(GuardUnavailableError, match="cannot be used"):
        CheckpointGuard("nothing://guard").largest("id")
