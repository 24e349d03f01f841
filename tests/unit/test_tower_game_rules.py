"""The Tower Game against its rules document: counts of sequences, laws on random games, refusals."""

import json
import random
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from domain.game import GameOver, IllegalMove, MalformedNotation, RulesError
from domain.tower_game import GAME
from domain.tower_game.board import NAMES, PAWN_CAPTURES
from domain.tower_game.moves import encode
from domain.tower_game.position import Position, occupied

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "vectors" / "tower-game.public.json").read_text("utf-8")
)
LONE_KINGS = "5/5/5/5/4k|5/5/5/5/5|5/5/5/5/5|5/5/5/5/5|5/5/5/5/5|5/5/5/5/5|5/5/5/5/5|K4/5/5/5/5"


def perft(position: Position, depth: int) -> int:
    moves = list(GAME.legal_moves(position))
    if depth == 1:
        return len(moves)
    return sum(perft(GAME.play(position, move), depth - 1) for move in moves)


def random_positions(setup: str, seed: int, every: int) -> list[Position]:
    """Return positions of one random game, with the final one."""
    rng = random.Random(seed)
    position = GAME.initial(setup)
    sampled = []
    ply = 0
    while moves := list(GAME.legal_moves(position)):
        if ply % every == 0:
            sampled.append(position)
        position = GAME.play(position, rng.choice(moves))
        ply += 1
    return [*sampled, position]


@pytest.mark.parametrize(("setup", "counts"), [("original", [91, 8281, 775257]), ("alternate", [91, 8281, 775075])])
def test_the_starts_have_the_known_numbers_of_sequences(setup: str, counts: list[int]) -> None:
    assert [perft(GAME.initial(setup), depth) for depth in (1, 2, 3)] == counts


@pytest.mark.parametrize("setup", ["original", "alternate"])
def test_every_random_game_ends_and_positions_and_moves_read_back(setup: str) -> None:
    positions = random_positions(setup, seed=7, every=25)
    assert GAME.outcome(positions[-1], ()) is not None
    for position in positions:
        assert GAME.parse_position(GAME.format_position(position)) == position
        moves = list(GAME.legal_moves(position))
        texts = [GAME.format_move(position, move) for move in moves]
        assert texts == sorted(texts)
        for move, text in zip(moves, texts, strict=True):
            assert GAME.parse_move(position, text) == move
            assert GAME.parse_san(position, GAME.san(position, move)) == move


@pytest.mark.parametrize("setup", ["original", "alternate"])
def test_a_move_is_legal_exactly_when_it_is_generated(setup: str) -> None:
    rng = random.Random(2)
    for position in random_positions(setup, seed=11, every=400):
        generated = set(GAME.legal_moves(position))
        own = occupied(position.men, position.side)
        origins = [origin for origin in range(200) if own >> origin & 1 or rng.random() < 0.1]
        wrong = [
            move
            for origin, target, capture, promotion in product(origins, range(200), (False, True), (0, 3))
            if GAME.is_legal(position, move := encode(origin, target, capture, promotion)) != (move in generated)
        ]
        assert [GAME.format_move(position, move) for move in wrong] == []


def plain_moves(position: Position) -> set[str]:
    """Generate the moves of a position again, slowly, straight from the rules: vectors, and a look at the King.

    Castling and en passant are left to the worked examples.
    """
    men = {name: GAME.scene(position).columns[name][0] for name in GAME.scene(position).columns}
    return {text for text in _steps(men, position.side) if not _king_attacked(_moved(men, text), position.side)}


def _moved(men: dict[str, Any], text: str) -> dict[str, Any]:
    board = dict(men)
    board[text[4:7]] = board.pop(text[:3])
    return board


def _king_attacked(men: dict[str, Any], side: int) -> bool:
    king = next(name for name, man in men.items() if man.seat == side and man.kind == "monarch")
    return any(text[3] == "x" and text[4:7] == king for text in _steps(men, 1 - side))


def _reaches() -> dict[str, dict[tuple[int, ...], int]]:
    """Return how far every kind of man but the Pawn goes in every direction in which it goes at all."""
    leaps = {"knight": [0, 1, 2], "captain": [1, 1, 2], "jester": [1, 2, 2]}
    steps = {"rook": (1,), "bishop": (2,), "merchant": (3,), "monarch": (1, 2, 3), "fool": (1, 2, 3)}
    vectors = list(product((-2, -1, 0, 1, 2), repeat=3))
    units = [vector for vector in vectors if max(map(abs, vector)) == 1]
    reaches = {kind: {v: 1 for v in vectors if sorted(map(abs, v)) == lengths} for kind, lengths in leaps.items()}
    for kind, numbers in steps.items():
        far = 1 if kind in ("monarch", "fool") else 8
        reaches[kind] = {vector: far for vector in units if sum(map(abs, vector)) in numbers}
    return reaches


REACHES = _reaches()


def _pawn_reaches(men: dict[str, Any], name: str, side: int) -> dict[tuple[int, ...], int]:
    """Return where a Pawn may go or capture: one step up or down the board, two straight ones from its first rank."""
    forward, rank = (1, int(name[2])) if side == 0 else (-1, int(name[2]))
    reaches = {(x, y, forward): 1 for x in (-1, 0, 1) for y in (-1, 0, 1)}
    if rank == (2 if side == 0 else 7) and f"{name[:2]}{rank + forward}" not in men:
        reaches[0, 0, 2 * forward] = 1
    return reaches


def _steps(men: dict[str, Any], side: int) -> set[str]:
    found = set()
    for name, man in men.items():
        if man.seat != side:
            continue
        x, y, z = "abcde".index(name[0]), "abcde".index(name[1]), int(name[2])
        reaches = _pawn_reaches(men, name, side) if man.kind == "pawn" else REACHES[man.kind]
        for vector, reach in reaches.items():
            straight = vector[:2] == (0, 0)
            for step in range(1, reach + 1):
                a, b, c = x + vector[0] * step, y + vector[1] * step, z + vector[2] * step
                if not (0 <= a < 5 and 0 <= b < 5 and 1 <= c <= 8):
                    break
                there = f"{'abcde'[a]}{'abcde'[b]}{c}"
                other = men.get(there)
                if man.kind == "pawn" and (other is None) != straight:
                    break
                if other is None or other.seat != side:
                    ending = [f"={p}" for p in "BCFJMNR"] if man.kind == "pawn" and c in (1, 8) else [""]
                    found |= {f"{name}{'x' if other else '-'}{there}{end}" for end in ending}
                if other is not None:
                    break
    return found


def test_moves_agree_with_a_plain_reading_of_the_rules() -> None:
    for position in random_positions("alternate", seed=23, every=120):
        quiet = position._replace(rights=0, passed=-1)
        generated = {GAME.format_move(quiet, move) for move in GAME.legal_moves(quiet)}
        if GAME.outcome(quiet, ()) is None:
            assert generated == plain_moves(quiet)


@pytest.mark.parametrize(("setup", "hanging"), [("original", ["ac7", "ec2"]), ("alternate", [])])
def test_only_two_pawns_of_the_original_setup_are_unprotected(setup: str, hanging: list[str]) -> None:
    men = {name: column[0] for name, column in GAME.scene(GAME.initial(setup)).columns.items()}
    unprotected = []
    for name, pawn in men.items():
        if pawn.kind == "pawn":
            taken = {**men, name: pawn._replace(seat=1 - pawn.seat)}
            if not any(move.endswith(f"x{name}") for move in _steps(taken, pawn.seat)):
                unprotected.append(name)
    assert sorted(unprotected) == hanging


def test_bindings_are_as_the_rules_count_them() -> None:
    assert len(PAWN_CAPTURES[0][NAMES.index("cc4")]) == 8
    assert occupied(GAME.initial("original").men, 0).bit_count() == 50


def test_stalemate_gives_a_quarter_to_the_stalemated_side() -> None:
    stalemates = [case for case in CASES if (case.get("outcome") or {}).get("reason") == "stalemate"]
    assert stalemates
    for case in stalemates:
        outcome = GAME.outcome(GAME.parse_position(case["position"]), ())
        assert outcome is not None
        assert sorted(outcome.scores) == [0.25, 0.75]


def test_a_drawn_position_has_no_moves_and_refuses_all() -> None:
    position = GAME.parse_position(f"{LONE_KINGS} w - - 0")
    assert list(GAME.legal_moves(position)) == []
    with pytest.raises(GameOver, match="insufficient-material"):
        GAME.parse_move(position, "ae1-ae2")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("cc2-cc5", "does not move from cc2 to cc5"),
        ("cc3-cc4", "no man of yours stands on cc3"),
        ("cc7-cc6", "no man of yours stands on cc7"),
        ("aa1-aa2", "held by a man of your own"),
        ("cc2xcc3", "nothing to capture on cc3"),
        ("cc2-cc3=R", "only a Pawn that reaches the last rank promotes"),
        ("cc1-ee1", "blocked: dd1 is not empty"),
        ("Jcc5", "no legal move is written"),
    ],
)
def test_an_illegal_move_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(IllegalMove, match=reason):
        GAME.parse_move(GAME.initial("original"), text)


@pytest.mark.parametrize("text", ["", "  ", "cc2", "hello", "O-X", "cc2–cc4", "Cc2-cc4", "x" * 10_000, "cc9", "=R"])
def test_what_is_no_move_at_all_is_refused(text: str) -> None:
    with pytest.raises(RulesError):
        GAME.parse_move(GAME.initial("original"), text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "expected 5 fields"),
        (f"{LONE_KINGS} w - -", "expected 5 fields"),
        (f"{LONE_KINGS[:-2]} w - - 0", "rank 1: expected 5 rows"),
        (f"{LONE_KINGS[:-1]}4 w - - 0", "rank 1, row a: has 4 cubes"),
        (f"{LONE_KINGS} x - - 0", "side to move"),
        (f"{LONE_KINGS} w aa1 - 0", "the King is not on cc1"),
        (f"{LONE_KINGS} w - cc6 0", "no enemy Pawn has just passed cc6"),
        (f"{LONE_KINGS} w - - 101", "clock"),
        (f"{LONE_KINGS} w - - 00", "clock"),
        (f"{LONE_KINGS.replace('K', '1').replace('11', '2')} w - - 0", "two digits|White has 0 Kings"),
    ],
)
def test_a_malformed_position_is_refused_with_place_and_reason(text: str, reason: str) -> None:
    with pytest.raises(MalformedNotation, match=reason):
        GAME.parse_position(text)
