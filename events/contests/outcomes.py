"""The outcome of a match for the contest that has started it."""

from typing import NamedTuple

from domain.match.enums import Status
from domain.match.events import FlagFell, FlagForgiven, MatchAborted
from domain.match.state import CLOCK, MatchState
from events.store.codec import event_of
from events.store.contract import EventStore, Head


class MatchOutcome(NamedTuple):
    """The seats that lost on time, and the seat to blame for a match that was called off; None: nobody alone."""

    flags: tuple[int, ...]
    blamed: int | None


def is_called_off(match: MatchState) -> bool:
    """Return whether a match was called off: it has no result, and none was annulled."""
    return match.status == Status.ABORTED and match.result.annulled is None


def read_outcome(store: EventStore, match: MatchState, head: Head) -> MatchOutcome:
    """Return the outcome of a match that stands at ``head``. Raises as ``EventStore.read``."""
    flags: list[int] = []
    blamed: int | None = None
    unanswered = [number for number, seat in enumerate(match.seats) if not seat.joined]
    for event in map(event_of, store.read(match.match_id, 0, head.version)):
        if isinstance(event, FlagFell):
            flags.append(event.seat)
        elif isinstance(event, FlagForgiven) and flags:
            flags.pop()
        elif isinstance(event, MatchAborted):
            late = flags[-1:] or (unanswered if len(unanswered) == 1 else [])
            blamed = match.seat_of(event.player) if event.player != CLOCK else next(iter(late), None)
    return MatchOutcome(tuple(flags), blamed if is_called_off(match) else None)
