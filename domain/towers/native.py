"""A position of Towers for the search, in machine integers: the same moves and values as the contract's position.

Compiled, it is many times as fast as ``position.Position``, from which it is made. Sets of squares are integers of 49
bits: the squares of at least some height, those that a seat controls and, in two more, the seat. With these a shift
compares every square with its neighbour. ``key`` is the exclusive or of a number for each piece in its place.
"""

from typing import Final

from domain.build import COMPILED
from domain.game import Outcome
from domain.machine_integers import hash_numbers, i64
from domain.search_position import SearchPosition
from domain.square_sets import count, set_of, square_of
from domain.towers.board import CASTLES, HEIGHT, MAX_HEIGHT, MAX_PUSHES, RAYS, SIDE, SQUARES
from domain.towers.evaluate import CASTLE_GAIN, CASTLE_PUSHES, CASTLES_TOGETHER, CROWNS_TOGETHER, GOAL, WINS
from domain.towers.features import FIRST_PUSH, REACHED, TO_GOAL
from domain.towers.native_pushes import OWNED_WORTH, Changes
from domain.towers.position import Position
from domain.towers.weights import (
    CAN_WIN,
    FADING_PUSHES,
    MOBILITY,
    RETAKEN,
    SUPPLY,
    THREAT_TO_MOVE,
    THREAT_WAITING,
    TURN,
)

_BOARD: Final[i64] = (1 << SIDE * SIDE) - 1
_CASTLES: Final[i64] = sum(1 << castle for castle in CASTLES)
_LOWEST_RANK: Final[i64] = sum(1 << square for square in range(0, SIDE * SIDE, SIDE))
_HAS_LEFT: Final[i64] = _BOARD >> SIDE << SIDE
_HAS_BELOW: Final[i64] = _BOARD ^ _LOWEST_RANK
_HAS_ABOVE: Final[i64] = _HAS_BELOW >> 1
_HAS_RIGHT: Final[i64] = _BOARD >> SIDE

_CASTLE_SQUARES: Final[list[int]] = list(CASTLES)

# By the number of players.
_CASTLES_TOGETHER: Final[list[list[int]]] = [list(CASTLES_TOGETHER.get(players, ())) for players in range(5)]
_CROWNS_TOGETHER: Final[list[list[int]]] = [list(CROWNS_TOGETHER.get(players, ())) for players in range(5)]
_CASTLES_NEEDED: Final[list[int]] = [GOAL.get(players, (0, 0))[0] for players in range(5)]
_CROWNS_NEEDED: Final[list[int]] = [GOAL.get(players, (0, 0))[1] for players in range(5)]
_TO_GOAL: Final[list[int]] = [TO_GOAL.get(players, 0) for players in range(5)]

_THREAT_TO_MOVE: Final[list[int]] = list(THREAT_TO_MOVE)
_THREAT_WAITING: Final[list[int]] = list(THREAT_WAITING)
_HEIGHT: Final[list[int]] = list(HEIGHT)
_CASTLE_RAYS: Final[list[list[int]]] = [
    list(RAYS[4 * castle + way][: MAX_HEIGHT - 1]) for castle in CASTLES for way in range(4)
]
_CHANGES_CASTLE: Final[list[bool]] = [CASTLE_PUSHES >> FIRST_PUSH + push & 1 == 1 for push in range(len(RAYS))]

_KEYS: Final[list[int]] = hash_numbers(4 * MAX_HEIGHT * len(SQUARES) + 4)
"""The number of a piece in its place, [4 * (MAX_HEIGHT * square + pieces below it) + seat]; last of seats to move."""
_TURN_KEYS: Final = 4 * MAX_HEIGHT * len(SQUARES)


def _tower_key(square: i64, tower: i64) -> i64:
    key: i64 = 0
    place = 4 * MAX_HEIGHT * square
    while tower > 1:
        key ^= _KEYS[place + (tower & 3)]
        place += 4
        tower >>= 2
    return key


class NativePosition(SearchPosition[int]):
    """Towers by square, the sets that follow from them, supplies by seat, the side to move, pushes in a row."""

    def __init__(self, players: i64, board: list[int], supplies: i64, side: i64, pushes: i64) -> None:
        super().__init__(side)
        self.players: i64 = players
        self.board: list[int] = board
        self.supplies: i64 = supplies
        """Eight bits a seat."""
        self.pushes: i64 = pushes
        # The squares of at least one piece, two ...
        self.one: i64 = 0
        self.two: i64 = 0
        self.three: i64 = 0
        self.four: i64 = 0
        self.five: i64 = 0
        # The squares that any seat controls, and the bits of its number.
        self.controlled: i64 = 0
        self.low: i64 = 0
        self.high: i64 = 0
        self.counts: i64 = 0
        """As ``features.castle_counts``: the castles of every seat, then the crowned ones, four bits each."""
        # The worth of the towers of the first two seats, and of the others, 30 bits each.
        self.worth: i64 = 0
        self.other_worth: i64 = 0
        self.pieces_key: i64 = 0

    def copy(self, side: i64, pushes: i64) -> "NativePosition":
        """Return a position like this one but for the side to move and the pushes in a row."""
        other = NativePosition(self.players, self.board.copy(), self.supplies, side, pushes)
        other.one, other.two, other.three = self.one, self.two, self.three
        other.four, other.five = self.four, self.five
        other.controlled, other.low, other.high = self.controlled, self.low, self.high
        other.counts, other.pieces_key = self.counts, self.pieces_key
        other.worth, other.other_worth = self.worth, self.other_worth
        return other

    def place(self, square: i64, tower: i64) -> None:
        """Put ``tower`` on ``square``, in place of the one that stands there."""
        old: i64 = self.board[square]
        self._count_tower(square, old, -1)
        self.board[square] = tower
        self._count_tower(square, tower, 1)
        self.pieces_key ^= _tower_key(square, old) ^ _tower_key(square, tower)
        rest = ~set_of(square)
        height: i64 = _HEIGHT[tower]
        self.one = self.one & rest | (1 if height > 0 else 0) << square
        self.two = self.two & rest | (1 if height > 1 else 0) << square
        self.three = self.three & rest | (1 if height > 2 else 0) << square
        self.four = self.four & rest | (1 if height > 3 else 0) << square
        self.five = self.five & rest | (1 if height > 4 else 0) << square

    def _count_tower(self, square: i64, tower: i64, times: i64) -> None:
        """Add ``tower`` to the sums and sets of the seat that controls it, or with ``times`` -1 take it from them."""
        height: i64 = _HEIGHT[tower]
        castle: i64 = _CASTLES >> square & 1
        if height <= castle:
            return
        seat = tower >> 2 * height - 2 & 3
        worth: i64 = OWNED_WORTH[square][tower]
        if seat < 2:
            self.worth += times * worth << 30 * seat
        else:
            self.other_worth += times * worth << 30 * (seat - 2)
        self.controlled ^= set_of(square)
        self.low ^= (seat & 1) << square
        self.high ^= (seat >> 1) << square
        if castle:
            self.counts += times << 4 * seat
            if height == MAX_HEIGHT:
                self.counts += times << 16 + 4 * seat

    def controlled_by(self, seat: i64) -> i64:
        """Return the squares that ``seat`` controls."""
        low = self.low if seat & 1 else ~self.low
        high = self.high if seat & 2 else ~self.high
        return self.controlled & low & high

    def worth_to(self, seat: i64) -> i64:
        """Return the worth of the towers that ``seat`` controls."""
        if seat < 2:
            return self.worth >> 30 * seat & 0x3FFFFFFF
        return self.other_worth >> 30 * (seat - 2) & 0x3FFFFFFF

    def builds(self, seat: i64) -> i64:
        """Return the squares on which ``seat`` may build, as if it were its turn."""
        if not self.supplies >> 8 * seat & 255:
            return 0
        return self.controlled_by(seat) & ~_CASTLES & ~self.five

    def possible_pushes(self) -> tuple[i64, i64, i64, i64]:
        """Return the squares higher than the next one to the left, downwards, upwards, to the right (section 3.2)."""
        one, two, three, four, five = self.one, self.two, self.three, self.four, self.five
        left = one & ~(one << 7) | two & ~(two << 7) | three & ~(three << 7) | four & ~(four << 7) | five & ~(five << 7)
        below = (
            one & ~(one << 1) | two & ~(two << 1) | three & ~(three << 1) | four & ~(four << 1) | five & ~(five << 1)
        )
        above = (
            one & ~(one >> 1) | two & ~(two >> 1) | three & ~(three >> 1) | four & ~(four >> 1) | five & ~(five >> 1)
        )
        right = (
            one & ~(one >> 7) | two & ~(two >> 7) | three & ~(three >> 7) | four & ~(four >> 7) | five & ~(five >> 7)
        )
        return left & _HAS_LEFT, below & _HAS_BELOW, above & _HAS_ABOVE, right & _HAS_RIGHT

    def can_act(self, seat: i64) -> bool:
        """Return whether ``seat`` has a legal action, as if it were its turn."""
        if self.builds(seat):
            return True
        left, below, above, right = self.possible_pushes()
        return (left | below | above | right) & self.controlled_by(seat) & self.two != 0

    def goal_reached(self) -> bool:
        """Return whether any player has enough castles or enough crowned castles (section 7, rule 1)."""
        return _reaches(self.counts, self.players) != 0

    def legal_moves(self) -> list[int]:
        """Return the legal moves in the order of the contract."""
        moves: list[int] = []
        if self.pushes >= MAX_PUSHES or self.goal_reached():
            return moves
        builds = self.builds(self.side)
        while builds:
            bit = builds & -builds
            builds ^= bit
            moves.append(square_of(bit))
        self._add_pushes(moves)
        return moves

    def _add_pushes(self, moves: list[int]) -> None:
        left, below, above, right = self.possible_pushes()
        pushers = self.controlled_by(self.side) & self.two & (left | below | above | right)
        while pushers:
            bit = pushers & -pushers
            pushers ^= bit
            first = FIRST_PUSH + 4 * square_of(bit)
            if left & bit:
                moves.append(first)
            if below & bit:
                moves.append(first + 1)
            if above & bit:
                moves.append(first + 2)
            if right & bit:
                moves.append(first + 3)

    def play(self, move: int) -> "NativePosition":
        """Return the position after the legal ``move``, players without a legal action skipped (section 4)."""
        side = self.side
        if move < FIRST_PUSH:
            after = self.copy(side, 0)
            tower: i64 = self.board[move]
            height: i64 = _HEIGHT[tower]
            after.place(move, tower + (side + 3 << 2 * height))
            after.supplies -= 1 << 8 * side
        else:
            after = self.copy(side, self.pushes + 1)
            changes = Changes(self.board, self.counts, self.side)
            changes.topple(move)
            for number in range(changes.count):
                after.place(changes.squares[number], changes.towers[number])
        after.side = 1 - side if self.players == 2 else after.next_side()
        return after

    def next_side(self) -> i64:
        """Return the seat after the side that can act; simply the next one when the game has ended (section 8)."""
        following = (self.side + 1) % self.players
        if self.goal_reached():
            return following
        for step in range(1, self.players):
            seat: i64 = (self.side + step) % self.players
            if self.can_act(seat):
                return seat
        return following

    def outcome(self, repeated: bool) -> Outcome | None:
        """Return how the game has ended, or None; ``repeated`` tells that the position stands for the third time."""
        players = self.players
        mover = (self.side + players - 1) % players
        reached = _reaches(self.counts, players)
        if reached:
            for step in range(players):
                seat: i64 = (mover + step) % players
                if reached >> 4 * seat & 0x80008:
                    return _won(players, seat, "castles" if reached >> 4 * seat & 8 else "crowned-castles")
        if not self.can_act(self.side):
            return _won(players, mover, "no-moves")
        if repeated:
            return _drawn(players, "repetition")
        return _drawn(players, "no-progress") if self.pushes >= MAX_PUSHES else None

    def key(self) -> int:
        """Return the key of board and side, the same for positions that repeat each other (section 7, rule 3)."""
        return self.pieces_key ^ _KEYS[_TURN_KEYS + self.side]

    def gains(self, moves: list[int]) -> list[int]:
        """Return the gain of each move, as ``evaluate.gains`` does."""
        changes = Changes(self.board, self.counts, self.side)
        gains: list[int] = []
        for move in moves:
            if move < FIRST_PUSH:
                tower: i64 = self.board[move]
                height: i64 = _HEIGHT[tower]
                worth = OWNED_WORTH[move]
                gains.append(worth[tower + (self.side + 3 << 2 * height)] - worth[tower])
                continue
            changes.topple(move)
            changes.judge()
            gained = 2 * changes.own_worth - changes.all_worth
            if _CHANGES_CASTLE[move - FIRST_PUSH]:
                if _reaches(changes.counts, self.players) >> 4 * self.side & 0x80008:
                    gained = WINS
                elif gained > 0 and changes.on_castle:
                    gained += CASTLE_GAIN
            gains.append(gained)
        return gains

    def is_forced(self) -> bool:
        """Return False: a player is never forced."""
        return False

    def noisy_moves(self) -> list[int]:
        """Return the pushes that win or take castles without loss, as ``evaluate.noisy_moves`` does."""
        noisy: list[int] = []
        if self.pushes >= MAX_PUSHES or self.goal_reached():
            return noisy
        pushes: list[int] = []
        self._add_pushes(pushes)
        changes = Changes(self.board, self.counts, self.side)
        for move in pushes:
            if _CHANGES_CASTLE[move - FIRST_PUSH]:
                changes.topple(move)
                changes.judge()
                if self._takes_castle(changes.counts):
                    noisy.append(move)
        for seat in range(self.players):
            if seat != self.side and count(self.builds(seat)) >= MAX_HEIGHT:
                return noisy
        for move in pushes:
            if move not in noisy:
                after = self.play(move)
                if not after.can_act(after.side):
                    noisy.append(move)
        return noisy

    def _takes_castle(self, counts: i64) -> bool:
        if counts == self.counts:
            return False
        shift = 4 * self.side
        if (counts ^ self.counts) & 0xFFFF and counts >> shift & 15 >= self.counts >> shift & 15:
            return True
        return _reaches(counts, self.players) >> shift & 0x80008 != 0

    def evaluate(self, seat: int) -> int:
        """Return the lead of ``seat`` over the best other seat, as ``evaluate.evaluate`` does."""
        players = self.players
        left, below, above, right = self.possible_pushes()
        threats, crown_threats, retaken = self._threats()
        own: i64 = 0
        best: i64 = 0
        first = True
        for player in range(players):
            castles = self.counts >> 4 * player & 15
            crowns = self.counts >> 16 + 4 * player & 15
            pushers = self.controlled_by(player) & self.two
            mobility = count(left & pushers) + count(below & pushers) + count(above & pushers) + count(right & pushers)
            view = self.worth_to(player) + MOBILITY * mobility + SUPPLY * (self.supplies >> 8 * player & 255)
            view += _CASTLES_TOGETHER[players][castles] + _CROWNS_TOGETHER[players][crowns]
            threatened = threats >> 4 * player & 15
            if player == self.side:
                view += TURN + _THREAT_TO_MOVE[threatened] + RETAKEN * retaken
                if (threatened and castles + 1 >= _CASTLES_NEEDED[players]) or (
                    crown_threats >> 4 * player & 15 and crowns + 1 >= _CROWNS_NEEDED[players]
                ):
                    view += CAN_WIN
            else:
                view += _THREAT_WAITING[threatened]
            if player == seat:
                own = view
            elif first or view > best:
                best = view
                first = False
        lead = own - best
        # Rounded towards zero: the gain of one of two seats is the loss of the other.
        faded = (lead if lead > 0 else -lead) * (FADING_PUSHES - self.pushes) // FADING_PUSHES
        return faded if lead > 0 else -faded

    def _threats(self) -> tuple[i64, i64, i64]:
        """Return the castles that can change by one push, as ``evaluate`` counts them, four bits a seat."""
        threats: i64 = 0
        crown_threats: i64 = 0
        retaken: i64 = 0
        board = self.board
        for number in range(len(_CASTLE_SQUARES)):
            castle: i64 = _CASTLE_SQUARES[number]
            tower: i64 = board[castle]
            castle_height: i64 = _HEIGHT[tower]
            if castle_height == MAX_HEIGHT:
                continue
            attackers: i64 = 0
            for way in range(4):
                ahead = castle_height
                lost: i64 = 0
                for square in _CASTLE_RAYS[4 * number + way]:
                    attacker: i64 = board[square]
                    height: i64 = _HEIGHT[attacker]
                    # The pieces that a push leaves behind on the way: at least one, and all that the next tower blocks.
                    if height > ahead + lost:
                        attackers |= 1 << (attacker >> 2 * height - 2 & 3)
                    lost += ahead - height if ahead > height else 1
                    ahead = height or 1
                    if ahead + lost >= MAX_HEIGHT:
                        break
            if attackers:
                owner: i64 = tower >> 2 * castle_height - 2 & 3 if castle_height > 1 else -1
                for seat in range(self.players):
                    if attackers >> seat & 1:
                        if seat != owner:
                            threats += 1 << 4 * seat
                        if castle_height == MAX_HEIGHT - 1:
                            crown_threats += 1 << 4 * seat
                if attackers >> self.side & 1 and attackers != 1 << self.side and owner != self.side:
                    retaken += 1
        return threats, crown_threats, retaken


def _reaches(counts: i64, players: i64) -> i64:
    """Return which of the counts of castles and crowned castles have reached their goals: bit 3 of their four bits."""
    return counts + _TO_GOAL[players] & REACHED


def _won(players: i64, winner: i64, reason: str) -> Outcome:
    return Outcome(tuple([1.0 if seat == winner else 0.0 for seat in range(players)]), reason)


def _drawn(players: i64, reason: str) -> Outcome:
    return Outcome((1.0 / int(players),) * int(players), reason)


def search_position(position: Position) -> NativePosition | None:
    """Return ``position`` in machine integers where these are fast, compiled."""
    return from_position(position) if COMPILED else None


def from_position(position: Position) -> NativePosition:
    """Return ``position`` in the representation of the search."""
    supplies = sum(supply << 8 * seat for seat, supply in enumerate(position.supplies))
    board = [1] * len(SQUARES)
    made = NativePosition(len(position.supplies), board, supplies, position.side, position.pushes)
    for square, tower in enumerate(position.board):
        made.place(square, tower)
    return made
