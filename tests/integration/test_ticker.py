"""The ticker and what comes with it on a real server: flags, outages, availability, and flags that are forgiven."""

import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import replace
from functools import partial

import pytest

from deploy.local.child import bound_to_parent
from domain.games import find_ruleset
from domain.match import vacation
from domain.match.clock import Pause, falls_at
from domain.match.commands import CallTime, ForgiveFlag, PauseClock, SubmitMove
from domain.match.due import Availability
from domain.match.enums import FlagRule, PauseReason, Status
from domain.match.refusals import CommandError
from domain.match.terms import DAY, HOUR, days_per_move
from events.matches.matches import Matches
from events.matches.readmodels import dump
from events.matches.timekeeper import Settled, Timekeeper
from events.people.availability import with_calendar
from events.runtime.wall_clock import now_ms
from events.store.contract import Request
from tests.support.celery_worker import environment_of
from tests.support.eventually import eventually
from tests.support.fleet import rebuild
from tests.support.relays import running
from tests.support.server import RealServer
from tests.support.stepped_installation import SteppedInstallation, drain, legal_moves
from tests.support.timeless import execute
from workers import ticker as ticking
from workers.composition import make_ticker
from workers.opponents import debts_of
from workers.relay import Relay
from workers.retries import DELAYS_MS
from workers.ticker import MAX_MATCHES_PER_TICK, TICK_MS

THREE_DAYS = days_per_move(3)
FIRST_DELAY_MS = int(DELAYS_MS.first)


@pytest.fixture
def shop(server: RealServer) -> SteppedInstallation:
    """Return an installation that is driven step by step, whose players want no automatic vacations."""
    shop = SteppedInstallation(server.url)
    for player in ("alice", "bob"):
        shop.availability.change(player, lambda own: own._replace(auto_vacation=False))
    shop.timekeeper.follow_changes(shop.now)
    shop.heartbeat.beat(shop.now, 0)
    return shop


def playing(shop: SteppedInstallation, *players: str, plies: int = 2) -> str:
    """Return a match at three days per move, after the first moves; of alice and bob if no others are named."""
    match = shop.start(*(players or ("alice", "bob")), terms=THREE_DAYS)
    shop.play(match, plies)
    return match


def falls(shop: SteppedInstallation, match_id: str) -> int:
    clock = shop.state(match_id).clock
    assert clock is not None
    instant = falls_at(clock)
    assert instant is not None
    return instant


def pauses(shop: SteppedInstallation, match_id: str) -> tuple[Pause, ...]:
    clock = shop.state(match_id).clock
    assert clock is not None
    return clock.pauses


def beating_until(shop: SteppedInstallation, instant: int) -> None:
    """Go to ``instant`` as if the heart had beaten all the time until then."""
    shop.client.set(f"{shop.settings.prefix}{{time}}:heartbeat", instant)
    assert shop.heartbeat.last_beat() == instant
    shop.now = instant


def on_vacation(since: int, until: int) -> vacation.Vacations:
    return vacation.booked((), since, until, since)


def test_a_tick_settles_what_is_due_and_says_when_the_next_deadline_comes(shop: SteppedInstallation) -> None:
    first = playing(shop)
    second = playing(shop)
    ticker = shop.ticker()
    beating_until(shop, falls(shop, first) - 300)
    assert ticker.tick() == falls(shop, first)
    shop.now = falls(shop, first)
    following = ticker.tick()
    assert shop.state(first).status == Status.FINISHED
    assert shop.state(second).status == Status.PLAYING
    assert shop.now < following == min(falls(shop, second), shop.now + TICK_MS)


def test_a_flag_falls_through_the_relay_that_runs(shop: SteppedInstallation) -> None:
    match = playing(shop)
    deadline = falls(shop, match)
    beating_until(shop, deadline - HOUR)
    with running(Relay(shop.settings, lambda: shop.now)):
        eventually(lambda: shop.readmodels.summary(match), "the projection")
        beating_until(shop, deadline + 250)
        eventually(lambda: shop.state(match).ended, "the fall of the flag")
    state = shop.state(match)
    assert (state.result.reason, state.result.fallen and state.result.fallen.deadline) == ("flag", deadline)


def test_ticker_and_sweeper_at_once_let_a_flag_fall_once(shop: SteppedInstallation) -> None:
    matches = [playing(shop) for _ in range(5)]
    beating_until(shop, max(falls(shop, match) for match in matches))
    shop.project_all()
    settlers = [shop.ticker().tick, shop.sweeper().check_clocks, shop.ticker().tick, shop.sweeper().check_clocks]
    threads = [threading.Thread(target=settle) for settle in settlers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for match in matches:
        assert [event.type for event in shop.store.read(match)].count("flag-fell") == 1


def test_the_sweeper_finds_a_flag_whose_deadline_was_lost(shop: SteppedInstallation) -> None:
    match = playing(shop)
    beating_until(shop, falls(shop, match))
    shop.project_all()
    shop.client.delete(*(f"{shop.settings.prefix}{{s{shard:02d}}}:deadlines" for shard in range(shop.store.shards)))
    shop.ticker().tick()
    assert shop.state(match).status == Status.PLAYING
    assert shop.sweeper().sweep() == 1
    assert shop.state(match).status == Status.FINISHED


class CountingTimekeeper(Timekeeper):
    """A timekeeper that notes which matches it was to settle."""

    def __init__(self, shop: SteppedInstallation) -> None:
        super().__init__(shop.matches, shop.availability, shop.heartbeat, shop.readmodels.active)
        self.settled: list[str] = []

    def settle(self, match_id: str, now: int) -> Settled:
        self.settled.append(match_id)
        return super().settle(match_id, now)


def test_a_false_deadline_is_tried_ever_less_often(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ticking, "MAX_MATCHES_PER_TICK", 1)
    match = playing(shop)
    key = f"{shop.settings.prefix}{{s{shop.keys.shard_of(match):02d}}}:deadlines"
    shop.client.zadd(key, {"no-such-match": shop.now - 2, "nor-this-one": shop.now - 1})
    shop.parts.timekeeper = timekeeper = CountingTimekeeper(shop)
    ticker = make_ticker(shop.parts)
    while ticker.tick() <= shop.now:
        assert len(timekeeper.settled) < 5
    assert timekeeper.settled == ["no-such-match", "nor-this-one"]
    assert ticker.tick() == shop.now + TICK_MS
    assert len(timekeeper.settled) == 2
    for waited, tried in ((FIRST_DELAY_MS, 4), (FIRST_DELAY_MS, 4), (FIRST_DELAY_MS, 6)):
        shop.now += waited
        ticker.tick()
        ticker.tick()
        assert len(timekeeper.settled) == tried
    beating_until(shop, falls(shop, match))
    while ticker.tick() <= shop.now:
        pass
    assert shop.state(match).status == Status.FINISHED
    assert MAX_MATCHES_PER_TICK > 1


@pytest.mark.parametrize("paused", [False, True], ids=["claimed only", "paused without end"])
def test_a_match_that_waits_for_somebody_is_not_settled_repeatedly(shop: SteppedInstallation, paused: bool) -> None:
    match = shop.start("alice", "bob", terms=THREE_DAYS if paused else THREE_DAYS._replace(flag=FlagRule.CLAIM))
    shop.play(match, 2)
    if paused:
        shop.do(match, PauseClock(reason=PauseReason.ARBITER, player=None, since=shop.now))
    shop.parts.timekeeper = timekeeper = CountingTimekeeper(shop)
    ticker = make_ticker(shop.parts)
    beating_until(shop, shop.now + 4 * DAY)
    assert ticker.tick() == shop.now + TICK_MS
    assert timekeeper.settled == []
    assert shop.state(match).status == Status.PLAYING


def test_a_return_from_vacation_that_was_killed_reaches_matches_with_the_next_tick(shop: SteppedInstallation) -> None:
    matches = [playing(shop), playing(shop)]
    shop.project_all()
    since = shop.now
    shop.availability.change("alice", lambda own: own._replace(book=on_vacation(since, since + 7 * DAY)))
    beating_until(shop, max(falls(shop, match) for match in matches))
    shop.ticker().tick()
    for match in matches:
        assert pauses(shop, match) == (Pause(reason=PauseReason.VACATION, seat=0, since=since, until=since + 7 * DAY),)
    back = shop.now
    shop.availability.change("alice", lambda own: own._replace(book=vacation.ended(own.book, back)))
    shop.ticker().tick()
    for match in matches:
        (pause,) = pauses(shop, match)
        assert back <= (pause.until or 0) < back + HOUR
    assert shop.availability.claim_sync() is None


def test_a_match_that_starts_knows_the_availability_of_its_players(shop: SteppedInstallation) -> None:
    def planned(availability: Availability) -> Availability:
        availability = with_calendar(availability, "Asia/Tokyo", (5, 6), shop.now)
        return availability._replace(book=on_vacation(shop.now, shop.now + DAY), plays_forced=True)

    availability, _ = shop.availability.change("bob", planned)
    match = shop.start("alice", "bob")
    drain(shop.clocks())
    foreseen = shop.timekeeper.with_availability(shop.state(match)).clock
    assert foreseen is not None
    assert (foreseen.calendars, len(foreseen.pauses)) == ((None, availability.calendar), 1)
    assert [event.type for event in shop.store.read(match)] == ["match-created", "player-joined", "match-started"]
    loaded = shop.matches.load(match)
    assert [seat for seat, orders in loaded.orders.items() if orders.forced] == [1]
    # What was said in the match itself stays, whatever else happens before the first move.
    shop.matches.lay_down(match, "bob", lambda _, orders: replace(orders, forced=False))
    shop.availability.change("bob", lambda own: own._replace(book=()))
    shop.sweeper().check_clocks()
    drain(shop.clocks())
    assert shop.matches.load(match).orders == {}


def test_an_outage_of_the_whole_server_is_credited_to_every_match_after_a_kill(server: RealServer) -> None:
    shop = SteppedInstallation(server.url)
    shop.now = now_ms()
    matches = [playing(shop), playing(shop)]
    relay = bound_to_parent([sys.executable, "-m", "deploy.cli", "relay"])
    with subprocess.Popen(relay, env=environment_of(shop.settings)) as doomed:
        eventually(shop.heartbeat.last_beat, "the first beat")
        eventually(lambda: all(map(shop.readmodels.summary, matches)), "the projections")
        doomed.kill()
    server.kill()
    server.start()
    last = shop.heartbeat.last_beat()
    assert last is not None
    shop.now = last + 4 * DAY
    with running(Relay(shop.settings, lambda: shop.now)):
        for match in matches:
            eventually(partial(pauses, shop, match), "the credit")
        eventually(lambda: not shop.heartbeat.uncredited(), "the end of the crediting")
    for match in matches:
        pause = pauses(shop, match)[0]
        assert (pause.reason, pause.seat, pause.since) == (PauseReason.OUTAGE, None, last)
        assert shop.state(match).status == Status.PLAYING
        assert falls(shop, match) > shop.now


def test_crediting_killed_midway_begins_anew_once(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ticking, "MAX_MATCHES_PER_TICK", 2)
    matches = [playing(shop) for _ in range(5)]
    shop.project_all()
    shop.now += 5 * HOUR
    killed = shop.ticker()
    assert killed.tick() <= shop.now
    assert shop.heartbeat.uncredited() != []
    other = shop.ticker()
    while other.tick() <= shop.now:
        pass
    assert shop.heartbeat.uncredited() == []
    for match in matches:
        assert [event.type for event in shop.store.read(match)].count("clock-paused") == 1


def race(shop: SteppedInstallation, match_id: str) -> None:
    """Let alice move a millisecond before her flag falls, and at the same moment let it fall."""
    deadline, move = falls(shop, match_id), first_move(shop, match_id)
    beating_until(shop, deadline)
    mover, settler = Matches(shop.store, lambda: deadline - 1), Matches(shop.store, lambda: deadline)
    timekeeper = Timekeeper(settler, shop.availability, shop.heartbeat, shop.readmodels.active)
    mover.load(match_id)
    settler.load(match_id)
    barrier = threading.Barrier(2)

    def submit() -> None:
        barrier.wait()
        with suppress(CommandError):
            execute(mover, match_id, SubmitMove(player="alice", move=move), "alice", Request("late", ""))

    thread = threading.Thread(target=submit)
    thread.start()
    barrier.wait()
    timekeeper.settle(match_id, deadline)
    thread.join()


def test_of_a_move_and_a_flag_at_the_same_moment_one_counts(shop: SteppedInstallation) -> None:
    for _ in range(8):
        match = playing(shop)
        before = shop.state(match).version
        race(shop, match)
        types = [event.type for event in shop.store.read(match, before)]
        assert types in (["move-submitted"], ["flag-fell", "match-finished"])


def first_move(shop: SteppedInstallation, match_id: str) -> str:
    state = shop.state(match_id)
    game = find_ruleset(state.game, state.ruleset)
    return game.format_move(state.play.position, legal_moves(state)[0])


def lost_on_time(shop: SteppedInstallation, *players: str) -> str:
    """Return a match that the first of the players has just lost on time."""
    match = playing(shop, *players)
    beating_until(shop, falls(shop, match))
    shop.do(match, CallTime(), "clock")
    assert shop.state(match).status == Status.FINISHED
    return match


def follow_feed(shop: SteppedInstallation) -> None:
    """Let the relay do its work, and the worker what it was asked for."""
    drain(shop.projections(), shop.rating_requests())
    for match in shop.rated:
        shop.ratings.rate(match)
    shop.rated.clear()


def test_a_forgiven_flag_leaves_no_trace_in_ratings_and_lists(shop: SteppedInstallation) -> None:
    shop.win("alice", "carol")
    match = playing(shop)
    follow_feed(shop)
    before = shop.dump()
    beating_until(shop, falls(shop, match))
    shop.do(match, CallTime(), "clock")
    follow_feed(shop)
    assert shop.readmodels.rating_change(match) != {}
    assert [each.match for each in shop.readmodels.matches("finished", "bob").items] == [match]
    shop.do(match, ForgiveFlag(player="bob"), "bob")
    follow_feed(shop)
    assert shop.readmodels.rating_change(match) == {}
    assert shop.readmodels.matches("finished", "bob").items == []
    assert [each.match for each in shop.readmodels.matches("awaiting", "alice").items] == [match]
    after = shop.dump()
    assert {name for name in before if "{ratings}" in name} == {name for name in after if "{ratings}" in name}
    assert all(before[name] == after[name] for name in before if "{ratings}" in name)
    rebuild(shop.settings)
    assert dump(shop.client, shop.keys) == after


def test_ratings_with_nothing_but_a_forgiven_flag_are_as_if_there_never_was_one(shop: SteppedInstallation) -> None:
    match = lost_on_time(shop)
    follow_feed(shop)
    assert shop.readmodels.pools() == ["bashni-2"]
    shop.do(match, ForgiveFlag(player="bob"), "bob")
    follow_feed(shop)
    assert shop.readmodels.pools() == []
    assert [name for name in shop.dump() if "{ratings}" in name] == []


def test_a_result_forgiven_while_being_rated_is_not(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    match = lost_on_time(shop)
    put = shop.ratings.put

    def forgiving_put(*arguments: object) -> bool:
        monkeypatch.setattr(shop.ratings, "put", put)
        shop.do(match, ForgiveFlag(player="bob"), "bob")
        return put(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(shop.ratings, "put", forgiving_put)
    assert shop.ratings.rate(match)
    assert shop.readmodels.rating_change(match) == {}


def test_an_opponent_whose_flag_was_forgiven_is_asked_for_its_move_again(shop: SteppedInstallation) -> None:
    match = lost_on_time(shop, "opponent-1", "alice")
    drain(shop.opponents())
    shop.answers.clear()
    shop.do(match, ForgiveFlag(player="alice"), "alice")
    drain(shop.opponents())
    assert shop.answers == [match]
    assert [debt.player for debt in debts_of(shop.state(match))] == ["opponent-1"]


def test_a_vacation_taken_while_a_match_was_over_counts_when_its_flag_is_forgiven(shop: SteppedInstallation) -> None:
    match = lost_on_time(shop)
    since = shop.now + DAY
    shop.timekeeper.change("alice", lambda own: own._replace(book=on_vacation(since, since + 2 * DAY)), shop.now)
    shop.do(match, ForgiveFlag(player="bob"), "bob")
    drain(shop.clocks())
    assert pauses(shop, match) == ()
    beating_until(shop, falls(shop, match))
    shop.ticker().tick()
    assert pauses(shop, match) == (Pause(reason=PauseReason.VACATION, seat=0, since=since, until=since + 2 * DAY),)
