"""The reach of the pieces of one side, check disregarded (rules, sections 3, 5.1 and 6)."""

from domain.four_towers.attacks import (
    BISHOP,
    CARDINAL,
    DRAGON,
    FREE,
    KING,
    KNIGHT,
    LANCER,
    MARSHALL,
    PAWN,
    ROOK,
    on_towers,
)
from domain.four_towers.board import (
    DIAGONAL_RAYS,
    DOUBLE_STEP_SQUARES,
    FORWARD,
    LEAP_SETS,
    LEAP_TARGETS,
    LEAPS,
    LEFT,
    PAWN_CAPTURES,
    PROMOTION_SQUARES,
    RIGHT,
    TARGETS,
    TOWER_SET,
    ZONES,
    Rays,
    hops,
    surface,
)
from domain.four_towers.moves import (
    ATTACH,
    CAPTURE,
    DIRECT,
    DIRECT_ATTACH,
    HEAD_SHIFT,
    HEADS,
    PLAIN,
    PROMOTIONS,
    STARTS,
    victim_bits,
)
from domain.four_towers.position import Position, occupied_by

Reached = tuple[list[int], list[int]]
"""The vacant squares that a movement reaches, as targets, and the pieces that it meets, as squares."""


class PieceReach:
    """The side to move in one position: where its pieces and their parts can go."""

    __slots__ = (
        "board", "cardinal_zone", "hops", "knight_towers", "lancer_zone", "marshall_zone", "men", "occupied", "own",
        "pawn_zone", "position", "side", "surface",
    )  # fmt: skip

    def __init__(self, position: Position) -> None:
        board, men, side = position[0], position[1], position[2]
        self.position = position
        self.board = board
        self.men = men
        self.side = side
        self.own = occupied_by(men, side)
        self.occupied = self.own | occupied_by(men, 1 - side)
        self.knight_towers = on_towers(men, KNIGHT)
        self.surface = surface(self.knight_towers)
        self.marshall_zone = ZONES[on_towers(men, MARSHALL)]
        self.cardinal_zone = ZONES[on_towers(men, CARDINAL)]
        self.pawn_zone = ZONES[on_towers(men, PAWN)]
        self.lancer_zone = ZONES[on_towers(men, LANCER)]
        rooks, bishops = on_towers(men, ROOK), on_towers(men, BISHOP)
        self.hops = hops(rooks, bishops) if rooks or bishops else None

    def plain_moves_from(self, square: int) -> list[int]:
        """Return the plain moves of the whole piece on ``square``, check disregarded."""
        kind = self.board[square] & 15
        if kind == PAWN:
            quiet, _ = self.pawn_moves(square, 0)
        elif kind == LANCER:
            quiet, _ = self.lancer_moves(square)
        else:
            start = STARTS[0][PLAIN][square]
            quiet = [start | target for target in self.reached_from(square, self.movement(square, kind))[0]]
        return [move for move in quiet if HEADS[move >> HEAD_SHIFT].mark == PLAIN]

    def movement(self, square: int, kind: int) -> int:
        """Return the components by which the whole piece on ``square`` moves, with the king's step as 8."""
        if kind in (BISHOP, KNIGHT) and self.cardinal_zone >> square & 1:
            return BISHOP + KNIGHT - kind
        if kind == DRAGON:
            white, black = self.position.memories
            return white | black
        return kind

    def reached_from(self, square: int, movement: int) -> Reached:
        """Return the vacant squares and the contacts that ``movement`` leads to from ``square``."""
        vacant: list[int] = []
        contacts: list[int] = []
        if movement & ROOK:
            self.add_rays(self.surface.rays[square], vacant, contacts)
        if movement & BISHOP:
            self.add_rays(DIAGONAL_RAYS[square], vacant, contacts)
        if movement & KNIGHT:
            met = LEAP_SETS[square] & self.occupied
            if not met:
                vacant += LEAP_TARGETS[square]
            else:
                for target in LEAPS[square]:
                    if met >> target & 1:
                        contacts.append(target)
                    else:
                        vacant.append(TARGETS[target])
        if movement & KING:
            for target in self.surface.king_steps[square]:
                if self.occupied >> target & 1:
                    contacts.append(target)
                else:
                    vacant.append(TARGETS[target])
        if (self.knight_towers and movement & ROOK) or movement & KING:
            # Two patterns of one piece may lead to the same square: that is one move (section 3.1).
            return list(dict.fromkeys(vacant)), list(dict.fromkeys(contacts))
        return vacant, contacts

    def add_rays(self, rays: Rays, vacant: list[int], contacts: list[int]) -> None:
        """Add the vacant squares and the contacts along ``rays`` to both lists."""
        occupied = self.occupied
        for squares, targets, before in rays[0]:
            met = squares & occupied
            if met:
                nearest = (met & -met).bit_length() - 1
                vacant += before[nearest]
                contacts.append(nearest)
            else:
                vacant += targets
        for squares, targets, before in rays[1]:
            met = squares & occupied
            if met:
                nearest = met.bit_length() - 1
                vacant += before[nearest]
                contacts.append(nearest)
            else:
                vacant += targets

    def may_attach(self, mover: int, other: int, square: int, target: int) -> bool:
        """Return whether two sets of components fuse (6.1); near a marshall on a tower only rook and knight (6.5)."""
        if mover >= KING or other >= KING or mover & other:
            return False
        marshall_zone = self.marshall_zone
        return (
            not marshall_zone
            or mover | other == MARSHALL
            or not (marshall_zone >> square | marshall_zone >> target) & 1
        )

    def is_capture_barred(self, mover: int, victim: int, square: int, target: int) -> bool:
        """Return whether a marshall on a tower forbids a capture (section 5.1) [FT-14]."""
        if mover in FREE:
            return victim not in FREE and bool((self.marshall_zone >> square | self.marshall_zone >> target) & 1)
        return victim in FREE and bool(self.marshall_zone >> target & 1)

    def direct_ends(self, square: int) -> list[int]:
        """Return the vacant and own squares to which a chain of hops leads, each by another tower (6.6) [FT-21]."""
        ends: list[int] = []
        paths = [(square, 0, 1 << square)]
        while paths:
            here, used, visited = paths.pop()
            for tower, there in (self.hops or ())[here]:
                if used & tower or visited >> there & 1:
                    continue
                if not self.occupied >> there & 1:
                    paths.append((there, used | tower, visited | 1 << there))
                elif not self.own >> there & 1:
                    continue
                if there not in ends:
                    ends.append(there)
        return ends

    def pawn_moves(self, square: int, part: int) -> tuple[list[int], list[int]]:  # noqa: C901
        """Return the moves of a pawn, alone or leaving a lancer; separately those to be tried out for check."""
        board, side, steps = self.board, self.side, self.surface.steps
        pawn = (side << 4) + PAWN
        starts = STARTS[part]
        plain = starts[PLAIN][square]
        quiet: list[int] = []
        unverified: list[int] = []
        friends: list[int] = []
        promotions = PROMOTION_SQUARES[side]
        ahead = steps[FORWARD[side]]
        paths_to = [ahead[square], steps[LEFT][square], steps[RIGHT][square]]
        if self.lancer_zone >> square & 1:
            paths_to.append(steps[FORWARD[1 - side]][square])
        one = paths_to[0]
        if one >= 0 and not board[one] and (DOUBLE_STEP_SQUARES[side] | self.pawn_zone) >> square & 1:
            paths_to.append(ahead[one])
        for target in paths_to:
            if target >= 0:
                there = board[target]
                if not there:
                    _add_promoting(quiet, plain | TARGETS[target], promotions >> target & 1)
                elif there == pawn:
                    friends.append(target)
        for target in PAWN_CAPTURES[side][square]:
            there = board[target]
            if there == pawn:
                if target not in friends:
                    friends.append(target)
            elif there:
                kind = there & 15
                if (
                    there >> 4 != side
                    and kind != KING
                    and not (self.marshall_zone and self.is_capture_barred(PAWN, kind, square, target))
                ):
                    move = starts[CAPTURE][square] | TARGETS[target]
                    _add_promoting(unverified if TOWER_SET >> target & 1 else quiet, move, promotions >> target & 1)
        for target in friends:
            _add_promoting(quiet, starts[ATTACH][square] | TARGETS[target], promotions >> target & 1)
        for crossed, arrival in self.position.en_passant:
            if crossed in PAWN_CAPTURES[side][square]:
                move = starts[CAPTURE][square] | TARGETS[crossed] | victim_bits(arrival)
                _add_promoting(unverified, move, promotions >> crossed & 1)
        if self.hops is not None and not TOWER_SET >> square & 1:
            for end in self.direct_ends(square):
                if not board[end]:
                    if end not in paths_to:
                        _add_promoting(quiet, starts[DIRECT][square] | TARGETS[end], promotions >> end & 1)
                elif board[end] == pawn and end not in friends:
                    _add_promoting(quiet, starts[DIRECT_ATTACH][square] | TARGETS[end], promotions >> end & 1)
        return quiet, unverified

    def lancer_moves(self, square: int) -> tuple[list[int], list[int]]:
        """Return the moves of a whole lancer; separately those to be tried out for check (section 3.4)."""
        board, side, occupied = self.board, self.side, self.occupied
        starts = STARTS[0]
        promotions = PROMOTION_SQUARES[side]
        vacant: list[int] = []
        taken: list[int] = []
        runs = self.surface.runs[side][square]
        for run in runs:
            for target in run:
                if occupied >> target & 1:
                    if not self.own >> target & 1 and target not in taken:
                        taken.append(target)
                    break
                if target not in vacant:
                    vacant.append(target)
        if self.lancer_zone >> square & 1:
            back = self.surface.steps[FORWARD[1 - side]][square]
            if back >= 0 and not board[back]:
                vacant.append(back)
        quiet: list[int] = []
        unverified: list[int] = []
        for target in vacant:
            _add_promoting(quiet, starts[PLAIN][square] | TARGETS[target], promotions >> target & 1)
        for target in taken:
            kind = board[target] & 15
            if kind != KING and not (self.marshall_zone and self.is_capture_barred(LANCER, kind, square, target)):
                move = starts[CAPTURE][square] | TARGETS[target]
                _add_promoting(unverified if TOWER_SET >> target & 1 else quiet, move, promotions >> target & 1)
        for crossed, arrival in self.position.en_passant:
            # As if the piece on the square of arrival had stopped on the one it crossed [FT-01].
            left = occupied & ~(1 << arrival)
            if any(run[0] == crossed or (run[-1] == crossed and not left >> run[0] & 1) for run in runs):
                move = starts[CAPTURE][square] | TARGETS[crossed] | victim_bits(arrival)
                _add_promoting(unverified, move, promotions >> crossed & 1)
        if self.hops is not None and not TOWER_SET >> square & 1:
            for end in self.direct_ends(square):
                if not board[end] and end not in vacant:
                    _add_promoting(quiet, starts[DIRECT][square] | TARGETS[end], promotions >> end & 1)
        return quiet, unverified


def _add_promoting(moves: list[int], move: int, promotes: int) -> None:
    if promotes:
        moves.extend(range(move + 1, move + 1 + len(PROMOTIONS)))
    else:
        moves.append(move)
