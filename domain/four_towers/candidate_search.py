"""The few rearrangements and multi-moves, of very many, that deserve a search.

Both are built step by step, and only the best few are extended after each step (beam search): those that bring pieces
to better squares, out of reach of the enemy, or with check.
"""

from collections.abc import Iterator, Sequence
from math import isqrt
from typing import Final

from domain.four_towers import compound_moves
from domain.four_towers.attacks import BLACK, DRAGON, PAWN, WIZARD, king_in_check
from domain.four_towers.board import ARENAS, PAWN_CAPTURES
from domain.four_towers.evaluate import PLACED, VALUES
from domain.four_towers.legal_moves import MoveGenerator
from domain.four_towers.moves import (
    CAPTURE,
    PLAIN,
    PROMOTED,
    Move,
    Rearrangement,
    board_after_rearrangement,
    head_of,
    target_of,
)
from domain.four_towers.outcome import in_check, unlisted_move
from domain.four_towers.position import NO_RETURN, Position, occupied_by, sets_of
from domain.four_towers.pseudo_legal import PieceReach

MAX_EXCHANGES: Final = 2
"""Exchanges of squares that a rearrangement is built from."""
CHECK_BONUS: Final = 120
"""The worth of a check, in hundredths of a pawn, when moves are compared before the search."""
MAX_TRIALS: Final = 300
"""Components tried to find an answer to a check."""


def candidates(position: Position, limit: int) -> list[Move]:
    """Return at most ``limit`` legal rearrangements and multi-moves, the most promising first."""
    if not compound_moves.zones_with(position, WIZARD) and not compound_moves.zones_with(position, DRAGON):
        return []
    range_of = _Evaluator(position)
    beam_width = isqrt(limit) + 1
    scored: list[tuple[int, Rearrangement | compound_moves.ComponentSequence]] = [
        *_rearrangements(position, range_of, beam_width),
        *_multi_moves(position, range_of, beam_width),
    ]
    scored.sort(key=lambda one: -one[0])
    answers: dict[Move, None] = {}
    if in_check(position):
        # The gains do not show which moves end the check.
        try:
            answer = unlisted_move(position, MAX_TRIALS)
        except compound_moves.TrialsExceededError:
            answer = None
        if answer is not None:
            answers[answer] = None
    for _, move in scored:
        if len(answers) >= limit:
            break
        if isinstance(move, Rearrangement):
            if compound_moves.rearrangement_refusal(position, move) is None:
                answers[move] = None
        elif compound_moves.is_legal_sequence(position, move):
            answers[compound_moves.canonical(position, move.components)] = None
    return list(answers)


class _Evaluator:
    """A static evaluation for the side to move: the worth of pieces on squares, less where the enemy attacks."""

    def __init__(self, position: Position) -> None:
        self.side = position.side
        self.sign = 1 - 2 * position.side
        self.attacked = _attacked(position)

    def worth(self, code: int, square: int) -> int:
        """Return the worth of the own piece ``code`` on ``square``; half of it where the enemy attacks it."""
        fear = VALUES[code & 15] // 2 if self.attacked >> square & 1 else 0
        return self.sign * PLACED[code][square] - fear

    def step(self, board: Position, move: int) -> int:
        """Return the gain of a plain move on ``board``."""
        origin, target = head_of(move).origin, target_of(move)
        code = board.board[origin]
        landing = code & BLACK | PROMOTED[move & 15] if move & 15 else code
        return self.worth(landing, target) - self.worth(code, origin)

    def check(self, board: Position, memory: int) -> int:
        """Return the worth of a check if the enemy is in check on ``board`` after moves that leave ``memory``."""
        imitated = (memory or board.memories[self.side]) | board.memories[1 - self.side]
        occupied = occupied_by(board.men, 0) | occupied_by(board.men, 1)
        return CHECK_BONUS if king_in_check(board.men, 1 - self.side, imitated, occupied) else 0


def _attacked(position: Position) -> int:
    """Return the squares where the enemy could capture a piece, were it to move now."""
    enemy = MoveGenerator(
        position._replace(side=1 - position.side, en_passant=(), returning=NO_RETURN), pseudo_legal=True
    )
    attacked = 0
    for move in enemy.moves():
        head = head_of(move)
        kind = head.part or position.board[head.origin] & 15
        if head.mark == CAPTURE or (head.mark == PLAIN and kind != PAWN):
            attacked |= 1 << target_of(move)
    for square, code in enumerate(position.board):
        if code == enemy.side * BLACK + PAWN:
            for target in PAWN_CAPTURES[enemy.side][square]:
                attacked |= 1 << target
    return attacked


def _rearrangements(position: Position, range_of: _Evaluator, beam_width: int) -> Iterator[tuple[int, Rearrangement]]:
    """Yield placements that one exchange leads to, and the best of these another one, with their gains."""
    side = position.side
    for arena in sorted({arena for arenas in compound_moves.zones_with(position, WIZARD) for arena in arenas}):
        present = [position.board[square] for square in ARENAS[arena]]
        free = [not code or code >> 4 == side for code in present]
        start = bytes(code if own else 0 for code, own in zip(present, free, strict=True))
        gains = {start: 0}
        lines = [start]
        for _ in range(MAX_EXCHANGES):
            following = []
            for placement in lines:
                for exchanged, gain in _exchanges(range_of, arena, free, placement):
                    if exchanged not in gains:
                        gains[exchanged] = gains[placement] + gain
                        following.append(exchanged)
            lines = sorted(following, key=lambda placement: -gains[placement])[:beam_width]
        del gains[start]
        for placement, gain in gains.items():
            move = Rearrangement(arena, placement)
            board = board_after_rearrangement(position.board, side, move)
            yield gain + range_of.check(position._replace(board=board, men=sets_of(board)), 0), move


def _exchanges(range_of: _Evaluator, arena: int, free: Sequence[bool], placement: bytes) -> Iterator[tuple[bytes, int]]:
    """Yield the placements in which one piece stands elsewhere or two have changed places, with their gains."""
    squares = ARENAS[arena]
    for here, code in enumerate(placement):
        for there, other in enumerate(placement):
            if not code or code == other or not free[there] or (other and there < here):
                continue
            exchanged = bytearray(placement)
            exchanged[here], exchanged[there] = other, code
            gain = range_of.worth(code, squares[there]) - range_of.worth(code, squares[here])
            if other:
                gain += range_of.worth(other, squares[here]) - range_of.worth(other, squares[there])
            yield bytes(exchanged), gain


def _multi_moves(
    position: Position, range_of: _Evaluator, beam_width: int
) -> Iterator[tuple[int, compound_moves.ComponentSequence]]:
    """Yield sequences of components that begin with the best ones, with their gains."""
    for zone in compound_moves.zones_with(position, DRAGON):
        lines = [(0, compound_moves.ComponentSequence(position, zone, (), 0))]
        for number in range(1, compound_moves.MAX_COMPONENTS + 1):
            following: dict[tuple[bytes, tuple[int, ...]], tuple[int, compound_moves.ComponentSequence]] = {}
            extended = 0
            for gained, line in lines:
                steps = list(compound_moves.components_from(PieceReach(line.board), line.arenas))
                for arena, move in steps:
                    longer = line.extended_by(arena, move)
                    gain = gained + range_of.step(line.board, move)
                    following.setdefault((longer.board.board, longer.arenas), (gain, longer))
                extended += bool(steps)
                if extended == beam_width:
                    break
            if number > 1:
                for gain, line in following.values():
                    yield gain + range_of.check(line.board, line.memory), line
            lines = sorted(following.values(), key=lambda scored: -scored[0])
