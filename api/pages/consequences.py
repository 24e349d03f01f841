"""The automatic moves that an action triggers at once: conditional moves, and only legal moves played for a player."""

from collections.abc import Callable, Mapping

from api.pages.available_actions import ANY_SEED
from domain.match import commands as c
from domain.match import events as e
from domain.match.decide import decide
from domain.match.enums import Channel
from domain.match.lines import ConditionalMoves
from domain.match.refusals import CommandError
from domain.match.state import MatchState

TRIGGERS: Mapping[str, Callable[[str], c.Command]] = {
    "draw-acceptance": lambda player: c.AcceptDraw(player=player),
    "draw-refusal": lambda player: c.DeclineDraw(player=player),
    "takeback-acceptance": lambda player: c.AcceptTakeback(player=player),
    "takeback-refusal": lambda player: c.DeclineTakeback(player=player),
    "time-claims": lambda player: c.CallTime(player=player),
    "forgiveness": lambda player: c.ForgiveFlag(player=player),
}
"""The actions after which it can be the acting player's turn, each with its command."""


def find_consequences(
    state: MatchState, viewer: str | None, conditional: ConditionalMoves | None, now: int
) -> dict[str, str]:
    """Return, for each of the TRIGGERS that would make automatic moves of the viewer, a sentence about these.

    ``conditional`` are the viewer's own; those of the other players are private.
    """
    seat = state.seat_of(viewer) if viewer else None
    if viewer is None or seat is None or conditional is None or conditional == ConditionalMoves():
        return {}
    found = {
        action: _automatic_moves(state, command(viewer), seat, conditional, now) for action, command in TRIGGERS.items()
    }
    return {action: words for action, words in found.items() if words}


def _automatic_moves(state: MatchState, command: c.Command, seat: int, conditional: ConditionalMoves, now: int) -> str:
    try:
        events = decide(state, command, now, {seat: conditional}, ANY_SEED).events
    except CommandError:
        return ""
    automatic = (Channel.CONDITIONAL, Channel.FORCED)
    return " ".join(_describe(event) for event in events if getattr(event, "channel", None) in automatic)


def _describe(event: e.Event) -> str:
    if isinstance(event, e.MoveSubmitted):
        kind = "conditional move" if event.channel == Channel.CONDITIONAL else "only legal move"
        return f"Your {kind} {event.move} is then played."
    return "You then resign, as your conditional moves say." if isinstance(event, e.PlayerResigned) else ""
