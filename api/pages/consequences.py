"""What an act sets off at once beside itself: what its player has laid down beforehand and has not been played yet."""

from collections.abc import Callable, Mapping

from api.pages.available_actions import ANY_SEED
from domain.match import commands as c
from domain.match import events as e
from domain.match.decide import decide
from domain.match.enums import Channel
from domain.match.lines import ConditionalMoves
from domain.match.refusals import CommandError
from domain.match.state import MatchState

RELEASING: Mapping[str, Callable[[str], c.Command]] = {
    "draw-acceptance": lambda player: c.AcceptDraw(player=player),
    "draw-refusal": lambda player: c.DeclineDraw(player=player),
    "takeback-acceptance": lambda player: c.AcceptTakeback(player=player),
    "takeback-refusal": lambda player: c.DeclineTakeback(player=player),
    "time-claims": lambda player: c.CallTime(player=player),
    "forgiveness": lambda player: c.ForgiveFlag(player=player),
}
"""The acts after which it can be the turn of who acts, each with its command."""


def find_consequences(
    state: MatchState, viewer: str | None, orders: ConditionalMoves | None, now: int
) -> dict[str, str]:
    """Return what is done for the viewer right after each of the RELEASING acts that sets something off, in a sentence.

    ``orders`` are the viewer's own: what others have laid down is theirs to know.
    """
    seat = state.seat_of(viewer) if viewer else None
    if viewer is None or seat is None or orders is None or orders == ConditionalMoves():
        return {}
    found = {act: _released(state, command(viewer), seat, orders, now) for act, command in RELEASING.items()}
    return {act: words for act, words in found.items() if words}


def _released(state: MatchState, command: c.Command, seat: int, orders: ConditionalMoves, now: int) -> str:
    try:
        events = decide(state, command, now, {seat: orders}, ANY_SEED).events
    except CommandError:
        return ""
    return " ".join(
        _words(event) for event in events if getattr(event, "channel", None) in (Channel.CONDITIONAL, Channel.FORCED)
    )


def _words(event: e.Event) -> str:
    if isinstance(event, e.MoveSubmitted):
        kind = "conditional move" if event.channel == Channel.CONDITIONAL else "only legal move"
        return f"Your {kind} {event.move} is then played."
    return "You then resign, as you have laid down." if isinstance(event, e.PlayerResigned) else ""
