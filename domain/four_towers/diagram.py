"""The board as text and as a scene, with gaps between the arenas and towers in these gaps."""

from domain.four_towers.attacks import BISHOP, BLACK, CARDINAL, CODES, DRAGON, KING, KNIGHT, LANCER, QUEEN, on_towers
from domain.four_towers.board import (
    ARENA_OF,
    COORDINATES,
    FILES_OF_RANKS,
    NAMES,
    NUMBERS,
    NUMERALS,
    TOUCHED,
    TOWER_SET,
    TOWERS,
    ZONE_OF,
    ZONES,
    members_of,
)
from domain.four_towers.position import (
    COMPONENTS,
    MAX_HALFMOVE_CLOCK,
    NO_RETURN,
    Position,
    letter_of,
    memory_text,
    pair_text,
)
from domain.presentation import PositionFormat, matters, seats_to_move
from domain.scene import Cell, Label, Note, Piece, Scene

TITLES = ("", "rook", "bishop", "queen", "knight", "marshall", "cardinal", "wizard", "king", "dragon", "pawn", "lancer")
"""By code."""
_FILES = "abcdefghijk"
_COLOURS = ("White", "Black")


_TO_MOVE = seats_to_move((("w", "White"), ("b", "Black")))
POSITION_FORMAT: PositionFormat = PositionFormat(
    rows=tuple(tuple(f"{file}{rank}" for file in FILES_OF_RANKS[rank - 1]) for rank in range(11, 0, -1)),
    item="[0-9]+|[RNBQMCWKDPLrnbqmcwkdpl]",
    rest=r"[wb] \S+ \S+ \S+ [0-9]+ [0-9]+",
    words=(
        _TO_MOVE,
        (
            (r"^\S+ \S+ (\S+) .*", "$1"),
            ("-", "nothing"),
            ("([A-Z])(?=[A-Z])", "$1, "),
            ("(.*)/(.*)", "dragons imitate $1 (White) and $2 (Black)"),
        ),
        ((r"^\S+ \S+ \S+ (\S+) .*", "$1"), ("^-$", ""), ("@", " may return on ")),
    ),
)


def diagram(position: Position) -> str:
    """Return the board as text: a dot for a vacant square, a plus for a vacant tower."""
    lines = []
    for rank in range(11, 0, -1):
        signs = []
        for file in _FILES:
            if file not in FILES_OF_RANKS[rank - 1]:
                signs.append(" ")
                continue
            square = NUMBERS[f"{file}{rank}"]
            code = position.board[square]
            signs.append(letter_of(code) if code else "+" if TOWER_SET >> square & 1 else ".")
        lines.append(f"{rank:>2} {' '.join(signs)}".rstrip())
    lines.append("   " + " ".join(_FILES))
    white, black = map(memory_text, position.memories)
    quiet = position.halfmove_clock
    counter = f", draw after {MAX_HALFMOVE_CLOCK} quiet moves ({quiet})" if matters(quiet, MAX_HALFMOVE_CLOCK) else ""
    lines.append(f"{_COLOURS[position.side]} to move{counter}; dragons imitate {white} and {black}")
    if position.en_passant:
        lines.append("en passant: " + ", ".join(map(pair_text, position.en_passant)))
    if position.returning != NO_RETURN:
        code, tower = position.returning
        lines.append(f"the {TITLES[code & 15]} captured on {NAMES[tower]} may return")
    return "\n".join(lines)


_GAP = 0.14
"""Between two arenas, in squares."""
_MARGIN = 0.6


def _apart(square: int) -> tuple[float, float]:
    """Return how many gaps a square lies to the right and upwards; a tower lies between its arenas."""
    if ARENA_OF[square] >= 0:
        return float(ARENA_OF[square] % 3), float(ARENA_OF[square] // 3)
    low = TOUCHED[TOWERS.index(square)][0]
    return low % 3 + 0.5, low // 3 + 0.5


def _square_order(square: int) -> tuple[float, float]:
    """Return the top left corner of a square in the picture."""
    x, y = COORDINATES[square]
    right, up = _apart(square)
    return round(_MARGIN + x - 1 + _GAP * right, 2), round(0.2 + 11 - y + _GAP * (2 - up), 2)


def _cell(square: int) -> Cell:
    x, y = COORDINATES[square]
    shade = "tower" if TOWER_SET >> square & 1 else "dark" if (x + y) % 2 == 0 else "light"
    return Cell(NAMES[square], *_square_order(square), shade)


_WIDTH = _MARGIN + 11 + 2 * _GAP + 0.3
_HEIGHT = 0.2 + 11 + 2 * _GAP + 0.7
_CELLS = tuple(map(_cell, range(len(NAMES))))


def _labels() -> tuple[Label, ...]:
    labels = []
    for file in _FILES:
        lowest = next(rank for rank in range(1, 12) if file in FILES_OF_RANKS[rank - 1])
        left, top = _square_order(NUMBERS[f"{file}{lowest}"])
        labels.append(Label(file, left + 0.5, top + 1.32))
    for rank, files in enumerate(FILES_OF_RANKS, 1):
        left, top = _square_order(NUMBERS[f"{files[0]}{rank}"])
        labels.append(Label(str(rank), left - 0.26, top + 0.72))
    return tuple(labels)


_LABELS = _labels()


def piece_of(code: int) -> Piece:
    """Return the piece of ``code`` as people see it."""
    seat, name = code >> 4, TITLES[code & 15]
    return Piece(seat, "monarch" if name == "king" else name, letter_of(code), f"{_COLOURS[seat].lower()} {name}")


_PIECES = {code: piece_of(code) for code in range(CODES) if 0 < code % BLACK <= LANCER}


def scene(position: Position) -> Scene:
    """Return the scene of a picture of the position; in words, every piece with its arena or tower."""
    columns = {}
    spoken = {}
    for square, code in enumerate(position.board):
        if code:
            name, arena = NAMES[square], ARENA_OF[square]
            columns[name] = (_PIECES[code],)
            where = f"arena {NUMERALS[arena]}" if arena >= 0 else "a tower"
            spoken[name] = f"{name}, {where}: {_PIECES[code].title}"
    return Scene(_WIDTH, _HEIGHT, _CELLS, _LABELS, columns, spoken)


_ORTHOGONAL = ((0, 1), (2, 3), (0, 2), (1, 3))
_DIAGONAL = ((0, 3), (1, 2))
"""Neighbours among the four arenas of a tower, by their places in ``TOUCHED``."""
_EFFECTS = (
    "",
    "Pieces of both sides may go directly to the analogous square of the arena beside theirs: {orthogonal}.",
    "Pieces of both sides may go directly to the analogous square of the arena diagonally across: {diagonal}.",
    "{owner}'s king is never in check in arenas {zone}.",
    "For both sides, orthogonal steps between arenas {zone} go as if these stood in line, past this tower.",
    "For both sides, from or into arenas {zone}: rooks, knights and marshalls capture only each other and give no "
    "check; of other pieces than pawns, only a rook and a knight attach. Inside, nothing else captures those three, "
    "and none of them leaves a queen, cardinal or wizard.",
    "For both sides, a knight that starts in arenas {zone} moves like a bishop, and a bishop like a knight.",
    "{owner} may, instead of a move, rearrange its pieces in one of arenas {zone}.",
    "From here the king captures like a queen.",
    "{owner} may make 2 to 4 plain moves in one turn, each beginning in another of arenas {zone}; dragons stay.",
    "Pawns of both sides in arenas {zone} may step two squares forward.",
    "Pawns and lancers of both sides in arenas {zone} may step one square backward.",
)
"""By code: the effect of a piece on a tower (section 6.5)."""


def notes(position: Position) -> tuple[Note, ...]:
    """Return the notes on a position: tower by tower, then dragons, altered pieces and rights."""
    return (*_towers(position), *_dragons(position), *_altered(position), *_rights(position))


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _zone(tower: int) -> str:
    return _listed([NUMERALS[arena] for arena in TOUCHED[TOWERS.index(tower)]])


def _towers(position: Position) -> list[Note]:
    notes = []
    for tower, arenas in zip(TOWERS, TOUCHED, strict=True):
        code = position.board[tower]
        if code:
            orthogonal, diagonal = (
                ", ".join(f"{NUMERALS[arenas[one]]}–{NUMERALS[arenas[other]]}" for one, other in pairs)
                for pairs in (_ORTHOGONAL, _DIAGONAL)
            )
            owner = _COLOURS[code >> 4]
            text = _EFFECTS[code & 15].format(owner=owner, zone=_zone(tower), orthogonal=orthogonal, diagonal=diagonal)
            notes.append(Note(NAMES[tower], f"A {TITLES[code & 15]} on a tower", text))
    return notes


def _dragons(position: Position) -> list[Note]:
    memories = [
        _listed([TITLES[bit] for bit, _ in COMPONENTS if memory & bit]) if memory else ""
        for memory in position.memories
    ]
    both = position.memories[0] | position.memories[1]
    if both:
        moved = "; ".join(
            f"{owner} has shown {memory or 'nothing'}" for owner, memory in zip(_COLOURS, memories, strict=True)
        )
        likes = _listed([f"a {TITLES[bit]}" for bit, _ in COMPONENTS if both & bit])
        text = f"Every dragon moves like {likes}. {moved}."
    else:
        text = "No dragon has anything to imitate yet."
    squares = position.men[DRAGON] | position.men[DRAGON + BLACK]
    return [Note(NAMES[square], "What dragons imitate", text) for square in members_of(squares)]


def _altered(position: Position) -> list[Note]:
    """Return notes on knights and bishops that have changed places, and on kings that no check can reach."""
    men = position.men
    notes = []
    switched = ZONES[on_towers(men, CARDINAL)]
    for kind, other in ((KNIGHT, BISHOP), (BISHOP, KNIGHT)):
        for square in members_of((men[kind] | men[kind + BLACK]) & switched):
            text = f"A cardinal on a tower beside this arena makes this {TITLES[kind]} move like a {TITLES[other]}."
            notes.append(Note(NAMES[square], f"Moves like a {TITLES[other]}", text))
    for base in (0, BLACK):
        for tower in members_of(men[base + QUEEN]):
            if tower in ZONE_OF and ZONE_OF[tower] & men[base + KING]:
                king = NAMES[men[base + KING].bit_length() - 1]
                notes.append(Note(king, "Safe from check", f"As long as the queen stays on {NAMES[tower]}."))
    return notes


def _rights(position: Position) -> list[Note]:
    notes = []
    for crossed, arrival in position.en_passant:
        text = f"A pawn or lancer may capture it on {NAMES[crossed]}, this turn only."
        notes.append(Note(NAMES[arrival], "En passant", text))
    if position.returning != NO_RETURN:
        code, tower = position.returning
        text = (
            f"The {TITLES[code & 15]} captured here may be put back on a vacant square of arenas {_zone(tower)}, "
            "this turn only, instead of a move."
        )
        notes.append(Note(NAMES[tower], "A piece may return", text))
    return notes
