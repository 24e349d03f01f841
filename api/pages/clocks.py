"""The clocks and the terms of a match in the words of its page: what is left, until when, and which rule says so."""

from typing import NamedTuple

from domain.games import find_ruleset
from domain.match import clock as clocks
from domain.match import terms
from domain.match.clock import Forecast
from domain.match.enums import FlagRule, Limit, PauseReason, Status
from domain.match.state import MatchState
from domain.match.terms import Terms


class SeatClock(NamedTuple):
    """The time of one seat: ``left`` in milliseconds, in ``words``, ``purpose`` what it is left for.

    ``runs`` tells whether it becomes less now, ``paused`` why it does not although it is the seat's turn.
    """

    left: int
    words: str
    purpose: str
    runs: bool
    paused: str


class Deadline(NamedTuple):
    """What happens when time is up: ``at`` the instant ``at`` (None: not known), ``seat`` not having moved until then.

    ``consequence`` follows "If not," or, when the instant is over, stands alone; ``rule`` is the term that says so.
    ``changes`` is the instant at which these words are no longer true: None when time alone does not change them.
    """

    seat: int
    at: int | None
    over: bool
    consequence: str
    by_itself_at: int | None
    rule: str
    pauses: tuple[tuple[str, int | None], ...]
    changes: int | None


def seat_clocks(state: MatchState, now: int) -> list[SeatClock | None]:
    """Return the clock of each seat at ``now``; None for a seat that has left, and for all while no clock runs."""
    clock = state.clock
    if clock is None or state.status != Status.PLAYING:
        return [None] * len(state.seats)
    gone = find_ruleset(state.game, state.ruleset).elimination.eliminated(state.play.position)
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


_PURPOSE = {Limit.FIRST_MOVE: "to begin", Limit.CEILING: "for this move"}
PAUSED = {
    PauseReason.VACATION: "on vacation",
    PauseReason.WEEKEND: "a free day",
    PauseReason.OUTAGE: "the server was away",
    PauseReason.ARBITER: "stopped by an arbiter",
    PauseReason.DISPUTE: "a dispute",
}


def describe_deadline(state: MatchState, now: int) -> Deadline | None:
    """Return what happens in the match when time is up and nobody has moved; None while no clock runs."""
    clock = state.clock
    expected = clocks.forecast(clock) if clock is not None else None
    if clock is None or expected is None:
        return None
    over = expected.at is not None and expected.at <= now
    by_itself = clocks.falls_at(clock)
    changes = clocks.changes_at(clock, expected.seat, now)
    if expected.at is not None and not over:
        changes = expected.at if changes is None else min(changes, expected.at)
    return Deadline(
        expected.seat,
        expected.at,
        over,
        _consequence(state, expected),
        by_itself if by_itself != expected.at else None,
        _rule(clock.terms, expected),
        tuple((PAUSED[pause.reason], pause.until) for pause in clocks.pauses_at(clock, expected.seat, now)),
        changes,
    )


def upcoming_vacations(state: MatchState, now: int) -> list[clocks.Pause]:
    """Return the vacations of players that lie ahead and will stop their clocks, the first one first."""
    if state.clock is None or state.status != Status.PLAYING:
        return []
    coming = (pause for pause in state.clock.pauses if pause.reason == PauseReason.VACATION and pause.since > now)
    return sorted(coming, key=lambda pause: pause.since)


def _consequence(state: MatchState, expected: Forecast) -> str:
    if expected.limit == Limit.FIRST_MOVE:
        return "the match is called off without a result"
    if state.terms is not None and state.terms.flag != FlagRule.AUTOMATIC:
        return "the others may claim that time is up"
    game = find_ruleset(state.game, state.ruleset)
    name = game.setups[state.setup].seat_names[expected.seat]
    if game.elimination.without_seat(state.play.position, expected.seat) is None:
        return f"{name} loses at that instant"
    return f"{name} leaves the game at that instant"


def _rule(agreed: Terms, expected: Forecast) -> str:
    # The terms say how time is measured first, then the ceiling if there is one, then the first move.
    place = {Limit.TIME: 0, Limit.CEILING: 1, Limit.FIRST_MOVE: 1 if agreed.ceiling is None else 2}[expected.limit]
    return terms.in_words(agreed)[place]
