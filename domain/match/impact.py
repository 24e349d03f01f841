"""A match under another ruleset: the first place where it would have gone otherwise."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from domain.games import find_ruleset
from domain.match import events as e
from domain.match.audit import outcome_words
from domain.match.evolve import evolve
from domain.match.positions import under_ruleset
from domain.match.state import MatchState

SETUP: Final = "setup"
ILLEGAL_MOVE: Final = "illegal-move"
FAULT: Final = "fault"
POSITION: Final = "position"
TURN: Final = "turn"
OUTCOME: Final = "outcome"


class UnplayableError(ValueError):
    """A match that its own rulesets cannot replay; the message says where and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Where a match and its replay part: after ``ply`` plies (0: before the first one) at the event ``version``.

    ``kind`` is one of the constants above. ``recorded`` is the record of the match there, ``instead`` the counterpart
    under the other ruleset: a setup, a move and why it is refused, a position string, a seat, or an outcome.
    """

    ply: int
    version: int
    kind: str
    recorded: str
    instead: str


def impact(match: str, events: Iterable[e.Event], old: int, new: int) -> Difference | None:
    """Return where the match of ``events`` would first have gone otherwise under the ruleset ``new``, or None.

    The moves played under ``old`` are compared, not the alternatives to them: the events are replayed under both
    rulesets side by side. Raises UnknownRulesetError when there is no ruleset ``new`` of its game, and UnplayableError.
    """
    was: MatchState | None = None
    then: MatchState | None = None
    for event in events:
        before, was = was, evolve(was, event, match)
        if was.ruleset != old:
            then = None
            continue
        if was.play.broken is not None:
            raise UnplayableError(was.play.broken)
        if isinstance(event, e.MatchCreated):
            installed = find_ruleset(event.game, new).setups.values()
            setups = [(setup.name, len(setup.seat_names)) for setup in installed]
            if (event.setup, len(event.seats)) not in setups:
                choices = ", ".join(f"{name} for {seats}" for name, seats in setups)
                return Difference(
                    ply=0,
                    version=was.version,
                    kind=SETUP,
                    recorded=f"{event.setup} for {len(event.seats)}",
                    instead=choices,
                )
            event = replace(event, ruleset=new)
        # A match that comes under the old ruleset later has a past that the new one did not make.
        then = under_ruleset(was, new, event.at) if before is not None and then is None else evolve(then, event, match)
        if then.play.broken is not None:
            return _fault(was, event, then.play.broken)
        if before is None or was.play.position is not before.play.position:
            difference = _compared(was, then)
            if difference is not None:
                kind, recorded, instead = difference
                return Difference(
                    ply=len(was.play.moves), version=was.version, kind=kind, recorded=recorded, instead=instead
                )
    return None


def _compared(was: MatchState, then: MatchState) -> tuple[str, str, str] | None:
    """Return the difference between rules where a match stands: kind, recorded, instead; None without one."""
    old, new = (find_ruleset(state.game, state.ruleset) for state in (was, then))
    if was.play.position != then.play.position:
        # Writing positions takes long. Rulesets may hold one and the same in different forms, never two in one form.
        recorded, instead = old.format_position(was.play.position), new.format_position(then.play.position)
        if recorded != instead:
            return POSITION, recorded, instead
    turn, other_turn = old.to_move(was.play.position), new.to_move(then.play.position)
    if turn != other_turn:
        return TURN, str(turn), str(other_turn)
    outcome, other_outcome = (
        old.outcome(was.play.position, was.play.history),
        new.outcome(then.play.position, then.play.history),
    )
    if outcome != other_outcome:
        return OUTCOME, outcome_words(outcome), outcome_words(other_outcome)
    return None


def _fault(was: MatchState, event: e.Event, reason: str) -> Difference:
    ply = len(was.play.moves)
    if isinstance(event, e.MoveSubmitted):
        refusal = reason.removeprefix(f"ply {ply}, {event.move}: ")
        return Difference(ply=ply, version=was.version, kind=ILLEGAL_MOVE, recorded=event.move, instead=refusal)
    return Difference(ply=ply, version=was.version, kind=FAULT, recorded="", instead=reason)
