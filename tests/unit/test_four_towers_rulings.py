"""Rulings of Four Towers in cases that no figure of the rules page shows, by the game and by the slow reference."""

from dataclasses import replace

import pytest

from domain.errors import RulesError
from domain.four_towers import GAME
from tests.support.slow_four_towers.board import DOUBLES, SQUARES, name, read, square_of, write
from tests.support.slow_four_towers.composed import multi_moves, rearrangements
from tests.support.slow_four_towers.moves import successors
from tests.support.tables import named_cases, table

QUIET = "w - -/- - 0 1"


def placed(pieces: str, fields: str = QUIET) -> str:
    """Return the position with ``pieces``, each a letter and a square; the kings stand on g1 and k9 if not named."""
    board = {square_of(word[1:]): word[0] for word in pieces.split()}
    for king, square in (("K", "g1"), ("k", "k9")):
        if king not in board.values():
            board[square_of(square)] = king
    return write(replace(read(f"3/6/9/10/10/9/10/10/9/6/3 {fields}"), board=board))


def by_the_reference(text: str) -> dict[str, str]:
    state = read(text)
    return {**successors(state), **multi_moves(state), **rearrangements(state)}


@pytest.mark.parametrize(("pieces", "fields", "legal", "illegal"), named_cases(__file__, "a move is legal"))
def test_a_move_is_legal_or_not_as_it_was_ruled(pieces: str, fields: str, legal: str, illegal: str) -> None:
    text = placed(pieces, fields)
    position, expected = GAME.parse_position(text), by_the_reference(text)
    for move_text in legal.split():
        move = GAME.parse_move(position, move_text)
        assert GAME.format_move(position, move) == move_text
        assert GAME.format_position(GAME.play(position, move)) == expected[move_text]
    for move_text in illegal.split():
        assert move_text not in expected
        with pytest.raises(RulesError):
            GAME.parse_move(position, move_text)


@pytest.mark.parametrize(("pieces", "fields", "move", "after"), named_cases(__file__, "memory rights and clock"))
def test_memory_rights_and_clock_are_as_it_was_ruled(pieces: str, fields: str, move: str, after: str) -> None:
    text = placed(pieces, fields)
    position = GAME.parse_position(text)
    result = GAME.format_position(GAME.play(position, GAME.parse_move(position, move)))
    assert " ".join(result.split()[2:6]) == after
    assert result == by_the_reference(text)[move]


@pytest.mark.parametrize("white", [True, False])
def test_a_lone_pawn_has_the_double_step_on_the_squares_of_the_list_and_no_others(white: bool) -> None:
    """FT-05."""
    for start in {name(square) for square in SQUARES if square[1] < 9} - {"k8", "j4"}:
        try:
            text = placed(f"P{start} Kk8 kj4")
            position = GAME.parse_position(text if white else turned(text))
        except RulesError:
            continue
        results = {GAME.format_position(GAME.play(position, move)) for move in GAME.legal_moves(position)}
        assert results == set(successors(read(GAME.format_position(position))).values())
        noted = [result for result in results if result.split()[2] != "-"]
        x, y = square_of(start)
        assert len(noted) == (start in DOUBLES and (x, y + 2) in SQUARES), start


def turned(text: str) -> str:
    """Return the position after half a turn with exchanged colours."""
    state = read(text)
    board = {(12 - x, 12 - y): letter.swapcase() for (x, y), letter in state.board.items()}
    return write(replace(state, board=board, white=not state.white))


@pytest.mark.parametrize(("text", "reason"), table(__file__, "the conditions of the end are looked at in their order"))
def test_the_conditions_of_the_end_are_looked_at_in_their_order(text: str, reason: str | None) -> None:
    position = GAME.parse_position(text)
    outcome = GAME.outcome(position, ())
    assert (outcome and outcome.reason) == reason
    assert bool(list(GAME.legal_moves(position))) == (reason is None)


def test_a_third_time_counts_before_the_clock_and_a_different_right_to_pass_makes_another_position() -> None:
    """FT-26."""
    position, passed = (GAME.parse_position(placed("Rd3 pf5", f"w {pairs} -/- - 150 1")) for pairs in ("-", "f6f5"))
    earlier = [position._replace(halfmove_clock=halfmove_clock) for halfmove_clock in (142, 146)]
    others = [passed._replace(halfmove_clock=halfmove_clock) for halfmove_clock in (142, 146)]
    history = [position._replace(side=1)] * 3
    for before, reason in ((earlier, "repetition"), (others, "no-progress")):
        outcome = GAME.outcome(position, [before[0], *history, before[1], *history])
        assert outcome is not None
        assert outcome.reason == reason
