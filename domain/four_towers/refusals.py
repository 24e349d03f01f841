"""Why a piece cannot make a move, check disregarded, in a player's words (rules, sections 3, 5 and 6)."""

from domain.four_towers.attacks import BISHOP, DRAGON, FREE, KING, KNIGHT, LANCER, MARSHALL, PAWN, ROOK
from domain.four_towers.board import (
    DIAGONAL_RAYS,
    FORWARD,
    LEFT,
    NAMES,
    PROMOTION_SQUARES,
    RIGHT,
    SQUARE_AT,
    TARGET_SHIFT,
    TOWER_SET,
    ZONE_OF,
    Rays,
    surface,
)
from domain.four_towers.diagram import TITLES
from domain.four_towers.legal_moves import MoveGenerator
from domain.four_towers.moves import (
    ATTACH,
    CAPTURE,
    DIRECT,
    DIRECT_ATTACH,
    PLAIN,
    PROMOTIONS,
    SWAP,
    Head,
    head_of,
    single_move,
    target_of,
    victim_of,
)
from domain.four_towers.position import LETTERS, Position
from domain.four_towers.pseudo_legal import PieceReach

_VERBS = {
    PLAIN: "move to {end}",
    CAPTURE: "capture on {end}",
    ATTACH: "attach to the {other} on {end}",
    SWAP: "swap with the {other} on {end}",
    DIRECT: "go directly to {end}",
    DIRECT_ATTACH: "attach directly to the {other} on {end}",
}


def return_refusal(position: Position, kind: int, target: int) -> str:
    """Return why no piece of ``kind`` can be put back on ``target``."""
    code, tower = position.returning
    if not code:
        return "no piece of yours has just been captured on a tower, so none may return"
    if code & 15 != kind:
        return f"the piece that may return is a {TITLES[code & 15]}, written @{LETTERS[code & 15]}"
    if not ZONE_OF[tower] >> target & 1:
        return f"{NAMES[target]} is in none of the four arenas round {NAMES[tower]}"
    return f"{NAMES[target]} is not vacant"


def move_refusal(position: Position, move: int) -> str:
    """Return why the piece that ``move`` names, no return, cannot make it, check disregarded."""
    return (
        _mover_refusal(position, head_of(move))
        or _promotion_refusal(position, move)
        or _target_refusal(position, move)
        or _movement_refusal(PieceReach(position), move)
    )


def _mover_refusal(position: Position, head: Head) -> str | None:
    """Return why there is no such piece or part to move; None when there is."""
    code = position.board[head.origin]
    start = NAMES[head.origin]
    if not code or code >> 4 != position.side:
        return f"no piece of yours stands on {start}"
    kind = code & 15
    if not head.part:
        return None
    whole, part = TITLES[kind], TITLES[head.part]
    if kind == LANCER:
        return None if head.part == PAWN else f"a lancer sends off a pawn, not a {part}"
    if kind >= KING or head.part == PAWN or head.part & kind != head.part or head.part == kind:
        return f"the {whole} on {start} contains no {part} that it could send off"
    if head.part in FREE and kind != MARSHALL and PieceReach(position).marshall_zone >> head.origin & 1:
        return f"a marshall on a tower keeps the {part} from leaving the {whole} on {start}"
    return None


def _promotion_refusal(position: Position, move: int) -> str | None:
    head, target = head_of(move), target_of(move)
    kind = head.part or position.board[head.origin] & 15
    promotes = kind in (PAWN, LANCER) and head.mark != SWAP and PROMOTION_SQUARES[position.side] >> target & 1
    if promotes and not move & 15:
        return f"a {TITLES[kind]} promotes on {NAMES[target]}: add = and one of {', '.join(PROMOTIONS)}"
    if move & 15 and not promotes:
        return "only a pawn or lancer that ends its own move on a promotion square promotes"
    return None


def _target_refusal(position: Position, move: int) -> str | None:
    """Return why the move does not suit the contents of its target; None when it does."""
    head, target = head_of(move), target_of(move)
    there = position.board[target]
    name = NAMES[target]
    friendly = bool(there) and there >> 4 == position.side
    if head.origin == target:
        return "a move must go to another square"
    if head.mark == CAPTURE:
        victim = victim_of(move)
        if victim >= 0:
            passed = (target, victim) in position.en_passant
            return None if passed else f"no pawn or lancer on {NAMES[victim]} has just passed {name}"
        if not there:
            return f"there is nothing to capture on {name}"
        if friendly:
            return f"{name} is held by a piece of your own"
        return "a king is never captured" if there & 15 == KING else None
    if head.mark in (PLAIN, DIRECT):
        if friendly:
            return f"{name} is held by a piece of your own"
        return f"{name} is held by an enemy" if there else None
    if not friendly:
        return f"no piece of yours stands on {name}"
    return None


def _movement_refusal(reach: PieceReach, move: int) -> str:
    """Return why a piece of the side to move cannot make a move that suits its target."""
    head, target = head_of(move), target_of(move)
    kind = head.part or reach.board[head.origin] & 15
    return (
        _special_refusal(reach, move, kind)
        or _marshall_refusal(reach, head, target, kind)
        or _geometry_refusal(reach, head, target, kind)
    )


def _special_refusal(reach: PieceReach, move: int, kind: int) -> str | None:
    """Return which condition of an attachment, a swap or a direct move is missing; None when none is."""
    head, target = head_of(move), target_of(move)
    other = reach.board[target] & 15
    on_tower = bool((TOWER_SET >> head.origin | TOWER_SET >> target) & 1)
    if head.mark in (ATTACH, DIRECT_ATTACH):
        fuses = (kind == other == PAWN) or (kind < KING and other < KING and not kind & other)
        if not fuses:
            return f"a {TITLES[kind]} and a {TITLES[other]} do not attach to each other"
    if head.mark == SWAP:
        if kind in (PAWN, LANCER):
            return f"a {TITLES[kind]} cannot begin a swap"
        if not on_tower:
            return "a swap begins or ends on a tower"
        if kind == other:
            return "a swap of two equal pieces would change nothing"
    if head.mark in (DIRECT, DIRECT_ATTACH):
        if on_tower:
            return "direct moves go from arena to arena, not from or to a tower"
        sign = "-" if head.mark == DIRECT else "+"
        ordinary = single_move(head.part, NAMES[head.origin], sign, NAMES[target]) | move & 15
        if ordinary in MoveGenerator(reach.position, pseudo_legal=True).moves_from(head.origin):
            return f"this is an ordinary move: it is written with {sign} only"
        if reach.hops is None:
            return "direct moves need a rook or a bishop on a tower"
    return None


def _marshall_refusal(reach: PieceReach, head: Head, target: int, kind: int) -> str | None:
    """Return the refusal of a marshall on a tower; None when it forbids nothing (section 6.5)."""
    start, end, there = NAMES[head.origin], NAMES[target], reach.board[target] & 15
    if (
        head.mark == CAPTURE
        and there
        and reach.marshall_zone
        and reach.is_capture_barred(kind, there, head.origin, target)
    ):
        return f"a marshall on a tower keeps the {TITLES[kind]} on {start} from capturing the {TITLES[there]} on {end}"
    if head.mark in (ATTACH, DIRECT_ATTACH) and kind != PAWN and not reach.may_attach(kind, there, head.origin, target):
        return (
            f"a marshall on a tower keeps the {TITLES[kind]} on {start} from attaching to the {TITLES[there]} on {end}:"
            " near it only a rook and a knight attach, or two pawns"
        )
    return None


def _geometry_refusal(reach: PieceReach, head: Head, target: int, kind: int) -> str:
    """Return why the piece does not go there: the obstacle, if there is one, and the reason for the way it moves."""
    position, origin = reach.position, head.origin
    code = position.board[origin]
    if kind == DRAGON and not any(position.memories) and head.mark not in (DIRECT, DIRECT_ATTACH):
        return "a dragon has nothing to imitate yet"
    title = f"{TITLES[kind]} of the {TITLES[code & 15]}" if head.part else TITLES[kind]
    verb = _VERBS[head.mark].format(end=NAMES[target], other=TITLES[position.board[target] & 15])
    refusal = f"the {title} on {NAMES[origin]} cannot {verb}"
    if head.mark in (DIRECT, DIRECT_ATTACH):
        return f"{refusal}: no chain of links leads there over vacant squares"
    movement = kind if head.part else reach.movement(origin, kind)
    blocker = _blocker(reach, origin, target, kind, movement)
    if blocker is not None:
        return f"{refusal}: the {TITLES[position.board[blocker] & 15]} on {NAMES[blocker]} is in the way"
    if movement != kind and kind in (BISHOP, KNIGHT):
        return f"{refusal}: a cardinal on a tower makes it move like a {TITLES[movement]}"
    if reach.knight_towers and _is_in_line(reach.side, origin, target, kind, movement):
        return f"{refusal}: a knight on a tower bends the lines between arenas"
    return refusal


def _is_in_line(side: int, origin: int, target: int, kind: int, movement: int) -> bool:
    """Return whether an orthogonal way leads there when no knight stands on a tower, pieces between disregarded."""
    steps = surface(0).steps
    if kind in (PAWN, LANCER):
        return target in (steps[way][origin] for way in (FORWARD[side], LEFT, RIGHT))
    if movement & ROOK:
        return _on_rays(surface(0).rays[origin], target) is not None
    return bool(movement & KING) and target in (way[origin] for way in steps)


def _on_rays(rays: Rays, target: int) -> tuple[int, ...] | None:
    """Return the targets before ``target`` on the ray that leads there, None when none does."""
    return next((ray.before[target] for group in rays for ray in group if target in ray.before), None)


def _blocker(reach: PieceReach, origin: int, target: int, kind: int, movement: int) -> int | None:
    """Return the square of the first piece between, if the piece on ``origin`` could go to ``target`` but for that."""
    if kind in (PAWN, LANCER):
        doubles = reach.surface.double_steps if kind == PAWN else reach.surface.lancer_doubles
        crossed = doubles[reach.side][origin].get(target)
        return crossed if crossed is not None and reach.board[crossed] else None
    lines = [(ROOK, reach.surface.rays[origin]), (BISHOP, DIAGONAL_RAYS[origin])]
    for play_component, rays in lines:
        between = _on_rays(rays, target) if movement & play_component else None
        for passed in between or ():
            square = SQUARE_AT[passed >> TARGET_SHIFT]
            if reach.board[square]:
                return square
    return None
