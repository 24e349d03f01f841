"""The form that every contest has: commands -> decide -> events -> evolve -> state, all of it pure."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, get_args


class ContestEvent(Protocol):
    """An event of a contest: a frozen dataclass, dated ``at`` (milliseconds since 1970 UTC)."""

    @property
    def at(self) -> int:
        """The instant."""


S = TypeVar("S")
C = TypeVar("C")
E = TypeVar("E", bound=ContestEvent)


class Aggregate(NamedTuple, Generic[S, C, E]):
    """The functions of one kind of contest.

    - ``decide(state, command, now)`` returns the events that a command causes; raises CommandError. No state: None.
    - ``evolve(state, event, id)`` returns the state after an event; raises ValueError for one that cannot follow.
    - ``deadline(state)`` is the instant at which time makes something due, ``due(state, now)`` the command for it.
    - ``command_behind(state, event, id)`` returns the command that caused an event: decided again it gives the event.
    """

    decide: Callable[[S | None, C, int], tuple[E, ...]]
    evolve: Callable[[S | None, E, str], S]
    deadline: Callable[[S], int | None]
    due: Callable[[S, int], C | None]
    command_behind: Callable[[S | None, E, str], C]


def replay(aggregate: Aggregate[S, C, E], id: str, events: Iterable[E], state: S | None = None) -> S | None:
    """Return the state of the contest ``id`` after ``events``, which follow ``state``; None when there are none."""
    for event in events:
        state = aggregate.evolve(state, event, id)
    return state


def event_types(union: Any) -> Mapping[str, type[Any]]:
    """Return the classes of a union of events by the names that they are stored under: "seek-posted" of SeekPosted."""
    return {re.sub(r"(?<=[a-z])(?=[A-Z])", "-", made.__name__).lower(): made for made in get_args(union)}
