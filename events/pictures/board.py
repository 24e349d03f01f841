"""The one renderer of boards: a scene becomes an SVG picture. It knows kinds of pieces and squares, but no game.

A column is drawn as a stack of discs seen from above and in front: the commander shows its face, every piece below it
shows its rim. Colours come from the style sheet alone; seats and ranks can also be told apart by lightness, letters and
shapes. Lengths are in squares, as in the scene.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import cos, hypot, pi, sin, sqrt

from markupsafe import Markup, escape

from domain.scene import Cell, Label, Piece, Scene
from events.pictures.figures import figure

Extent = tuple[float, float, float, float]
"""Left, top, right and bottom."""

RADIUS_X = 0.37
RADIUS_Y = 0.235
RIM = 0.1
"""The height of a disc, and the step from one piece of a column to the next."""

TALLEST = 1.15
"""How far a column may rise above its lowest piece; a column of more pieces is pressed together."""

BASE = 0.15
"""How far below the middle of its square a column stands."""

HEADROOM = 0.3
"""Room above the board, for columns of the farthest row."""

FINE = 13
"""A scene of more squares than these in width has small ones: its labels are larger in proportion."""

LONGEST_COORDINATE = 2
"""A longer label is the name of a part of the board."""

PLAIN_KINDS = {"man", "stone"}
MONOCHROME = {"white", "black"}
"""The colours that differ in lightness and need no letter to be told apart."""


def colour_names(seat_names: Sequence[str]) -> tuple[str, ...]:
    """Return the colour class of each seat: seats are called by their colours in every game."""
    return tuple("".join(letter for letter in name.lower() if letter.isalnum()) for name in seat_names)


def draw(
    scene: Scene,
    colours: Sequence[str],
    *,
    turned: bool = False,
    marked: Sequence[str] = (),
    picture: str = "",
) -> Markup:
    """Return the SVG element of ``scene``.

    ``colours`` is the colour class of each seat; ``turned`` shows the board from the other side; ``marked`` is the
    squares of the last move, in order (squares that the scene does not have are left out). With ``picture``, a name
    that is unique on its page, it is a mere picture with nothing to point at. Escaped and well-formed, with geometry
    attributes and classes only, so that it may stand under a policy that forbids inline styles.
    """
    places = _places(scene, turned)
    role = f'role="img" aria-label="{escape(picture)}"' if picture else 'role="group" aria-label="Board"'
    scope = f"{''.join(filter(str.isalnum, picture))}-" if picture else ""
    parts = [
        f'<svg class="board" xmlns="http://www.w3.org/2000/svg" viewBox="{_view(scene)}" {role}>',
        "<defs>",
        *_faces(scene, colours, scope),
        "</defs>",
        '<g class="cells">',
        *_cells(places),
        "</g>",
        '<g class="marks">',
        *_marks(dict(_by_square(places)), marked),
        "</g>",
        f'<g class="labels{" fine" if scene.width > FINE else ""}" aria-hidden="true">',
        *_labels(scene, turned),
        "</g>",
        '<g class="links" aria-hidden="true">',
        *_links(scene, dict(_by_square(places))),
        "</g>",
        '<g class="columns" aria-hidden="true">',
        *_columns(scene, places, colours, scope),
        "</g>",
        '<g class="squares">',
        *(_squares(scene, places) if not picture else ()),
        "</g></svg>",
    ]
    return Markup("".join(parts))  # noqa: S704 - every text above is escaped


def _places(scene: Scene, turned: bool) -> list[tuple[Cell, tuple[float, float]]]:
    """Return every cell with its top left corner as drawn, the far ones first so that near columns overlap them."""
    if not turned:
        placed = [(cell, (cell.x, cell.y)) for cell in scene.cells]
    else:
        left, top, right, bottom = _extent(scene.cells)
        placed = [(cell, (left + right - cell.x - 1, top + bottom - cell.y - 1)) for cell in scene.cells]
    return sorted(placed, key=lambda place: (place[1][1], place[1][0]))


def _view(scene: Scene) -> str:
    """Return the part of the scene to show: cells and labels, with headroom for a tall column in the farthest row."""
    left, top, right, bottom = _extent(scene.cells)
    xs = [label.x for label in scene.labels]
    ys = [label.y for label in scene.labels]
    left, right = min([left, *(x - 0.2 for x in xs)]), max([right, *(x + 0.2 for x in xs)])
    top, bottom = min([top, *(y - 0.2 for y in ys)]) - HEADROOM, max([bottom, *(y + 0.2 for y in ys)])
    return f"{_n(left - 0.02)} {_n(top)} {_n(right - left + 0.04)} {_n(bottom - top + 0.02)}"


def _extent(cells: Sequence[Cell]) -> Extent:
    """Return left, top, right and bottom of ``cells`` together."""
    xs = [cell.x for cell in cells]
    ys = [cell.y for cell in cells]
    return min(xs), min(ys), max(xs) + 1, max(ys) + 1


def _by_square(places: Iterable[tuple[Cell, tuple[float, float]]]) -> Iterable[tuple[str, tuple[float, float]]]:
    return ((cell.square, corner) for cell, corner in places)


def _labels(scene: Scene, turned: bool) -> Iterable[str]:
    left, top, right, bottom = _extent(scene.cells)
    for label in scene.labels:
        x, y = label.x, label.y
        if turned:
            part = min(_parts(scene.cells), key=lambda part: _distance(part, label))
            x, y = _turned(x, part[0], part[2], left + right), _turned(y, part[1], part[3], top + bottom)
        kind = "label label-name" if len(label.text) > LONGEST_COORDINATE else "label"
        yield f'<text class="{kind}" x="{_n(x)}" y="{_n(y)}" dy=".35em">{escape(label.text)}</text>'


def _turned(place: float, start: float, end: float, both_ends: float) -> float:
    """Return the new place, on one axis, of a label whose part of the board goes from ``start`` to ``end``.

    It stays on its side of the part; along that side it turns with the squares. The part turns with the board, the sum
    of whose ends is ``both_ends``.
    """
    return (start + end - place if start <= place <= end else place) + both_ends - start - end


@lru_cache(maxsize=64)
def _parts(cells: tuple[Cell, ...]) -> tuple[Extent, ...]:
    """Return the extent of each part of the board: of cells that hang together by their sides."""
    left = {(round(cell.x, 3), round(cell.y, 3)): cell for cell in cells}
    parts = []
    while left:
        place, cell = left.popitem()
        part, reached = [cell], [place]
        while reached:
            x, y = reached.pop()
            for beside in ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)):
                place = (round(beside[0], 3), round(beside[1], 3))
                if place in left:
                    part.append(left.pop(place))
                    reached.append(place)
        parts.append(_extent(part))
    return tuple(parts)


def _distance(part: Extent, label: Label) -> float:
    """Return how far a label is from a part of the board."""
    return hypot(max(part[0] - label.x, 0, label.x - part[2]), max(part[1] - label.y, 0, label.y - part[3]))


def _marks(corners: dict[str, tuple[float, float]], marked: Sequence[str]) -> Iterable[str]:
    seen = [square for square in marked if square in corners]
    for number, square in enumerate(seen):
        kind = "to" if number == len(seen) - 1 else "from" if number == 0 else "via"
        x, y = corners[square]
        corner = f'x="{_n(x + 0.04)}" y="{_n(y + 0.04)}"'
        yield f'<rect class="mark mark-{kind}" {corner} width=".92" height=".92" rx=".06"/>'


def _cells(places: Iterable[tuple[Cell, tuple[float, float]]]) -> Iterable[str]:
    """Yield one path for all cells of a kind: a board of two hundred cubes is a few shapes."""
    outlines: dict[str, list[str]] = {}
    for cell, (x, y) in places:
        outlines.setdefault(cell.kind, []).append(f"M{_n(x)} {_n(y)}h1v1h-1z")
    for kind, outline in outlines.items():
        classes = " ".join(f"cell-{part}" for part in kind.split())
        yield f'<path class="cell {escape(classes)}" d="{"".join(outline)}"/>'


def _links(scene: Scene, corners: dict[str, tuple[float, float]]) -> Iterable[str]:
    for one, other in scene.links:
        (x1, y1), (x2, y2) = corners[one], corners[other]
        yield f'<path class="link" d="M{_n(x1 + 0.5)} {_n(y1 + 0.5)}L{_n(x2 + 0.5)} {_n(y2 + 0.5)}"/>'


def _columns(
    scene: Scene, places: Iterable[tuple[Cell, tuple[float, float]]], colours: Sequence[str], scope: str
) -> Iterable[str]:
    for cell, (left, top) in places:
        pieces = scene.columns.get(cell.square, ())
        if not pieces:
            continue
        x, base = left + 0.5, top + 0.5 + BASE
        step = min(RIM, TALLEST / len(pieces))
        yield f'<g class="column" data-square="{escape(cell.square)}">'
        for level, piece in enumerate(pieces):
            y = base - RIM - step * level
            face = scope + _face_id(piece, colours)
            yield f'<use href="#{face}" x="{_n(x)}" y="{_n(y)}" data-title="{escape(piece.title)}"/>'
        if len(pieces) > 1:
            yield f'<text class="height" x="{_n(left + 0.96)}" y="{_n(top + 0.95)}">{len(pieces)}</text>'
        yield "</g>"


def _squares(scene: Scene, places: Iterable[tuple[Cell, tuple[float, float]]]) -> Iterable[str]:
    """Yield what is pointed at and focused: one button per square, above all pictures, with the notes on it."""
    notes: dict[str, str] = {}
    for square, title, text in scene.notes:
        notes[square] = notes.get(square, "") + f'<desc data-title="{escape(title)}">{escape(text)}</desc>'
    for cell, (x, y) in places:
        spoken = scene.spoken.get(cell.square, f"{cell.square}: empty")
        yield (
            f'<g class="square" role="button" tabindex="-1" data-square="{escape(cell.square)}" data-x="{_n(x + 0.5)}" '
            f'data-y="{_n(y + 0.5)}" aria-label="{escape(spoken)}">{notes.get(cell.square, "")}'
            f'<rect x="{_n(x)}" y="{_n(y)}" width="1" height="1"/>'
            f'<circle class="target" cx="{_n(x + 0.5)}" cy="{_n(y + 0.5)}" r=".15"/></g>'
        )


def _face_id(piece: Piece, colours: Sequence[str]) -> str:
    sort = f"{_colour(piece, colours)}-{piece.kind}-{ord(piece.letter[:1] or ' ')}"
    return str(escape(f"face-{sort}{'-frozen' if piece.frozen else ''}"))


def _colour(piece: Piece, colours: Sequence[str]) -> str:
    return colours[piece.seat] if 0 <= piece.seat < len(colours) else "nobody"


def _faces(scene: Scene, colours: Sequence[str], scope: str) -> Iterable[str]:
    """Yield one drawing for each sort of piece on the board; its origin is the middle of the upper face."""
    sorts: dict[str, Piece] = {}
    for pieces in scene.columns.values():
        for piece in pieces:
            sorts.setdefault(_face_id(piece, colours), piece)
    for name, piece in sorted(sorts.items()):
        colour = _colour(piece, colours)
        drawing = (
            _castle() if piece.kind == "castle" else figure(piece.kind, colour, piece.frozen) or _disc(piece, colour)
        )
        classes = f"piece piece-{colour} kind-{piece.kind}{' frozen' if piece.frozen else ''}"
        yield f'<g id="{scope}{name}" class="{escape(classes)}">{drawing}</g>'


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


_CROWN = "M-.17 .11L-.23 -.08L-.1 .005L0 -.16L.1 .005L.23 -.08L.17 .11Z"
_BAND = _polyline(_on_rim(-0.27 + 0.09 * number, 0.85 if number % 2 == 0 else 0.3) for number in range(7))
_TICKS = {
    "blue": "".join(_polyline((_on_rim(x, 0.2), _on_rim(x, 0.9))) for x in (-0.2, -0.07, 0.07, 0.2)),
    "red": _polyline(_on_rim(-0.3 + 0.05 * number, 0.55) for number in range(13)),
    "yellow": "".join(_polyline((_on_rim(x, 0.5), _on_rim(x + 0.03, 0.5))) for x in (-0.24, -0.1, 0.06, 0.2)),
    "green": "".join(_polyline((_on_rim(x, 0.9), _on_rim(x + 0.08, 0.1))) for x in (-0.26, -0.12, 0.04, 0.18)),
}
