"""Terms and clocks of matches as callers see them: instants as RFC 3339, durations in whole seconds."""

from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import Meta

from api.http.answers import Answer, Instant, instant, one_of
from domain.match import clock as clocks, terms as match_terms
from domain.match.clock_words import in_words
from domain.match.decisions.timekeeping import MAX_FORGIVING_MS
from domain.match.enums import Aids, Control, FlagRule, Limit, PauseReason, Status
from domain.match.guards import rules_of
from domain.match.state import MatchState
from events.runtime.wall_clock import rfc3339

SECOND_MS = 1000

Seconds = Annotated[int, Meta(description="Seconds")]


AIDS = Meta(description=f"What players may use to choose moves: {', '.join(Aids)}; null: nothing is agreed")


class Terms(Answer):
    """How time is measured in a match, and its limits."""

    control: Annotated[str, one_of(Control)]
    bank: Seconds
    increment: Seconds
    cap: Seconds
    ceiling: Annotated[int | None, Meta(description="Seconds")]
    first_move: Seconds
    flag: Annotated[str, one_of(FlagRule)]
    vacations: bool
    weekends: bool
    takebacks: bool
    lines: bool
    aids: Annotated[str | None, AIDS]
    words: Annotated[Sequence[str], Meta(description="All of it as sentences")]


class Pause(Answer):
    """Something that stops a clock."""

    reason: Annotated[str, one_of(PauseReason)]
    until: Annotated[Instant | None, Meta(description="null: not known yet")]


class AnnouncedPause(Pause):
    """Something that will stop a clock."""

    since: Instant


class SeatClock(Answer):
    """The clock of one seat."""

    seat: int
    left: Annotated[int, Meta(description="Seconds that are left at as_of")]
    running: bool
    paused: Annotated[Sequence[Pause], Meta(description="What stops this clock at as_of")]
    announced: Annotated[Sequence[AnnouncedPause], Meta(description="What will stop it later")]
    on_vacation: bool


class Forecast(Answer):
    """The consequence when the time of a seat is up."""

    seat: int
    at: Annotated[Instant | None, Meta(description="When its time is up; null: not before a pause ends")]
    limit: Annotated[str, one_of(Limit)]
    verdict: Annotated[Literal["flag", "abort"], Meta(description="What follows: the match is lost, or cancelled")]
    by_itself_at: Annotated[
        Instant | None, Meta(description="When that happens without a claim; null: not as things stand")
    ]


class Clock(Answer):
    """The clocks of a match at an instant."""

    seats: Sequence[SeatClock]
    forecast: Annotated[Forecast | None, Meta(description="What happens if no player acts; null: nothing")]
    words: Annotated[Sequence[str], Meta(description="The clock that runs, as sentences")]
    as_of: Annotated[Instant, Meta(description="The instant of this answer, at which all of this holds")]


class FallenFlag(Answer):
    """A flag that fell."""

    seat: int
    deadline: Annotated[Instant, Meta(description="When the time was up")]
    at: Annotated[Instant, Meta(description="When that was recorded")]
    forgivable_until: Instant | None


def represent_terms(terms: match_terms.Terms) -> Terms:
    """Return terms with their durations in seconds, and all of them in words."""
    durations = {name: getattr(terms, name) for name in match_terms.DURATIONS}
    seconds = {name: None if time is None else time // SECOND_MS for name, time in durations.items()}
    return Terms.of(terms, **seconds, words=match_terms.in_words(terms))


def represent_clock(state: MatchState, now: int) -> Clock:
    """Return the clocks of a match as they are at ``now``."""
    expected = clocks.forecast(state.clock)
    return Clock(
        seats=[_seat_clock(state.clock, seat, now) for seat in range(len(state.seats))],
        forecast=None if expected is None else _forecast(state.clock, expected),
        words=() if expected is None else in_words(state.clock, now, _seat_name(state, expected.seat)),
        as_of=rfc3339(now),
    )


def represent_fallen_flag(state: MatchState) -> FallenFlag | None:
    """Return the flag that fell last, and until when the winner may forgive it (None: it cannot be forgiven)."""
    if state.result.fallen is None:
        return None
    forgivable = state.status == Status.FINISHED and len(state.seats) == 2
    return FallenFlag.of(
        state.result.fallen, forgivable_until=rfc3339(state.result.fallen.at + MAX_FORGIVING_MS) if forgivable else None
    )


def _seat_name(state: MatchState, seat: int) -> str:
    return rules_of(state).setups[state.setup].seat_names[seat]


def _seat_clock(clock: clocks.Clock, seat: int, now: int) -> SeatClock:
    pauses = clocks.pauses_at(clock, seat, now)
    ahead = [pause for pause in clock.pauses if pause.seat in (None, seat) and pause.since > now]
    return SeatClock(
        seat=seat,
        left=clocks.left(clock, seat, now) // SECOND_MS,
        running=clock.seat == seat and not pauses,
        paused=list(map(Pause.of, pauses)),
        announced=list(map(AnnouncedPause.of, ahead)),
        on_vacation=any(pause.reason == PauseReason.VACATION for pause in pauses),
    )


def _forecast(clock: clocks.Clock, expected: clocks.Forecast) -> Forecast:
    return Forecast.of(
        expected,
        verdict="abort" if expected.limit == Limit.FIRST_MOVE else "flag",
        by_itself_at=instant(clocks.falls_at(clock)),
    )
