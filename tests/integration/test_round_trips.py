"""How often the store is asked: for a move, for an event by the relay, for a flag by the ticker."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from redis.connection import Connection

from domain.match.terms import days_per_move
from tests.support.callers import Caller, started
from tests.support.stepped_installation import SteppedInstallation, drain


class RoundTrips:
    """Counts what is sent before an answer is awaited; ``opened`` counts the matches that were opened."""

    def __init__(self) -> None:
        self.count = 0
        self.opened = 0


@pytest.fixture
def open_script(shop: SteppedInstallation) -> str:
    return shop.store._open.sha


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch, open_script: str) -> Iterator[RoundTrips]:
    """Count the round trips of this thread within the block, over all connections.

    Streams that earlier tests have opened are read by threads of this process to its end.
    """
    counts, send, counted_thread = RoundTrips(), Connection.send_packed_command, threading.get_ident()

    def sending(connection: Connection, command: object, check_health: bool = True) -> None:
        if threading.get_ident() == counted_thread:
            counts.count += 1
            packed = command if isinstance(command, bytes) else b"".join(command)  # type: ignore[arg-type]
            counts.opened += packed.count(open_script.encode())
        send(connection, command, check_health)

    with monkeypatch.context() as patch:
        patch.setattr(Connection, "send_packed_command", sending)
        yield counts


def settled(shop: SteppedInstallation, match_id: str, monkeypatch: pytest.MonkeyPatch, open_script: str) -> RoundTrips:
    """Return what it costs to settle ``match`` now."""
    with counted(monkeypatch, open_script) as counts:
        shop.timekeeper.settle(match_id, shop.now)
    return counts


@pytest.mark.parametrize("vacations", [False, True])
def test_a_flag_costs_four_round_trips(
    shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch, open_script: str, vacations: bool
) -> None:
    shop.availability.change("alice", lambda diary: diary._replace(auto_vacation=False))
    match = shop.start("alice", "bob", terms=replace(days_per_move(3), vacations=vacations))
    shop.play(match, 2)
    shop.settle_until_flag(match)
    counts = settled(shop, match, monkeypatch, open_script)
    assert shop.state(match).ended
    assert (counts.count, counts.opened) == (4, 1)


def test_due_deadlines_of_all_shards_are_one_round_trip(
    shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch, open_script: str
) -> None:
    for _ in range(10):
        shop.start("alice", "bob")
    with counted(monkeypatch, open_script) as counts:
        assert len(shop.store.due(2**52, 100)) == 10
    assert counts.count == 1


def test_an_event_is_opened_once(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch, open_script: str) -> None:
    match = shop.start("alice", "bob")
    shop.play(match, 2)
    consumers = shop.all_consumers()
    drain(*consumers)
    elsewhere = SteppedInstallation(shop.settings.redis_url)
    elsewhere.play(match, 1)
    opened = 0
    trips = []
    for consumer in consumers:
        deliveries = consumer.group.read()
        assert len(deliveries) == 1
        with counted(monkeypatch, open_script) as counts:
            consumer._take(deliveries)
        trips.append(counts.count)
        opened += counts.opened
    assert opened == 1
    # The projection: WATCH, the summary, what opens the match, EXEC. Opponents: the acknowledgement. Ratings:
    # what is in them, the acknowledgement. Clocks: availability, the acknowledgement. Administration: the event, the
    # acknowledgement. Notices: availability, the last events, whether who is told has an account, what that person
    # prefers, the reminder, the acknowledgement.
    assert trips == [4, 1, 2, 2, 2, 6]


def test_a_relay_that_has_executed_the_command_itself_opens_nothing(
    shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch, open_script: str
) -> None:
    match = shop.start("alice", "bob")
    shop.play(match, 2)
    consumers = shop.all_consumers()
    with counted(monkeypatch, open_script) as counts:
        drain(*consumers)
    assert counts.opened == 0


def test_a_submitted_move_costs_two_round_trips(anna: Caller, boris: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    match_id = started(anna, boris)
    anna.put("/me/calendar", {"time_zone": "UTC", "free_days": [], "auto_vacation": True, "plays_forced": False})
    for player, move in ((anna, "c3-d4"), (boris, "b6-a5"), (anna, "e3-f4")):
        with counted(monkeypatch, "no script") as counts:
            assert player.move(match_id, move).status_code == 201
        assert counts.count == 2, "the admission of the caller, and the append to the cached match"
