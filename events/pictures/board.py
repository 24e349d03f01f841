"""The one renderer of boards: a scene becomes an SVG picture. It knows kinds of pieces and squares, but no game.

A column is a stack of discs: the commander shows its face, every piece below its rim. Colours come from the style sheet
alone. Lengths are in squares.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from math import cos, pi, sin, sqrt
from typing import NamedTuple

from markupsafe import Markup, escape

from domain.scene import Cell, Label, Piece, Scene
from events.pictures.figures import figure
from events.pictures.symbols import Symbols
from events.pictures.turning import BoardPart, parts, turn_scene

Extent = tuple[float, float, float, float]

RADIUS_X = 0.37
RADIUS_Y = 0.235
RIM = 0.1
"""The height of a disc, and the step from one piece of a column to the next."""

MAX_COLUMN_HEIGHT = 1.15
"""How far a column may rise above its lowest piece; a taller one is compressed."""

BASE = 0.15
"""How far below the middle of its square a column stands."""

FOOT = BASE - RIM
"""How far below the middle of its square the drawing of a single piece has its origin."""

HEADROOM = 0.3
"""Room above the board, for columns of the farthest row."""

FINE = 13
"""A scene of more squares than these in width has small ones: its labels are larger in proportion."""

OLDEST = 3
"""Marks of moves that are older than this look the same."""

MAX_COORDINATE_LETTERS = 2
"""A longer label is the name of a part of the board."""

PLAIN_KINDS = {"man", "stone"}
CHECK = "check"
_TILE_LETTERS = {"ant": "An"}
"""On the tile of a piece whose letter in the notation is none."""

MONOCHROME = {"white", "black"}
"""The colours that differ in lightness and need no letter to be told apart."""


class Trace(NamedTuple):
    """The marks of a move: the seat that made it, and the squares that it left, changed on the way and entered."""

    seat: int
    left: Sequence[str] = ()
    passed: Sequence[str] = ()
    entered: Sequence[str] = ()


def trace_between(seat: int, before: Scene, after: Scene) -> Trace:
    """Return the trace of a move of ``seat``: the squares on which ``before`` and ``after`` differ.

    Squares from which pieces only went away were left if a piece of ``seat`` stood there on top, else passed, as by a
    capture. Pieces that change nothing but their owner do not count.
    """
    squares: dict[str, list[str]] = {"left": [], "passed": [], "entered": []}
    for cell in after.cells:
        old, new = (_owned(scene.columns.get(cell.square, ())) for scene in (before, after))
        if old == new:
            continue
        entered = len(new) > len(old) or (bool(new) and new[-1] not in old)
        squares["entered" if entered else "left" if old[-1].seat == seat else "passed"].append(cell.square)
    return Trace(seat, **squares)


def _owned(pieces: Sequence[Piece]) -> list[Piece]:
    return [piece._replace(frozen=False, title="") for piece in pieces]


class SquareMark(NamedTuple):
    """A square to mark, and the classes of its mark."""

    square: str
    classes: str


def draw(
    scene: Scene,
    colours: Sequence[str],
    *,
    quarters: int = 0,
    traces: Sequence[Trace] = (),
    picture: str = "",
    symbols: Symbols | None = None,
) -> Markup:
    """Return the SVG element of ``scene``, turned clockwise by ``quarters``.

    ``colours`` are classes by seat, ``traces`` the moves to mark, the latest last. With ``picture``, a unique name, it
    has no controls and may share drawings through ``symbols``. It may stand under a policy that forbids inline styles.
    """
    scene = turn_scene(scene, quarters)
    role = f'role="img" aria-label="{escape(picture)}"' if picture else 'role="group" aria-label="Board"'
    scope = f"{''.join(filter(str.isalnum, picture))}-" if picture and symbols is None else ""
    marks = marks_on(scene, traces, colours)
    groups = parts(scene.cells, scene.labels)
    pieces = faces((piece for pieces in scene.columns.values() for piece in pieces), colours, scope)
    if symbols is not None:
        symbols.define(pieces)
    drawn = [
        f'<svg class="board{" parted" if len(groups) > 1 else ""}" xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="{_view(scene)}" preserveAspectRatio="xMinYMin" {role}>',
        *(("<defs>", *pieces.values(), "</defs>") if symbols is None else ()),
        '<g class="parts">',
    ]
    for number, part in enumerate(groups, 1):
        layers = _part(scene, part, marks, colours, scope, bool(picture), symbols)
        drawn += [f'<g class="part part-{number}">', *layers, "</g>"]
    return Markup("".join((*drawn, "</g></svg>")))  # noqa: S704 - every text above is escaped


def _part(
    scene: Scene,
    part: BoardPart,
    marks: Sequence[SquareMark],
    colours: Sequence[str],
    scope: str,
    still: bool,
    symbols: Symbols | None,
) -> Iterable[str]:
    """Yield the layers of a part of the board, from its squares up to its buttons."""
    cells = part.cells
    corners = {cell.square: (cell.x, cell.y) for cell in cells}
    share = str if symbols is None else symbols.share
    fine = " fine" if scene.width > FINE else ""
    yield share("".join(('<g class="cells">', *_cells(cells), "</g>")))
    yield '<g class="marks">'
    yield from (mark_at(mark, *corners[mark.square]) for mark in marks if mark.square in corners)
    yield "</g>"
    yield share("".join((f'<g class="labels{fine}" aria-hidden="true">', *_labels(part.labels), "</g>")))
    yield '<g class="links" aria-hidden="true">'
    yield from (link_between(corners[one], corners[other]) for one, other in scene.links if one in corners)
    yield '</g><g class="columns" aria-hidden="true">'
    # The far ones come first, so that near columns overlap them.
    column = still_column_at if still else column_at
    yield from (column(cell, scene.columns.get(cell.square, ()), colours, scope) for cell in cells)
    yield "</g>"
    if not still:
        notes = notes_on(scene)
        yield '<g class="squares">'
        yield from (_square(cell, scene.contents(cell.square), notes.get(cell.square, "")) for cell in cells)
        yield "</g>"


def _view(scene: Scene) -> str:
    """Return the part of the scene to show: cells and labels, with headroom for a tall column in the farthest row."""
    left, top, right, bottom = _extent(scene.cells)
    xs = [label.x for label in scene.labels]
    ys = [label.y for label in scene.labels]
    left, right = min([left, *(x - 0.2 for x in xs)]), max([right, *(x + 0.2 for x in xs)])
    top, bottom = min([top, *(y - 0.2 for y in ys)]) - HEADROOM, max([bottom, *(y + 0.2 for y in ys)])
    return f"{_n(left - 0.02)} {_n(top)} {_n(right - left + 0.04)} {_n(bottom - top + 0.02)}"


def _extent(cells: Sequence[Cell]) -> Extent:
    xs = [cell.x for cell in cells]
    ys = [cell.y for cell in cells]
    return min(xs), min(ys), max(xs) + 1, max(ys) + 1


def _labels(labels: Iterable[Label]) -> Iterable[str]:
    for label in labels:
        kind = "label label-name" if len(label.text) > MAX_COORDINATE_LETTERS else "label"
        yield f'<text class="{kind}" x="{_n(label.x)}" y="{_n(label.y)}" dy=".35em">{escape(label.text)}</text>'


def marks_on(scene: Scene, traces: Sequence[Trace], colours: Sequence[str]) -> list[SquareMark]:
    """Return the marks of the moves, the latest last, then of kings in check; by seat where there are several."""
    board_squares = {cell.square for cell in scene.cells}
    marks = []
    for age, (seat, *kinds) in zip(range(len(traces) - 1, -1, -1), traces, strict=True):
        maker = f" by-{colours[seat]}" if len(traces) > 1 and 0 <= seat < len(colours) else ""
        older = f" age-{min(age, OLDEST)}" if age else ""
        for kind, squares in zip(("from", "via", "to"), kinds, strict=True):
            classes = f"mark mark-{kind}{maker}{older}"
            marks += [SquareMark(square, classes) for square in squares if square in board_squares]
    return marks + [SquareMark(square, CHECK) for square in scene.checked]


def mark_at(mark: SquareMark, x: float, y: float) -> str:
    """Return the drawing of a mark on the square whose top left corner is given: a star for a king in check."""
    if mark.classes == CHECK:
        return f'<path class="{CHECK}" d="{_polyline((x + 0.5 + dx, y + 0.5 + dy) for dx, dy in _STAR)}Z"/>'
    corner = f'x="{_n(x + 0.04)}" y="{_n(y + 0.04)}"'
    place = f'data-square="{escape(mark.square)}" {corner}'
    return f'<rect class="{escape(mark.classes)}" {place} width=".92" height=".92" rx=".06"/>'


def _cells(cells: Iterable[Cell]) -> Iterable[str]:
    """Yield one path for all cells of a kind: a board of two hundred cubes is a few shapes."""
    outlines: dict[str, list[str]] = {}
    for cell in cells:
        outlines.setdefault(cell.kind, []).append(f"M{_n(cell.x)} {_n(cell.y)}h1v1h-1z")
    for kind, outline in outlines.items():
        classes = " ".join(f"cell-{part}" for part in kind.split())
        yield f'<path class="cell {escape(classes)}" d="{"".join(outline)}"/>'


def link_between(one: tuple[float, float], other: tuple[float, float]) -> str:
    """Return the line between two squares whose top left corners are given."""
    (x1, y1), (x2, y2) = one, other
    return f'<path class="link" d="M{_n(x1 + 0.5)} {_n(y1 + 0.5)}L{_n(x2 + 0.5)} {_n(y2 + 0.5)}"/>'


def column_at(cell: Cell, pieces: Sequence[Piece], colours: Sequence[str], scope: str = "") -> str:
    """Return the drawing of ``pieces``, bottom first, on a square; nothing where there are none.

    Pieces of a column have their names, which the name of a square has for a single one.
    """
    if not pieces:
        return ""
    titles = [f' data-title="{escape(piece.title)}"' if len(pieces) > 1 else "" for piece in pieces]
    drawn = "".join(
        f'<use href="#{face}" x="{_n(x)}" y="{_n(y)}"{title}/>'
        for (face, x, y), title in zip(_stacked(cell, pieces, colours, scope), titles, strict=True)
    )
    return f'<g class="column" data-square="{escape(cell.square)}">{drawn}{_height(cell, pieces)}</g>'


def still_column_at(cell: Cell, pieces: Sequence[Piece], colours: Sequence[str], scope: str = "") -> str:
    """Return the drawing of ``pieces`` on a square of a picture, without their names."""
    stacked = _stacked(cell, pieces, colours, scope)
    return "".join(f'<use href="#{face}" x="{_n(x)}" y="{_n(y)}"/>' for face, x, y in stacked) + _height(cell, pieces)


def _stacked(
    cell: Cell, pieces: Sequence[Piece], colours: Sequence[str], scope: str
) -> Iterable[tuple[str, float, float]]:
    """Yield the id of each piece's face and where it is drawn."""
    base = cell.y + 0.5 + BASE - RIM
    step = min(RIM, MAX_COLUMN_HEIGHT / len(pieces)) if pieces else RIM
    for level, piece in enumerate(pieces):
        yield scope + face_id(piece, colours), cell.x + 0.5, base - step * level


def _height(cell: Cell, pieces: Sequence[Piece]) -> str:
    if len(pieces) < 2:
        return ""
    return f'<text class="height" x="{_n(cell.x + 0.96)}" y="{_n(cell.y + 0.95)}">{len(pieces)}</text>'


def notes_on(scene: Scene) -> dict[str, str]:
    """Return the notes on squares as descriptions, by square."""
    notes: dict[str, str] = {}
    for square, title, text in scene.notes:
        notes[square] = notes.get(square, "") + f'<desc data-title="{escape(title)}">{escape(text)}</desc>'
    return notes


def _square(cell: Cell, spoken: str, notes: str) -> str:
    """Return the button of a square, above all drawings, with the notes on the square; scripts add the rest."""
    return (
        f'<g class="square" role="button" tabindex="-1" data-square="{escape(cell.square)}" '
        f'aria-label="{escape(spoken)}">{notes}<rect x="{_n(cell.x)}" y="{_n(cell.y)}" width="1" height="1"/></g>'
    )


def face_id(piece: Piece, colours: Sequence[str]) -> str:
    """Return the id of the drawing of pieces of this sort, as ``faces`` has it without a scope."""
    sort = f"{_colour(piece, colours)}-{piece.kind}-{ord(piece.letter[:1] or ' ')}"
    return str(escape(f"face-{sort}{'-frozen' if piece.frozen else ''}"))


def _colour(piece: Piece, colours: Sequence[str]) -> str:
    return colours[piece.seat] if 0 <= piece.seat < len(colours) else "nobody"


def faces(pieces: Iterable[Piece], colours: Sequence[str], scope: str = "") -> dict[str, str]:
    """Return one drawing for each sort of ``pieces`` by its id; its origin is the middle of the upper face."""
    sorts: dict[str, Piece] = {}
    for piece in pieces:
        sorts.setdefault(scope + face_id(piece, colours), piece)
    return {name: _face(name, piece, _colour(piece, colours)) for name, piece in sorted(sorts.items())}


def _face(name: str, piece: Piece, colour: str) -> str:
    letters = _TILE_LETTERS.get(piece.kind) or (piece.letter[1:] or piece.letter.upper())
    stands = figure(piece.kind, colour, piece.frozen, letters)
    drawing = _castle() if piece.kind == "castle" else stands or _disc(piece, colour)
    classes = f"piece piece-{colour} kind-{piece.kind}{' frozen' if piece.frozen else ''}"
    return f'<g id="{name}" class="{escape(classes)}">{drawing}</g>'


def _disc(piece: Piece, colour: str) -> str:
    body = _drum(RADIUS_X, RADIUS_Y, RIM)
    if piece.kind == "king":
        return f'{body}<path class="crown-band" d="{_BAND}"/><path class="crown" d="{_CROWN}"/>'
    ring = f'<ellipse class="ring" rx="{_n(RADIUS_X * 0.72)}" ry="{_n(RADIUS_Y * 0.72)}"/>'
    if piece.kind in PLAIN_KINDS and colour in MONOCHROME:
        return body + ring
    ticks = f'<path class="ticks" d="{_TICKS[colour]}"/>' if colour in _TICKS else ""
    letter = f'<text class="letter" dy=".34em">{escape(piece.letter.upper())}</text>' if piece.letter else ""
    return body + ticks + ring + letter


@cache
def swatch(colour: str) -> Markup:
    """Return a small picture of a plain disc in a seat's colour, to stand beside its name."""
    drawing = _disc(Piece(0, "man", "", ""), colour)
    view = 'viewBox="-.42 -.3 .84 .72"'
    return Markup(  # noqa: S704 - every text is escaped
        f'<svg class="swatch piece piece-{escape(colour)}" {view} aria-hidden="true">{drawing}</svg>'
    )


def _drum(rx: float, ry: float, rim: float) -> str:
    return (
        f'<path class="rim" d="M{_n(-rx)} 0V{_n(rim)}A{_n(rx)} {_n(ry)} 0 0 0 {_n(rx)} {_n(rim)}V0Z"/>'
        f'<ellipse class="top" rx="{_n(rx)}" ry="{_n(ry)}"/>'
    )


def _castle() -> str:
    """Return a round castle: a drum with a battlement all round, into which the pieces of a tower are set."""
    rx, ry, tooth = 0.415, 0.295, 0.08
    teeth = []
    for number in range(12):
        angle = 2 * pi * (number + 0.5) / 12
        x, y = rx * 0.94 * cos(angle), ry * 0.94 * sin(angle)
        half = 0.03 + 0.035 * abs(sin(angle))
        foot = y + (0.035 if y > 0 else 0.0)
        teeth.append((y, f"M{_n(x - half)} {_n(foot)}v{_n(y - tooth - foot)}h{_n(2 * half)}v{_n(foot - y + tooth)}z"))
    back = "".join(path for y, path in sorted(teeth) if y < 0)
    front = "".join(path for y, path in sorted(teeth) if y >= 0)
    return (
        f'<path class="tooth" d="{back}"/>{_drum(rx, ry, RIM)}'
        f'<ellipse class="court" rx="{_n(rx * 0.84)}" ry="{_n(ry * 0.84)}"/><path class="tooth" d="{front}"/>'
    )


def _on_rim(x: float, depth: float) -> tuple[float, float]:
    """Return the point of the front of the rim at ``x``, ``depth`` from its upper (0) to its lower (1) edge."""
    return x, RADIUS_Y * sqrt(1 - (x / RADIUS_X) ** 2) + RIM * depth


def _polyline(points: Iterable[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{_n(x)} {_n(y)}" for x, y in points)


def _n(value: float) -> str:
    """Return a coordinate in the shortest form, exact to a thousandth of a square."""
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


_STAR = [
    (radius * sin(pi * number / 12), -radius * cos(pi * number / 12)) for number, radius in enumerate((0.52, 0.39) * 12)
]
"""The points of a star whose points show beside the figure that stands on it."""
_CROWN = "M-.17 .11L-.23 -.08L-.1 .005L0 -.16L.1 .005L.23 -.08L.17 .11Z"
_BAND = _polyline(_on_rim(-0.27 + 0.09 * number, 0.85 if number % 2 == 0 else 0.3) for number in range(7))
_TICKS = {
    "blue": "".join(_polyline((_on_rim(x, 0.2), _on_rim(x, 0.9))) for x in (-0.2, -0.07, 0.07, 0.2)),
    "red": _polyline(_on_rim(-0.3 + 0.05 * number, 0.55) for number in range(13)),
    "yellow": "".join(_polyline((_on_rim(x, 0.5), _on_rim(x + 0.03, 0.5))) for x in (-0.24, -0.1, 0.06, 0.2)),
    "green": "".join(_polyline((_on_rim(x, 0.9), _on_rim(x + 0.08, 0.1))) for x in (-0.26, -0.12, 0.04, 0.18)),
}
