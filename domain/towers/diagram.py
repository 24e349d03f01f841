"""Pictures of a Towers position: as text, and as a scene for a renderer."""

from collections.abc import Sequence

from domain.facts import repetition_fact
from domain.grid import Grid
from domain.presentation import GameFact, Hint, PositionFormat, matters, seats_to_move
from domain.scene import Piece, Scene
from domain.towers.board import (
    CASTLES,
    EMPTY,
    LETTERS,
    MAX_HEIGHT,
    MAX_PUSHES,
    SEAT_NAMES,
    SIDE,
    SQUARE_NUMBERS,
    SQUARES,
    pieces_of,
)
from domain.towers.features import FIRST_PUSH, castle_counts
from domain.towers.moves import key, legal_moves
from domain.towers.notation import format_move
from domain.towers.position import Position, letters_of

_GREEN = Piece(-1, "castle", "g", "green castle piece")


def diagram(position: Position) -> str:
    """Return the board with whole towers, bottom first, then supplies, the side to move and the pushes in a row."""
    letters = LETTERS[len(position.supplies)]
    names = SEAT_NAMES[len(position.supplies)]
    lines = []
    for rank in range(SIDE - 1, -1, -1):
        towers = [letters_of(square, position.board[square], letters) for square in range(rank, len(SQUARES), SIDE)]
        lines.append(_row(str(rank + 1), [tower or "." for tower in towers]))
    lines += [_row("", list("abcdefg")), ""]
    for letter, name, supply in zip(letters, names, position.supplies, strict=True):
        lines.append(f"{letter} {name}: {supply} in supply")
    lines.append(f"{names[position.side]} to move")
    if matters(position.pushes, MAX_PUSHES):
        lines.append(f"Pushes in a row: {position.pushes} of {MAX_PUSHES}")
    return "\n".join(lines)


def _row(head: str, cells: list[str]) -> str:
    return (f"{head:1}  " + " ".join(f"{cell:{MAX_HEIGHT}}" for cell in cells)).rstrip()


def scene(position: Position) -> Scene:
    """Return the scene of ``position``: seven by seven cells with a margin of half a square for the coordinates."""
    columns = {
        SQUARES[square]: _column(position, square) for square, tower in enumerate(position.board) if tower != EMPTY
    }
    spoken = {name: _description(square, columns.get(name, ())) for square, name in enumerate(SQUARES)}
    return _GRID.scene(columns, spoken)


def counts(position: Position) -> tuple[GameFact, ...]:
    """Return the supply of each seat, its castles and crowned castles (section 7), and the pushes in a row."""
    seats = range(len(position.supplies))
    castles, crowned = ([goals >> 4 * seat & 15 for seat in seats] for goals in _castle_goals(position))
    needed = (4, 3) if len(seats) == 2 else (3, 2)
    return (
        *(GameFact("Supply", seat, str(position.supplies[seat])) for seat in seats),
        *(GameFact("Castles", seat, f"{castles[seat]} of {needed[0]}") for seat in seats),
        *(GameFact("Crowned castles", seat, f"{crowned[seat]} of {needed[1]}") for seat in seats),
        GameFact("Pushes in a row", None, f"{position.pushes} of {MAX_PUSHES}"),
    )


def _castle_goals(position: Position) -> tuple[int, int]:
    """Return the castles and the crowned castles of the seats, four bits each."""
    goals = castle_counts(position.features)
    return goals & 0xFFFF, goals >> 16


def _kind(name: str) -> str:
    square = SQUARE_NUMBERS[name]
    return "castle" if square in CASTLES else "light" if sum(divmod(square, SIDE)) % 2 else "dark"


def _column(position: Position, square: int) -> tuple[Piece, ...]:
    players = len(position.supplies)
    pieces = [_PIECES[players][seat] for seat in pieces_of(position.board[square])]
    if square in CASTLES:
        pieces[0] = _GREEN
    return tuple(pieces)


def _description(square: int, column: tuple[Piece, ...]) -> str:
    if not column:
        return f"{SQUARES[square]}: empty"
    colours = " over ".join(piece.title.split(" ")[0] for piece in reversed(column))
    kind = "castle" if square in CASTLES else "tower"
    return f"{SQUARES[square]}: {kind}, height {len(column)}, {colours}"


_PIECES = {
    players: tuple(
        Piece(seat, "stone", letter, f"{name.lower()} piece")
        for seat, (letter, name) in enumerate(zip(letters, SEAT_NAMES[players], strict=True))
    )
    for players, letters in LETTERS.items()
}
_GRID = Grid("abcdefg", SIDE, _kind)
POSITION_FORMAT: PositionFormat = PositionFormat(
    rows=_GRID.rows,
    item="[1-7],?|[wurbg]{1,5},?",
    piece="[wurbg]",
    rest="[24] [wurb] [0-9]+",
    words=(seats_to_move(zip(LETTERS[4], SEAT_NAMES[4], strict=True), before="[24] "),),
)


def hints(position: Position) -> dict[str, tuple[Hint, ...]]:
    """Return the towers that can act; a build needs no further square, a push its last square."""
    by_square: dict[str, list[Hint]] = {}
    for move in legal_moves(position):
        text = format_move(position, move)
        if move < FIRST_PUSH:
            by_square.setdefault(SQUARES[move], []).append(Hint(text, (), "build"))
        else:
            by_square.setdefault(text[:2], []).append(Hint(text, (text[3:],), "push"))
    return {square: tuple(hints) for square, hints in sorted(by_square.items())}


def demand(position: Position) -> str:
    """Return the demand to push, if the player to move can do nothing else (section 3.1)."""
    return "" if position.supplies[position.side] else "Your supply is empty: you can only push."


def facts(position: Position, history: Sequence[Position]) -> tuple[GameFact, ...]:
    """Return the supply, the castles and the crowned castles of each seat, and the pushes in a row."""
    return (*counts(position), *repetition_fact(position, history, key))
