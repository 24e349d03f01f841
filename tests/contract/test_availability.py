"""One contract for the availability of players, in memory and on a real server."""

from collections.abc import Callable
from threading import Thread

import pytest

from domain.match.due import Availability
from domain.match.refusals import CommandError
from domain.match.vacation import Vacation, booked, left
from events.people.availability import AvailabilityStore, with_calendar
from tests.support.matches import T0
from tests.support.memory_availability import MemoryAvailabilityStore
from tests.support.server import RealServer

DAY = 24 * 3600 * 1000


@pytest.fixture(params=["memory", "redis"])
def store(request: pytest.FixtureRequest) -> AvailabilityStore:
    if request.param == "memory":
        return MemoryAvailabilityStore()
    server: RealServer = request.getfixturevalue("server")
    return AvailabilityStore(server.client(), "rk:")


def no_vacations(availability: Availability) -> Availability:
    """Return an availability whose player wants no automatic vacations."""
    return availability._replace(auto_vacation=False)


def forced(value: bool) -> Callable[[Availability], Availability]:
    return lambda own: own._replace(plays_forced=value)


def test_who_has_set_nothing_has_the_default_availability_with_automatic_vacation(store: AvailabilityStore) -> None:
    assert store.read(["alice", "bob"]) == {"alice": Availability(), "bob": Availability()}
    assert Availability().auto_vacation
    assert store.read([]) == {}


def test_what_was_set_is_read_again(store: AvailabilityStore) -> None:
    availability, _ = store.change("alice", lambda own: with_calendar(own, "Europe/Berlin", [6, 5], T0))
    availability, _ = store.change("alice", lambda own: own._replace(book=(Vacation(T0, T0 + DAY, True),)))
    assert store.read(["alice"]) == {"alice": availability}
    assert availability.free_days == (5, 6)
    assert availability.calendar is not None
    assert availability.calendar.offsets[0].minutes == 60


def follow(store: AvailabilityStore) -> list[tuple[str, bool]]:
    """Let all changes be followed; return whose they were, and whether the preference for forced moves was changed."""
    followed = []
    while (sync := store.claim_sync()) is not None:
        followed.append((sync.player, sync.forced))
        store.finish_sync(sync)
    return sorted(followed)


def test_a_change_is_followed_once(store: AvailabilityStore) -> None:
    store.change("alice", no_vacations)
    assert follow(store) == [("alice", False)]
    assert follow(store) == []


def test_a_change_of_a_player_can_be_followed_without_those_of_others(store: AvailabilityStore) -> None:
    _, lane = store.change("alice", no_vacations)
    store.change("bob", no_vacations)
    sync = store.claim_sync(lane)
    assert sync is not None
    assert sync.player == "alice"
    store.finish_sync(sync)
    assert store.claim_sync(lane) is None
    assert follow(store) == [("bob", False)]


def test_a_change_while_another_is_followed_is_followed_too(store: AvailabilityStore) -> None:
    store.change("alice", forced(True))
    sync = store.claim_sync()
    assert sync is not None
    assert sync.forced
    store.change("alice", forced(False))
    store.finish_sync(sync)
    assert follow(store) == [("alice", True)]


def test_a_later_change_keeps_an_earlier_one_of_forced_moves_to_be_followed(store: AvailabilityStore) -> None:
    store.change("alice", forced(True))
    store.change("alice", no_vacations)
    assert follow(store) == [("alice", False), ("alice", True)]


def test_what_changes_nothing_is_not_followed(store: AvailabilityStore) -> None:
    store.change("alice", no_vacations)
    follow(store)
    assert store.change("alice", no_vacations)[1] is None
    assert follow(store) == []


def test_what_is_refused_changes_nothing(store: AvailabilityStore) -> None:
    with pytest.raises(CommandError, match="no time zone 'Mars/Olympus'"):
        store.change("alice", lambda own: with_calendar(own, "Mars/Olympus", [], T0))
    with pytest.raises(CommandError, match="at most 3 days"):
        store.change("alice", lambda own: with_calendar(own, "UTC", [0, 1, 2, 3], T0))
    assert store.read(["alice"]) == {"alice": Availability()}
    assert follow(store) == []


def test_many_who_book_at_once_book_no_more_than_there_is(store: AvailabilityStore) -> None:
    refused: list[str] = []

    def book(number: int) -> None:
        since = T0 + 4 * number * DAY
        try:
            store.change("alice", lambda own: own._replace(book=booked(own.book, since, since + 3 * DAY, T0)))
        except CommandError as refusal:
            refused.append(refusal.code)

    threads = [Thread(target=book, args=[number]) for number in range(11)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    taken = store.read(["alice"])["alice"].book
    assert (len(taken), refused) == (10, ["vacation-exhausted"])
    assert left(taken, 2023) == 0
