"""Rearrangements and multi-moves (rules, sections 6.7 and 6.8): legality, existence, canonical order.

Both can be far too many to list, so the rules of play never do: a move is judged by itself, and whether there is any
is answered by looking for one. ``rearrangements`` and ``multi_moves`` list them all, for checks of small positions.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations

from domain.four_towers.attack import BLACK, DRAGON, KING, WIZARD, Siege, covered, in_check
from domain.four_towers.board import ARENA_OF, ARENA_SETS, ARENAS, NAMES, NUMERALS, TOUCHED, TOWERS
from domain.four_towers.moves import (
    Multi,
    Rearrangement,
    component,
    format_move,
    head_of,
    memory_after,
    multi_memory,
    play,
    rearranged,
)
from domain.four_towers.position import Position, occupied_by
from domain.four_towers.turn import Turn

MOST_COMPONENTS = 4


def arenas_under(position: Position, kind: int) -> list[tuple[int, ...]]:
    """Return the four arenas of each tower where the side to move has a piece of ``kind``."""
    code = position.side * BLACK + kind
    return [arenas for tower, arenas in zip(TOWERS, TOUCHED, strict=True) if position.board[tower] == code]


def _occupied(position: Position) -> int:
    return occupied_by(position.men, 0) | occupied_by(position.men, 1)


def _imitated(position: Position, memory: int) -> int:
    """Return what dragons imitate once the side to move has ``memory``."""
    return memory | position.memories[1 - position.side]


def _king_is_safe(position: Position, king: int, occupied: int) -> bool:
    """Tell whether the mover's king is not in check on ``king`` after a rearrangement that fills ``occupied``.

    No tower changes and no enemy moves, so only the king's square and the squares filled matter.
    """
    men, side = position.men, position.side
    imitated = position.memories[0] | position.memories[1]
    return covered(men, side, king) or not Siege(men, king, 1 - side, imitated).succeeds(occupied)


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
    board = rearranged(position.board, position.side, move)
    filled = 0
    for square in ARENAS[move.arena]:
        if board[square]:
            filled |= 1 << square
    return board.index(position.side * BLACK + KING), _occupied(position) & ~ARENA_SETS[move.arena] | filled


def rearrangement_fault(position: Position, move: Rearrangement) -> str | None:
    """Return why ``move`` is not allowed, in a player's words, or None when it is legal."""
    name = NUMERALS[move.arena]
    if not any(move.arena in arenas for arenas in arenas_under(position, WIZARD)):
        return f"arena {name} cannot be rearranged: no wizard of yours stands on a tower that touches it"
    if sorted(code for code in move.placement if code) != _own_pieces(position, move.arena):
        return f"a rearrangement names all your pieces in arena {name} and no others"
    free = _free_places(position, move.arena)
    for place, code in enumerate(move.placement):
        if code and place not in free:
            return f"{NAMES[ARENAS[move.arena][place]]} is held by an enemy"
    if rearranged(position.board, position.side, move) == position.board:
        return "a rearrangement must change something"
    if not _king_is_safe(position, *_after(position, move)):
        return "your king would be in check after this rearrangement"
    return None


def any_rearrangement(position: Position) -> Rearrangement | None:
    """Return a legal rearrangement, or None when there is none.

    At most 630 placements of an arena differ in what matters to the king: its square and the squares filled.
    """
    king_code = position.side * BLACK + KING
    for arena in sorted({arena for arenas in arenas_under(position, WIZARD) for arena in arenas}):
        codes = _own_pieces(position, arena)
        others = [code for code in codes if code != king_code]
        for places in combinations(_free_places(position, arena), len(codes)):
            for own in places if len(others) < len(codes) else (-1,):
                rest = [place for place in places if place != own]
                for order in (others, others[::-1]):
                    move = Rearrangement(arena, _placed([*rest, own][: len(codes)], [*order, king_code][: len(codes)]))
                    if rearranged(position.board, position.side, move) != position.board:
                        if _king_is_safe(position, *_after(position, move)):
                            return move
                        break
    return None


def rearrangements(position: Position) -> list[Rearrangement]:
    """Return all legal rearrangements in ASCII order of their strings; there may be hundreds of thousands."""
    found: set[Rearrangement] = set()
    for arena in {arena for arenas in arenas_under(position, WIZARD) for arena in arenas}:
        codes = _own_pieces(position, arena)
        safe: dict[tuple[int, int], bool] = {}
        for places in permutations(_free_places(position, arena), len(codes)):
            move = Rearrangement(arena, _placed(places, codes))
            if move in found or rearranged(position.board, position.side, move) == position.board:
                continue
            state = _after(position, move)
            if state not in safe:
                safe[state] = _king_is_safe(position, *state)
            if safe[state]:
                found.add(move)
    return sorted(found, key=lambda move: format_move(position, move))


def component_fault(position: Position, move: int) -> str | None:
    """Return why ``move`` is no component on the board of ``position``, or None; arenas are not looked at."""
    origin = head_of(move).origin
    code = position.board[origin]
    if not code or code >> 4 != position.side:
        return f"no piece of yours stands on {NAMES[origin]}"
    if code & 15 == DRAGON:
        return "a dragon never moves in a multi-move"
    if move not in Turn(position).quiet_moves_from(origin):
        return "this is no plain move of that piece to a vacant square"
    return None


def multi_fault(position: Position, components: Sequence[int]) -> str | None:
    """Return why the components are not allowed in this order, in a player's words, or None when they are."""
    zones = arenas_under(position, DRAGON)
    if not zones:
        return "several moves in one turn need a dragon of yours on a tower"
    arenas: list[int] = []
    board = position
    for number, move in enumerate(components, 1):
        place = f"component {number} ({format_move(position, move)}): "
        arena = ARENA_OF[head_of(move).origin]
        if arena < 0:
            return place + "a component starts in an arena, not on a tower"
        if arena in arenas:
            return place + f"another component starts in arena {NUMERALS[arena]} already"
        arenas.append(arena)
        if not any(set(arenas) <= set(zone) for zone in zones):
            return place + f"arena {NUMERALS[arena]} and those before are not in the zone of one dragon's tower"
        fault = component_fault(board, move)
        if fault:
            return place + fault
        board = component(board, move)
    if board.board == position.board:
        return "a turn must change something on the board"
    if not _ends_safe(position, board, components):
        return "your king would be in check after this multi-move"
    return None


def _ends_safe(position: Position, board: Position, components: Sequence[int]) -> bool:
    imitated = _imitated(position, multi_memory(position, components))
    return not in_check(board.men, position.side, imitated, _occupied(board))


def canonical(position: Position, components: Sequence[int]) -> Multi:
    """Return the canonical order of playable components: the first in ASCII order with the same result [FT-25]."""
    result = play(position, Multi(tuple(components)))
    orders = {Multi(order) for order in permutations(components)}
    for order in sorted(orders, key=lambda multi: format_move(position, multi)):
        if _is_playable(position, order.components) and play(position, order) == result:
            return order
    raise ValueError("the components cannot be played")


def _is_playable(position: Position, components: Sequence[int]) -> bool:
    for move in components:
        if component_fault(position, move):
            return False
        position = component(position, move)
    return True


def _components(board: Position, arenas: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the arena and the move of every component that starts in one of ``arenas``."""
    turn = Turn(board)
    dragon = board.side * BLACK + DRAGON
    for arena in arenas:
        for square in ARENAS[arena]:
            if turn.mine >> square & 1 and board.board[square] != dragon:
                for move in turn.quiet_moves_from(square):
                    yield arena, move


def any_multi(position: Position) -> Multi | None:
    """Return a legal multi-move, or None when there is none; the fewest components first."""
    side = position.side
    for zone in arenas_under(position, DRAGON):
        layer: list[tuple[Position, tuple[int, ...], tuple[int, ...], int]] = [(position, zone, (), 0)]
        for _ in range(MOST_COMPONENTS):
            following: dict[tuple[bytes, tuple[int, ...], int], tuple[Position, tuple[int, ...], tuple[int, ...], int]]
            following = {}
            for board, arenas, played, memory in layer:
                for arena, move in _components(board, arenas):
                    after = component(board, move)
                    moved = board.board[head_of(move).origin] & 15
                    union = memory | (memory_after(board, move) if moved <= KING else 0)
                    left = tuple(other for other in arenas if other != arena)
                    key = (after.board, left, union)
                    if key in following:
                        continue
                    components = (*played, move)
                    imitated = _imitated(position, union or position.memories[side])
                    if (
                        played
                        and after.board != position.board
                        and not in_check(after.men, side, imitated, _occupied(after))
                    ):
                        return canonical(position, components)
                    following[key] = (after, left, components, union)
            layer = list(following.values())
    return None


def multi_moves(position: Position) -> list[Multi]:
    """Return all legal multi-moves in ASCII order of their strings; there may be millions."""
    found: dict[tuple[tuple[int, ...], Position], Multi] = {}
    for zone in arenas_under(position, DRAGON):
        paths: list[tuple[Position, tuple[int, ...], tuple[int, ...]]] = [(position, zone, ())]
        while paths:
            board, arenas, played = paths.pop()
            for arena, move in _components(board, arenas):
                after = component(board, move)
                components = (*played, move)
                left = tuple(other for other in arenas if other != arena)
                if left:
                    paths.append((after, left, components))
                if played and after.board != position.board and _ends_safe(position, after, components):
                    multi = Multi(components)
                    key = (tuple(sorted(components)), play(position, multi))
                    known = found.get(key)
                    if known is None or format_move(position, multi) < format_move(position, known):
                        found[key] = multi
    return sorted(found.values(), key=lambda multi: format_move(position, multi))
