"""From a figure to HTML: its boards, its claims in words, and the position as screen-reader text."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup

from api.pages import wording
from api.pages.pictures import trace_of_move
from domain.errors import RulesError
from domain.game import AnyGame, Setup
from domain.games import find_ruleset
from domain.match.endings import reason_words
from domain.scene import Cell, Label, Piece, Scene
from events.pictures.board import Trace, draw, face_id, faces
from events.pictures.symbols import Symbols

MARGIN = 0.5
"""How far outside a part of a board, in squares, a label still belongs to it."""


class ClaimedResult(NamedTuple):
    """How a game is claimed to end: one score per seat, and the reason."""

    scores: tuple[float, ...]
    reason: str


class Only(NamedTuple):
    """The legal moves whose strings match ``pattern`` are ``moves``, separated by spaces, or ``number`` of them."""

    words: str
    pattern: str
    moves: str = ""
    number: int = 0

    @property
    def sentence(self) -> str:
        """The claim as a part of the caption."""
        if self.number:
            return f"{self.words}: {self.number} in all."
        moves = ", ".join(f"`{move}`" for move in self.moves.split())
        return f"{self.words}: {moves}; no others." if moves else f"{self.words}: none."


class Figure(NamedTuple):
    """One figure. Moves are in canonical notation, separated by spaces.

    ``caption`` may hold moves and squares in backquotes. ``moves`` are played from ``position`` and lead to ``after``,
    which is drawn beside it. ``view`` is two squares at opposite corners of the part of the board that is drawn
    (default: the whole board).

    Claims about ``position``: ``complete`` lists all legal moves (empty: there are none), ``move_count`` is their
    number, ``legal`` moves are among them and ``illegal`` ones are not, ``read`` pairs other spellings with the moves
    they name, and ``reached`` lists all moves of the piece on ``reach``, drawn as marks on the squares. ``result`` is
    the end of the game after ``moves``; ``going_on`` claims that it has not ended. ``only`` are claims about all moves
    of some kind, which end the caption. All claims hold under ``ruleset`` (None: the default one).
    """

    id: str
    position: str
    caption: str
    moves: str = ""
    after: str = ""
    complete: str | None = None
    move_count: int | None = None
    legal: str = ""
    illegal: str = ""
    read: tuple[tuple[str, str], ...] = ()
    reach: str = ""
    reached: str = ""
    result: ClaimedResult | None = None
    going_on: bool = False
    view: tuple[str, str] | None = None
    ruleset: int | None = None
    only: tuple[Only, ...] = ()


def read_figures(path: Path) -> tuple[Figure, ...]:
    """Return the figures in a TOML file, in order; raises TypeError for an unknown or a missing member."""
    return tuple(_figure(**fields) for fields in tomllib.loads(path.read_text())["figure"])


def _figure(
    *,
    caption: str,
    read: Iterable[Iterable[str]] = (),
    result: Mapping[str, Any] | None = None,
    view: tuple[str, str] | None = None,
    only: Iterable[Mapping[str, Any]] = (),
    **fields: Any,
) -> Figure:
    claims = tuple(Only(**claim) for claim in only)
    return Figure(
        caption=" ".join((caption, *(claim.sentence for claim in claims))),
        read=tuple((text, move) for text, move in read),
        result=None if result is None else ClaimedResult(tuple(result["scores"]), result["reason"]),
        view=None if view is None else (view[0], view[1]),
        only=claims,
        **fields,
    )


def rules_of(game: AnyGame, figure: Figure) -> AnyGame:
    """Return the rules that the claims of ``figure`` refer to; raises UnknownRulesetError."""
    return game if figure.ruleset is None else find_ruleset(game.id, figure.ruleset)


def crop(scene: Scene, view: tuple[str, str] | None) -> Scene:
    """Return the part of ``scene`` between two squares at its corners, with its coordinates."""
    if view is None:
        return scene
    corners = [cell for cell in scene.cells if cell.square in view]
    left, right = min(cell.x for cell in corners), max(cell.x for cell in corners) + 1
    top, bottom = min(cell.y for cell in corners), max(cell.y for cell in corners) + 1
    cells = tuple(cell for cell in scene.cells if left <= cell.x < right and top <= cell.y < bottom)
    squares = {cell.square for cell in cells}
    return scene._replace(
        cells=cells,
        labels=tuple(_labels_of(scene, left, top, right, bottom)),
        columns={square: pieces for square, pieces in scene.columns.items() if square in squares},
        links=tuple(link for link in scene.links if squares.issuperset(link)),
    )


def _labels_of(scene: Scene, left: float, top: float, right: float, bottom: float) -> Iterable[Label]:
    """Yield the labels of a part of the board; labels beside the whole board move next to the part."""
    board_left, board_bottom = min(cell.x for cell in scene.cells), max(cell.y for cell in scene.cells) + 1
    for label in scene.labels:
        within_x, within_y = left <= label.x <= right, top <= label.y <= bottom
        near_x = left - MARGIN < label.x < right + MARGIN
        near_y = top - MARGIN < label.y < bottom + MARGIN
        if within_x and label.y > board_bottom:
            yield label._replace(y=bottom + label.y - board_bottom)
        elif within_y and label.x < board_left:
            yield label._replace(x=left + label.x - board_left)
        elif (within_x and near_y) or (within_y and near_x):
            yield label


SIZES = ((6, "tiny"), (12, "small"), (16, "medium"))
"""The sizes of pictures by their greatest width in squares; wider ones are large."""

_CODE = Markup("<code>{}</code>")
_REACH_MARK = Markup('<circle class="reach-{kind}" cx="{x:g}" cy="{y:g}" r="{radius}"/>')


class FigureBoard(NamedTuple):
    """One picture of a figure: the SVG, its size (tiny, small, medium, large) and the line under it."""

    picture: Markup
    size: str
    title: str


class Refusal(NamedTuple):
    """A move that a figure shows to be illegal, and the reason that the rules give."""

    move: str
    reason: str


class Drawn(NamedTuple):
    """A figure ready for the page."""

    figure: Figure
    number: int
    caption: Markup
    boards: tuple[FigureBoard, ...]
    refusals: tuple[Refusal, ...]
    result: str
    spoken: tuple[str, ...]


def draw_figure(game: AnyGame, figure: Figure, number: int, symbols: Symbols | None = None) -> Drawn:
    """Return ``figure`` drawn with the ``symbols`` of its page; raises RulesError for moves that the rules reject."""
    position = game.parse_position(figure.position)
    setup = setup_of(game, position)
    traces = [Trace(0, entered=(figure.reach,))] if figure.reach else ()
    name = f"Figure {number}"
    whole = game.scene(position)
    scene = crop(whole, figure.view)
    before = draw(scene, setup.colours, picture=name, traces=traces, symbols=symbols)
    if figure.reach:
        before = _with_reach(before, scene, game, position, figure.reach)
    boards = [FigureBoard(before, _size(scene), _turn(game, position, setup))]
    end, last, moves = position, position, figure.moves.split()
    for text in moves:
        last, end = end, game.play(end, game.parse_move(end, text))
    if moves:
        scene = crop(game.scene(end), figure.view)
        after = draw(
            scene,
            setup.colours,
            picture=f"{name}, afterwards",
            traces=[trace_of_move(game, last, end)],
            symbols=symbols,
        )
        boards.append(FigureBoard(after, _size(scene), f"After {', '.join(moves)}"))
    return Drawn(
        figure,
        number,
        with_moves(figure.caption),
        tuple(boards),
        tuple(Refusal(move, _rejection(game, position, move)) for move in figure.illegal.split()),
        _result(game, figure.result, setup) if figure.result else "",
        tuple(whole.contents(cell.square) for cell in whole.cells if cell.square in whole.columns),
    )


def setup_of(game: AnyGame, position: Any) -> Setup:
    """Return a setup of ``game`` with as many seats as ``position`` has."""
    seats = game.seats_at(position)
    return next(setup for setup in game.setups.values() if len(setup.seat_names) == seats)


def with_moves(text: str) -> Markup:
    """Return ``text`` as HTML, with the parts in backquotes as code."""
    parts = text.split("`")
    return Markup().join(_CODE.format(part) if number % 2 else part for number, part in enumerate(parts))


def _with_reach(picture: Markup, scene: Scene, game: AnyGame, position: Any, square: str) -> Markup:
    """Return ``picture`` with marks on the squares that the piece on ``square`` acts on: dots, or rings if occupied."""
    ends = {hint.path[-1] for hint in game.hints(position).get(square, ()) if hint.path}
    marks = Markup().join(
        _reach_mark(cell, cell.square in scene.columns) for cell in scene.cells if cell.square in ends
    )
    drawing, end = picture.rsplit("</svg>", 1)
    return Markup('{}<g class="reach" aria-hidden="true">{}</g></svg>{}').format(drawing, marks, end)


def _reach_mark(cell: Cell, occupied: bool) -> Markup:
    kind, radius = ("taken", 0.44) if occupied else ("free", 0.15)
    return _REACH_MARK.format(kind=kind, x=cell.x + 0.5, y=cell.y + 0.5, radius=radius)


def _size(scene: Scene) -> str:
    width = max(cell.x for cell in scene.cells) - min(cell.x for cell in scene.cells) + 1
    return next((name for limit, name in SIZES if width <= limit), "large")


def _turn(game: AnyGame, position: Any, setup: Setup) -> str:
    if game.outcome(position, ()) is not None:
        return "The game is over"
    return f"{setup.seat_names[game.to_move(position)]} to move"


def _rejection(game: AnyGame, position: Any, move: str) -> str:
    """Return why the rules reject ``move``; empty if they accept it."""
    try:
        game.parse_move(position, move)
    except RulesError as error:
        return str(error)
    return ""


def _result(game: AnyGame, result: ClaimedResult, setup: Setup) -> str:
    scores = ", ".join(
        f"{name} {wording.score_words(score)}" for name, score in zip(setup.seat_names, result.scores, strict=True)
    )
    return f"{scores}: {reason_words(result.reason, game.id)} ({result.reason})"


VIEW = "-.48 -.46 .96 .92"
"""The extent of a piece, in squares, around the middle of its upper face."""

_PICTURE = Markup('<svg class="board piece-picture" viewBox="{}" aria-hidden="true"><use href="#{}"/></svg>')

_FROZEN = "frozen "


def piece_pictures(game: AnyGame, figures: Sequence[Figure], name: str, symbols: Symbols) -> Markup:
    """Return small pictures of a piece in the colours of all seats; a single one of a piece that belongs to no seat.

    Raises KeyError for a ``name`` that occurs neither in the game's setups nor in ``figures``.
    """
    frozen, kind = name.startswith(_FROZEN), name.casefold().removeprefix(_FROZEN)
    by_name = _pieces(game, tuple(figures))
    any_seat = by_name[kind]
    colours = max((setup.colours for setup in game.setups.values()), key=len)
    pieces = [any_seat] if any_seat.seat < 0 else [_of_seat(by_name, kind, seat) for seat in range(len(colours))]
    drawings = Markup().join(_picture(piece._replace(frozen=frozen), colours, symbols) for piece in pieces)
    return Markup('<span class="pieces">{}</span>').format(drawings)


def _of_seat(by_name: dict[str, Piece], kind: str, seat: int) -> Piece:
    return by_name.get(f"{seat} {kind}") or by_name[kind]._replace(seat=seat)


def _picture(piece: Piece, colours: Sequence[str], symbols: Symbols) -> Markup:
    symbols.define(faces([piece], colours))
    return _PICTURE.format(VIEW, face_id(piece, colours))


@lru_cache(maxsize=16)
def _pieces(game: AnyGame, figures: tuple[Figure, ...]) -> dict[str, Piece]:
    """Return a piece of each kind by its name, and one of each seat by number and name."""
    by_name: dict[str, Piece] = {}
    for position in _positions(game, figures):
        for piece in (piece for pieces in game.scene(position).columns.values() for piece in pieces):
            title = piece.title.casefold().removeprefix(_FROZEN)
            name = title.split(" ", 1)[1] if piece.seat >= 0 else title
            by_name.setdefault(name, piece)
            by_name.setdefault(f"{piece.seat} {name}", piece)
    return by_name


def _positions(game: AnyGame, figures: Iterable[Figure]) -> Iterable[Any]:
    yield from (game.initial(setup) for setup in game.setups)
    for figure in figures:
        yield rules_of(game, figure).parse_position(figure.position)
