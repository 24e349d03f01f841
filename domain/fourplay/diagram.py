"""The board as text and as a scene."""

from domain.fourplay.attacks import king_of, players_in_check
from domain.fourplay.board import NAMES, NUMBERS, QUADRANTS, SIDE
from domain.fourplay.position import (
    BUDGET,
    ITEM,
    KIND_CODES,
    KING,
    MAX_HALFMOVE_CLOCK,
    NEUTRON,
    PLAYERS,
    ROWS,
    TITLES,
    Position,
    army_cost,
)
from domain.presentation import PositionFormat, matters
from domain.scene import Cell, Label, Piece, Scene

SEATS = ("Red", "Blue", "Yellow", "Green")
TURNS = (0, 3, 2, 1)
"""The quarter turns clockwise that bring each seat's corner to the lower left."""
_QUADRANT_KINDS = ("red", "blue", "yellow", "green")


POSITION_FORMAT: PositionFormat = PositionFormat(
    rows=ROWS,
    item=ITEM,
    rest=r"[rbyg] (?:setup|play) \S+ \S+ [0-9]+",
    words=(
        (
            *((rf"^{letter} (\w+).*", f"{name} $1") for letter, name in zip(PLAYERS, SEATS, strict=True)),
            ("setup$", "sets up"),
            ("play$", "to move"),
        ),
    ),
    frozen=3,
    links=4,
)


def diagram(position: Position) -> str:
    """Return the board as text: owner letter and piece code on each square, frozen pieces in brackets."""
    lines = []
    for row in range(SIDE - 1, -1, -1):
        signs = []
        for column in range(SIDE):
            code = position.board[column * SIDE + row]
            if not code:
                sign = "+" if QUADRANTS[column * SIDE + row] is None else "."
            elif code == NEUTRON:
                sign = "*"
            else:
                player = (code >> 4) - 1
                sign = PLAYERS[player] + KIND_CODES[code & 15]
                sign = f"[{sign}]" if player in position.eliminated else sign
            signs.append(sign.ljust(4))
        lines.append(f"{row + 1:>2} {' '.join(signs)}")
    lines.append("   " + " ".join(letter.ljust(4) for letter in "abcdefghijklmno"))
    for dog, host in position.attachments:
        lines.append(f"the Little Dog on {NAMES[dog]} is attached to {NAMES[host]}")
    if position.setup:
        lines.append(f"{SEATS[position.side]} sets up, {army_cost(position.board, position.side)} of {BUDGET} spent")
    else:
        eliminated = ", ".join(SEATS[player] for player in position.eliminated)
        ending = f"; out: {eliminated}" if eliminated else ""
        turns = position.halfmove_clock
        is_near = matters(turns, MAX_HALFMOVE_CLOCK)
        counter = f", {turns} turns of {MAX_HALFMOVE_CLOCK} without a capture" if is_near else ""
        lines.append(f"{SEATS[position.side]} to move{counter}{ending}")
    return "\n".join(line.rstrip() for line in lines)


def _cells() -> tuple[Cell, ...]:
    cells = []
    for square, name in enumerate(NAMES):
        column, row = divmod(square, SIDE)
        player = QUADRANTS[square]
        zone = "neutral" if player is None else _QUADRANT_KINDS[player]
        shade = "dark" if (column + row) % 2 == 0 else "light"
        cells.append(Cell(name, 0.6 + column, 0.2 + SIDE - 1 - row, f"{zone} {shade}"))
    return tuple(cells)


_CELLS = _cells()
_LABELS = (
    *(Label(letter, 1.1 + column, SIDE + 0.55) for column, letter in enumerate("abcdefghijklmno")),
    *(Label(str(row + 1), 0.3, 0.7 + SIDE - 1 - row) for row in range(SIDE)),
)


def piece_of(player: int, kind: int, frozen: bool = False) -> Piece:
    """Return the drawing of a piece."""
    title = f"{'frozen ' if frozen else ''}{SEATS[player].lower()} {TITLES[kind]}"
    drawing = "monarch" if kind == KING else TITLES[kind].lower().replace(" ", "-")
    return Piece(player, drawing, PLAYERS[player] + KIND_CODES[kind], title, frozen)


def scene(position: Position) -> Scene:
    """Return the scene of a picture of the position: frozen armies marked, attachments as links."""
    columns = {}
    for name, square in NUMBERS.items():
        code = position.board[square]
        if code == NEUTRON:
            columns[name] = (Piece(-1, "neutron", "*", "Neutron"),)
        elif code:
            player = (code >> 4) - 1
            columns[name] = (piece_of(player, code & 15, player in position.eliminated),)
    spoken = {
        NAMES[dog]: f"{NAMES[dog]}: {columns[NAMES[dog]][0].title}, attached to {NAMES[host]}"
        for dog, host in position.attachments
    }
    links = tuple((NAMES[dog], NAMES[host]) for dog, host in position.attachments)
    kings = tuple(NAMES[king_of(position, player)] for player in players_in_check(position))
    spoken |= {name: f"{name}: {columns[name][0].title}, in check" for name in kings}
    return Scene(0.8 + SIDE, SIDE + 1.0, _CELLS, _LABELS, columns, spoken, links, checked=kings)
