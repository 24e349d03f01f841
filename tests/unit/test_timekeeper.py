"""The timekeeper with a store in memory and a clock that a test sets: flags, vacations, calendars, outages."""

from collections.abc import Callable, Iterator
from itertools import count

import pytest

from domain.match import vacation
from domain.match.clock import OUTAGE, TIME, VACATION, Pause, falls_at, left
from domain.match.commands import CallTime, Command, JoinMatch, Resign, SubmitMove
from domain.match.events import CalendarSet, ClockPaused, ClockResumed, Event, FlagFell, MatchAborted, MatchFinished
from domain.match.refusals import Refused
from domain.match.state import ABORTED, FINISHED, PLAYING, MatchState
from domain.match.terms import CLAIM, DAY, HOUR, MINUTE, STANDARD, UNCLAIMED_FOR, Terms, days_per_move
from events.codec import event_of
from events.diaries import Diary, MemoryDiaries, arranged
from events.heartbeat import LONGEST_GAP, MemoryHeartbeat, Outage
from events.matches import Executed, Matches
from events.memory import MemoryStore
from events.store import Request, StaleVersion
from events.timekeeper import Timekeeper
from tests.support.matches import NOON, creation

THREE_DAYS = days_per_move(3)
_REQUESTS = count(1)


class House:
    """Matches, diaries and a heartbeat in memory, with a clock that stands still."""

    def __init__(self) -> None:
        self.now = NOON
        self.store = MemoryStore()
        self.matches = Matches(self.store, lambda: self.now)
        self.diaries = MemoryDiaries()
        self.heartbeat = MemoryHeartbeat()
        self.names: list[str] = []
        self.timekeeper = self.another()

    def another(self) -> Timekeeper:
        """Return a timekeeper of the same store with a cache of its own, as another process has."""
        return Timekeeper(Matches(self.store, lambda: self.now), self.diaries, self.heartbeat, lambda _: self.names)

    def start(self, terms: Terms = THREE_DAYS, moved: bool = True) -> str:
        """Start a match of alice and bob; return its name. If ``moved``, both have made their first moves."""
        match = f"m{len(self.names) + 1}"
        self.names.append(match)
        self.do(match, creation(match=match, terms=terms))
        self.do(match, JoinMatch("bob"))
        if moved:
            self.do(match, SubmitMove("alice", "c3-d4"))
            self.do(match, SubmitMove("bob", "b6-a5"))
        return match

    def do(self, match: str, command: Command) -> Executed:
        """Carry ``command`` out without the timekeeper."""
        return self.matches.execute(match, command, "somebody", Request(f"r{next(_REQUESTS)}", ""))

    def execute(self, match: str, command: Command, expected: int | None = None) -> Executed:
        """Carry ``command`` out as the API does."""
        request = Request(f"r{next(_REQUESTS)}", "")
        return self.timekeeper.execute(match, command, "somebody", request, self.now, expected)

    def settle(self, match: str) -> list[Event]:
        """Let happen what is due now; return what did."""
        settled = self.timekeeper.settle(match, self.now)
        return [event_of(envelope) for envelope in self.store.read(match, settled.before)]

    def state(self, match: str) -> MatchState:
        """Return a match as it stands."""
        return self.matches.load(match).state

    def falls(self, match: str) -> int:
        """Return the instant at which a flag falls."""
        clock = self.state(match).clock
        assert clock is not None
        instant = falls_at(clock)
        assert instant is not None
        return instant

    def pauses(self, match: str) -> tuple[Pause, ...]:
        """Return the pauses of a match's clock."""
        clock = self.state(match).clock
        assert clock is not None
        return clock.pauses

    def change(self, player: str, change: Callable[[Diary], Diary]) -> Diary:
        """Change a diary, and let all matches follow."""
        return self.timekeeper.change(player, change, self.now)

    def opt_out(self, *players: str) -> None:
        """Let ``players`` not want automatic vacations."""
        for player in players:
            self.diaries.change(player, lambda diary: diary._replace(auto_vacation=False))

    def beats_until(self, instant: int) -> None:
        """Let the heart beat from the last beat to ``instant``."""
        last = self.heartbeat.last()
        for at in range(instant if last is None else last, instant + 1, LONGEST_GAP):
            self.heartbeat.beat(at, 0)
        self.heartbeat.beat(instant, 0)
        self.now = instant


@pytest.fixture
def house() -> Iterator[House]:
    """Return a house whose heart has begun to beat."""
    house = House()
    house.heartbeat.beat(NOON, 0)
    yield house
    for mark in house.diaries.marks():
        house.timekeeper.follow(mark, house.now)
    assert house.diaries.marks() == []
    for match in house.names:
        # Whatever a test did: what was settled once is settled.
        house.settle(match)
        assert house.settle(match) == []


def booked(since: int, until: int) -> Callable[[Diary], Diary]:
    """Return what takes a vacation."""
    return lambda diary: diary._replace(book=vacation.booked(diary.book, since, until, since))


def in_berlin(*free_days: int) -> Callable[[Diary], Diary]:
    """Return what sets the calendar of somebody in Berlin with these free days."""
    return lambda diary: arranged(diary, "Europe/Berlin", free_days, NOON)


def test_a_flag_falls_at_its_instant_and_not_a_millisecond_before(house: House) -> None:
    house.opt_out("alice")
    match = house.start()
    instant = house.falls(match)
    assert instant == NOON + 3 * DAY
    house.beats_until(instant - 1)
    assert house.settle(match) == []
    house.beats_until(instant)
    assert house.settle(match) == [
        FlagFell(instant, 0, instant, TIME),
        MatchFinished(instant, (0.0, 1.0), "flag"),
    ]


def test_a_flag_that_two_settle_at_once_falls_once(house: House) -> None:
    house.opt_out("alice")
    match = house.start()
    other = house.another()
    other.update(match, house.now)
    house.timekeeper.update(match, house.now)
    house.beats_until(house.falls(match))
    house.timekeeper.settle(match, house.now)
    other.settle(match, house.now)
    assert [each.type for each in house.store.read(match)].count("flag-fell") == 1


def test_a_late_move_is_refused_and_the_flag_counts(house: House) -> None:
    house.opt_out("alice")
    match = house.start()
    house.beats_until(house.falls(match))
    with pytest.raises(Refused, match="this match is over: flag"):
        house.execute(match, SubmitMove("alice", "d2-c3"))
    assert (house.state(match).status, house.state(match).scores) == (FINISHED, (0.0, 1.0))


def test_a_move_in_time_counts_and_no_flag_falls_after_it(house: House) -> None:
    house.opt_out("alice", "bob")
    match = house.start()
    house.beats_until(house.falls(match) - 1)
    house.execute(match, SubmitMove("alice", "d2-c3"))
    house.beats_until(house.now + 1)
    assert house.settle(match) == []
    assert house.falls(match) == house.now - 1 + 3 * DAY


def test_who_moves_late_on_an_expected_version_hears_that_the_match_is_over(house: House) -> None:
    house.opt_out("alice")
    match = house.start()
    house.beats_until(house.falls(match))
    with pytest.raises(Refused, match="this match is over"):
        house.execute(match, SubmitMove("alice", "d2-c3"), house.state(match).version)


def test_a_match_that_nobody_joins_is_called_off(house: House) -> None:
    house.names.append("waiting")
    house.do("waiting", creation(match="waiting"))
    house.beats_until(NOON + 30 * DAY)
    (aborted,) = house.settle("waiting")
    assert isinstance(aborted, MatchAborted)


def test_a_day_of_automatic_vacation_keeps_a_flag_up(house: House) -> None:
    match = house.start()
    instant = house.falls(match)
    house.beats_until(instant)
    assert house.settle(match) == [ClockPaused(instant, VACATION, instant, 0, instant + DAY, True)]
    assert house.diaries.read(["alice"])["alice"].book == (vacation.Vacation(instant, instant + DAY, True),)
    assert house.falls(match) == instant + DAY
    house.execute(match, SubmitMove("alice", "d2-c3"))
    assert house.state(match).status == PLAYING


def test_automatic_vacation_is_recorded_as_the_deed_of_the_clock(house: House) -> None:
    match = house.start()
    house.beats_until(house.falls(match))
    house.settle(match)
    assert house.store.read(match)[-1].actor == "clock"


def test_a_late_move_during_automatic_vacation_that_nobody_had_recorded_yet_counts(house: House) -> None:
    match = house.start()
    house.beats_until(house.falls(match) + HOUR)
    house.execute(match, SubmitMove("alice", "d2-c3"), house.state(match).version)
    assert house.state(match).moves[-1] == "d2-c3"
    assert len(house.diaries.read(["alice"])["alice"].book) == 1


def test_when_no_vacation_is_left_the_flag_falls(house: House) -> None:
    match = house.start()
    house.diaries.change("alice", booked(NOON - 31 * DAY, NOON - DAY))
    instant = house.falls(match)
    house.beats_until(instant)
    assert isinstance(house.settle(match)[0], FlagFell)


def test_automatic_vacation_is_taken_day_by_day_until_none_is_left(house: House) -> None:
    match = house.start()
    first = house.falls(match)
    house.beats_until(first + 100 * DAY)
    house.settle(match)
    state = house.state(match)
    assert state.status == FINISHED
    assert state.fallen is not None
    book = house.diaries.read(["alice"])["alice"].book
    assert state.fallen.deadline == first + len(book) * DAY
    assert vacation.left(book, 2023) == 0


def test_a_first_move_costs_no_vacation(house: House) -> None:
    match = house.start(moved=False)
    house.beats_until(house.falls(match))
    house.settle(match)
    assert house.state(match).status == ABORTED
    assert house.diaries.read(["alice"])["alice"].book == ()


def test_where_the_terms_forbid_vacation_none_is_taken(house: House) -> None:
    match = house.start(THREE_DAYS._replace(vacations=False))
    house.change("alice", booked(NOON + DAY, NOON + 8 * DAY))
    assert house.pauses(match) == ()
    house.beats_until(house.falls(match))
    assert isinstance(house.settle(match)[0], FlagFell)


def test_two_flags_on_one_day_cost_one_day(house: House) -> None:
    first = house.start()
    house.now += HOUR
    second = house.start()
    house.beats_until(house.falls(second))
    house.settle(first)
    house.settle(second)
    book = house.diaries.read(["alice"])["alice"].book
    assert len(book) == 1
    assert house.falls(first) == house.falls(second) - HOUR == book[0].until


def test_a_vacation_in_the_diary_that_its_taker_could_not_finish_counts(house: House) -> None:
    match = house.start()
    house.diaries.change("alice", booked(NOON + DAY, NOON + 8 * DAY))
    house.beats_until(NOON + 4 * DAY)
    house.execute(match, SubmitMove("alice", "d2-c3"))
    clock = house.state(match).clock
    assert clock is not None
    assert clock.pauses == (Pause(VACATION, 0, NOON + DAY, NOON + 8 * DAY),)


def test_a_vacation_stops_the_clocks_of_all_matches_and_is_announced_before_it_begins(house: House) -> None:
    matches = [house.start(), house.start()]
    house.change("alice", booked(NOON + DAY, NOON + 8 * DAY))
    for match in matches:
        assert house.pauses(match) == (Pause(VACATION, 0, NOON + DAY, NOON + 8 * DAY),)
        assert house.falls(match) == NOON + 10 * DAY
        assert house.store.read(match)[-1].actor == "alice"


def test_who_comes_back_early_plays_on_and_keeps_the_rest(house: House) -> None:
    match = house.start()
    house.change("alice", booked(NOON, NOON + 8 * DAY))
    house.beats_until(NOON + 2 * DAY)
    diary = house.change("alice", lambda diary: diary._replace(book=vacation.ended(diary.book, house.now)))
    assert house.falls(match) == NOON + 5 * DAY
    assert vacation.left(diary.book, 2023) == 28 * DAY
    assert isinstance(event_of(house.store.read(match)[-1]), ClockResumed)


def test_a_cancelled_vacation_leaves_the_others_standing(house: House) -> None:
    match = house.start()
    house.change("alice", booked(NOON, NOON + 2 * DAY))
    house.change("alice", booked(NOON + 3 * DAY, NOON + 5 * DAY))
    house.change("alice", booked(NOON + 6 * DAY, NOON + 7 * DAY))
    house.now += HOUR
    house.change("alice", lambda diary: diary._replace(book=vacation.cancelled(diary.book, NOON + 3 * DAY, house.now)))
    assert house.falls(match) == NOON + 5 * DAY
    house.beats_until(NOON + 4 * DAY)
    house.do(match, SubmitMove("alice", "d2-c3"))
    house.do(match, SubmitMove("bob", "a7-b6"))
    house.settle(match)
    assert house.falls(match) == NOON + 8 * DAY


def test_free_days_reach_every_match_and_stop_its_clock(house: House) -> None:
    match = house.start()  # a Tuesday evening in Berlin
    house.change("alice", in_berlin(2))
    clock = house.state(match).clock
    assert clock is not None
    assert house.falls(match) == NOON + 4 * DAY
    (last,) = house.store.read(match)[-1:]
    assert isinstance(event_of(last), CalendarSet)
    house.change("alice", in_berlin())
    assert house.falls(match) == NOON + 3 * DAY


def test_free_days_reach_no_match_whose_terms_do_not_have_them(house: House) -> None:
    match = house.start(THREE_DAYS._replace(weekends=False))
    before = house.state(match).version
    house.change("alice", in_berlin(2))
    assert house.state(match).version == before


def test_a_new_match_knows_calendar_vacation_and_preference_from_its_start(house: House) -> None:
    house.diaries.change("bob", in_berlin(5, 6))
    house.diaries.change("bob", booked(NOON + DAY, NOON + 2 * DAY))
    house.diaries.change("bob", lambda diary: diary._replace(plays_forced=True))
    match = house.start(moved=False)
    house.timekeeper.begin(match, house.now)
    clock = house.state(match).clock
    assert clock is not None
    assert clock.calendars[1] is not None
    assert clock.calendars[1].free_days == (5, 6)
    assert clock.pauses == (Pause(VACATION, 1, NOON + DAY, NOON + 2 * DAY),)
    assert [seat for seat, orders in house.matches.load(match).orders.items() if orders.forced] == [1]


def test_a_preference_for_forced_moves_reaches_running_matches_that_allow_lines(house: House) -> None:
    match, without = house.start(), house.start(THREE_DAYS._replace(lines=False))
    house.change("alice", lambda diary: diary._replace(plays_forced=True))
    assert house.matches.load(match).orders[0].forced
    assert house.matches.load(without).orders == {}
    house.change("alice", lambda diary: diary._replace(plays_forced=False))
    assert house.matches.load(match).orders == {}


def test_a_change_that_was_killed_midway_is_finished_by_its_mark(house: House) -> None:
    matches = [house.start(), house.start(), house.start()]
    _, mark = house.diaries.change("alice", booked(NOON + DAY, NOON + 8 * DAY))
    house.another().update(matches[0], house.now)
    versions = [house.state(match).version for match in matches]
    assert house.diaries.marks() == [mark]
    assert mark is not None
    house.timekeeper.follow(mark, house.now)
    assert [house.falls(match) for match in matches] == [NOON + 10 * DAY] * 3
    assert [house.state(match).version for match in matches] == [versions[0], versions[1] + 1, versions[2] + 1]
    assert house.diaries.marks() == []


def test_a_match_that_cannot_be_replayed_keeps_no_other_from_following(house: House) -> None:
    house.names.append("nothing")
    match = house.start()
    house.change("alice", booked(NOON + DAY, NOON + 8 * DAY))
    house.names.remove("nothing")
    assert house.falls(match) == NOON + 10 * DAY


def test_offsets_that_are_known_no_longer_are_looked_up_again(house: House) -> None:
    house.change("alice", in_berlin(5, 6))
    before = house.diaries.read(["alice"])["alice"]
    house.now = before.known_until - 365 * DAY
    match = house.start()
    house.timekeeper.begin(match, house.now)
    after = house.diaries.read(["alice"])["alice"]
    assert after.known_until > before.known_until
    clock = house.state(match).clock
    assert clock is not None
    assert clock.calendars[0] == after.calendar


def test_an_outage_is_credited_before_a_flag_falls(house: House) -> None:
    house.opt_out("alice")
    match = house.start()
    house.beats_until(NOON + DAY)
    house.now = NOON + 3 * DAY + HOUR
    house.execute(match, SubmitMove("alice", "d2-c3"), house.state(match).version)
    assert house.state(match).moves[-1] == "d2-c3"
    assert house.pauses(match) == (Pause(OUTAGE, None, NOON + DAY, NOON + 3 * DAY + HOUR),)
    assert house.heartbeat.uncredited() == [Outage(NOON + DAY, NOON + 3 * DAY + HOUR)]


def test_an_outage_is_credited_to_a_seat_that_has_moved_since(house: House) -> None:
    house.opt_out("alice", "bob")
    match = house.start(STANDARD)
    house.beats_until(NOON + DAY)
    house.now = NOON + 2 * DAY
    house.do(match, SubmitMove("alice", "d2-c3"))
    house.settle(match)
    clock = house.state(match).clock
    assert clock is not None
    assert left(clock, 0, house.now) == 11 * DAY
    house.beats_until(NOON + 2 * DAY)
    assert [each.type for each in house.store.read(match)].count("clock-paused") == 1


def test_a_short_silence_is_no_outage(house: House) -> None:
    house.opt_out("alice")
    match = house.start()
    house.beats_until(house.falls(match) - LONGEST_GAP)
    house.now = house.falls(match)
    assert isinstance(house.settle(match)[0], FlagFell)


def test_a_flag_by_claim_falls_when_it_is_claimed_and_by_itself_after_long(house: House) -> None:
    house.opt_out("alice")
    terms = THREE_DAYS._replace(flag=CLAIM)
    claimed, unclaimed = house.start(terms), house.start(terms)
    house.beats_until(NOON + 3 * DAY + MINUTE)
    assert house.settle(claimed) == []
    house.execute(claimed, CallTime("bob"))
    fallen = house.state(claimed).fallen
    assert fallen is not None
    assert (fallen.deadline, fallen.at) == (NOON + 3 * DAY, NOON + 3 * DAY + MINUTE)
    house.beats_until(NOON + 3 * DAY + UNCLAIMED_FOR)
    assert isinstance(house.settle(unclaimed)[0], FlagFell)


def test_a_claim_finds_the_automatic_vacation_of_who_has_some_left(house: House) -> None:
    match = house.start(THREE_DAYS._replace(flag=CLAIM))
    house.beats_until(NOON + 3 * DAY + MINUTE)
    with pytest.raises(Refused, match="23 hours"):
        house.execute(match, CallTime("bob"), house.state(match).version)
    assert house.pauses(match) == (Pause(VACATION, 0, NOON + 3 * DAY, NOON + 4 * DAY),)


@pytest.mark.parametrize("claimant", ["alice", "mallory"])
def test_a_claim_of_somebody_who_cannot_claim_costs_nobody_a_vacation(house: House, claimant: str) -> None:
    match = house.start(THREE_DAYS._replace(flag=CLAIM))
    house.beats_until(NOON + 3 * DAY + MINUTE)
    with pytest.raises(Refused):
        house.execute(match, CallTime(claimant))
    assert house.diaries.read(["alice"])["alice"].book == ()
    house.execute(match, SubmitMove("alice", "d2-c3"))


def test_a_late_player_of_a_match_by_claim_may_still_move(house: House) -> None:
    match = house.start(THREE_DAYS._replace(flag=CLAIM))
    house.beats_until(NOON + 5 * DAY)
    house.execute(match, SubmitMove("alice", "d2-c3"))
    assert house.diaries.read(["alice"])["alice"].book == ()


def test_what_is_refused_for_another_reason_is_refused_as_ever(house: House) -> None:
    match = house.start()
    with pytest.raises(Refused, match="not your turn"):
        house.execute(match, SubmitMove("bob", "a7-b6"))
    with pytest.raises(StaleVersion):
        house.execute(match, SubmitMove("alice", "d2-c3"), 1)


def test_a_match_that_is_over_is_left_alone(house: House) -> None:
    match = house.start()
    house.do(match, Resign("alice"))
    house.change("alice", booked(NOON + DAY, NOON + 8 * DAY))
    house.beats_until(NOON + 40 * DAY)
    assert house.settle(match) == []
