"""Notes on squares: the effects of pieces on towers, dragon memories and the rights of one turn (section 6)."""

from domain.four_towers.attacks import BISHOP, BLACK, CARDINAL, DRAGON, KING, KNIGHT, QUEEN, on_towers
from domain.four_towers.board import NAMES, NUMERALS, TOUCHED, TOWERS, ZONE_OF, ZONES, members_of
from domain.four_towers.diagram import TITLES
from domain.four_towers.position import COMPONENTS, NO_RETURN, Position
from domain.scene import Note

_COLOURS = ("White", "Black")
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
"""By code: what a piece on a tower does (section 6.5)."""


def notes(position: Position) -> tuple[Note, ...]:
    """Return the notes on a position: tower by tower, then dragons, altered pieces and rights."""
    return (*_towers(position), *_dragons(position), *_altered(position), *_rights(position))


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _zone(tower: int) -> str:
    return _listed([NUMERALS[arena] for arena in TOUCHED[TOWERS.index(tower)]])


def _towers(position: Position) -> list[Note]:
    found = []
    for tower, arenas in zip(TOWERS, TOUCHED, strict=True):
        code = position.board[tower]
        if code:
            orthogonal, diagonal = (
                ", ".join(f"{NUMERALS[arenas[one]]}–{NUMERALS[arenas[other]]}" for one, other in pairs)
                for pairs in (_ORTHOGONAL, _DIAGONAL)
            )
            owner = _COLOURS[code >> 4]
            text = _EFFECTS[code & 15].format(owner=owner, zone=_zone(tower), orthogonal=orthogonal, diagonal=diagonal)
            found.append(Note(NAMES[tower], f"A {TITLES[code & 15]} on a tower", text))
    return found


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
    found = []
    switched = ZONES[on_towers(men, CARDINAL)]
    for kind, other in ((KNIGHT, BISHOP), (BISHOP, KNIGHT)):
        for square in members_of((men[kind] | men[kind + BLACK]) & switched):
            text = f"A cardinal on a tower beside this arena makes this {TITLES[kind]} move like a {TITLES[other]}."
            found.append(Note(NAMES[square], f"Moves like a {TITLES[other]}", text))
    for base in (0, BLACK):
        for tower in members_of(men[base + QUEEN]):
            if tower in ZONE_OF and ZONE_OF[tower] & men[base + KING]:
                king = NAMES[men[base + KING].bit_length() - 1]
                found.append(Note(king, "Safe from check", f"As long as the queen stays on {NAMES[tower]}."))
    return found


def _rights(position: Position) -> list[Note]:
    found = []
    for crossed, arrival in position.en_passant:
        text = f"A pawn or lancer may capture it on {NAMES[crossed]}, this turn only."
        found.append(Note(NAMES[arrival], "En passant", text))
    if position.returning != NO_RETURN:
        code, tower = position.returning
        text = (
            f"The {TITLES[code & 15]} captured here may be put back on a vacant square of arenas {_zone(tower)}, "
            "this turn only, instead of a move."
        )
        found.append(Note(NAMES[tower], "A piece may return", text))
    return found
