"""The clocks of a match in the words of its page: the time left, the deadline, and the term that sets it."""

from typing import NamedTuple

from domain.games import find_ruleset
from domain.match import clock as clocks, terms
from domain.match.clock import Forecast
from domain.match.enums import FlagRule, Limit, PauseReason, Status
from domain.match.state import MatchState


class SeatClock(NamedTuple):
    """The time of one seat; ``paused`` is why the clock does not run although it is the seat's turn."""

    left_ms: int
    words: str
    purpose: str
    runs: bool
    paused: str


class Deadline(NamedTuple):
    """The consequence if ``seat`` has not moved by ``at`` (None: the instant is not known).

    ``consequence`` follows "If not," or, once ``at`` is ``past``, stands alone; ``rule`` is the term that sets the
    deadline. Where a flag must be claimed, it falls unclaimed at ``falls_at``. ``pauses`` are the reasons for which the
    clock is stopped, each with its end. ``changes_at`` is the instant at which this description becomes outdated, None
    if the passing of time alone does not change it.
    """

    seat: int
    at: int | None
    past: bool
    consequence: str
    falls_at: int | None
    rule: str
    pauses: tuple[tuple[str, int | None], ...]
    changes_at: int | None


def seat_clocks(state: MatchState, now: int) -> list[SeatClock | None]:
    """Return the clock of each seat at ``now``; None for an eliminated seat, and for all while no clock runs."""
    clock = state.clock
    if state.status != Status.PLAYING:
        return [None] * len(state.seats)
    gone = find_ruleset(state.game, state.ruleset).eliminated(state.play.position)
    return [None if seat in gone else _seat_clock(clock, seat, now) for seat in range(len(state.seats))]


def _seat_clock(clock: clocks.Clock, seat: int, now: int) -> SeatClock:
    pauses = clocks.pauses_at(clock, seat, now)
    paused = ", ".join(dict.fromkeys(PAUSED[pause.reason] for pause in pauses))
    expected = clocks.forecast(clock)
    if expected is None or expected.seat != seat:
        left = clocks.left(clock, seat, now)
        return SeatClock(left, terms.duration(left), "left", False, paused)
    left = clocks.left(clock, seat, now) if expected.at is None else clocks.spent(clock, seat, now, expected.at)
    return SeatClock(left, terms.duration(left), _PURPOSE.get(expected.limit, "left"), not pauses, paused)


_PURPOSE = {Limit.FIRST_MOVE: "first move within", Limit.CEILING: "for this move"}
PAUSED = {
    PauseReason.VACATION: "on vacation",
    PauseReason.WEEKEND: "a free day",
    PauseReason.OUTAGE: "the server was down",
    PauseReason.ARBITER: "stopped by an arbiter",
    PauseReason.DISPUTE: "a dispute",
}


def describe_deadline(state: MatchState, now: int) -> Deadline | None:
    """Return the deadline of the seat to move; None while no clock runs."""
    clock = state.clock
    expected = clocks.forecast(clock)
    if expected is None:
        return None
    past = expected.at is not None and expected.at <= now
    falls_at = clocks.falls_at(clock)
    changes_at = clocks.changes_at(clock, expected.seat, now)
    if expected.at is not None and not past:
        changes_at = expected.at if changes_at is None else min(changes_at, expected.at)
    return Deadline(
        seat=expected.seat,
        at=expected.at,
        past=past,
        consequence=_consequence(state, expected),
        falls_at=falls_at if falls_at != expected.at else None,
        rule=terms.limit_in_words(clock.terms, expected.limit),
        pauses=tuple((PAUSED[pause.reason], pause.until) for pause in clocks.pauses_at(clock, expected.seat, now)),
        changes_at=changes_at,
    )


def upcoming_vacations(state: MatchState, now: int) -> list[clocks.Pause]:
    """Return the future vacations that will stop clocks of the match, in the order of time."""
    if state.status != Status.PLAYING:
        return []
    coming = (pause for pause in state.clock.pauses if pause.reason == PauseReason.VACATION and pause.since > now)
    return sorted(coming, key=lambda pause: pause.since)


def _consequence(state: MatchState, expected: Forecast) -> str:
    if expected.limit == Limit.FIRST_MOVE:
        return "the match is cancelled without a result"
    if state.terms.flag != FlagRule.AUTOMATIC:
        return "the others may claim that time is up"
    game = find_ruleset(state.game, state.ruleset)
    name = game.setups[state.setup].seat_names[expected.seat]
    if game.without_seat(state.play.position, expected.seat) is None:
        return f"{name} loses at that instant"
    return f"{name} leaves the game at that instant"
