"""What a move does, which ones there are, check and the end (rules, sections 2 to 8)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tests.support.slow_fourplay.board import (
    CORNERS,
    LIMITS,
    NEUTRON,
    SQUARES,
    VALUES,
    Piece,
    Square,
    State,
    bends,
    between,
    in_quadrant,
    name,
    spent,
    square_of,
    write,
)


def borrowed(state: State, mover: int) -> list[tuple[str, int | None]]:
    """Return the types as which the piece ``mover`` may move, a Dog's with the number of its host (None: free)."""
    _, code, square = state.pieces[mover]
    if code != "Mu":
        return [(code, state.hosts.get(mover))]
    return [
        (piece.code, state.hosts.get(number))
        for number, piece in state.pieces.items()
        if distance(piece.square, square) == 1 and piece.code != "Mu"
    ]


def distance(start: Square, target: Square) -> int:
    return max(abs(start[0] - target[0]), abs(start[1] - target[1]))


def obstacles(state: State, squares: Sequence[Square]) -> int:
    return sum(square == NEUTRON or state.at(square) is not None for square in squares)


def goes(state: State, mover: int, code: str, host: int | None, target: Square) -> bool:
    """Return whether the piece ``mover``, as one of type ``code``, may move to or capture on ``target`` by moving."""
    owner, _, start = state.pieces[mover]
    path = between(start, target)
    across, up = abs(target[0] - start[0]), abs(target[1] - start[1])
    empty = state.at(target) is None
    open_line = path is not None and obstacles(state, path) == 0
    match code:
        case "K":
            return distance(start, target) == 1
        case "R":
            return open_line and 0 in (across, up)
        case "VM":
            return open_line and across == 0
        case "HM":
            return open_line and up == 0
        case "B":
            return open_line and across == up
        case ",":
            return across == up == 1
        case "G":
            return {across, up} == {1, 4}
        case "Q":
            return path is not None and obstacles(state, path) <= 1
        case "A":
            clear = any(obstacles(state, way) == 0 for way in bends(start, target))
            return empty and across + up == 4 and in_quadrant(owner, target) and clear
        case "Dg" if host is None:
            return empty and distance(start, target) == 1
        case "Dg":
            centre = state.pieces[host].square
            return between(centre, target) is not None and distance(centre, target) <= 2
    raise AssertionError(code)


def shoots(state: State, mover: int, target: Square) -> bool:
    start = state.pieces[mover].square
    path = between(start, target)
    reach = 4 if 0 in (target[0] - start[0], target[1] - start[1]) else 3
    return path is not None and obstacles(state, path) == 0 and distance(start, target) <= reach


def moves_of(state: State, mover: int) -> Iterator[str]:
    """Yield the moves of one piece as if its owner had the turn, trades left out; some perhaps twice."""
    owner, own_code, start = state.pieces[mover]
    kinds = borrowed(state, mover)
    for target in SQUARES:
        held = state.at(target)
        if target in (start, NEUTRON) or (held is not None and state.pieces[held].owner == owner):
            continue
        for code, host in kinds:
            if code == "A" and held is not None and shoots(state, mover, target):
                yield f"{name(start)}*{name(target)}"
            if goes(state, mover, code, host, target):
                text = name(start) + ("-" if held is None else "x") + name(target)
                yield text
                if code == "," and target in CORNERS.values() and target != CORNERS[owner]:
                    for new in ("Dg", "Q", "Mu", "G", "R", "B", "VM", "HM"):
                        if len(state.of(owner, new)) < LIMITS[new] and new != own_code:
                            yield f"{text}={new}"


def dog_moves(state: State, mover: int) -> Iterator[str]:
    """Yield how a Little Dog may attach or detach."""
    start = state.pieces[mover].square
    if mover in state.hosts:
        yield f"{name(start)}<{name(state.pieces[state.hosts[mover]].square)}"
    else:
        for piece in state.pieces.values():
            if distance(piece.square, start) == 1:
                yield f"{name(start)}>{name(piece.square)}"


def trades(state: State, mover: int) -> Iterator[str]:
    owner, _, start = state.pieces[mover]
    king = state.of(owner, "K")[0].square
    path = between(start, king)
    apart = path is not None and obstacles(state, path) == 1
    if apart and any(code == "Q" for code, _ in borrowed(state, mover)) and not in_check(state, owner):
        yield f"{name(start)}<>{name(king)}"


def in_check(state: State, owner: str) -> bool:
    """Return whether another surviving player could capture the King of ``owner`` if it were its turn (section 4)."""
    if state.phase != "play":
        return False
    captures = {f"{sign}{name(king.square)}" for king in state.of(owner, "K") for sign in "x*"}
    return any(
        re.sub("^[a-o][0-9]+", "", text) in captures
        for number, piece in state.pieces.items()
        if piece.owner != owner and piece.owner in state.survivors()
        for text in moves_of(state, number)
    )


def placements(state: State) -> Iterator[str]:
    left = 60 - spent(state, state.side)
    codes = [code for code in VALUES if VALUES[code] <= left and len(state.of(state.side, code)) < LIMITS[code]]
    home = [square for square in SQUARES if in_quadrant(state.side, square) and state.at(square) is None]
    for code in codes if state.of(state.side, "K") else ["K"]:
        for square in home:
            if code != "," or square not in CORNERS.values():
                yield f"{code}@{name(square)}"
    if left <= 60 - 51:
        yield "done"


def successors(state: State) -> dict[str, str]:
    """Return the legal moves in their order, each with the position after it; none when the game is over."""
    if outcome(state, []):
        return {}
    texts = set(placements(state)) if state.phase == "setup" else set()
    for number, piece in state.pieces.items():
        if state.phase == "play" and piece.owner == state.side:
            texts.update(moves_of(state, number), trades(state, number))
            if piece.code == "Dg":
                texts.update(dog_moves(state, number))
    return {text: write(play(state, text)) for text in sorted(texts or {"pass"})}


def without(state: State, number: int) -> State:
    """Return the state without a piece; with a King goes its owner (sections 6 and 7)."""
    pieces = {other: piece for other, piece in state.pieces.items() if other != number}
    hosts = {dog: host for dog, host in state.hosts.items() if number not in (dog, host)}
    lost = state.pieces[number]
    out = state.out + (lost.owner if lost.code == "K" else "")
    return replace(state, pieces=pieces, hosts=hosts, out=out, clock=0)


def with_piece(state: State, number: int, piece: Piece) -> State:
    return replace(state, pieces={**state.pieces, number: piece})


def turn_passed(state: State) -> State:
    later = "rbygrbyg"["rbyg".index(state.side) + 1 :]
    return replace(state, side=next(letter for letter in later if letter in state.survivors()))


def play(state: State, text: str) -> State:
    if "@" in text:
        code, square = text.split("@")
        return with_piece(state, len(state.pieces), Piece(state.side, code, square_of(square)))
    if text == "done":
        return replace(turn_passed(state), phase="play" if state.side == "g" else "setup")
    after = replace(state, clock=state.clock + 1)
    parts = re.fullmatch(r"([a-o]\d+)(-|x|\*|<>|<|>)([a-o]\d+)=?(.*)", text)
    if parts is not None:
        start, target = square_of(parts[1]), square_of(parts[3])
        mover, held = state.at(start), state.at(target)
        assert mover is not None
        piece = state.pieces[mover]
        if parts[2] in ("x", "*"):
            assert held is not None
            after = without(state, held)
        if parts[2] in ("-", "x"):
            after = with_piece(after, mover, Piece(piece.owner, parts[4] or piece.code, target))
        elif parts[2] == "<>":
            assert held is not None
            after = with_piece(after, mover, piece._replace(square=target))
            after = with_piece(after, held, state.pieces[held]._replace(square=start))
        elif parts[2] == "<":
            after = replace(after, hosts={dog: host for dog, host in state.hosts.items() if dog != mover})
        elif parts[2] == ">":
            assert held is not None
            after = replace(after, hosts={**state.hosts, mover: held})
    return turn_passed(after)


def resigned(state: State, owner: str) -> State:
    """Return the state after ``owner`` has resigned in the play phase (section 7)."""
    number = next(number for number, piece in state.pieces.items() if piece.owner == owner and piece.code == "K")
    after = without(state, number)
    return turn_passed(after) if state.side == owner else after


def outcome(state: State, earlier: Sequence[str]) -> tuple[list[float], str] | None:
    """Return the scores in seat order and the reason, or None while the game goes on (section 8)."""
    if state.phase == "setup":
        return None
    here = write(state).rsplit(" ", 1)[0]
    survivors = state.survivors()
    if len(survivors) == 1:
        reason = "last-king"
    elif all(len(state.of(owner)) == 1 for owner in survivors):
        reason = "insufficient-material"
    elif state.clock >= 100:
        reason = "no-progress"
    elif sum(text.rsplit(" ", 1)[0] == here for text in earlier) >= 2:
        reason = "repetition"
    else:
        return None
    places = [0.0, 1 / 3, 2 / 3, 1.0]
    shared = places[len(state.out) :]
    scores = dict(zip(state.out, places, strict=False))
    return [round(scores.get(owner, sum(shared) / len(shared)), 4) for owner in "rbyg"], reason
