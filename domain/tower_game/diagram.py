"""The board as text and as a scene: eight ranks of 5 x 5 cubes beside each other."""

from domain.presentation import PositionFormat, matters, seats_to_move
from domain.scene import Cell, Label, Piece, Scene
from domain.tower_game.board import NAMES
from domain.tower_game.moves import MAX_HALFMOVE_CLOCK
from domain.tower_game.position import BLACK, KING, MEN, PAWN, Position, in_check

KINDS = ("king", "rook", "bishop", "merchant", "knight", "captain", "jester", "fool", "pawn")


def diagram(position: Position) -> str:
    """Return the ranks 5 to 8 over the ranks 1 to 4 as text, row e at the top, column a at the left."""
    lines = []
    for first in (4, 0):
        ranks = range(first, first + 4)
        lines.append("   ".join(f"  rank {z + 1}".ljust(11) for z in ranks))
        for y in range(4, -1, -1):
            rows = []
            for z in ranks:
                signs = (MEN[position.board[(x * 5 + y) * 8 + z]] for x in range(5))
                rows.append("abcde"[y] + " " + " ".join("." if sign == " " else sign for sign in signs))
            lines.append("   ".join(rows))
        lines.append("   ".join("  a b c d e" for _ in ranks))
        lines.append("")
    quiet = position.halfmove_clock
    counter = f", draw after {MAX_HALFMOVE_CLOCK} quiet moves ({quiet})" if matters(quiet, MAX_HALFMOVE_CLOCK) else ""
    lines.append(f"{'White' if position.side == 0 else 'Black'} to move{counter}")
    return "\n".join(line.rstrip() for line in lines)


def piece_of(code: int) -> Piece:
    """Return the man of ``code`` as people see it."""
    seat, kind = (1, code - BLACK) if code > BLACK else (0, code)
    name = KINDS[kind - 1]
    return Piece(seat, "monarch" if name == "king" else name, MEN[code], f"{('white', 'black')[seat]} {name}")


_PIECES = (None, *(piece_of(code) for code in range(1, PAWN + BLACK + 1)))
_GAP = 1.0
POSITION_FORMAT: PositionFormat = PositionFormat(
    rows=tuple(tuple(f"{file}{row}{rank}" for file in "abcde") for rank in range(8, 0, -1) for row in "edcba"),
    separators="[/|]",
    item="[1-5]|[KRBMNCJFPkrbmncjfp]",
    rest=r"[wb] \S+ \S+ [0-9]+",
    words=(seats_to_move((("w", "White"), ("b", "Black"))),),
)


def _place(x: int, y: int, z: int) -> tuple[float, float]:
    """Return the top left corner of a cube in the picture: ranks 1 to 4 below, 5 to 8 above, read from the left."""
    across, up = z % 4, z // 4
    return 0.6 + across * (5 + _GAP) + x, 0.9 + (1 - up) * (5 + 1.5) + (4 - y)


def _cells() -> tuple[Cell, ...]:
    cells = []
    for number, name in enumerate(NAMES):
        file, z = divmod(number, 8)
        x, y = divmod(file, 5)
        left, top = _place(x, y, z)
        # Bishops are bound to cubes of one shade.
        cells.append(Cell(name, left, top, "dark" if (x + y + z) % 2 == 0 else "light"))
    return tuple(cells)


def _labels() -> tuple[Label, ...]:
    labels = []
    for z in range(8):
        left, top = _place(0, 4, z)
        labels.append(Label(f"rank {z + 1}", left + 2.5, top - 0.35))
        for x in range(5):
            labels.append(Label("abcde"[x], left + x + 0.5, top + 5.3))
        for y in range(5):
            labels.append(Label("abcde"[y], left - 0.25, top + 4.5 - y))
    return tuple(labels)


_CELLS = _cells()
_LABELS = _labels()


def scene(position: Position) -> Scene:
    """Return the scene of a picture of the position."""
    columns = {NAMES[cube]: (piece,) for cube, code in enumerate(position.board) if (piece := _PIECES[code])}
    checked = (NAMES[position.board.index(KING + position.side * BLACK)],) if in_check(position) else ()
    spoken = {cube: f"{cube}: {columns[cube][0].title}, in check" for cube in checked}
    return Scene(0.6 + 4 * (5 + _GAP), 13.5, _CELLS, _LABELS, columns, spoken, checked=checked)
