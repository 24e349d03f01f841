"""Four Towers against a second, slow reading of its rules: coordinates, no tables, every move tried out on a board."""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import permutations, product

import pytest

from domain.four_towers import GAME
from domain.game import MalformedNotation

Square = tuple[int, int]
Board = dict[Square, str]

WIDTHS = {11: "ce", 10: "ch", 9: "ck", 8: "bk", 7: "bk", 6: "bj", 5: "aj", 4: "aj", 3: "ai", 2: "di", 1: "gi"}
SQUARES = {(ord(f) - 96, y) for y, (a, b) in WIDTHS.items() for f in "abcdefghijk" if a <= f <= b}
ARENAS = [
    [(1 + 3 * X + Y + c, 3 - X + 3 * Y + r) for c in range(3) for r in range(3)] for Y in range(3) for X in range(3)
]
TOWERS = {(4, 5): (0, 1, 3, 4), (7, 4): (1, 2, 4, 5), (5, 8): (3, 4, 6, 7), (8, 7): (4, 5, 7, 8)}
ORTHOGONAL = [(0, 1), (0, -1), (1, 0), (-1, 0)]
DIAGONAL = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
KNIGHT = [(x, y) for x, y in product((-2, -1, 1, 2), repeat=2) if abs(x) != abs(y)]
COMPONENTS = {"R": "R", "B": "B", "N": "N", "Q": "RB", "M": "RN", "C": "BN", "W": "RBN"}
COMPOUND = {frozenset(parts): letter for letter, parts in COMPONENTS.items()}
DOUBLES = [
    "a3",
    "a4",
    "b3",
    "b4",
    "c3",
    "c4",
    "d2",
    "d3",
    "d4",
    "e2",
    "e3",
    "f2",
    "f3",
    "g1",
    "g2",
    "g3",
    "h1",
    "h2",
    "h3",
    "i1",
    "i2",
    "i3",
]
PROMOTING = ["c11", "d11", "e11", "f10", "g10", "h10", "i9", "j9", "k9"]


def name(square: Square) -> str:
    return f"{chr(96 + square[0])}{square[1]}"


def square_of(text: str) -> Square:
    return ord(text[0]) - 96, int(text[1:])


def for_side(names: list[str], white: bool) -> set[Square]:
    squares = {square_of(text) for text in names}
    return squares if white else {(12 - x, 12 - y) for x, y in squares}


def arena(square: Square) -> int | None:
    return next((number for number, squares in enumerate(ARENAS) if square in squares), None)


@dataclass(frozen=True)
class State:
    board: Board
    white: bool
    passed: tuple[tuple[Square, Square], ...]
    memories: tuple[frozenset[str], frozenset[str]]
    returning: tuple[str, Square] | None
    clock: int
    number: int


def read(text: str) -> State:
    rows, side, passed, memories, returning, clock, number = text.split()
    board = {}
    for rank, row in zip(range(11, 0, -1), rows.split("/"), strict=True):
        x = ord(WIDTHS[rank][0]) - 96
        for token in re.findall(r"\d+|[A-Za-z]", row):
            if token.isdigit():
                x += int(token)
            else:
                board[x, rank] = token
                x += 1
    pairs = re.findall(r"([a-k]\d+)([a-k]\d+)", passed)
    white, black = (frozenset(half) - {"-"} for half in memories.split("/"))
    return State(
        board,
        side == "w",
        tuple((square_of(a), square_of(b)) for a, b in pairs),
        (white, black),
        None if returning == "-" else (returning[0], square_of(returning[2:])),
        int(clock),
        int(number),
    )


def write(state: State) -> str:
    rows = []
    for rank in range(11, 0, -1):
        row = "".join(state.board.get((x, rank), " ") for x in range(1, 12) if (x, rank) in SQUARES)
        rows.append(re.sub(" +", lambda run: str(len(run[0])), row))
    pairs = sorted(name(a) + name(b) for a, b in state.passed)
    memories = ["".join(letter for letter in "RBNK" if letter in memory) or "-" for memory in state.memories]
    returning = f"{state.returning[0]}@{name(state.returning[1])}" if state.returning else "-"
    return (
        f"{'/'.join(rows)} {'w' if state.white else 'b'} {','.join(pairs) or '-'} {'/'.join(memories)} {returning}"
        f" {state.clock} {state.number}"
    )


def zone(board: Board, letters: str) -> set[Square]:
    """Return the squares in the zones of all towers that hold one of ``letters``."""
    return {
        square
        for tower, arenas in TOWERS.items()
        if board.get(tower, " ") in letters
        for number in arenas
        for square in ARENAS[number]
    }


def step(board: Board, square: Square, way: Square) -> Square | None:
    """Return the square one orthogonal step away (section 3.1)."""
    here = arena(square)
    plain = (square[0] + way[0], square[1] + way[1])
    if here is not None:
        place = ARENAS[here].index(square)
        c, r = place // 3 + way[0], place % 3 + way[1]
        column, row = here % 3 + way[0], here // 3 + way[1]
        leaves = not (0 <= c < 3 and 0 <= r < 3)
        if leaves and 0 <= column < 3 and 0 <= row < 3:
            there = row * 3 + column
            for tower, arenas in TOWERS.items():
                if board.get(tower, " ") in "Nn" and here in arenas and there in arenas:
                    return ARENAS[there][c % 3 * 3 + r % 3]
    return plain if plain in SQUARES else None


def diagonal(board: Board, square: Square, way: Square) -> Square | None:
    there = (square[0] + way[0], square[1] + way[1])
    return there if there in SQUARES else None


def line(board: Board, square: Square, way: Square, most: int = 99) -> Iterator[Square]:
    """Yield the squares of a line up to ``most`` steps, the first one held by a piece included."""
    move = step if 0 in way else diagonal
    there = move(board, square, way)
    while there is not None and most > 0:
        yield there
        if there in board:
            return
        there = move(board, there, way)
        most -= 1


def own(letter: str, white: bool) -> bool:
    return letter.isupper() == white


def forward(white: bool) -> int:
    return 1 if white else -1


def movement(state: State, square: Square, kind: str, part: bool) -> set[str]:
    """Return what a piece moves like, the cardinal's switch and the memories of dragons included."""
    if kind == "D":
        return set(state.memories[0] | state.memories[1])
    if kind in "BN" and not part and square in zone(state.board, "Cc"):
        return {"B": {"N"}, "N": {"B"}}[kind]
    return set(COMPONENTS.get(kind, kind))


def reach(board: Board, square: Square, ways: set[str]) -> set[Square]:
    found: set[Square] = set()
    if "R" in ways:
        found |= {there for way in ORTHOGONAL for there in line(board, square, way)}
    if "B" in ways:
        found |= {there for way in DIAGONAL for there in line(board, square, way)}
    if "N" in ways:
        found |= {(square[0] + x, square[1] + y) for x, y in KNIGHT} & SQUARES
    if "K" in ways:
        found |= {there for way in ORTHOGONAL + DIAGONAL for there in line(board, square, way, 1)}
    return found


def lancer_lines(board: Board, square: Square, white: bool) -> Iterator[list[Square]]:
    up = forward(white)
    for way in ((0, up), (1, up), (-1, up), (1, 0), (-1, 0)):
        yield list(line(board, square, way, 2))


def captures(state: State, square: Square, kind: str, white: bool, part: bool = False) -> set[Square]:
    """Return the squares on which a piece could capture, bars apart."""
    board = state.board
    if kind == "P":
        return {(square[0] + x, square[1] + forward(white)) for x in (1, -1)} & SQUARES
    if kind == "L":
        return {there for squares in lancer_lines(board, square, white) for there in squares}
    ways = movement(state, square, kind, part)
    if kind == "K" and square in TOWERS:
        ways = {"R", "B"}
    return reach(board, square, ways)


def in_check(state: State, white: bool) -> bool:
    king = next(square for square, letter in state.board.items() if letter == ("K" if white else "k"))
    if king in zone(state.board, "Q" if white else "q"):
        return False
    marshalled = zone(state.board, "Mm")
    for square, letter in state.board.items():
        kind = letter.upper()
        if own(letter, white) or (kind in "RNM" and (square in marshalled or king in marshalled)):
            continue
        if king in captures(state, square, kind, not white):
            return True
    return False


def barred(state: State, kind: str, victim: str, start: Square, end: Square) -> bool:
    marshalled = zone(state.board, "Mm")
    if kind in "RNM":
        return victim not in "RNM" and (start in marshalled or end in marshalled)
    return victim in "RNM" and end in marshalled


def fused(state: State, kind: str, other: str, start: Square, end: Square) -> str | None:
    """Return what two pieces make together, or None."""
    if kind == other == "P":
        return "L"
    if kind not in COMPONENTS or other not in COMPONENTS or set(COMPONENTS[kind]) & set(COMPONENTS[other]):
        return None
    marshalled = zone(state.board, "Mm")
    if {kind, other} != {"R", "N"} and (start in marshalled or end in marshalled):
        return None
    return COMPOUND[frozenset(COMPONENTS[kind] + COMPONENTS[other])]


def direct_ends(board: Board, square: Square) -> set[Square]:
    ends = set()

    def hop(here: Square, used: set[Square], visited: set[Square]) -> None:
        home = arena(here)
        for tower, arenas in TOWERS.items():
            holder = board.get(tower, " ").upper()
            if tower in used or holder not in "RB" or home not in arenas:
                continue
            for other in arenas:
                differing = (home % 3 != other % 3) + (home // 3 != other // 3)
                if differing != {"R": 1, "B": 2}[holder]:
                    continue
                there = ARENAS[other][ARENAS[home].index(here)]
                if there in visited:
                    continue
                ends.add(there)
                if there not in board:
                    hop(there, used | {tower}, visited | {there})

    if arena(square) is not None:
        hop(square, set(), {square})
    return ends


@dataclass
class Draft:
    """A move in the making: its text without promotion, the board after it and what else it changes."""

    text: str
    board: Board
    kind: str
    end: Square
    memory: set[str] | None
    crossed: Square | None = None
    taken: str = ""
    passing: bool = False
    returns: bool = False
    settles: bool = True


def drafts(state: State) -> Iterator[Draft]:
    for square, letter in state.board.items():
        if own(letter, state.white):
            kind = letter.upper()
            yield from piece_drafts(state, square, kind, "")
            for part in parts(state, square, kind):
                yield from piece_drafts(state, square, part, kind)
    if state.returning:
        letter, tower = state.returning
        for number in TOWERS[tower]:
            for there in ARENAS[number]:
                if there not in state.board:
                    memory = set(COMPONENTS.get(letter.upper(), "")) or None
                    board = {**state.board, there: letter}
                    text = f"@{letter.upper()}:{name(there)}"
                    yield Draft(text, board, letter.upper(), there, memory, returns=True, settles=False)


def parts(state: State, square: Square, kind: str) -> Iterator[str]:
    if kind == "L":
        yield "P"
    for part, letters in COMPONENTS.items():
        if kind in COMPONENTS and set(letters) < set(COMPONENTS[kind]):
            if part in "RNM" and kind in "QCW" and square in zone(state.board, "Mm"):
                continue
            yield part


def piece_drafts(state: State, square: Square, kind: str, whole: str) -> Iterator[Draft]:
    """Yield the moves of a piece of ``kind`` on ``square``, leaving ``whole`` if that is named."""
    board, white = state.board, state.white

    def case(letter: str) -> str:
        return letter if white else letter.lower()

    left = dict(board)
    del left[square]
    if whole == "L":
        left[square] = case("P")
    elif whole:
        left[square] = case(COMPOUND[frozenset(set(COMPONENTS[whole]) - set(COMPONENTS[kind]))])
    start = (kind + "/" if whole else "") + name(square)
    memory: set[str] | None = movement(state, square, kind, bool(whole)) if kind in "RBNQMCWK" else None

    def moved(sign: str, end: Square, landing: str | None = None, crossed: Square | None = None) -> Draft:
        after = {**left, end: case(landing or kind)}
        taken = board.get(end, "") if sign == "x" else ""
        return Draft(start + sign + name(end), after, landing or kind, end, memory, crossed, taken)

    ordinary: set[Square] = set()
    joined: set[Square] = set()
    swaps: set[Square] = set()
    taking: dict[Square, Square | None] = {}
    crossing: dict[Square, Square] = {}
    back = step(board, square, (0, -forward(white)))
    backward = {back} if back is not None and square in zone(board, "Ll") else set()
    if kind == "P":
        ahead = list(line(board, square, (0, forward(white)), 2))
        double = square in for_side(DOUBLES, white) or square in zone(board, "Pp")
        if len(ahead) == 2 and double:
            crossing[ahead[1]] = ahead[0]
        ordinary = set(ahead[: 2 if double else 1]) | backward
        ordinary |= {there for way in ((1, 0), (-1, 0)) if (there := step(board, square, way)) is not None}
        joined = ordinary | captures(state, square, "P", white)
        taking = dict.fromkeys(captures(state, square, "P", white))
    elif kind == "L":
        for squares in lancer_lines(board, square, white):
            ordinary |= set(squares)
            if len(squares) == 2:
                crossing[squares[1]] = squares[0]
        taking = dict.fromkeys(ordinary)
        ordinary |= backward
    else:
        ordinary = swaps = reach(board, square, movement(state, square, kind, bool(whole)))
        joined = ordinary
        taking = dict.fromkeys(captures(state, square, kind, white, bool(whole)) | set(ordinary))
    for end in ordinary:
        if end not in board:
            yield moved("-", end, crossed=crossing.get(end))
    attached = set()
    for end in joined:
        if end in board and own(board[end], white):
            result = fused(state, kind, board[end].upper(), square, end)
            if result:
                attached.add(end)
                yield moved("+", end, result, crossing.get(end))
    for end in swaps:
        friend = board.get(end, "")
        on_tower = square in TOWERS or end in TOWERS
        if on_tower and friend and own(friend, white) and not whole and friend.upper() != kind:
            after = {**board, end: case(kind), square: friend}
            yield Draft(f"{start}<>{name(end)}", after, kind, end, memory, settles=False)
    for end in taking:
        enemy = board.get(end, "K")
        if enemy not in "Kk" and not own(enemy, white) and not barred(state, kind, enemy.upper(), square, end):
            yield moved("x", end, crossed=crossing.get(end))
    if kind in "PL":
        for crossed, arrival in state.passed:
            before = dict(board)
            before[crossed] = before.pop(arrival)
            if crossed in captures(replace(state, board=before), square, kind, white):
                after = {**left, crossed: case(kind)}
                del after[arrival]
                text = f"{start}x{name(crossed)}({name(arrival)})"
                own_crossed = None
                if kind == "L":
                    for squares in lancer_lines(before, square, white):
                        if len(squares) == 2 and squares[1] == crossed:
                            own_crossed = squares[0]
                yield Draft(text, after, kind, crossed, memory, own_crossed, board[arrival], passing=True)
    for end in direct_ends(board, square):
        if end not in board:
            if end not in ordinary:
                yield moved(">>", end)
        elif own(board[end], white) and end not in attached:
            result = fused(state, kind, board[end].upper(), square, end)
            if result:
                yield moved(">>+", end, result)


def successors(state: State) -> dict[str, str]:
    """Return all legal moves but rearrangements and multi-moves, each with the position after it."""
    if state.clock == 150 or (len(state.board) == 2 and state.returning is None):
        return {}
    found = {}
    for draft in drafts(state):
        promotes = draft.settles and draft.kind in "PL" and draft.end in for_side(PROMOTING, state.white)
        for promoted in "RNBQCMWD" if promotes else [""]:
            board = dict(draft.board)
            if promoted:
                board[draft.end] = promoted if state.white else promoted.lower()
            memories = list(state.memories)
            if draft.memory is not None:
                memories[not state.white] = frozenset(draft.memory)
            passed = ()
            if draft.crossed is not None and not promoted and draft.crossed not in board:
                passed = ((draft.crossed, draft.end),)
            on_tower = bool(draft.taken) and not draft.passing and draft.end in TOWERS
            final = bool(promoted) or (bool(draft.taken) and not on_tower)
            lapsed = state.returning is not None and not draft.returns
            after = State(
                board,
                not state.white,
                passed,
                (memories[0], memories[1]),
                (draft.taken, draft.end) if on_tower else None,
                0 if lapsed or final else state.clock + 1,
                state.number + (not state.white),
            )
            if not in_check(after, state.white):
                text = draft.text + (f"={promoted}" if promoted else "")
                assert text not in found
                found[text] = write(after)
    return found


def crowded_position(rng: random.Random) -> str:
    """Return a position with random pieces, most towers held, random memories, pairs and rights to return."""
    while True:
        board: Board = {}
        free = sorted(SQUARES)
        rng.shuffle(free)
        board[free.pop()] = "K"
        board[free.pop()] = "k"
        for tower in TOWERS:
            if tower not in board and rng.random() < 0.7:
                board[tower] = rng.choice("RBNQMCWDPLrbnqmcwdplNnCcMm")
        for square in free[: rng.randrange(4, 30)]:
            board.setdefault(square, rng.choice("RBNQMCWDPPLLrbnqmcwdppll"))
        white = rng.random() < 0.5
        vacant = sorted(SQUARES - set(board))
        runners = sorted(square for square, letter in board.items() if letter in ("pl" if white else "PL"))
        passed = set()
        for square in rng.sample(runners, min(len(runners), rng.randrange(3))):
            near = [there for there in vacant if max(abs(there[0] - square[0]), abs(there[1] - square[1])) == 1]
            if near:
                passed.add((rng.choice(near), square))
        held = [
            tower for tower in TOWERS if tower in board and own(board[tower], not white) and board[tower] not in "Kk"
        ]
        returning = None
        if held and rng.random() < 0.3:
            letter = rng.choice("RBNQMCWDPL")
            returning = (letter if white else letter.lower(), rng.choice(held))
        memories = tuple(frozenset(rng.sample("RBNK", rng.choice((0, 1, 1, 2)))) for _ in range(2))
        state = State(board, white, tuple(passed), (memories[0], memories[1]), returning, rng.randrange(150), 7)
        if not in_check(state, not white):
            return write(state)


def compared(text: str) -> None:
    expected = successors(read(text))
    position = GAME.parse_position(text)
    moves = list(GAME.legal_moves(position))
    actual = {GAME.format_move(position, move): GAME.format_position(GAME.play(position, move)) for move in moves}
    assert list(actual) == sorted(expected), text
    assert actual == expected, text
    assert GAME.in_check(position) is in_check(read(text), read(text).white), text


@pytest.mark.parametrize("seed", range(12))
def test_crowded_positions_have_the_moves_of_the_slow_reading(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(6):
        compared(crowded_position(rng))


@pytest.mark.parametrize("seed", range(3))
def test_random_games_have_the_moves_of_the_slow_reading(seed: int) -> None:
    rng = random.Random(seed)
    position = GAME.initial("standard")
    for ply in range(240):
        moves = list(GAME.legal_moves(position))
        if not moves:
            break
        if ply % 20 == seed:
            compared(GAME.format_position(position))
        position = GAME.play(position, rng.choice(moves))
    assert ply > 20


def test_a_position_is_refused_exactly_when_the_side_not_to_move_is_in_check() -> None:
    rng = random.Random(5)
    refused = 0
    for _ in range(200):
        state = read(crowded_position(rng))
        turned = write(replace(state, white=not state.white, passed=(), returning=None))
        try:
            GAME.parse_position(turned)
        except MalformedNotation:
            refused += 1
            assert in_check(state, state.white)
        else:
            assert not in_check(state, state.white)
    assert refused > 20


def ended(state: State, board: Board, memory: set[str] | None, passed: dict[Square, Square], promoted: bool) -> State:
    """Return the state after a multi-move or a rearrangement; ``passed`` is by square of arrival."""
    memories = list(state.memories)
    if memory:
        memories[not state.white] = frozenset(memory)
    return State(
        board,
        not state.white,
        tuple((crossed, arrival) for arrival, crossed in passed.items() if crossed not in board),
        (memories[0], memories[1]),
        None,
        0 if promoted or state.returning else state.clock + 1,
        state.number + (not state.white),
    )


def multi_moves(state: State) -> dict[str, str]:
    """Return all multi-moves in their canonical order, each with the position after it (section 6.8)."""
    found: dict[tuple[tuple[str, ...], str], str] = {}

    def play_on(
        board: Board, zone_: set[int], texts: tuple[str, ...], memory: set[str], passed: dict[Square, Square]
    ) -> None:
        for square, letter in list(board.items()):
            kind = letter.upper()
            if not own(letter, state.white) or kind == "D" or arena(square) not in zone_:
                continue
            for draft in piece_drafts(replace(state, board=board, passed=()), square, kind, ""):
                if "-" not in draft.text:
                    continue
                promotes = kind in "PL" and draft.end in for_side(PROMOTING, state.white)
                for promoted in "RNBQCMWD" if promotes else [""]:
                    after = dict(draft.board)
                    noted = {end: crossed for end, crossed in passed.items() if end != square}
                    if promoted:
                        after[draft.end] = promoted if state.white else promoted.lower()
                    elif draft.crossed is not None:
                        noted[draft.end] = draft.crossed
                    parts_ = (*texts, draft.text + (f"={promoted}" if promoted else ""))
                    moved = memory | (draft.memory or set())
                    if len(parts_) > 1 and after != state.board:
                        final = ended(state, after, moved, noted, any("=" in part for part in parts_))
                        if not in_check(final, state.white):
                            key = (tuple(sorted(parts_)), write(final))
                            found[key] = min(found.get(key, "~"), ";".join(parts_))
                    play_on(after, zone_ - {arena(square)}, parts_, moved, noted)

    for tower, arenas in TOWERS.items():
        if state.board.get(tower) == ("D" if state.white else "d"):
            play_on(state.board, set(arenas), (), set(), {})
    return {text: result for (_, result), text in found.items()}


def rearrangements(state: State) -> dict[str, str]:
    """Return all rearrangements, each with the position after it (section 6.7)."""
    numerals = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"]
    found = {}
    for tower, arenas in TOWERS.items():
        if state.board.get(tower) != ("W" if state.white else "w"):
            continue
        for number in arenas:
            lifted = [square for square in ARENAS[number] if own(state.board.get(square, "0"), state.white)]
            lifted = [square for square in lifted if square in state.board]
            left = {square: letter for square, letter in state.board.items() if square not in lifted}
            free = [square for square in ARENAS[number] if square not in left]
            for places in permutations(free, len(lifted)):
                placed = {place: state.board[square] for place, square in zip(places, lifted, strict=True)}
                after = {**left, **placed}
                final = ended(state, after, None, {}, False)
                if after != state.board and not in_check(final, state.white):
                    text = ",".join(placed[square].upper() + name(square) for square in sorted(placed))
                    found[f"{numerals[number]}:{text}"] = write(final)
    return found


def sparse_position(rng: random.Random) -> str:
    """Return a position with few pieces, a dragon and a wizard of the side to move on towers among them."""
    while True:
        white = rng.random() < 0.5
        towers = rng.sample(list(TOWERS), 4)
        letters = ["D", "W", rng.choice("DNncCmMqQ"), ""]
        board = {tower: letter for tower, letter in zip(towers, letters, strict=True) if letter}
        free = sorted(SQUARES - set(TOWERS))
        rng.shuffle(free)
        for letter in "K" + "".join(rng.choice("RBNQPPLL") for _ in range(2)):
            board[free.pop()] = letter
        for letter in "k" + "".join(rng.choice("rbnqmcwpld") for _ in range(rng.randrange(3))):
            board[free.pop()] = letter
        if not white:
            board = {square: letter.swapcase() for square, letter in board.items()}
        memories = (frozenset(rng.sample("RBNK", 1)), frozenset(rng.sample("RBNK", 1)))
        state = State(board, white, (), memories, None, rng.randrange(150), 7)
        if not in_check(state, not white):
            return write(state)


@pytest.mark.parametrize("seed", range(8))
def test_multi_moves_and_rearrangements_are_those_of_the_slow_reading(seed: int) -> None:
    text = sparse_position(random.Random(seed))
    position = GAME.parse_position(text)
    for expected, moves in (
        (multi_moves(read(text)), GAME.multi_moves(position)),
        (rearrangements(read(text)), GAME.rearrangements(position)),
    ):
        actual = {GAME.format_move(position, move): GAME.format_position(GAME.play(position, move)) for move in moves}
        assert actual == expected, text
        assert list(actual) == sorted(expected)
