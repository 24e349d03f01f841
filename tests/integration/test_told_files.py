"""What a process knew that was killed before it noticed that the store had lost it: named by the next one."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from events.store import told_files
from events.store.told import LostEvent
from events.store.told_files import ToldFiles
from tests.support.lost_tail import lose_tail
from tests.support.stepped_installation import PREFIX, SteppedInstallation


def in_a_process_that_dies(work: Callable[[], object]) -> None:
    """Do ``work`` in another process, which ends without cleaning anything up."""
    child = os.fork()
    if not child:
        work()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


def test_events_that_only_a_killed_process_knew_of_are_named(shop: SteppedInstallation, tmp_path: Path) -> None:
    match = shop.start("alice", "bob")
    version = shop.store.head(match).version
    shop.store.told.files = ToldFiles(tmp_path)
    in_a_process_that_dies(lambda: shop.play(match, 2))
    lost = {(event.version, event.id[:16]) for event in shop.store.read(match, version)}
    lose_tail(shop.store, match, version, PREFIX)

    other = SteppedInstallation(shop.settings.redis_url)
    other.store.told.files = ToldFiles(tmp_path)
    other.matches.load(match)
    incidents = other.parts.incidents
    (incident,) = incidents.all()
    named = incidents.lost_events(incident)
    assert {(event.version, event.digest) for event in named} == lost
    assert all(event.request for event in named)
    assert list(ToldFiles(tmp_path).left()) == [], "what was compared is removed"


def test_what_is_still_there_is_remembered_by_the_process_that_took_it_over(
    shop: SteppedInstallation, tmp_path: Path
) -> None:
    match = shop.start("alice", "bob")
    shop.store.told.files = ToldFiles(tmp_path)
    in_a_process_that_dies(lambda: shop.play(match, 1))
    other = SteppedInstallation(shop.settings.redis_url)
    other.store.told.files = ToldFiles(tmp_path)
    other.parts.lost_tails.take_over()
    last = other.store.told.last(match)
    assert last is not None
    lose_tail(other.store, match, last[0] - 1, PREFIX)
    other.matches.load(match)
    (incident,) = other.parts.incidents.all()
    assert other.parts.incidents.lost_events(incident) == [LostEvent(match, last[0], *last[1])]


def test_the_file_of_a_process_that_runs_is_left_alone(tmp_path: Path) -> None:
    files = ToldFiles(tmp_path)
    files.add("m", 1, "a", "")
    assert list(files.left()) == list(ToldFiles(tmp_path).left()) == []
    assert len(list(tmp_path.iterdir())) == 1


def test_a_file_keeps_what_was_told_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(told_files, "MAX_FILE_BYTES", 400)

    def tell() -> None:
        files = ToldFiles(tmp_path)
        for version in range(1, 100):
            files.add("m", version, f"{version:016}", "request")
        files.forget("m", 99)

    in_a_process_that_dies(tell)
    (left,) = ToldFiles(tmp_path).left()
    assert left["m"][98] == (f"{98:016}", "request")
    assert 99 not in left["m"]
    assert 2 < len(left["m"]) < 15


def test_a_line_that_was_cut_off_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "told-x").write_bytes(b'["m",1,"aa",""]\n["m",2,"b')
    assert list(ToldFiles(tmp_path).left()) == [{"m": {1: ("aa", "")}}]
    assert list(tmp_path.iterdir()) == []
