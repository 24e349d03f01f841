"""Generation of the moves that one piece makes (rules, sections 3, 5 and 6; all kinds but rearrange and multi)."""

from domain.four_towers.attack import (
    BISHOP,
    CARDINAL,
    DRAGON,
    FREE,
    KING,
    KNIGHT,
    LANCER,
    MARSHALL,
    PAWN,
    QUEEN,
    ROOK,
    WIZARD,
    Siege,
    covered,
    in_check,
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
    SQUARE_AT,
    TARGET_SHIFT,
    TARGETS,
    TOWER_SET,
    TOWERS,
    ZONE_OF,
    ZONES,
    Rays,
    hops,
    members_of,
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
    RETURN,
    RETURNS,
    STARTS,
    SWAP,
    displaced,
    victim_bits,
)
from domain.four_towers.position import Position, occupied_by

Reach = tuple[list[int], list[int]]
"""The vacant squares that a movement reaches, as targets, and the pieces that it meets, as squares."""

_TOWER_TARGETS = frozenset(TARGETS[tower] for tower in TOWERS)
_TARGET_MASK = 127 << TARGET_SHIFT
_PARTS = {
    code: tuple(part for part in range(1, code) if part & code == part) if code & (code - 1) else ()
    for code in range(1, WIZARD + 1)
}
"""By compound piece: the parts that it may send off."""
_EVERYWHERE = -1
_HOLDING = frozenset((QUEEN, KNIGHT, MARSHALL, CARDINAL))
"""The types that change who attacks a king when they leave a tower."""


class Turn:
    """The side to move in one position and what it can do, piece by piece; ``heedless``: whatever befalls its king."""

    __slots__ = (
        "barred",
        "board",
        "dangers",
        "enemy_dragons",
        "heedless",
        "hops",
        "king",
        "knighted",
        "lancer_zone",
        "men",
        "mine",
        "occupied",
        "pawn_zone",
        "position",
        "side",
        "surface",
        "switched",
    )

    def __init__(self, position: Position, heedless: bool = False) -> None:
        board, men, side = position[0], position[1], position[2]
        self.position = position
        self.heedless = heedless
        self.board = board
        self.men = men
        self.side = side
        self.mine = occupied_by(men, side)
        self.occupied = self.mine | occupied_by(men, 1 - side)
        self.king = men[(side << 4) + KING].bit_length() - 1
        self.enemy_dragons = men[(1 - side << 4) + DRAGON]
        self.dangers: dict[int, tuple[bool, int, int]] = {}
        self.knighted = on_towers(men, KNIGHT)
        self.surface = surface(self.knighted)
        self.barred = ZONES[on_towers(men, MARSHALL)]
        self.switched = ZONES[on_towers(men, CARDINAL)]
        self.pawn_zone = ZONES[on_towers(men, PAWN)]
        self.lancer_zone = ZONES[on_towers(men, LANCER)]
        rooks, bishops = on_towers(men, ROOK), on_towers(men, BISHOP)
        self.hops = hops(rooks, bishops) if rooks or bishops else None

    def moves(self) -> list[int]:
        """Return all legal moves but rearrangements and multi-moves, in ASCII order of their strings."""
        found = self.returns()
        squares = self.mine
        while squares:
            lowest = squares & -squares
            squares ^= lowest
            self.add_moves_from(lowest.bit_length() - 1, found)
        found.sort()
        return found

    def any_move(self) -> bool:
        """Tell whether there is a legal move that is no rearrangement and no multi-move."""
        found: list[int] = []
        for square in members_of(self.mine):
            self.add_moves_from(square, found)
            if found:
                return True
        return bool(self.returns())

    def moves_from(self, square: int) -> list[int]:
        """Return the legal moves of the piece on ``square`` and of its parts, in no particular order."""
        found: list[int] = []
        if self.mine >> square & 1:
            self.add_moves_from(square, found)
        return found

    def quiet_moves_from(self, square: int) -> list[int]:
        """Return the plain moves of the whole piece on ``square``, whatever becomes of the own king."""
        kind = self.board[square] & 15
        if kind == PAWN:
            quiet, _ = self._pawn_reach(square, 0)
        elif kind == LANCER:
            quiet, _ = self._lancer_reach(square)
        else:
            start = STARTS[0][PLAIN][square]
            quiet = [start | target for target in self._reach(square, self._movement(square, kind))[0]]
        return [move for move in quiet if HEADS[move >> HEAD_SHIFT].mark == PLAIN]

    def returns(self) -> list[int]:
        """Return the legal returns of a piece just captured on a tower (section 6.9) [FT-33, FT-37]."""
        code, tower = self.position.returning
        if not code:
            return []
        kind = code & 15
        start = RETURNS[kind]
        moves = [start | TARGETS[square] for square in members_of(ZONE_OF[tower] & ~self.occupied)]
        found: list[int] = []
        memory = kind if kind < KING else self.position.memories[self.side]
        self._admit(found, -1, moves, [], memory, False, False)
        return found

    def add_moves_from(self, square: int, found: list[int]) -> None:
        """Add the legal moves of the own piece on ``square`` and of its parts to ``found``."""
        kind = self.board[square] & 15
        if kind == PAWN:
            self._add_pawn(square, 0, found)
        elif kind < KING:
            self._add_components(square, kind, found)
        elif kind == KING:
            self._add_king(square, found)
        elif kind == LANCER:
            quiet, risky = self._lancer_reach(square)
            self._admit(found, square, quiet, risky, self.position.memories[self.side], True, False)
            self._add_pawn(square, PAWN, found)
        else:
            movement = self._movement(square, kind)
            if movement or self.hops is not None or TOWER_SET >> square & 1:
                vacant, contacts = self._reach(square, movement)
                memory = self.position.memories[self.side]
                self._add_reach(square, 0, DRAGON, vacant, contacts, memory, found)

    def _movement(self, square: int, kind: int) -> int:
        """Return the components by which the whole piece on ``square`` moves, with the king's step as 8."""
        if kind in (BISHOP, KNIGHT) and self.switched >> square & 1:
            return BISHOP + KNIGHT - kind
        if kind == DRAGON:
            white, black = self.position.memories
            return white | black
        return kind

    def _reach(self, square: int, movement: int) -> Reach:
        vacant: list[int] = []
        contacts: list[int] = []
        if movement & ROOK:
            self._add_rays(self.surface.rays[square], vacant, contacts)
        if movement & BISHOP:
            self._add_rays(DIAGONAL_RAYS[square], vacant, contacts)
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
        if (self.knighted and movement & ROOK) or movement & KING:
            # Two patterns of one piece may lead to the same square: that is one move (section 3.1).
            return list(dict.fromkeys(vacant)), list(dict.fromkeys(contacts))
        return vacant, contacts

    def _add_rays(self, rays: Rays, vacant: list[int], contacts: list[int]) -> None:
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

    def _add_components(self, square: int, kind: int, found: list[int]) -> None:
        movement = self._movement(square, kind)
        parts = _PARTS[kind]
        if not parts:
            vacant, contacts = self._reach(square, movement)
            self._add_reach(square, 0, kind, vacant, contacts, movement, found)
            return
        reaches = {bit: self._reach(square, bit) for bit in (ROOK, BISHOP, KNIGHT) if kind & bit}
        held = bool(self.barred >> square & 1) and kind != MARSHALL
        for part in (0, *parts):
            if part in FREE and held:
                # A rook, knight or marshall may not leave a queen, cardinal or wizard here [FT-16].
                continue
            mover = part or kind
            if mover in reaches:
                vacant, contacts = reaches[mover]
            else:
                vacant, contacts = [], []
                for bit, (squares, pieces) in reaches.items():
                    if mover & bit:
                        vacant += squares
                        contacts += pieces
                if self.knighted and mover & ROOK:
                    vacant, contacts = list(dict.fromkeys(vacant)), list(dict.fromkeys(contacts))
            self._add_reach(square, part, mover, vacant, contacts, mover, found)

    def _add_king(self, square: int, found: list[int]) -> None:
        vacant, contacts = self._reach(square, KING)
        if TOWER_SET >> square & 1:
            distant: list[int] = []
            self._add_rays(self.surface.rays[square], [], distant)
            self._add_rays(DIAGONAL_RAYS[square], [], distant)
            contacts += [met for met in dict.fromkeys(distant) if not self.mine >> met & 1 and met not in contacts]
        self._add_reach(square, 0, KING, vacant, contacts, KING, found)

    def _add_reach(
        self, square: int, part: int, mover: int, vacant: list[int], contacts: list[int], memory: int, found: list[int]
    ) -> None:
        """Add the moves of a piece or part other than a pawn or lancer."""
        board, side = self.board, self.side
        starts = STARTS[part]
        start = starts[PLAIN][square]
        quiet = [start | target for target in vacant]
        risky: list[int] = []
        on_tower = TOWER_SET >> square & 1
        for met in contacts:
            there = board[met]
            kind = there & 15
            if there >> 4 == side:
                if self._may_attach(mover, kind, square, met):
                    (risky if TOWER_SET >> met & 1 else quiet).append(starts[ATTACH][square] | TARGETS[met])
                if not part and kind != mover and (on_tower or TOWER_SET >> met & 1):
                    # One end of a swap is a tower; it never changes nothing [FT-12, FT-18].
                    risky.append(starts[SWAP][square] | TARGETS[met])
            elif kind != KING and not (self.barred and self.is_barred(mover, kind, square, met)):
                (risky if TOWER_SET >> met & 1 else quiet).append(starts[CAPTURE][square] | TARGETS[met])
        if self.hops is not None and not on_tower:
            for end in self._direct_ends(square):
                if not board[end]:
                    if TARGETS[end] not in vacant:
                        quiet.append(starts[DIRECT][square] | TARGETS[end])
                elif end not in contacts and self._may_attach(mover, board[end] & 15, square, end):
                    quiet.append(starts[DIRECT_ATTACH][square] | TARGETS[end])
        if mover in (KNIGHT, CARDINAL):
            # On a tower these change the movements of enemies.
            risky += [move for move in quiet if move & _TARGET_MASK in _TOWER_TARGETS]
            quiet = [move for move in quiet if move & _TARGET_MASK not in _TOWER_TARGETS]
        shifting = mover == KING or bool(on_tower and (part or mover in _HOLDING))
        self._admit(found, square, quiet, risky, memory, not part, shifting)

    def _may_attach(self, mover: int, other: int, square: int, target: int) -> bool:
        """Tell whether two components sets fuse (6.1), a marshall on a tower allowing rook with knight only (6.5)."""
        if mover >= KING or other >= KING or mover & other:
            return False
        barred = self.barred
        return not barred or mover | other == MARSHALL or not (barred >> square | barred >> target) & 1

    def is_barred(self, mover: int, victim: int, square: int, target: int) -> bool:
        """Tell whether a marshall on a tower forbids a capture (section 5.1) [FT-14]."""
        if mover in FREE:
            return victim not in FREE and bool((self.barred >> square | self.barred >> target) & 1)
        return victim in FREE and bool(self.barred >> target & 1)

    def _direct_ends(self, square: int) -> list[int]:
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
                elif not self.mine >> there & 1:
                    continue
                if there not in ends:
                    ends.append(there)
        return ends

    def _add_pawn(self, square: int, part: int, found: list[int]) -> None:
        quiet, risky = self._pawn_reach(square, part)
        self._admit(found, square, quiet, risky, self.position.memories[self.side], not part, False)

    def _pawn_reach(self, square: int, part: int) -> tuple[list[int], list[int]]:
        """Return the moves of a pawn, alone or leaving a lancer, and apart from them those that need a closer look."""
        board, side, steps = self.board, self.side, self.surface.steps
        pawn = (side << 4) + PAWN
        starts = STARTS[part]
        plain = starts[PLAIN][square]
        quiet: list[int] = []
        risky: list[int] = []
        friends: list[int] = []
        promotions = PROMOTION_SQUARES[side]
        ahead = steps[FORWARD[side]]
        ways = [ahead[square], steps[LEFT][square], steps[RIGHT][square]]
        if self.lancer_zone >> square & 1:
            ways.append(steps[FORWARD[1 - side]][square])
        one = ways[0]
        if one >= 0 and not board[one] and (DOUBLE_STEP_SQUARES[side] | self.pawn_zone) >> square & 1:
            ways.append(ahead[one])
        for target in ways:
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
                    and not (self.barred and self.is_barred(PAWN, kind, square, target))
                ):
                    move = starts[CAPTURE][square] | TARGETS[target]
                    _add_promoting(risky if TOWER_SET >> target & 1 else quiet, move, promotions >> target & 1)
        for target in friends:
            _add_promoting(quiet, starts[ATTACH][square] | TARGETS[target], promotions >> target & 1)
        for crossed, arrival in self.position.passed:
            if crossed in PAWN_CAPTURES[side][square]:
                move = starts[CAPTURE][square] | TARGETS[crossed] | victim_bits(arrival)
                _add_promoting(risky, move, promotions >> crossed & 1)
        if self.hops is not None and not TOWER_SET >> square & 1:
            for end in self._direct_ends(square):
                if not board[end]:
                    if end not in ways:
                        _add_promoting(quiet, starts[DIRECT][square] | TARGETS[end], promotions >> end & 1)
                elif board[end] == pawn and end not in friends:
                    _add_promoting(quiet, starts[DIRECT_ATTACH][square] | TARGETS[end], promotions >> end & 1)
        return quiet, risky

    def _lancer_reach(self, square: int) -> tuple[list[int], list[int]]:
        """Return the moves of a whole lancer, and apart from them those that need a closer look (section 3.4)."""
        board, side, occupied = self.board, self.side, self.occupied
        starts = STARTS[0]
        promotions = PROMOTION_SQUARES[side]
        vacant: list[int] = []
        taken: list[int] = []
        runs = self.surface.runs[side][square]
        for run in runs:
            for target in run:
                if occupied >> target & 1:
                    if not self.mine >> target & 1 and target not in taken:
                        taken.append(target)
                    break
                if target not in vacant:
                    vacant.append(target)
        if self.lancer_zone >> square & 1:
            back = self.surface.steps[FORWARD[1 - side]][square]
            if back >= 0 and not board[back]:
                vacant.append(back)
        quiet: list[int] = []
        risky: list[int] = []
        for target in vacant:
            _add_promoting(quiet, starts[PLAIN][square] | TARGETS[target], promotions >> target & 1)
        for target in taken:
            kind = board[target] & 15
            if kind != KING and not (self.barred and self.is_barred(LANCER, kind, square, target)):
                move = starts[CAPTURE][square] | TARGETS[target]
                _add_promoting(risky if TOWER_SET >> target & 1 else quiet, move, promotions >> target & 1)
        for crossed, arrival in self.position.passed:
            # As if the piece on the square of arrival had stopped on the one it crossed [FT-01].
            left = occupied & ~(1 << arrival)
            if any(run[0] == crossed or (run[-1] == crossed and not left >> run[0] & 1) for run in runs):
                move = starts[CAPTURE][square] | TARGETS[crossed] | victim_bits(arrival)
                _add_promoting(risky, move, promotions >> crossed & 1)
        if self.hops is not None and not TOWER_SET >> square & 1:
            for end in self._direct_ends(square):
                if not board[end] and end not in vacant:
                    _add_promoting(quiet, starts[DIRECT][square] | TARGETS[end], promotions >> end & 1)
        return quiet, risky

    def danger(self, memory: int) -> tuple[bool, int, int]:
        """Return how the own king stands once the mover's dragon memory is ``memory``.

        That is whether it is in check, the own pieces that must not leave their squares without a look, and the
        squares of which every answer to the check that moves neither the king nor a tower's piece must reach one.
        """
        white, black = self.position.memories
        imitated = (memory | (black, white)[self.side]) if self.enemy_dragons else 0
        known = self.dangers.get(imitated)
        if known is None:
            known = self.dangers[imitated] = self._look(imitated)
        return known

    def _look(self, imitated: int) -> tuple[bool, int, int]:
        if covered(self.men, self.side, self.king):
            return False, 0, _EVERYWHERE
        siege = Siege(self.men, self.king, 1 - self.side, imitated)
        direct = siege.leaping | siege.stepping
        checked, exposed, answers = bool(direct), 0, _EVERYWHERE
        if direct:
            answers = direct if not direct & (direct - 1) else 0
        occupied = self.occupied
        for source, between in siege.lines():
            blockers = between & occupied
            if not blockers:
                checked = True
                answers &= between | 1 << source
            elif not blockers & (blockers - 1):
                exposed |= blockers
        return checked, exposed & self.mine, answers

    def _admit(
        self,
        found: list[int],
        square: int,
        quiet: list[int],
        risky: list[int],
        memory: int,
        leaves: bool,
        shifting: bool,
    ) -> None:
        """Add the moves that leave the own king safe.

        ``quiet`` moves change nothing on towers that concerns a king but by leaving their own (``shifting``), and
        empty no square but their own (``leaves``); ``risky`` ones are tried out in any case.
        """
        if self.heedless:
            found += quiet
            found += risky
            return
        checked, exposed, answers = self.danger(memory)
        if not checked and not shifting and not (leaves and exposed >> square & 1):
            found += quiet
        elif checked and not shifting:
            risky = risky + [
                move
                for move in quiet
                if answers >> SQUARE_AT[move >> TARGET_SHIFT & 127] & 1 or move & _TARGET_MASK in _TOWER_TARGETS
            ]
        else:
            risky = risky + quiet
        if risky:
            white, black = self.position.memories
            imitated = memory | (black, white)[self.side]
            found += [move for move in risky if self._survives(move, imitated)]

    def _survives(self, move: int, imitated: int) -> bool:
        """Tell whether the own king is not in check after ``move``, the dragons imitating ``imitated`` then."""
        _, part, origin, mark = HEADS[move >> HEAD_SHIFT]
        occupied = self.occupied | 1 << SQUARE_AT[move >> TARGET_SHIFT & 127]
        if not part and mark != SWAP and mark != RETURN:
            occupied ^= 1 << origin
        if move >> 4 & 127:
            occupied ^= 1 << SQUARE_AT[(move >> 4 & 127) - 1]
        return not in_check(displaced(self.board, self.men, self.side, move), self.side, imitated, occupied)


def _add_promoting(moves: list[int], move: int, promotes: int) -> None:
    if promotes:
        moves.extend(range(move + 1, move + 1 + len(PROMOTIONS)))
    else:
        moves.append(move)
