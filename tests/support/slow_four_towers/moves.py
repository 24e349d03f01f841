"""The moves of one piece and the positions after them (rules, sections 4 to 6)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tests.support.slow_four_towers.board import (
    ARENAS,
    COMPONENTS,
    COMPOUND,
    DOUBLES,
    PROMOTING,
    TOWERS,
    Board,
    Square,
    State,
    for_side,
    forward,
    line,
    name,
    own,
    step,
    write,
    zone,
)
from tests.support.slow_four_towers.reach import (
    barred,
    captures,
    direct_ends,
    fused,
    in_check,
    lancer_lines,
    movement,
    reach,
)


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
            passed: tuple[tuple[Square, Square], ...] = ()
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
