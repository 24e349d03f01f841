"""What a command comes to."""

from dataclasses import dataclass

from domain.match import events as e
from domain.match.evolve import evolve
from domain.match.state import MatchState


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
