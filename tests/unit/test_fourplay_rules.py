"""Fourplay against its rules document: counts of sequences, laws on random games, refusals."""

import random

import pytest

from domain.errors import GameOver, IllegalMove, RulesError
from domain.fourplay import GAME
from domain.fourplay.position import VALUES, Position
from tests.support.tables import table

KINGS = "15/bK13yK/15/15/15/15/15/7*7/15/15/15/15/15/15/rK13gK"


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


def turned(text: str) -> str:
    """Turn a position by a quarter clockwise about h8: Red becomes Blue, Blue Yellow, and so on."""
    position = GAME.parse_position(text)
    board = bytearray(225)
    for square, code in enumerate(position.board):
        column, row = divmod(square, 15)
        kind = {10: 11, 11: 10}.get(code & 15, code & 15)
        player = (code >> 4) % 4 + 1 if code >> 4 else 0
        board[row * 15 + 14 - column] = player << 4 | kind
    return GAME.format_position(position._replace(board=bytes(board), side=(position.side + 1) % 4))


def test_the_four_armies_are_one_army_turned_about_the_centre() -> None:
    start = GAME.format_position(GAME.initial("standard"))
    assert turned(start) == start.replace(" r play", " b play")
    assert sum(VALUES[code & 15] for code in GAME.initial("standard").board if code >> 4 == 1) == 60


def test_the_moves_do_not_depend_on_which_way_the_board_is_turned() -> None:
    for position in random_positions("standard", seed=21, every=40)[:12]:
        if not position.eliminated and not position.attachments:
            around = GAME.parse_position(turned(GAME.format_position(position)))
            assert len(list(GAME.legal_moves(around))) == len(list(GAME.legal_moves(position)))


def test_a_player_who_resigns_is_out_and_the_others_play_on() -> None:
    start = GAME.initial("standard")
    going_on = GAME.without_seat(start, 0)
    assert going_on is not None
    assert GAME.to_move(going_on) == 1
    assert GAME.eliminated(going_on) == (0,)
    assert GAME.outcome(going_on, ()) is None
    later = GAME.without_seat(going_on, 2)
    assert later is not None
    assert GAME.to_move(later) == 1
    last = GAME.without_seat(later, 1)
    assert last is not None
    outcome = GAME.outcome(last, ())
    assert outcome is not None
    assert outcome.reason == "last-king"
    assert outcome.scores == (0.0, 0.6667, 0.3333, 1.0)


def test_the_set_up_stays_with_one_player_until_done() -> None:
    position = GAME.initial("draft")
    for move in ("K@b2", "Q@b3", "A@e5", "A@c3"):
        assert GAME.to_move(position) == 0
        position = GAME.play(position, GAME.parse_move(position, move))
    with pytest.raises(IllegalMove, match="at least 51"):
        GAME.parse_move(position, "done")
    for move in ("Mu@d4", "Mu@d5", "R@a1"):
        position = GAME.play(position, GAME.parse_move(position, move))
    assert "done" in list(GAME.legal_moves(position))
    assert GAME.to_move(GAME.play(position, "done")) == 1


@pytest.mark.parametrize(("text", "reason"), table(__file__, "an illegal move is refused with its reason"))
def test_an_illegal_move_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(IllegalMove, match=reason):
        GAME.parse_move(GAME.initial("standard"), text)


@pytest.mark.parametrize(("board", "text", "reason"), table(__file__, "a promotion is refused for the rule"))
def test_a_promotion_is_refused_for_the_rule_that_forbids_it(board: str, text: str, reason: str) -> None:
    position = GAME.parse_position(f"15/bK13yK/15/15/15/15/15/7*7/15/15/15/{board} r play - - 0")
    with pytest.raises(RulesError, match=reason):
        GAME.parse_move(position, text)


def test_bare_kings_are_a_draw_and_no_move_is_accepted() -> None:
    position = GAME.parse_position(f"{KINGS} r play - - 0")
    assert list(GAME.legal_moves(position)) == []
    with pytest.raises(GameOver, match="insufficient-material"):
        GAME.parse_move(position, "a1-a2")
