"""Four Towers against its rules document: worked examples, counts of sequences, laws on random games, refusals."""

import json
from pathlib import Path
from typing import Any

import pytest

from domain.four_towers import GAME
from domain.four_towers.position import Position
from domain.game import MalformedNotation, RulesError

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "vectors" / "four-towers.public.json").read_text("utf-8")
)


def perft(position: Position, depth: int) -> int:
    moves = list(GAME.legal_moves(position))
    if depth == 1:
        return len(moves)
    return sum(perft(GAME.play(position, move), depth - 1) for move in moves)


def after(position: Position, text: str) -> str:
    return GAME.format_position(GAME.play(position, GAME.parse_move(position, text)))


def refused(position: Position, text: str) -> bool:
    try:
        GAME.parse_move(position, text)
    except RulesError:
        return True
    return False


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_worked_example(case: dict[str, Any]) -> None:
    if "malformed" in case:
        texts = case["malformed"] if isinstance(case["malformed"], list) else [case["position"]]
        for text in texts:
            with pytest.raises(MalformedNotation):
                GAME.parse_position(text)
        return
    position = GAME.parse_position(case["position"])
    assert GAME.format_position(position) == case["position"]
    for count, sequences in case.get("perft", {}).items():
        assert perft(position, int(count)) == sequences
    if "moves" in case:
        assert [GAME.format_move(position, move) for move in GAME.legal_moves(position)] == case["moves"]
    for kind, found in (("multi_moves", GAME.multi_moves), ("rearrangements", GAME.rearrangements)):
        if kind in case:
            moves = [GAME.format_move(position, move) for move in found(position)]
            assert (moves if isinstance(case[kind], list) else len(moves)) == case[kind]
    if "move" in case:
        assert after(position, case["move"]) == case["result_position"]
    for move, result in case.get("apply", {}).items():
        assert after(position, move) == result
    assert [move for move in case.get("legal", []) if refused(position, move)] == []
    assert [move for move in case.get("illegal", []) if not refused(position, move)] == []
    if "outcome" in case:
        outcome = GAME.outcome(position, [GAME.parse_position(earlier) for earlier in case.get("history", [])])
        expected = case["outcome"]
        assert (outcome and {"scores": list(outcome.scores), "reason": outcome.reason}) == expected
    if "in_check" in case:
        assert GAME.in_check(position) is case["in_check"]
