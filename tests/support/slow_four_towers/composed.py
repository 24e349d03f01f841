"""Multi-moves and rearrangements (rules, sections 6.7 and 6.8), all of them."""

from dataclasses import replace
from itertools import permutations

from tests.support.slow_four_towers.board import (
    ARENAS,
    PROMOTING,
    TOWERS,
    Board,
    Square,
    State,
    arena,
    for_side,
    name,
    own,
    write,
)
from tests.support.slow_four_towers.moves import piece_drafts
from tests.support.slow_four_towers.reach import in_check


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
