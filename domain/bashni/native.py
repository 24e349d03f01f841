"""A position of Bashni for the search, in machine integers: the same moves and values as the contract's position.

Compiled, it is many times as fast as ``position.Position``, from which it is made. The sets of squares are those of
``board``. The pieces under a commander are an integer of two bits each, the upper one in lower bits, closed by a
single 1: nothing is 1. A piece is its seat, plus 2 for a king. ``key`` is the exclusive or of a number for each piece
in its place, so that a move changes only those of the columns that it touches.
"""

from typing import Final

from domain.bashni.board import BETWEEN, BOARD, LAST_ROWS, MAX_HALFMOVE_CLOCK, NUMBERS, PIECES_EACH, Move
from domain.bashni.evaluate import AHEAD, CROWNING, FREEING
from domain.bashni.native_captures import NOTHING, Captures, capturable, capturers, reach
from domain.bashni.position import Position
from domain.bashni.weights import (
    BACK_ROW,
    FADING_PLIES,
    HANGING,
    KING as KING_WORTH,
    MAN,
    NEXT_PRISONER,
    PRISONER_KING,
    PRISONER_MAN,
    RESERVE_KING,
    RESERVE_MAN,
    STEPS,
    TURN,
)
from domain.game import NOISY_GAIN, Outcome
from domain.machine_integers import hash_numbers, i64
from domain.search_position import SearchPosition
from domain.square_sets import count, set_of, square_of

KING: Final = 2
MAX_HEIGHT: Final = 2 * PIECES_EACH
_PIECES: Final = "wbWB"
_BOARD: Final[i64] = BOARD
_LAST_ROWS: Final[list[int]] = list(LAST_ROWS)
_LOSSES: Final = (Outcome((0.0, 1.0), "no-moves"), Outcome((1.0, 0.0), "no-moves"))
_NO_PROGRESS: Final = Outcome((0.5, 0.5), "no-progress")
_REPETITION: Final = Outcome((0.5, 0.5), "repetition")

_BETWEEN: Final[list[int]] = [squares for row in BETWEEN for squares in row]
_PLAIN: Final[list[Move]] = [(start, end) for start in range(NUMBERS) for end in range(NUMBERS)]
"""A move of two squares by 36 times the first plus the second: every list of moves has the same objects."""


_FIRST_ROW: Final[i64] = LAST_ROWS[1]
_LAST_ROW: Final[i64] = LAST_ROWS[0]
"""As White sees them."""
_PRISONER_MAN: Final[list[int]] = list(PRISONER_MAN)
_PRISONER_KING: Final[list[int]] = list(PRISONER_KING)
_NEXT_PRISONER: Final[list[int]] = list(NEXT_PRISONER)
_AHEAD: Final[list[int]] = [weight for weight, _, _ in AHEAD]
_WHITE_AHEAD: Final[list[int]] = [white for _, white, _ in AHEAD]
_BLACK_AHEAD: Final[list[int]] = [black for _, _, black in AHEAD]

_KEYS: Final[list[int]] = hash_numbers(4 * MAX_HEIGHT * NUMBERS + 1)
"""The number of a piece in its place, [4 * (MAX_HEIGHT * square + pieces above it) + piece]; last, of Black's turn."""


def _column_key(square: i64, column: i64) -> i64:
    """Return the exclusive or of the numbers of the pieces of a whole ``column`` on ``square``."""
    key: i64 = 0
    place = 4 * MAX_HEIGHT * square
    while column > NOTHING:
        key ^= _KEYS[place + (column & 3)]
        place += 4
        column >>= 2
    return key


def _with_bottom(column: i64, piece: i64) -> i64:
    """Return ``column`` with ``piece`` under all others."""
    shift: i64 = 0
    while column >> shift > NOTHING:
        shift += 2
    return column + (piece + 3 << shift)


class NativePosition(SearchPosition[Move]):
    """The squares of the columns of either colour, those commanded by kings, the pieces under every commander."""

    def __init__(self, again: bool, white: i64, black: i64, kings: i64, below: list[int], side: i64) -> None:
        super().__init__(side)
        self.again = again
        """Whether ruleset 2 applies."""
        self.white: i64 = white
        self.black: i64 = black
        self.kings: i64 = kings
        self.below: list[int] = below
        self.halfmove_clock: i64 = 0
        self.pieces_key: i64 = 0

    def key(self) -> int:
        """Return the exclusive or of the numbers of the pieces and of the turn."""
        return self.pieces_key ^ _KEYS[-1] if self.side else self.pieces_key

    def column(self, square: i64) -> i64:
        """Return the whole column on ``square``, which is not empty."""
        commander = (self.black >> square & 1) + (KING if self.kings >> square & 1 else 0)
        return self.below[square] << 2 | commander

    def legal_moves(self) -> list[Move]:
        """Return the legal moves in the order of the contract."""
        if self.halfmove_clock >= MAX_HALFMOVE_CLOCK:
            return []
        own, enemy = (self.black, self.white) if self.side else (self.white, self.black)
        jumpers = capturers(own, enemy, self.kings)
        if jumpers:
            return Captures(
                self.side, self.kings, own, enemy, self.below.copy() if self.again else self.below, self.again
            ).all_with(jumpers)

        # Men move one square forward, kings any number of empty squares (section 3).
        moves: list[Move] = []
        empty = _BOARD & ~(own | enemy)
        movers = own
        while movers:
            bit = movers & -movers
            movers ^= bit
            square = square_of(bit)
            if self.kings & bit:
                targets = reach(square, empty)
            elif self.side:
                targets = (bit >> 5 | bit << 4) & empty
            else:
                targets = (bit >> 4 | bit << 5) & empty
            while targets:
                target = targets & -targets
                targets ^= target
                moves.append(_PLAIN[NUMBERS * square + square_of(target)])
        return moves

    def is_forced(self) -> bool:
        """Return whether the legal moves are captures."""
        own, enemy = (self.black, self.white) if self.side else (self.white, self.black)
        return self.halfmove_clock < MAX_HALFMOVE_CLOCK and capturers(own, enemy, self.kings) != 0

    def play(self, move: Move) -> "NativePosition":
        """Return the position after the legal ``move``."""
        start: i64 = move[0]
        end: i64 = move[-1]
        between: i64 = _BETWEEN[NUMBERS * start + end]
        if len(move) > 2 or between & (self.white | self.black):
            return self._play_capture(move)

        # The whole column moves (section 3).
        start_bit: i64 = set_of(start)
        end_bit: i64 = set_of(end)
        moved = start_bit | end_bit
        after = NativePosition(self.again, self.white, self.black, self.kings, self.below, 1 - self.side)
        if self.side:
            after.black ^= moved
        else:
            after.white ^= moved
        beneath: i64 = self.below[start]
        if beneath != NOTHING:
            after.below = self.below.copy()
            after.below[start] = NOTHING
            after.below[end] = beneath

        # Only plain moves of kings count towards the draw (section 6); a man is crowned on its last row (BA-08).
        if self.kings & start_bit:
            after.kings ^= moved
            after.halfmove_clock = self.halfmove_clock + 1
        else:
            after.kings |= end_bit & _LAST_ROWS[self.side]
        after.pieces_key = (
            self.pieces_key ^ _column_key(start, self.column(start)) ^ _column_key(end, after.column(end))
        )
        return after

    def _play_capture(self, move: Move) -> "NativePosition":
        own, enemy = (self.black, self.white) if self.side else (self.white, self.black)
        kings = self.kings
        below = self.below.copy()
        key = self.pieces_key

        # The capturing column leaves its square, which is empty from now on (section 5.2, no. 1).
        square: i64 = move[0]
        bit: i64 = set_of(square)
        key ^= _column_key(square, self.column(square))
        own ^= bit
        occupied = own | enemy
        beneath: i64 = below[square]
        below[square] = NOTHING
        is_king = kings & bit != 0
        kings &= ~bit

        for stop in range(1, len(move)):
            landing: i64 = move[stop]
            # The commander of the victim goes under the capturing column and keeps its rank (no. 2, BA-07).
            bit = _BETWEEN[NUMBERS * square + landing] & occupied
            victim = square_of(bit)
            commander: i64 = 1 - self.side + (KING if kings & bit else 0)
            rest: i64 = below[victim]
            key ^= _column_key(victim, rest << 2 | commander) ^ _column_key(victim, rest)
            beneath = _with_bottom(beneath, commander)
            kings &= ~bit

            # The next piece of a tower commands with its own rank; a prisoner is freed (no. 3, BA-13).
            if rest != NOTHING:
                below[victim] = rest >> 2
                if rest & 1 == self.side:
                    own |= bit
                    enemy ^= bit
                if rest & KING:
                    kings |= bit
            # The square of a single piece is empty from now on (BA-01).
            else:
                enemy ^= bit
                occupied ^= bit

            # A man that lands on its last row is crowned at once (no. 4, BA-05).
            if _LAST_ROWS[self.side] >> landing & 1:
                is_king = True
            square = landing

        # The column arrives with all its prisoners; the count towards the draw starts again (section 6).
        below[square] = beneath
        bit = set_of(square)
        own |= bit
        if is_king:
            kings |= bit
        white, black = (enemy, own) if self.side else (own, enemy)
        after = NativePosition(self.again, white, black, kings, below, 1 - self.side)
        after.pieces_key = key ^ _column_key(square, after.column(square))
        return after

    def outcome(self, repeated: bool) -> Outcome | None:
        """Return how the game has ended, or None; ``repeated`` tells that the position stands for the third time."""
        if not self._can_move():
            return _LOSSES[1] if self.side else _LOSSES[0]
        if self.halfmove_clock >= MAX_HALFMOVE_CLOCK:
            return _NO_PROGRESS
        return _REPETITION if repeated else None

    def noisy_moves(self) -> list[Move]:
        """Return no moves: where there is a capture the position is forced."""
        return []

    def gains(self, moves: list[Move]) -> list[int]:
        """Return the gain of each move, as ``evaluate.gains`` does."""
        return [self._gain(move) for move in moves]

    def _gain(self, move: Move) -> int:
        enemy = self.white if self.side else self.black
        last_row: i64 = _LAST_ROWS[self.side]
        square: i64 = move[0]
        gained: i64 = 0
        crowned = False
        jumped: i64 = 0
        is_man = not self.kings >> square & 1
        for stop in range(1, len(move)):
            landing: i64 = move[stop]
            if is_man and last_row >> landing & 1:
                crowned = True
            victim = _BETWEEN[NUMBERS * square + landing] & enemy & ~jumped
            if victim:
                gained += KING_WORTH if self.kings & victim else MAN
                if not jumped:
                    gained += NOISY_GAIN
                jumped |= victim
                rest: i64 = self.below[square_of(victim)]
                if rest != NOTHING and rest & 1 == self.side:
                    gained += FREEING
            square = landing
        return gained + CROWNING if crowned else gained

    def evaluate(self, seat: int) -> int:
        """Return how good the position looks for ``seat``, as ``evaluate.evaluate`` does."""
        white, black, kings = self.white, self.black, self.kings
        empty = _BOARD & ~(white | black)
        white_men, black_men = white & ~kings, black & ~kings
        worth = (
            MAN * (count(white_men) - count(black_men))
            + BACK_ROW * (count(white_men & _FIRST_ROW) - count(black_men & _LAST_ROW))
            + KING_WORTH * (count(white & kings) - count(black & kings))
            + STEPS * (count(white_men & (empty << 4 | empty >> 5)) - count(black_men & (empty << 5 | empty >> 4)))
        )
        for row in range(len(_AHEAD)):
            worth += _AHEAD[row] * (count(white_men & _WHITE_AHEAD[row]) - count(black_men & _BLACK_AHEAD[row]))
        columns = white | black
        while columns:
            bit = columns & -columns
            columns ^= bit
            beneath: i64 = self.below[square_of(bit)]
            if beneath != NOTHING:
                worth += _beneath(beneath, 0) if white & bit else -_beneath(beneath, 1)
        own, enemy = (black, white) if self.side else (white, black)
        hanging = count(capturable(own, enemy, enemy & kings, empty))
        turn: i64 = TURN
        if hanging:
            turn += HANGING[0] + HANGING[1] * (hanging - 1)
        worth += -turn if self.side else turn
        # Rounded towards zero, so that both colours are judged alike.
        faded = (worth if worth > 0 else -worth) * (FADING_PLIES - self.halfmove_clock) // FADING_PLIES
        return faded if (worth > 0) == (seat == 0) else -faded

    def _can_move(self) -> bool:
        own, enemy = (self.black, self.white) if self.side else (self.white, self.black)
        empty = _BOARD & ~(own | enemy)
        forward = empty << 5 | empty >> 4 if self.side else empty << 4 | empty >> 5
        if own & forward:
            return True
        # A king may go backwards too, and it captures nothing where it has no empty square or victim beside it.
        around = empty << 5 | empty << 4 | empty >> 4 | empty >> 5
        return own & self.kings & around != 0 or capturers(own, enemy, self.kings) != 0


def _beneath(column: i64, owner: i64) -> i64:
    """Return the worth of the pieces under a commander to its owner: its reserves above, its prisoners below."""
    worth: i64 = 0
    reserves: i64 = 0
    while column > NOTHING and column & 1 == owner:
        if column & KING:
            worth += RESERVE_KING[1] if reserves else RESERVE_KING[0]
        else:
            worth += RESERVE_MAN[1] if reserves else RESERVE_MAN[0]
        reserves += 1
        column >>= 2
    if column > NOTHING:
        guards: i64 = min(reserves, 2)
        man: i64 = _PRISONER_MAN[guards]
        king: i64 = _PRISONER_KING[guards]
        worth += _NEXT_PRISONER[guards]
        while column > NOTHING:
            worth += king if column & KING else man
            column >>= 2
    return worth


def from_position(position: Position, again: bool) -> NativePosition:
    """Return ``position`` in the representation of the search."""
    white, black, kings, letters, side, halfmove_clock = position
    below: list[int] = []
    for pieces in letters:
        column: int = NOTHING
        for piece in reversed(pieces):
            column = column << 2 | _PIECES.index(piece)
        below.append(column)
    made = NativePosition(again, white, black, kings, below, side)
    made.halfmove_clock = halfmove_clock
    key: i64 = 0
    for square in range(NUMBERS):
        if (white | black) >> square & 1:
            key ^= _column_key(square, made.column(square))
    made.pieces_key = key
    return made
