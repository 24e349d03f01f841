"""The legal moves of one side, all kinds but rearrangements and multi-moves (rules, sections 4 to 6)."""

from functools import lru_cache
from typing import Final

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
    QUEEN,
    ROOK,
    WIZARD,
    KingAttackers,
    Sets,
    is_shielded,
    king_in_check,
)
from domain.four_towers.board import (
    DIAGONAL_RAYS,
    DIAGONAL_SOURCES,
    LEAP_SETS,
    NEAR_PROMOTION,
    PAWN_CAPTURE_SETS,
    SQUARE_AT,
    TARGET_SHIFT,
    TARGETS,
    TOWER_SET,
    TOWERS,
    ZONE_OF,
    members_of,
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
    sets_after,
)
from domain.four_towers.position import Position
from domain.four_towers.pseudo_legal import PieceReach

_TOWER_TARGETS: Final = frozenset(TARGETS[tower] for tower in TOWERS)
_TARGET_MASK: Final = 127 << TARGET_SHIFT
_PARTS: Final = {
    code: tuple(part for part in range(1, code) if part & code == part) if code & (code - 1) else ()
    for code in range(1, WIZARD + 1)
}
"""By compound piece: the parts that it may send off."""
_EVERYWHERE: Final = -1
_ATTACK_CHANGING: Final = frozenset((QUEEN, KNIGHT, MARSHALL, CARDINAL))
"""The types that change who attacks a king when they leave a tower, or are captured there."""
_CONTACTS: Final = tuple(head.mark in (CAPTURE, RETURN) for head in HEADS)
"""By head: whether such a move is noisy."""
_BEST_PROMOTION: Final = PROMOTIONS.index("W") + 1


def _is_noisy(move: int) -> bool:
    """Return whether a move is a capture, a return or a promotion to a wizard."""
    return _CONTACTS[move >> HEAD_SHIFT] or move & 15 == _BEST_PROMOTION


class MoveGenerator:
    """Generates the legal moves of the side to move in one position, compound moves excepted.

    With ``pseudo_legal`` it includes moves that leave the own king in check. With ``only`` it looks at no other move.
    With ``whole``, a generator of the same position, it looks at captures, returns and promotions to a wizard only.
    """

    __slots__ = (
        "board", "dangers", "imitable", "king", "men", "noisy", "occupied", "only", "own", "position", "pseudo_legal",
        "reach", "side",
    )  # fmt: skip

    def __init__(
        self,
        position: Position,
        pseudo_legal: bool = False,
        only: int | None = None,
        whole: "MoveGenerator | None" = None,
    ) -> None:
        reach = PieceReach(position) if whole is None else whole.reach
        self.position = position
        self.board, self.men, self.side = reach.board, reach.men, reach.side
        self.own, self.occupied = reach.own, reach.occupied
        self.reach: PieceReach = reach
        self.pseudo_legal = pseudo_legal
        self.only = only
        self.noisy = whole is not None
        self.king = self.men[(self.side << 4) + KING].bit_length() - 1
        self.imitable = self._imitable()
        self.dangers: dict[int, tuple[bool, int, int]] = {} if whole is None else whole.dangers

    def moves(self) -> list[int]:
        """Return all legal moves but rearrangements and multi-moves, in ASCII order of their strings."""
        legal = self.returns()
        squares = self.own
        while squares:
            lowest = squares & -squares
            squares ^= lowest
            self.add_moves_from(lowest.bit_length() - 1, legal)
        legal.sort()
        return legal

    def noisy_moves(self) -> list[int]:
        """Return captures, returns and promotions to a wizard, in ASCII order of their strings."""
        return MoveGenerator(self.position, whole=self).moves()

    def in_check(self) -> bool:
        """Return whether the side to move is in check."""
        return self.danger(self.position.memories[self.side])[0]

    def any_move(self) -> bool:
        """Return whether there is a legal move that is no rearrangement and no multi-move."""
        # The moves of a pawn are found the quickest.
        pawns = self.men[(self.side << 4) + PAWN]
        return self._any_move_from(pawns) or self._any_move_from(self.own ^ pawns) or bool(self.returns())

    def _any_move_from(self, squares: int) -> bool:
        legal: list[int] = []
        while squares and not legal:
            lowest = squares & -squares
            squares ^= lowest
            self.add_moves_from(lowest.bit_length() - 1, legal)
        return bool(legal)

    def moves_from(self, square: int) -> list[int]:
        """Return the legal moves of the piece on ``square`` and of its parts, in no particular order."""
        legal: list[int] = []
        if self.own >> square & 1:
            self.add_moves_from(square, legal)
        return legal

    def returns(self) -> list[int]:
        """Return the legal returns of a piece just captured on a tower (section 6.9) [FT-33, FT-37]."""
        code, tower = self.position.returning
        if not code:
            return []
        kind = code & 15
        start = RETURNS[kind]
        moves = [start | TARGETS[square] for square in members_of(ZONE_OF[tower] & ~self.occupied)]
        legal: list[int] = []
        memory = kind if kind < KING else self.position.memories[self.side]
        self._add_legal(legal, -1, moves, [], memory, kind)
        return legal

    def add_moves_from(self, square: int, legal: list[int]) -> None:
        """Add the legal moves of the own piece on ``square`` and of its parts to ``legal``."""
        kind = self.board[square] & 15
        if kind == PAWN:
            if not self.noisy or self._pawn_may_be_noisy(square):
                self._add_pawn(square, 0, legal)
        elif kind < KING:
            self._add_components(square, kind, legal)
        elif kind == KING:
            self._add_king(square, legal)
        elif kind == LANCER:
            quiet, unverified = self.reach.lancer_moves(square)
            self._add_legal(legal, square, quiet, unverified, self.position.memories[self.side])
            self._add_pawn(square, PAWN, legal)
        else:
            movement = self.reach.movement(square, kind)
            if movement or self.reach.hops is not None or TOWER_SET >> square & 1:
                vacant, contacts = self.reach.reached_from(square, movement)
                memory = self.position.memories[self.side]
                self._add_piece_moves(square, 0, DRAGON, vacant, contacts, memory, legal)

    def _pawn_may_be_noisy(self, square: int) -> bool:
        """Return whether a pawn on ``square`` may have a capture or promote: most have neither."""
        return (
            self.reach.hops is not None
            or bool(self.position.en_passant)
            or bool(PAWN_CAPTURE_SETS[self.side][square] & (self.occupied ^ self.own))
            or bool(NEAR_PROMOTION[self.side] >> square & 1)
        )

    def _add_components(self, square: int, kind: int, legal: list[int]) -> None:
        reach = self.reach
        movement = reach.movement(square, kind)
        parts = _PARTS[kind]
        if not parts:
            vacant, contacts = reach.reached_from(square, movement)
            self._add_piece_moves(square, 0, kind, vacant, contacts, movement, legal)
            return
        reaches = {bit: reach.reached_from(square, bit) for bit in (ROOK, BISHOP, KNIGHT) if kind & bit}
        if self.noisy:
            met_enemies = [met for _, pieces in reaches.values() for met in pieces if self.board[met] >> 4 != self.side]
            if not met_enemies:
                return
        is_held = bool(reach.marshall_zone >> square & 1) and kind != MARSHALL
        if self.only is not None:
            parts = tuple(part for part in parts if part == HEADS[self.only >> HEAD_SHIFT].part)
        for part in (0, *parts):
            if part in FREE and is_held:
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
                if reach.knight_towers and mover & ROOK:
                    vacant, contacts = list(dict.fromkeys(vacant)), list(dict.fromkeys(contacts))
            self._add_piece_moves(square, part, mover, vacant, contacts, mover, legal)

    def _add_king(self, square: int, legal: list[int]) -> None:
        vacant, contacts = self.reach.reached_from(square, KING)
        if TOWER_SET >> square & 1:
            distant: list[int] = []
            self.reach.add_rays(self.reach.surface.rays[square], [], distant)
            self.reach.add_rays(DIAGONAL_RAYS[square], [], distant)
            contacts += [met for met in dict.fromkeys(distant) if not self.own >> met & 1 and met not in contacts]
        self._add_piece_moves(square, 0, KING, vacant, contacts, KING, legal)

    def _add_piece_moves(
        self, square: int, part: int, mover: int, vacant: list[int], contacts: list[int], memory: int, legal: list[int]
    ) -> None:
        """Add the moves of a piece or part other than a pawn or lancer."""
        board, side, reach = self.board, self.side, self.reach
        starts = STARTS[part]
        start = starts[PLAIN][square]
        quiet = [] if self.noisy else [start | target for target in vacant]
        unverified: list[int] = []
        on_tower = TOWER_SET >> square & 1
        for met in contacts:
            there = board[met]
            kind = there & 15
            if there >> 4 == side:
                if self.noisy:
                    continue
                if reach.may_attach(mover, kind, square, met):
                    (unverified if TOWER_SET >> met & 1 else quiet).append(starts[ATTACH][square] | TARGETS[met])
                if not part and kind != mover and (on_tower or TOWER_SET >> met & 1):
                    # One end of a swap is a tower; it never changes nothing [FT-12, FT-18].
                    unverified.append(starts[SWAP][square] | TARGETS[met])
            elif kind != KING and not (reach.marshall_zone and reach.is_capture_barred(mover, kind, square, met)):
                may_expose = kind in _ATTACK_CHANGING and TOWER_SET >> met & 1
                (unverified if may_expose else quiet).append(starts[CAPTURE][square] | TARGETS[met])
        if reach.hops is not None and not on_tower and not self.noisy:
            for end in reach.direct_ends(square):
                if not board[end]:
                    if TARGETS[end] not in vacant:
                        quiet.append(starts[DIRECT][square] | TARGETS[end])
                elif end not in contacts and reach.may_attach(mover, board[end] & 15, square, end):
                    quiet.append(starts[DIRECT_ATTACH][square] | TARGETS[end])
        if mover in (KNIGHT, CARDINAL):
            # On a tower these change the movements of enemies.
            unverified += [move for move in quiet if move & _TARGET_MASK in _TOWER_TARGETS]
            quiet = [move for move in quiet if move & _TARGET_MASK not in _TOWER_TARGETS]
        changes_attacks = bool(on_tower and (part or mover in _ATTACK_CHANGING))
        self._add_legal(legal, square, quiet, unverified, memory, part, changes_attacks)

    def _add_pawn(self, square: int, part: int, legal: list[int]) -> None:
        quiet, unverified = self.reach.pawn_moves(square, part)
        self._add_legal(legal, square, quiet, unverified, self.position.memories[self.side], part)

    def danger(self, memory: int) -> tuple[bool, int, int]:
        """Return how the own king stands once the mover's dragon memory is ``memory``.

        That is whether it is in check, the own pieces without which it would be, and the squares of which a move must
        reach one to end the check, unless the king moves or what stands on towers changes.
        """
        imitated = (memory | self.position.memories[1 - self.side]) & self.imitable
        danger = self.dangers.get(imitated)
        if danger is None:
            danger = self.dangers[imitated] = self._find_danger(imitated, self.men, self.occupied)
        return danger

    def _danger_after_leaving(self, square: int, part: int, memory: int) -> tuple[bool, int, int]:
        """Return ``danger`` once the piece on ``square``, or a part of it, has left."""
        code, bit = self.board[square], 1 << square
        men = list(self.men)
        men[code] ^= bit
        if part:
            men[code ^ part] |= bit
        occupied = self.occupied if part else self.occupied ^ bit
        return self._find_danger(memory | self.position.memories[1 - self.side], men, occupied)

    def _imitable(self) -> int:
        """Return the components by which a dragon of the enemy may attack the own king, with the king's step as 8."""
        dragons = self.men[(1 - self.side << 4) + DRAGON]
        if not dragons:
            return 0
        king, surface = self.king, self.reach.surface
        return (
            (ROOK if dragons & surface.rook_sources[king] else 0)
            | (BISHOP if dragons & DIAGONAL_SOURCES[king] else 0)
            | (KNIGHT if dragons & LEAP_SETS[king] else 0)
            | (KING if dragons & surface.king_sources[king] else 0)
        )

    def _find_danger(self, imitated: int, men: Sets, occupied: int) -> tuple[bool, int, int]:
        if is_shielded(men, self.side, self.king):
            return False, 0, _EVERYWHERE
        attackers = KingAttackers(men, self.king, 1 - self.side, imitated)
        direct = attackers.leaping | attackers.stepping
        is_checked, exposed, answers = bool(direct), 0, _EVERYWHERE
        if direct:
            answers = direct if not direct & (direct - 1) else 0
        for source, between in attackers.lines():
            blockers = between & occupied
            if not blockers:
                is_checked = True
                answers &= between | 1 << source
            elif not blockers & (blockers - 1):
                exposed |= blockers
        return is_checked, exposed & self.own, answers

    def _add_legal(
        self,
        legal: list[int],
        square: int,
        quiet: list[int],
        unverified: list[int],
        memory: int,
        part: int = 0,
        changes_attacks: bool = False,
    ) -> None:
        """Add the moves that leave the own king safe.

        ``quiet`` moves of the piece on ``square`` (-1: a return), or of its ``part``, change nothing on towers that
        concerns a king, except by leaving their own (``changes_attacks``). A whole piece vacates its square, and
        ``quiet`` moves no other one. Moves of the king and ``unverified`` ones are tried out.
        """
        if self.only is not None:
            quiet = [move for move in quiet if move == self.only]
            unverified = [move for move in unverified if move == self.only]
        elif self.noisy:
            quiet = [move for move in quiet if _is_noisy(move)]
            unverified = [move for move in unverified if _is_noisy(move)]
        if not quiet and not unverified:
            return
        if self.pseudo_legal:
            legal += quiet
            legal += unverified
            return
        if square == self.king:
            unverified = unverified + quiet
        elif quiet:
            is_checked, exposed, answers = self.danger(memory)
            if changes_attacks or (not part and exposed >> square & 1):
                is_checked, _, answers = self._danger_after_leaving(square, part, memory)
            if not is_checked:
                legal += quiet
            else:
                unverified = unverified + [move for move in quiet if move & _TARGET_MASK in _TOWER_TARGETS]
                answers &= ~TOWER_SET
                legal += [move for move in quiet if answers >> SQUARE_AT[move >> TARGET_SHIFT & 127] & 1]
        if unverified:
            white, black = self.position.memories
            imitated = memory | (black, white)[self.side]
            legal += [move for move in unverified if self._leaves_king_safe(move, imitated)]

    def _leaves_king_safe(self, move: int, imitated: int) -> bool:
        """Return whether the own king is not in check after ``move``, the dragons imitating ``imitated`` then."""
        _, part, origin, mark = HEADS[move >> HEAD_SHIFT]
        occupied = self.occupied | 1 << SQUARE_AT[move >> TARGET_SHIFT & 127]
        if not part and mark != SWAP and mark != RETURN:
            occupied ^= 1 << origin
        if move >> 4 & 127:
            occupied ^= 1 << SQUARE_AT[(move >> 4 & 127) - 1]
        return not king_in_check(sets_after(self.board, self.men, self.side, move), self.side, imitated, occupied)


@lru_cache(maxsize=4)
def generator_of(position: Position) -> MoveGenerator:
    """Return a generator of ``position``: a search asks it several times in a row about the same one."""
    return MoveGenerator(position)
