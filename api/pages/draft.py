"""The panel in which an army is set up: what it may consist of, with a picture of every piece."""

from typing import Any

from markupsafe import Markup
from msgspec import to_builtins

from api.pages.pictures import colours_of
from api.representations.boards import represent_draft
from domain.game import AnyGame
from domain.match.enums import Status
from domain.match.state import MatchState
from events.pictures.board import FOOT, faces


def draft_panel(state: MatchState, game: AnyGame, seat: int | None) -> dict[str, Any] | None:
    """Return what the panel shows; None unless ``seat`` has an army to set up now."""
    playing = state.status == Status.PLAYING and state.play.broken is None and not state.cases.frozen
    if not playing or seat != game.to_move(state.play.position):
        return None
    draft = game.draft(state.play.position)
    if draft is None:
        return None
    colours = colours_of(state, game)
    drawings = [next(iter(faces([each.piece], colours, "draft-").items())) for each in draft.pieces]
    return {
        "facts": {**to_builtins(represent_draft(draft)), "foot": FOOT},
        "pieces": [
            (piece, name, Markup(drawing))  # noqa: S704 - made of the shapes of figures
            for piece, (name, drawing) in zip(draft.pieces, drawings, strict=True)
        ],
        "whole_turns": bool(state.terms and state.terms.whole_turns),
    }
