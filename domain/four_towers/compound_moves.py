"""Rearrangements and multi-moves (rules, sections 6.7 and 6.8): legality, existence, canonical order.

Both can be far too many to list, so the rules of play never do: a move is checked by itself, and a search decides
whether there is any. ``rearrangements`` and ``multi_moves`` list them all, to verify small positions.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations
from typing import Final, NamedTuple

from domain.four_towers.attacks import BLACK, DRAGON, KING, WIZARD, KingAttackers, is_shielded, king_in_check
from domain.four_towers.board import ARENA_OF, ARENA_SETS, ARENAS, NAMES, NUMERALS, TOUCHED, TOWERS, members_of, set_of
from domain.four_towers.moves import (
    MultiMove,
    Rearrangement,
    board_after_rearrangement,
    format_move,
    head_of,
    memory_after,
    memory_after_multi_move,
    play,
    play_component,
)
from domain.four_towers.position import Position, occupied_by
from domain.four_towers.pseudo_legal import PieceReach
from domain.four_towers.refusals import move_refusal

MAX_COMPONENTS: Final = 4
_ANYWHERE: Final = -1


class TrialsExceededError(Exception):
    """A search has used up its trials."""


def zones_with(position: Position, kind: int) -> list[tuple[int, ...]]:
    """Return the four arenas of each tower where the side to move has a piece of ``kind``."""
    code = position.side * BLACK + kind
    return [arenas for tower, arenas in zip(TOWERS, TOUCHED, strict=True) if position.board[tower] == code]


def _occupied(position: Position) -> int:
    return occupied_by(position.men, 0) | occupied_by(position.men, 1)


def _king_is_safe(position: Position, king: int, occupied: int) -> bool:
    """Return whether the king is not in check on ``king`` after a rearrangement that fills ``occupied``."""
    men, side = position.men, position.side
    imitated = position.memories[0] | position.memories[1]
    return is_shielded(men, side, king) or not KingAttackers(men, king, 1 - side, imitated).give_check(occupied)


def _own_pieces(position: Position, arena: int) -> list[int]:
    codes = (position.board[square] for square in ARENAS[arena])
    return sorted(code for code in codes if code and code >> 4 == position.side)


def _free_places(position: Position, arena: int) -> list[int]:
    """Return the places of an arena where the side to move may put its pieces, all of them lifted [FT-23]."""
    board, side = position.board, position.side
    return [place for place, square in enumerate(ARENAS[arena]) if not board[square] or board[square] >> 4 == side]


def _placed(places: Sequence[int], codes: Sequence[int]) -> bytes:
    placement = bytearray(9)
    for place, code in zip(places, codes, strict=True):
        placement[place] = code
    return bytes(placement)


def _after(position: Position, move: Rearrangement) -> tuple[int, int]:
    """Return the square of the mover's king and the squares filled after a rearrangement."""
    board = board_after_rearrangement(position.board, position.side, move)
    filled = 0
    for square in ARENAS[move.arena]:
        if board[square]:
            filled |= 1 << square
    return board.index(position.side * BLACK + KING), _occupied(position) & ~ARENA_SETS[move.arena] | filled


def rearrangement_refusal(position: Position, move: Rearrangement) -> str | None:
    """Return why ``move`` is not allowed, in a player's words, or None when it is legal."""
    name = NUMERALS[move.arena]
    if not any(move.arena in arenas for arenas in zones_with(position, WIZARD)):
        return f"arena {name} cannot be rearranged: no wizard of yours stands on a tower that touches it"
    if sorted(code for code in move.placement if code) != _own_pieces(position, move.arena):
        return f"a rearrangement names all your pieces in arena {name} and no others"
    free = _free_places(position, move.arena)
    for place, code in enumerate(move.placement):
        if code and place not in free:
            return f"{NAMES[ARENAS[move.arena][place]]} is held by an enemy"
    if board_after_rearrangement(position.board, position.side, move) == position.board:
        return "a rearrangement must change something"
    if not _king_is_safe(position, *_after(position, move)):
        return "your king would be in check after this rearrangement"
    return None


def find_rearrangement(position: Position) -> Rearrangement | None:
    """Return a legal rearrangement or None; at most 630 placements differ in the king's square and those filled."""
    king_code = position.side * BLACK + KING
    everybody = _occupied(position)
    attackers_by_king: dict[int, KingAttackers | None] = {}

    def is_safe(king: int, filled: int) -> bool:
        # As no tower changes and no enemy moves, the attackers depend on the square of the king alone.
        if king not in attackers_by_king:
            imitated = position.memories[0] | position.memories[1]
            hidden = is_shielded(position.men, position.side, king)
            attackers_by_king[king] = None if hidden else KingAttackers(position.men, king, 1 - position.side, imitated)
        attackers = attackers_by_king[king]
        return attackers is None or not attackers.give_check(filled)

    for arena in sorted({arena for arenas in zones_with(position, WIZARD) for arena in arenas}):
        squares = ARENAS[arena]
        codes = _own_pieces(position, arena)
        others = [code for code in codes if code != king_code]
        lifted = set_of([square for square in squares if position.board[square] in codes])
        for places in combinations(_free_places(position, arena), len(codes)):
            filled = everybody & ~lifted | set_of([squares[place] for place in places])
            for own in places if king_code in codes else (-1,):
                king = squares[own] if own >= 0 else position.board.index(king_code)
                if not is_safe(king, filled):
                    continue
                rest = [place for place in places if place != own]
                for order in (others, others[::-1]):
                    move = Rearrangement(arena, _placed([*rest, own][: len(codes)], [*order, king_code][: len(codes)]))
                    if board_after_rearrangement(position.board, position.side, move) != position.board:
                        return move
    return None


def rearrangements(position: Position) -> list[Rearrangement]:
    """Return all legal rearrangements in ASCII order of their strings; there may be hundreds of thousands."""
    distinct: set[Rearrangement] = set()
    for arena in {arena for arenas in zones_with(position, WIZARD) for arena in arenas}:
        codes = _own_pieces(position, arena)
        safe: dict[tuple[int, int], bool] = {}
        for places in permutations(_free_places(position, arena), len(codes)):
            move = Rearrangement(arena, _placed(places, codes))
            if move in distinct or board_after_rearrangement(position.board, position.side, move) == position.board:
                continue
            state = _after(position, move)
            if state not in safe:
                safe[state] = _king_is_safe(position, *state)
            if safe[state]:
                distinct.add(move)
    return sorted(distinct, key=lambda move: format_move(position, move))


def is_component(position: Position, move: int) -> bool:
    """Return whether ``move`` is a component on the board of ``position``; arenas are not checked."""
    origin = head_of(move).origin
    code = position.board[origin]
    own = bool(code) and code >> 4 == position.side
    return own and code & 15 != DRAGON and move in PieceReach(position).plain_moves_from(origin)


def component_refusal(position: Position, move: int) -> str | None:
    """Return why ``move`` is no component on the board of ``position``, or None; arenas are not checked."""
    if is_component(position, move):
        return None
    if position.board[head_of(move).origin] == position.side * BLACK + DRAGON:
        return "a dragon never moves in a multi-move"
    return move_refusal(position, move)


def _is_safe(position: Position, board: Position, memory: int) -> bool:
    imitated = memory | position.memories[1 - position.side]
    return not king_in_check(board.men, position.side, imitated, _occupied(board))


def multi_move_refusal(position: Position, components: Sequence[int]) -> str | None:
    """Return why the components are not allowed in this order, in a player's words, or None when they are."""
    zones = zones_with(position, DRAGON)
    if not zones:
        return "several moves in one turn need a dragon of yours on a tower"
    arenas: list[int] = []
    board = position
    for number, move in enumerate(components, 1):
        place = f"step {number} ({format_move(position, move)}): "
        arena = ARENA_OF[head_of(move).origin]
        if arena < 0:
            return place + "a step starts in an arena, not on a tower"
        if arena in arenas:
            return place + f"another step starts in arena {NUMERALS[arena]} already"
        arenas.append(arena)
        if not any(set(arenas) <= set(zone) for zone in zones):
            return place + f"arena {NUMERALS[arena]} and those before are not in the zone of one dragon's tower"
        fault = component_refusal(board, move)
        if fault:
            return place + fault
        board = play_component(board, move)
    if board.board == position.board:
        return "a turn must change something on the board"
    if not _is_safe(position, board, memory_after_multi_move(position, components)):
        return "your king would be in check after this multi-move"
    return None


def canonical(position: Position, components: Sequence[int]) -> MultiMove:
    """Return the canonical order of playable components: the first in ASCII order with the same result [FT-25]."""
    result = play(position, MultiMove(tuple(components)))
    orders = {MultiMove(order) for order in permutations(components)}
    for order in sorted(orders, key=lambda multi: format_move(position, multi)):
        if _is_playable(position, order.components) and play(position, order) == result:
            return order
    raise ValueError("the components cannot be played")


def _is_playable(position: Position, components: Sequence[int]) -> bool:
    for move in components:
        if not is_component(position, move):
            return False
        position = play_component(position, move)
    return True


def components_from(reach: PieceReach, arenas: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the arena and the move of every component that starts in one of ``arenas``."""
    dragons = reach.men[reach.side * BLACK + DRAGON]
    for arena in arenas:
        for square in members_of(ARENA_SETS[arena] & reach.own & ~dragons):
            for move in reach.plain_moves_from(square):
                yield arena, move


class ComponentSequence(NamedTuple):
    """A sequence of components: the board after it, the arenas left, and the memory of the pieces that moved."""

    board: Position
    arenas: tuple[int, ...]
    components: tuple[int, ...]
    memory: int

    def extended_by(self, arena: int, move: int) -> "ComponentSequence":
        """Return the sequence with one more component, which starts in ``arena``."""
        moved = self.board.board[head_of(move).origin] & 15
        memory = self.memory | (memory_after(self.board, move) if moved <= KING else 0)
        left = tuple(other for other in self.arenas if other != arena)
        return ComponentSequence(play_component(self.board, move), left, (*self.components, move), memory)


def is_legal_sequence(position: Position, line: ComponentSequence) -> bool:
    """Return whether ``line`` changes the position and leaves no king in check."""
    memory = line.memory or position.memories[position.side]
    return line.board.board != position.board and _is_safe(position, line.board, memory)


def multi_moves(position: Position) -> list[MultiMove]:
    """Return all legal multi-moves in ASCII order of their strings; there may be millions."""
    shortest: dict[tuple[tuple[int, ...], Position], MultiMove] = {}
    for zone in zones_with(position, DRAGON):
        lines = [ComponentSequence(position, zone, (), 0)]
        while lines:
            line = lines.pop()
            for arena, move in components_from(PieceReach(line.board), line.arenas):
                longer = line.extended_by(arena, move)
                lines.append(longer)
                if len(longer.components) > 1 and is_legal_sequence(position, longer):
                    multi = MultiMove(longer.components)
                    key = (tuple(sorted(longer.components)), play(position, multi))
                    former = shortest.get(key)
                    if former is None or format_move(position, multi) < format_move(position, former):
                        shortest[key] = multi
    return sorted(shortest.values(), key=lambda multi: format_move(position, multi))
