"""The next step that time makes due in a match, computed again each time, so that any process may take it.

Availability (free days, vacations) is private, and a match is public and permanent. So a match records the past of its
clock, as pauses, and no sooner than it counts: when the seat to move acts, or before a flag would fall. The future is
only shown, by a clock that is not stored (``with_availability``).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from domain.match import vacation
from domain.match.calendar import Calendar, Offset
from domain.match.clock import Clock, Former, Pause, counts_from, falls_at, forecast, free_stretches, has_all_of
from domain.match.commands import CallTime, Command, CorrectTime, PauseClock, ResumeClock
from domain.match.enums import Limit, PauseReason, Status
from domain.match.guards import seats_playing
from domain.match.state import CLOCK, CONSOLE, MatchState
from domain.match.terms import MAX_OPEN_MS, MINUTE
from domain.match.vacation import Vacations
from domain.vector import with_value

MAX_BEAT_GAP_MS = 2 * MINUTE
"""Time that is not kept for longer than this is an outage."""


class Outage(NamedTuple):
    """The clocks were not kept from ``since`` to ``until`` (milliseconds since 1970 UTC)."""

    since: int
    until: int


class FormerCalendar(NamedTuple):
    """The calendar that was valid until the instant ``until``; None: no day was free."""

    until: int
    calendar: Calendar | None


class Availability(NamedTuple):
    """When a player's time runs.

    ``zone`` is an IANA name, ``offsets`` are known up to ``known_until``. ``free_days`` count from 0, Monday. With
    ``auto_vacation`` a day of vacation is taken where a flag would fall; with ``plays_forced`` the only legal move is
    played. ``former`` are the earlier calendars, in order.
    """

    zone: str = "UTC"
    free_days: tuple[int, ...] = ()
    auto_vacation: bool = True
    plays_forced: bool = False
    book: Vacations = ()
    offsets: tuple[Offset, ...] = (Offset(0, 0),)
    known_until: int = 0
    former: tuple[FormerCalendar, ...] = ()

    @property
    def calendar(self) -> Calendar | None:
        """The present calendar; None when no day is free."""
        return Calendar(self.offsets, self.free_days) if self.free_days else None


class DueStep(NamedTuple):
    """A command that is due, and who acts in it."""

    command: Command
    actor: str


class VacationDue(NamedTuple):
    """The flag of ``player`` falls at ``at`` unless a day of automatic vacation is taken first."""

    player: str
    at: int


def deadline_of(state: MatchState) -> int | None:
    """Return the instant at which time itself will change the match (milliseconds since 1970 UTC); None: never."""
    if state.status == Status.OPEN:
        return state.created_at + MAX_OPEN_MS
    return falls_at(state.clock) if state.status == Status.PLAYING else None


def next_step(
    state: MatchState,
    outages: Iterable[Outage],
    availability: Mapping[str, Availability],
    now: int,
    unconfirmed: Iterable[Outage] = (),
) -> DueStep | VacationDue | None:
    """Return the next step of all that is due at ``now`` (milliseconds since 1970 UTC), None when nothing is.

    In this order: outages are credited; pauses end that are not in the players' availability any more; where a flag
    would fall, free days and vacations are recorded, then a day of automatic vacation is taken, and else it falls.
    ``availability`` is that of the people who play. No clock runs in an open match that could be credited: while one of
    the ``unconfirmed`` outages lies within its time, it is not cancelled.
    """
    deadline = deadline_of(state)
    is_due = deadline is not None and deadline <= max(now, state.updated_at)
    if state.status == Status.OPEN and is_due and any(outage.until > state.created_at for outage in unconfirmed):
        return None
    step = _step_before_flag(state, deadline, outages, availability, now)
    if step is not None:
        return step
    return DueStep(CallTime(), CLOCK) if is_due else None


def step_before_claim(
    state: MatchState, outages: Iterable[Outage], availability: Mapping[str, Availability], now: int
) -> DueStep | VacationDue | None:
    """Return the next step before the flag that ``claimant`` claims (``can_claim``) may fall."""
    expected = forecast(state.clock)
    return None if expected is None else _step_before_flag(state, expected.at, outages, availability, now)


def can_claim(state: MatchState, claimant: str) -> bool:
    """Tell whether a clock runs of which ``claimant``, who has another seat, can claim the flag."""
    expected = forecast(state.clock)
    return expected is not None and state.seat_of(claimant) not in (None, expected.seat)


def step_before_turn(state: MatchState, availability: Mapping[str, Availability], now: int) -> DueStep | None:
    """Return the step that records a stop of the clock of the present turn by ``now``, None without one."""
    player = player_to_move(state)
    if player is None or state.clock.seat is None:
        return None
    missing = _missing_pause(state.clock, state.clock.seat, availability[player], max(now, state.updated_at))
    if missing is None:
        return None
    command = PauseClock(
        reason=missing.pause.reason,
        player=player,
        since=missing.pause.since,
        until=missing.pause.until,
        automatic=missing.is_automatic,
    )
    return DueStep(command, CLOCK if missing.is_automatic else player)


def sync_step(state: MatchState, availability: Mapping[str, Availability], now: int) -> DueStep | None:
    """Return the next step that ends a pause that the players' availability no longer has."""
    for player, seat in people_playing(state).items():
        reason = _reason_to_resume(state.clock, seat, availability[player], max(now, state.updated_at))
        if reason is not None:
            return DueStep(ResumeClock(reason=reason, player=player), player)
    return None


def correction_step(state: MatchState, outages: Sequence[Outage], now: int, tolerance: int) -> DueStep | None:
    """Return the next step that brings a match back from the future, where a wrong clock has left instants of it.

    ``outages`` are all that are recorded; ``tolerance`` is by how many milliseconds clocks may differ.
    """
    if state.updated_at > now + tolerance:
        return DueStep(CorrectTime(), CONSOLE)
    if state.ended:
        return None
    for pause in state.clock.pauses:
        lasts = pause.reason == PauseReason.OUTAGE and (pause.until is None or pause.until > now + MAX_BEAT_GAP_MS)
        if lasts and not any((outage.since, outage.until) == (pause.since, pause.until) for outage in outages):
            return DueStep(ResumeClock(reason=PauseReason.OUTAGE, player=None), CONSOLE)
    return None


def with_availability(clock: Clock, availability: Mapping[int, Availability]) -> Clock:
    """Return ``clock`` with all that the availability of seats says, recorded or not, past and future."""
    for seat, of_seat in availability.items():
        if clock.terms.weekends:
            clock = _with_free_days(clock, seat, of_seat)
        if clock.terms.vacations:
            wanted = (
                Pause(reason=PauseReason.VACATION, seat=seat, since=taken.since, until=taken.until)
                for taken in of_seat.book
            )
            missing = (pause for pause in wanted if pause.until is None or pause.until > counts_from(clock))
            clock = replace(clock, pauses=(*clock.pauses, *(pause for pause in missing if not _covers(clock, pause))))
    return clock


def is_playing(state: MatchState) -> bool:
    """Tell whether the match is being played, by rules that are known here."""
    return state.status == Status.PLAYING and state.play.broken is None


def people_playing(state: MatchState) -> dict[str, int]:
    """Return the people whose clocks may run, with their seats: not opponents, nor people who have left the game."""
    if not is_playing(state):
        return {}
    people = {}
    for number in seats_playing(state):
        seat = state.seats[number]
        if seat.player is not None and seat.level is None:
            people[seat.player] = number
    return people


def player_to_move(state: MatchState) -> str | None:
    """Return the person whose clock runs; None when none runs, or an opponent's."""
    if not is_playing(state) or state.clock.seat is None:
        return None
    seat = state.seats[state.clock.seat]
    return seat.player if seat.level is None else None


class _MissingPause(NamedTuple):
    """A pause that the clock has to record; ``is_automatic`` marks a vacation that was taken because of a flag."""

    pause: Pause
    is_automatic: bool = False


def _step_before_flag(
    state: MatchState, flag: int | None, outages: Iterable[Outage], availability: Mapping[str, Availability], now: int
) -> DueStep | VacationDue | None:
    """Return the next step before a flag falls at the instant ``flag`` (None: it does not)."""
    if not is_playing(state):
        return None
    for outage in outages:
        counts = counts_from(state.clock) < outage.until <= now + MAX_BEAT_GAP_MS
        if counts and not _covers(
            state.clock, Pause(reason=PauseReason.OUTAGE, seat=None, since=outage.since, until=outage.until)
        ):
            return DueStep(
                PauseClock(reason=PauseReason.OUTAGE, player=None, since=outage.since, until=outage.until), CLOCK
            )
    if (step := sync_step(state, availability, now)) is not None:
        return step
    expected = forecast(state.clock)
    if expected is None or expected.at is None or flag is None or flag > max(now, state.updated_at):
        return None
    if (step := step_before_turn(state, availability, now)) is not None:
        return step
    player = player_to_move(state)
    if player is None or not state.clock.terms.vacations or expected.limit == Limit.FIRST_MOVE:
        return None
    own = availability[player]
    has_day = own.auto_vacation and vacation.automatic(own.book, expected.at) is not None
    return VacationDue(player, expected.at) if has_day else None


def _missing_pause(clock: Clock, seat: int, availability: Availability, now: int) -> _MissingPause | None:
    """Return an unrecorded pause that has stopped this turn of ``seat`` by ``now``, whole up to its end; or None."""
    if clock.terms.vacations:
        for taken in availability.book:
            pause = Pause(reason=PauseReason.VACATION, seat=seat, since=taken.since, until=taken.until)
            if taken.since <= now and taken.until > clock.since and not _covers(clock, pause):
                return _MissingPause(pause, taken.automatic)
    if clock.terms.weekends:
        for begin, end in free_stretches(_with_free_days(clock, seat, availability), seat, clock.since, now + 1):
            pause = Pause(reason=PauseReason.WEEKEND, seat=seat, since=begin, until=end)
            if not _covers(clock, pause):
                return _MissingPause(pause)
    return None


def _reason_to_resume(clock: Clock, seat: int, availability: Availability, now: int) -> PauseReason | None:
    """Return the reason of recorded pauses of ``seat`` that its availability no longer has; None for none.

    All pauses for that reason are resumed; those that still hold are recorded again after it.
    """
    booked = {(taken.since, taken.until) for taken in availability.book}
    for pause in clock.pauses:
        if pause.seat != seat or (pause.until is not None and pause.until <= now):
            continue
        if clock.terms.vacations and pause.reason == PauseReason.VACATION and (pause.since, pause.until) not in booked:
            return PauseReason.VACATION
        if pause.reason == PauseReason.WEEKEND and pause.since <= now and not _is_free(clock, seat, availability, now):
            return PauseReason.WEEKEND
    return None


def _covers(clock: Clock, wanted: Pause) -> bool:
    """Tell whether a pause of the same kind covers ``wanted``; one that was ended is followed by a longer one."""
    return any(has_all_of(pause, wanted) for pause in clock.pauses)


def _with_free_days(clock: Clock, seat: int, availability: Availability) -> Clock:
    former = (Former(seat=seat, until=earlier.until, calendar=earlier.calendar) for earlier in availability.former)
    calendars = with_value(clock.calendars, seat, availability.calendar)
    return replace(clock, calendars=calendars, former=(*clock.former, *former))


def _is_free(clock: Clock, seat: int, availability: Availability, at: int) -> bool:
    return any(free_stretches(_with_free_days(clock, seat, availability), seat, at, at + 1))
