"""What another ruleset would have made of a match: the first place where it would have gone otherwise."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from domain.game import Outcome, RulesError
from domain.games import find_ruleset
from domain.match import events as e
from domain.match.evolve import evolve
from domain.match.state import MatchState

SETUP: Final = "setup"
ILLEGAL_MOVE: Final = "illegal-move"
POSITION: Final = "position"
TURN: Final = "turn"
OUTCOME: Final = "outcome"


class Difference(NamedTuple):
    """Where a match and its replay part: after ``ply`` plies (0: before the first one) at the event ``version``.

    ``kind`` is one of the constants above. ``recorded`` is what the match has there, ``instead`` what the other ruleset
    says: a setup, a move and why it is refused, a position string, a seat, or an outcome.
    """

    ply: int
    version: int
    kind: str
    recorded: str
    instead: str


def impact(match: str, events: Iterable[e.Event], ruleset: int) -> Difference | None:
    """Return where the match of ``events`` would first have gone otherwise under ``ruleset`` of its game, or None.

    What was played is compared, not what else could have been: the events are replayed under both rulesets side by
    side. Raises UnknownRuleset when there is no such ruleset, and what ``evolve`` raises on the match as it is.
    """
    was: MatchState | None = None
    then: MatchState | None = None
    for version, event in enumerate(events, 1):
        before, was = was, evolve(was, event, match)
        ply = len(was.moves)
        try:
            then = evolve(then, _under(event, ruleset), match)
        except _NoSetup as missing:
            return Difference(ply, version, SETUP, was.setup, str(missing))
        except RulesError as refusal:
            move = event.move if isinstance(event, e.MoveSubmitted) else ""
            return Difference(ply, version, ILLEGAL_MOVE, move, str(refusal))
        if before is None or was.position is not before.position:
            for kind, recorded, instead in zip(_KINDS, _standing(was), _standing(then), strict=True):
                if recorded != instead:
                    return Difference(ply, version, kind, recorded, instead)
    return None


class _NoSetup(Exception):
    """The other ruleset cannot begin a match like that; the message says what it knows."""


def _under(event: e.Event, ruleset: int) -> e.Event:
    """Return ``event`` as it would be in a match of ``ruleset``: only the first one names it."""
    if not isinstance(event, e.MatchCreated):
        return event
    setups = find_ruleset(event.game, ruleset).setups
    if event.setup not in setups or len(setups[event.setup].seat_names) != len(event.seats):
        raise _NoSetup(", ".join(f"{setup.name} for {len(setup.seat_names)}" for setup in setups.values()))
    return event._replace(ruleset=ruleset)


_KINDS = (POSITION, TURN, OUTCOME)


def _standing(state: MatchState) -> tuple[str, str, str]:
    """Return what the rules say where a match stands: position, seat to move, outcome."""
    game, position = find_ruleset(state.game, state.ruleset), state.position
    outcome = game.outcome(position, state.history)
    return game.format_position(position), str(game.to_move(position)), _said(outcome)


def _said(outcome: Outcome | None) -> str:
    if outcome is None:
        return "it goes on"
    return f"{' - '.join(f'{score:g}' for score in outcome.scores)} ({outcome.reason})"
