"""The panel in which a player sets up an army: its limits, with a drawing of every piece."""

from typing import NamedTuple

from markupsafe import Markup
from msgspec import json, to_builtins

from api.pages.pictures import colours_of
from api.representations.boards import Draft, represent_draft
from domain.game import AnyGame
from domain.match.enums import Status
from domain.match.state import MatchState
from domain.presentation import DraftPiece
from events.pictures.board import FOOT, faces


class PieceButton(NamedTuple):
    """A piece to choose, with its drawing and the id of the drawing."""

    piece: DraftPiece
    face: str
    drawing: Markup


class DraftPanel(NamedTuple):
    """The panel: the limits of the army, the same as JSON for the script, and the pieces."""

    limits: Draft
    json: str
    pieces: list[PieceButton]


def draft_panel(state: MatchState, game: AnyGame, seat: int | None) -> DraftPanel | None:
    """Return the panel for ``seat``; None unless it has an army to set up now."""
    playing = state.status == Status.PLAYING and state.play.broken is None and not state.cases.frozen
    if not playing or seat != game.to_move(state.play.position):
        return None
    draft = game.draft(state.play.position)
    if draft is None:
        return None
    colours, limits = colours_of(state, game), represent_draft(draft)
    buttons = [
        PieceButton(each, face, Markup(drawing))  # noqa: S704 - drawings are escaped
        for each in draft.pieces
        for face, drawing in faces([each.piece], colours, "draft-").items()
    ]
    facts = json.encode({**to_builtins(limits), "foot": FOOT}).decode()
    return DraftPanel(limits, facts, buttons)
