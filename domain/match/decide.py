"""Who may do what in a match, and when: state and command in, events and the state after them out."""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, get_args

from domain.match import commands as c, events as e
from domain.match.decisions import cases, creation, moves, offers, timekeeping
from domain.match.enums import Status
from domain.match.evolve import Decision, evolve
from domain.match.lines import ConditionalMoves, with_answers
from domain.match.refusals import CommandError
from domain.match.state import MatchState


def decide(
    state: MatchState | None,
    command: c.Command,
    now: int,
    orders: Mapping[int, ConditionalMoves] = MappingProxyType({}),
    fresh_seed: str | None = None,
) -> Decision:
    """Return the events that ``command`` causes at ``now`` (milliseconds since 1970 UTC), and the match after them.

    ``state`` is None for a match that does not exist yet. Time never runs backwards within a match: an event is never
    dated before the one in front of it, unless it corrects the time. ``orders`` are the conditional moves by seat:
    those that the command makes due follow at once. ``fresh_seed`` is a secret one, for a match against opponents that
    goes on with known ones. Raises CommandError when the command is not allowed, ValueError when there is no seed and
    one is needed.
    """
    if isinstance(command, c.CreateMatch):
        if state is not None:
            raise CommandError("match-exists", "this match has been created already")
        created, *others = creation.create_match(command, now)
        return Decision(state=evolve(None, created, command.match), events=(created,)).then(*others)
    if state is None:
        raise CommandError("no-such-match", "there is no such match")
    now = now if isinstance(command, c.CorrectTime) else max(now, state.updated_at)
    if isinstance(command, c.SubmitMove):
        decision = moves.submit_move(state, command, now)
    elif isinstance(command, c.SubmitMoves):
        decision = moves.submit_moves(state, command, now)
    else:
        decision = Decision(state=state).then(*_DECISIONS[type(command)](state, command, now))
    if not decision.events:
        return decision
    if needs_fresh_seed(decision.state, decision.events[-1]):
        if fresh_seed is None:
            raise ValueError(f"match {state.match_id} goes on with seeds that are known, and there is no other")
        decision = decision.then(e.SeedDrawn(at=now, seed=fresh_seed))
    return with_answers(decision, orders, now) if orders else decision


RESUMPTIONS = (e.MovesTakenBack, e.MatchRestored, e.FlagForgiven)
"""After these a match goes on with seeds that may be known."""


def needs_fresh_seed(state: MatchState, resumed_by: e.Event | None) -> bool:
    """Tell whether the match, as it stands after the event ``resumed_by``, has to draw a seed."""
    resumed = isinstance(resumed_by, RESUMPTIONS) and state.status == Status.PLAYING
    return resumed and any(seat.level is not None for seat in state.seats)


_DECISIONS: Mapping[type[c.PlainCommand], Callable[[MatchState, Any, int], tuple[e.Event, ...]]] = {
    command: getattr(module, name)
    for command in get_args(c.PlainCommand)
    for name in (re.sub(r"(?<=[a-z])(?=[A-Z])", "_", command.__name__).lower(),)
    for module in (cases, creation, moves, offers, timekeeping)
    if hasattr(module, name)
}
"""By type of command the function of its name: ``join_match`` for JoinMatch."""
