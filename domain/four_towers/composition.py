"""Rearrangements and multi-moves built part by part, without enumerating them (rules, sections 6.7 and 6.8).

A part of a multi-move is one component. A part of a rearrangement is a piece's square and another square of the arena,
as ``e6-e7``: the piece goes there, and a piece of its own side there comes back in exchange, so that a few parts
reach every placement.
"""

import re
from collections.abc import Sequence

from domain.errors import MalformedNotation
from domain.four_towers import compound_moves, diagram
from domain.four_towers.attacks import BLACK, DRAGON, KING, WIZARD, king_in_check
from domain.four_towers.board import ARENA_OF, ARENAS, NAMES, NUMBERS, NUMERALS, TOUCHED, TOWERS
from domain.four_towers.diagram import TITLES
from domain.four_towers.moves import (
    PROMOTED,
    Rearrangement,
    format_move,
    head_of,
    memory_after_multi_move,
    play_component,
    target_of,
)
from domain.four_towers.notation import read_component
from domain.four_towers.outcome import in_check, is_drawn
from domain.four_towers.position import Position, occupied_by, sets_of
from domain.four_towers.pseudo_legal import PieceReach
from domain.presentation import Composed, Composition, Hint
from domain.scene import Scene

MULTI = "multi"
REARRANGE = {f"rearrange-{numeral}": arena for arena, numeral in enumerate(NUMERALS)}
"""The arena of each kind of rearrangement."""
_STEP = re.compile(r"([a-k](?:1[01]|[1-9]))-([a-k](?:1[01]|[1-9]))", re.ASCII)


def compositions(position: Position) -> tuple[Composition, ...]:
    """Return a kind for each arena that can be rearranged, and one for multi-moves if a component is possible."""
    if is_drawn(position):
        return ()
    composed = []
    for kind, arena in REARRANGE.items():
        sources = tuple(NAMES[tower] for tower in _towers_touching(position, WIZARD, arena))
        if sources and _steps(position, arena):
            pieces = tuple(NAMES[square] for square in ARENAS[arena] if _is_own(position, square))
            free = tuple(NAMES[square] for square in ARENAS[arena] if not position.board[square])
            composed.append(Composition(kind, f"Rearrange arena {NUMERALS[arena]}", sources, pieces, free))
    starts = dict.fromkeys(NAMES[head_of(move).origin] for move in _next_components(position, position, ()))
    if starts:
        dragon = position.side * BLACK + DRAGON
        sources = tuple(NAMES[tower] for tower in TOWERS if position.board[tower] == dragon)
        composed.append(Composition(MULTI, "Multi-move", sources, tuple(starts), ()))
    return tuple(composed)


def compose(position: Position, kind: str, parts: Sequence[str]) -> Composed:
    """Return how far ``parts`` have come; raises KeyError for an unknown kind, MalformedNotation for a part."""
    parts = ["".join(part.split()) for part in parts]
    if kind == MULTI:
        return _compose_multi(position, [read_component(number, part) for number, part in enumerate(parts, 1)])
    arena = REARRANGE[kind]
    return _compose_rearrangement(position, arena, [_read_step(number, part) for number, part in enumerate(parts, 1)])


def scene(position: Position) -> Scene:
    """Return the scene of a picture of the position, with notes on the pieces on towers."""
    shown = diagram.scene(position)
    kings = (NAMES[position.board.index(position.side * BLACK + KING)],) if in_check(position) else ()
    spoken = {**shown.spoken, **{king: f"{shown.spoken[king]}, in check" for king in kings}}
    return shown._replace(notes=diagram.notes(position), checked=kings, spoken=spoken)


def _refused(board: Position, reason: str) -> Composed:
    return Composed(None, None, reason, {}, scene(board))


def _read_step(number: int, text: str) -> tuple[int, int]:
    match = _STEP.fullmatch(text)
    if not match or match[1] not in NUMBERS or match[2] not in NUMBERS:
        raise MalformedNotation(f"part {number} ({text[:20]!r}) is not two squares, as in e6-e7")
    return NUMBERS[match[1]], NUMBERS[match[2]]


def _towers_touching(position: Position, kind: int, arena: int) -> list[int]:
    """Return the towers that touch ``arena`` and hold a piece of ``kind`` of the side to move."""
    code = position.side * BLACK + kind
    return [
        tower
        for tower, arenas in zip(TOWERS, TOUCHED, strict=True)
        if arena in arenas and position.board[tower] == code
    ]


def _is_own(position: Position, square: int) -> bool:
    code = position.board[square]
    return bool(code) and code >> 4 == position.side


def _steps(position: Position, arena: int) -> dict[str, tuple[Hint, ...]]:
    """Return the parts that change the placement: to a vacant square, or in exchange for another sort of own piece."""
    board = position.board
    hints_by_start = {}
    for origin in ARENAS[arena]:
        if not _is_own(position, origin):
            continue
        start = NAMES[origin]
        hints = []
        for target in ARENAS[arena]:
            there = board[target]
            if not there or (_is_own(position, target) and there != board[origin]):
                label = f"exchange with the {TITLES[there & 15]}" if there else "put"
                hints.append(Hint(f"{start}-{NAMES[target]}", (NAMES[target],), label))
        if hints:
            hints_by_start[start] = tuple(hints)
    return hints_by_start


def _step_refusal(position: Position, arena: int, origin: int, target: int) -> str | None:
    for square in (origin, target):
        if ARENA_OF[square] != arena:
            return f"{NAMES[square]} is no square of arena {NUMERALS[arena]}"
    if not _is_own(position, origin):
        return f"no piece of yours stands on {NAMES[origin]}"
    if position.board[target] and not _is_own(position, target):
        return f"{NAMES[target]} is held by an enemy"
    return None


def _compose_rearrangement(position: Position, arena: int, steps: Sequence[tuple[int, int]]) -> Composed:
    if is_drawn(position):
        return _refused(position, "the game is over")
    if not _towers_touching(position, WIZARD, arena):
        return _refused(position, compound_moves.rearrangement_refusal(position, _placed(position, arena)) or "")
    board = position
    for index, (origin, target) in enumerate(steps):
        fault = _step_refusal(board, arena, origin, target)
        if fault:
            reason = f"part {index + 1} ({NAMES[origin]}-{NAMES[target]}): {fault}"
            return Composed(None, index, reason, _steps(board, arena), scene(board))
        squares = bytearray(board.board)
        squares[origin], squares[target] = squares[target], squares[origin]
        placed = bytes(squares)
        board = board._replace(board=placed, men=sets_of(placed))
    if not steps:
        return Composed(None, None, "put a piece on another square of the arena", _steps(board, arena), scene(board))
    move = _placed(board, arena)
    reason = compound_moves.rearrangement_refusal(position, move) or ""
    return Composed(None if reason else format_move(position, move), None, reason, _steps(board, arena), scene(board))


def _placed(board: Position, arena: int) -> Rearrangement:
    return Rearrangement(arena, bytes(board.board[square] if _is_own(board, square) else 0 for square in ARENAS[arena]))


def _next_components(position: Position, board: Position, played: Sequence[int]) -> list[int]:
    """Return the components that can follow ``played``, each from an arena of its own, all in one dragon's zone."""
    used = {ARENA_OF[head_of(move).origin] for move in played}
    zones = compound_moves.zones_with(position, DRAGON)
    arenas = {arena for zone in zones if used <= set(zone) for arena in zone} - used
    reach = PieceReach(board)
    dragon = board.side * BLACK + DRAGON
    return [
        move
        for arena in sorted(arenas)
        for square in ARENAS[arena]
        if _is_own(board, square) and board.board[square] != dragon
        for move in reach.plain_moves_from(square)
    ]


def _is_legal(position: Position, board: Position, components: Sequence[int]) -> bool:
    """Return whether components that can be played, and that lead to ``board``, are a legal multi-move."""
    imitated = memory_after_multi_move(position, components) | position.memories[1 - position.side]
    occupied = occupied_by(board.men, 0) | occupied_by(board.men, 1)
    return board.board != position.board and not king_in_check(board.men, position.side, imitated, occupied)


def _following(position: Position, board: Position, played: Sequence[int]) -> dict[str, tuple[Hint, ...]]:
    """Return the parts that can follow; the last possible one only if the whole is legal with it."""
    hints_by_start: dict[str, list[Hint]] = {}
    last = len(played) == compound_moves.MAX_COMPONENTS - 1
    for move in _next_components(position, board, played):
        if last and not _is_legal(position, play_component(board, move), [*played, move]):
            continue
        start, target = NAMES[head_of(move).origin], NAMES[target_of(move)]
        label = TITLES[PROMOTED[move & 15]] if move & 15 else "move"
        hints_by_start.setdefault(start, []).append(Hint(format_move(board, move), (target,), label))
    return {start: tuple(hints) for start, hints in hints_by_start.items()}


def _compose_multi(position: Position, components: Sequence[int]) -> Composed:
    if is_drawn(position):
        return _refused(position, "the game is over")
    if not compound_moves.zones_with(position, DRAGON):
        return _refused(position, compound_moves.multi_move_refusal(position, ()) or "")
    board = position
    for index, move in enumerate(components):
        played = components[:index]
        if move not in _next_components(position, board, played):
            reason = compound_moves.multi_move_refusal(position, components[: index + 1]) or ""
            return Composed(None, index, reason, _following(position, board, played), scene(board))
        board = play_component(board, move)
    following = _following(position, board, components)
    if len(components) < 2:
        reason = "one step alone is the plain move: add another" if components else "choose the first step"
        return Composed(None, None, reason, following, scene(board))
    fault = compound_moves.multi_move_refusal(position, components)
    if fault:
        return Composed(None, None, fault, following, scene(board))
    move_text = format_move(position, compound_moves.canonical(position, components))
    return Composed(move_text, None, "", following, scene(board))
