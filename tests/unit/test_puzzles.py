"""Puzzles: their solutions are legal and are played as figures; each day has one."""

from typing import Any

import pytest

from api.operations.puzzles import of_the_day, puzzles_of
from api.pages.learning.playable import represent
from api.pages.learning.puzzles import figure_of, seat_of
from domain.games import GAMES
from domain.puzzles import lines
from domain.puzzles.puzzle import Puzzle

PUZZLES = [puzzle for game_id in GAMES for puzzle in puzzles_of(game_id).values()]


@pytest.mark.parametrize("puzzle", PUZZLES, ids=lambda puzzle: f"{puzzle.game_id}-{puzzle.id}")
def test_a_puzzle_has_a_choice_at_each_move_that_counts_and_one_reply_to_each(puzzle: Puzzle) -> None:
    game = GAMES[puzzle.game_id]
    position: Any = game.parse_position(puzzle.position)
    assert game.format_position(position) == puzzle.position
    solver, choices = game.to_move(position), 0
    for ply, text in enumerate(puzzle.line):
        assert (game.to_move(position) == solver) == (ply % 2 == 0)
        legal = [game.format_move(position, move) for move in game.legal_moves(position)]
        choices += game.to_move(position) == solver and len(legal) > 1
        last = ply == len(puzzle.line) - 1
        assert {text, *(puzzle.alternatives if last else ())} <= set(legal)
        position = game.play(position, game.parse_move(position, text))
    assert 1 <= puzzle.choices <= choices
    assert len(represent(figure_of(puzzle))["steps"]) == (len(puzzle.line) + 1) // 2
    assert seat_of(puzzle)


@pytest.mark.parametrize("game_id", GAMES)
def test_the_puzzles_of_a_game_come_in_turn_day_by_day(game_id: str) -> None:
    listed = puzzles_of(game_id)
    drawn = [of_the_day(game_id, day) for day in range(len(listed))]
    assert {puzzle.id for puzzle in drawn if puzzle} == set(listed)


def test_the_level_of_a_puzzle_is_the_weakest_from_which_on_all_solve_it() -> None:
    puzzle = Puzzle("bashni", "", (), (), 1, 1, (0, 2, 1, 2, 4, 1, 1, 1))
    assert puzzle.level == 4
    assert puzzle._replace(solved=(4, 4, 4, 4, 4, 1, 1, 0)).level is None
    assert puzzle._replace(solved=(4, 4, 4, 4, 4, 1, 1, 1)).level == 1


def as_mined(puzzle: Puzzle) -> lines.Solution:
    return lines.Solution(puzzle.position, puzzle.line, puzzle.alternatives, puzzle.choices, puzzle.factor)


def test_a_confirmation_refuses_a_move_that_does_not_stand_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "level_nodes", lambda _: 1_000)
    game = GAMES["bashni"]
    puzzle = next(each for each in puzzles_of("bashni").values() if each.choices == 1)
    assert lines.confirm(game, as_mined(puzzle), 5) == as_mined(puzzle)._replace(factor=5)
    position = game.parse_position(puzzle.position)
    legal = [game.format_move(position, move) for move in game.legal_moves(position)]
    other = next(move for move in legal if move not in (puzzle.line[0], *puzzle.alternatives))
    wrong = as_mined(puzzle)._replace(line=(other,), alternatives=())
    assert lines.confirm(game, wrong, 5) is None


@pytest.mark.parametrize("game_id", GAMES)
def test_no_puzzle_is_the_move_that_looks_best_without_a_search(game_id: str) -> None:
    assert [
        puzzle.id for puzzle in puzzles_of(game_id).values() if lines.is_obvious(GAMES[game_id], as_mined(puzzle))
    ] == []
