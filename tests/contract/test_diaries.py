"""One contract for the diaries of players, in memory and on a real server."""

from collections.abc import Callable
from threading import Thread

import pytest

from domain.match.refusals import Refused
from domain.match.vacation import Vacation, booked, left
from events.private.availability import Diaries, Diary, Mark, MemoryDiaries, RedisDiaries, arranged
from tests.support.matches import NOON
from tests.support.server import RealServer

DAY = 24 * 3600 * 1000


@pytest.fixture(params=["memory", "redis"])
def diaries(request: pytest.FixtureRequest) -> Diaries:
    """Return empty diaries of each kind."""
    if request.param == "memory":
        return MemoryDiaries()
    server: RealServer = request.getfixturevalue("server")
    return RedisDiaries(server.client(), "rk:")


def no_vacations(diary: Diary) -> Diary:
    """Return a diary whose player wants no automatic vacations."""
    return diary._replace(auto_vacation=False)


def forced(value: bool) -> Callable[[Diary], Diary]:
    """Return what sets a preference for forced moves."""
    return lambda diary: diary._replace(plays_forced=value)


def test_who_has_set_nothing_has_an_empty_diary_with_automatic_vacation(diaries: Diaries) -> None:
    assert diaries.read(["alice", "bob"]) == {"alice": Diary(), "bob": Diary()}
    assert Diary().auto_vacation
    assert diaries.read([]) == {}


def test_what_was_set_is_read_again(diaries: Diaries) -> None:
    diary, _ = diaries.change("alice", lambda diary: arranged(diary, "Europe/Berlin", [6, 5], NOON))
    diary, _ = diaries.change("alice", lambda diary: diary._replace(book=(Vacation(NOON, NOON + DAY, True),)))
    assert diaries.read(["alice"]) == {"alice": diary}
    assert diary.free_days == (5, 6)
    assert diary.calendar is not None
    assert diary.calendar.offsets[0].minutes == 60


def test_a_change_leaves_a_mark_until_it_was_followed(diaries: Diaries) -> None:
    _, mark = diaries.change("alice", no_vacations)
    assert mark == Mark("alice", 1, False)
    assert diaries.marks() == [mark]
    diaries.followed(mark)
    assert diaries.marks() == []


def test_a_mark_stays_when_the_diary_has_changed_again(diaries: Diaries) -> None:
    _, first = diaries.change("alice", forced(True))
    _, second = diaries.change("alice", no_vacations)
    assert first is not None
    diaries.followed(first)
    assert diaries.marks() == [second] == [Mark("alice", 2, True)]


def test_what_changes_nothing_leaves_no_mark(diaries: Diaries) -> None:
    diaries.change("alice", no_vacations)
    before = diaries.marks()
    assert diaries.change("alice", no_vacations)[1] is None
    assert diaries.marks() == before


def test_what_is_refused_changes_nothing(diaries: Diaries) -> None:
    with pytest.raises(Refused, match="no time zone 'Mars/Olympus'"):
        diaries.change("alice", lambda diary: arranged(diary, "Mars/Olympus", [], NOON))
    with pytest.raises(Refused, match="at most 3 days"):
        diaries.change("alice", lambda diary: arranged(diary, "UTC", [0, 1, 2, 3], NOON))
    assert diaries.read(["alice"]) == {"alice": Diary()}
    assert diaries.marks() == []


def test_many_who_book_at_once_book_no_more_than_there_is(diaries: Diaries) -> None:
    refused: list[str] = []

    def book(number: int) -> None:
        since = NOON + 4 * number * DAY
        try:
            diaries.change("alice", lambda diary: diary._replace(book=booked(diary.book, since, since + 3 * DAY, NOON)))
        except Refused as refusal:
            refused.append(refusal.code)

    threads = [Thread(target=book, args=[number]) for number in range(11)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    taken = diaries.read(["alice"])["alice"].book
    assert (len(taken), refused) == (10, ["vacation-exhausted"])
    assert left(taken, 2023) == 0
