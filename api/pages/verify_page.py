"""The page that verifies bundles in the reader's browser, and the same page as one file that needs no server.

Both carry all that they need: the boards and pieces of all games and the public keys of this server. Their content
security policies allow no connection to anything, so that no one has to trust that a file stays where it is.
"""

import json
import posixpath
import re
from base64 import b64encode
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from typing import NamedTuple

from flask import Response, render_template
from markupsafe import Markup

from api.pages.layout import blueprint
from api.pages.static_files import CONTENTS
from api.services import services
from domain.game import AnyGame
from domain.games import GAMES
from domain.scene import Piece, Scene
from events.pictures.board import draw, face_id, faces
from events.pictures.turning import parts
from events.proof.public_keys import key_set


class EmptyBoard(NamedTuple):
    """The board of a game: its id, and the picture of the empty board."""

    game: str
    picture: Markup


@cache
def empty_boards() -> tuple[EmptyBoard, ...]:
    """Return the boards of all games."""
    return tuple(
        EmptyBoard(game.id, draw(_empty_scene(game), (), picture=f"The board of {game.title}"))
        for game in GAMES.values()
    )


@cache
def piece_drawings() -> Markup:
    """Return an element without size that defines the drawing of every piece of every game by its id."""
    drawings: dict[str, str] = {}
    for game in GAMES.values():
        for colours, pieces in pieces_of(game):
            drawings |= faces(pieces, colours)
    defined = "".join(drawings.values())
    return Markup(  # noqa: S704 - made of drawings, whose texts are escaped
        f'<svg class="symbols" width="0" height="0" aria-hidden="true"><defs>{defined}</defs></svg>'
    )


@cache
def board_tables() -> str:
    """Return, as JSON by game, its title, squares, drawing and title of each piece by letter, and position format.

    A square has its top left corner and the number of the part of the board, such as a level, that it belongs to. The
    squares are in the order of position strings, so that the format has the number of squares of each row only.
    The letters are those of position strings; a frozen piece has an exclamation mark after them.
    """
    tables = {}
    for game in GAMES.values():
        scene = _empty_scene(game)
        cells = {
            cell.square: (round(cell.x, 3), round(cell.y, 3), number)
            for number, part in enumerate(parts(scene.cells, scene.labels), 1)
            for cell in part.cells
        }
        rows = game.position_format.rows
        squares = {square: cells[square] for row in rows for square in row}
        letters = {
            piece.letter + "!" * piece.frozen: (face_id(piece, colours), piece.title)
            for colours, pieces in pieces_of(game)
            for piece in pieces
        }
        written = game.position_format._asdict() | {"rows": tuple(map(len, rows))}
        tables[game.id] = {"title": game.title, "squares": squares, "pieces": letters, "format": written}
    return json.dumps(tables, separators=(",", ":"))


def _empty_scene(game: AnyGame) -> Scene:
    scene = game.scene(game.initial(next(iter(game.setups))))
    return scene._replace(columns={}, spoken={}, links=(), notes=(), checked=())


def pieces_of(game: AnyGame) -> Iterable[tuple[tuple[str, ...], list[Piece]]]:
    """Yield the pieces of each setup, the frozen ones too, with the colours of its seats."""
    for setup in game.setups.values():
        texts = (setup.start, *game.further_pieces)
        scenes = [game.scene(game.parse_position(text)) for text in texts]
        pieces = {piece for scene in scenes for column in scene.columns.values() for piece in column}
        if len(setup.seat_names) > 2:
            pieces |= {
                piece._replace(frozen=True, title=f"frozen {piece.title}") for piece in pieces if piece.seat >= 0
            }
        yield setup.colours, sorted(pieces)


PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; manifest-src 'self'; connect-src 'none'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SCRIPT = "proof/page.js"
STYLES = ("picture.css", "verify.css")

_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./([^"]+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:function|const|class) (\w+))", re.MULTILINE)
_CLOSES_ELEMENT = re.compile(r"</(script|style)", re.IGNORECASE)


@blueprint.get("/verify")
def verify() -> Response:
    """Return the page that verifies a bundle in the browser, the same for everyone."""
    page = Response(render_template("verify.html", **_content(), person=None, awaiting="", bare=True))
    page.headers["Content-Security-Policy"] = PAGE_POLICY
    return page


@blueprint.get("/verify/rookery-verify.html")
def verify_alone() -> Response:
    """Return the same page as one file, with scripts and styles inside, which works without this server."""
    script, style = _script_alone(), _style_alone()
    policy = (
        f"default-src 'none'; script-src '{_hash_source(script)}'; style-src '{_hash_source(style)}'; "
        "connect-src 'none'; base-uri 'none'; form-action 'none'"
    )
    page = Response(
        render_template(
            "verify_alone.html",
            **_content(),
            alone=True,
            policy=policy,
            script=Markup(script),  # noqa: S704 - our own files
            style=Markup(style),  # noqa: S704 - our own files
        )
    )
    page.headers["Content-Security-Policy"] = f"{policy}; frame-ancestors 'none'"
    return page


def prepare() -> None:
    """Make the content of both forms of the page, so that no reader waits for it: it takes a tenth of a second."""
    for make in (empty_boards, piece_drawings, board_tables, _script_alone, _style_alone):
        make()


def _content() -> dict[str, object]:
    """Return the content of both forms of the page: boards, drawings, tables and keys."""
    return {
        "boards": empty_boards(),
        "drawings": piece_drawings(),
        "tables": _embedded(board_tables()),
        "keys": _embedded(json.dumps(key_set(services().keys.public()), separators=(",", ":"))),
    }


def _embedded(text: str) -> Markup:
    """Return JSON as it may stand inside of an element ``script``."""
    return Markup(text.replace("<", "\\u003c"))  # noqa: S704 - no sign is left that could end the element


@cache
def _script_alone() -> str:
    """Return the page's script and the modules that it imports, none of which renames an import, as one module."""
    ordered: list[str] = []

    def visit(name: str) -> None:
        if name not in ordered:
            for _, imported in _IMPORT.findall(CONTENTS[name].decode()):
                visit(_beside(name, imported))
            ordered.append(name)

    visit(SCRIPT)
    return _whole("const modules = {};\n" + "\n".join(map(_as_function, ordered)))


def _as_function(name: str) -> str:
    source = CONTENTS[name].decode()
    exported = ", ".join(export for _, export in _EXPORT.findall(source))
    source = _IMPORT.sub(lambda match: f'const {match[1]} = modules["{_beside(name, match[2])}"];', source)
    body = _EXPORT.sub(r"\1", source)
    return f'modules["{name}"] = (() => {{\n{body}\nreturn {{{exported}}};\n}})();'


def _beside(name: str, imported: str) -> str:
    return posixpath.join(posixpath.dirname(name), imported)


@cache
def _style_alone() -> str:
    return _whole("\n".join(CONTENTS[name].decode() for name in STYLES))


def _whole(text: str) -> str:
    """Return ``text`` if it may stand inside of an element as it is; raises ValueError."""
    if _CLOSES_ELEMENT.search(text):
        raise ValueError("a script or a style sheet would end the element that it stands in")
    return text


def _hash_source(text: str) -> str:
    """Return the source expression that allows ``text`` (Content Security Policy Level 3, 2.3.1)."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
