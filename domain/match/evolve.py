"""How events make the state of a match. Who may do what is decided elsewhere (``domain.match.decide``)."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from domain.match import events as e
from domain.match.event_types import TYPES
from domain.match.evolutions import cases, creation, moves, offers, timekeeping
from domain.match.state import MatchState


def evolve(state: MatchState | None, event: e.Event, match_id: str = "") -> MatchState:
    """Return the state after ``event``; ``match_id`` is the id that the first event of a stream belongs to.

    A match that the rules cannot follow (a ruleset that is not installed, a recorded move that is not legal) is not an
    error: it is ``broken`` from there on. Raises ValueError when the first event is not the creation of a match or a
    later one is.
    """
    if isinstance(event, e.MatchCreated):
        if state is not None:
            raise ValueError(f"match {state.match_id} is created a second time at version {state.version + 1}")
        return creation.match_created(event, match_id)
    if state is None:
        raise ValueError(f"the stream of match {match_id!r} does not begin with its creation")
    if isinstance(event, e.MoveSubmitted):
        return moves.move_submitted(state, event)
    return replace(_EVOLUTIONS[type(event)](state, event), version=state.version + 1, updated_at=event.at)


def replay(match_id: str, events: Iterable[e.Event], state: MatchState | None = None) -> MatchState | None:
    """Return the state after ``events``, which follow ``state``; None when there are none at all."""
    for event in events:
        state = evolve(state, event, match_id)
    return state


_EVOLUTIONS: Mapping[type[e.Event], Callable[[MatchState, Any], MatchState]] = {
    made: getattr(module, name.replace("-", "_"))
    for name, made in TYPES.items()
    for module in (cases, creation, moves, offers, timekeeping)
    if hasattr(module, name.replace("-", "_"))
}
"""By type of event the function of its name: ``draw_offered`` of DrawOffered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The ``events`` that a command causes, and the match after them."""

    state: MatchState
    events: tuple[e.Event, ...] = ()

    def then(self, *events: e.Event) -> "Decision":
        """Return this decision with ``events`` following."""
        state = self.state
        for event in events:
            state = evolve(state, event)
        return Decision(state=state, events=self.events + events)
