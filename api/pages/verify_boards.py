"""Empty boards and drawings of all pieces, for the page that replays the positions of a bundle without a server."""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

from markupsafe import Markup

from domain.game import AnyGame
from domain.games import GAMES
from domain.scene import Piece, Scene
from events.pictures.board import draw, face_id, faces
from events.pictures.turning import parts

_WITH_ALL_PIECES: Mapping[str, tuple[str, ...]] = {
    "bashni": ("1b1b1b1b/b1b1b1b1/1b1b1B1b/8/8/w1w1W1w1/1w1w1w1w/w1w1w1w1 w 0",),
    "tower-game": (
        "rnmmr/ccmmn/cckjj/nbbjj/rbbnr|ppppp/ppppp/ppppp/ppppp/ppppp|5/5/5/5/5|f4/5/5/5/5|5/5/5/5/4F|5/5/5/5/5"
        "|PPPPP/PPPPP/PPPPP/PPPPP/PPPPP|RNBBR/CCBBN/CCKJJ/NMMJJ/RMMNR w - - 0",
    ),
    "four-towers": ("dmk/rnbdcq/ppppppbnr/6pppp/l8w/9/L8W/PPPP6/RNBPPPPPP/QCDBNR/KMD w - -/- - 0 1",),
}
"""Positions with the kinds of pieces that no start position of the game has."""


class Board(NamedTuple):
    """The board of a game: its id, and the picture of the empty board."""

    game: str
    picture: Markup


@cache
def empty_boards() -> tuple[Board, ...]:
    """Return the boards of all games."""
    return tuple(
        Board(game.id, draw(_empty_scene(game), (), picture=f"The board of {game.title}")) for game in GAMES.values()
    )


@cache
def piece_drawings() -> Markup:
    """Return an element without size that defines the drawing of every piece of every game by its id."""
    drawings: dict[str, str] = {}
    for game in GAMES.values():
        for colours, pieces in _pieces(game):
            drawings |= faces(pieces, colours)
    defined = "".join(drawings.values())
    return Markup(  # noqa: S704 - made of drawings, whose texts are escaped
        f'<svg class="symbols" width="0" height="0" aria-hidden="true"><defs>{defined}</defs></svg>'
    )


@cache
def board_tables() -> str:
    """Return, as JSON by game, its title, its squares, and drawing and title of each piece by letter.

    A square has its top left corner and the number of the part of the board, such as a level, that it belongs to.
    The letters are those of position strings; a frozen piece has an exclamation mark after them.
    """
    tables = {}
    for game in GAMES.values():
        scene = _empty_scene(game)
        squares = {
            cell.square: (round(cell.x, 3), round(cell.y, 3), number)
            for number, part in enumerate(parts(scene.cells, scene.labels), 1)
            for cell in part.cells
        }
        letters = {
            piece.letter + "!" * piece.frozen: (face_id(piece, colours), piece.title)
            for colours, pieces in _pieces(game)
            for piece in pieces
        }
        tables[game.id] = {"title": game.title, "squares": squares, "pieces": letters}
    return json.dumps(tables, separators=(",", ":"))


def _empty_scene(game: AnyGame) -> Scene:
    scene = game.scene(game.initial(next(iter(game.setups))))
    return scene._replace(columns={}, spoken={}, links=(), notes=(), checked=())


def _pieces(game: AnyGame) -> Iterable[tuple[tuple[str, ...], list[Piece]]]:
    """Yield the pieces of each setup, the frozen ones too, with the colours of its seats."""
    for setup in game.setups.values():
        texts = (setup.start, *_WITH_ALL_PIECES.get(game.id, ()))
        scenes = [game.scene(game.parse_position(text)) for text in texts]
        pieces = {piece for scene in scenes for column in scene.columns.values() for piece in column}
        if len(setup.seat_names) > 2:
            pieces |= {each._replace(frozen=True, title=f"frozen {each.title}") for each in pieces if each.seat >= 0}
        yield setup.colours, sorted(pieces)
