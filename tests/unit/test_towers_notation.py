"""Towers for people: what is refused and why, pictures, hints, and the search terms."""

import random

import pytest

from domain.errors import IllegalMove, MalformedNotation
from domain.presentation import Hint
from domain.scene import Piece
from domain.towers import GAME
from domain.towers.position import Position
from tests.support.tables import table

E04 = "7/3,gw,3/7/1,g,bbbbb,g,1,g,1/1,bbbb,wwwww,bbb,3/2,bbbbb,g,3/w,6 2 w 0"


def sampled_positions(setup: str, seed: int) -> list[Position]:
    rng = random.Random(seed)
    position, found = GAME.initial(setup), list[Position]()
    while moves := list(GAME.legal_moves(position)):
        found.append(position)
        position = GAME.play(position, rng.choice(moves))
    return found


@pytest.mark.parametrize(("text", "reason"), table(__file__, "an illegal move is refused with a reason that a player"))
def test_an_illegal_move_is_refused_with_a_reason_that_a_player_understands(text: str, reason: str) -> None:
    with pytest.raises(IllegalMove) as refusal:
        GAME.parse_move(GAME.parse_position(E04), text)
    assert str(refusal.value) == reason


def test_a_taller_neighbour_is_distinguished_from_an_equally_tall_one() -> None:
    position = GAME.parse_position("7/2,www,g,3/2,ww,bb,3/1,g,1,g,1,g,1/7/3,g,3/6,bb 2 w 0")
    with pytest.raises(IllegalMove, match="the tower on c6 is taller"):
        GAME.parse_move(position, "c5-c6")


def test_a_player_without_supply_learns_the_reason() -> None:
    row = ",".join(["wwwww"] * 7)
    text = f"{row}/3,g,3/wwww,1,w,4/1,g,1,g,1,g,1/{row}/3,g,3/6,bb 2 w 0"
    with pytest.raises(IllegalMove, match="your supply is empty"):
        GAME.parse_move(GAME.parse_position(text), "+a5")


@pytest.mark.parametrize(("text", "reason"), table(__file__, "a malformed move is refused with the place"))
def test_a_malformed_move_is_refused_with_the_place_and_the_reason(text: str, reason: str) -> None:
    with pytest.raises(MalformedNotation) as refusal:
        GAME.parse_move(GAME.initial("two-player"), text)
    assert str(refusal.value) == reason


@pytest.mark.parametrize(("text", "reason"), table(__file__, "a malformed position is refused with the place"))
def test_a_malformed_position_is_refused_with_the_place_and_the_reason(text: str, reason: str) -> None:
    with pytest.raises(MalformedNotation) as refusal:
        GAME.parse_position(text)
    assert str(refusal.value) == reason


def test_too_many_pieces_of_a_colour_are_refused() -> None:
    row = ",".join(["wwwww"] * 7)
    with pytest.raises(MalformedNotation, match="White has 76 pieces on the board, more than 75"):
        GAME.parse_position(f"{row}/3,g,3/wwwww,1,w,4/1,g,1,g,1,g,1/{row}/3,g,3/6,bb 2 w 0")


def test_an_unskipped_turn_is_accepted_when_the_game_is_over_by_castles() -> None:
    position = GAME.parse_position("ww,6/3,gr,3/7/1,gr,1,gr,1,g,1/7/3,g,3/6,bb 4 u 0")
    outcome = GAME.outcome(position, ())
    assert outcome is not None
    assert outcome.scores == (0.0, 0.0, 1.0, 0.0)


def test_the_text_board_shows_whole_towers_bottom_first_with_supplies_and_turn() -> None:
    position = GAME.parse_position("7/2,wwwww,gbbb,3/7/1,g,1,g,1,g,1/7/3,g,3/6,bb 2 w 25")
    assert GAME.diagram(position).split("\n") == [
        "7  .     .     .     .     .     .     .", "6  .     .     wwwww gbbb  .     .     .",
        "5  .     .     .     .     .     .     .", "4  .     g     .     g     .     g     .",
        "3  .     .     .     .     .     .     .", "2  .     .     .     g     .     .     .",
        "1  .     .     .     .     .     .     bb", "   a     b     c     d     e     f     g", "",
        "w White: 70 in supply", "b Black: 70 in supply", "White to move", "Pushes in a row: 25 of 50",
    ]  # fmt: skip


def test_the_scene_shows_towers_piece_by_piece_and_says_them_top_down() -> None:
    scene = GAME.scene(GAME.parse_position("uw,6/3,g,3/7/1,g,1,gbw,1,g,1/7/3,g,3/6,bb 4 w 0"))
    white, black = Piece(0, "stone", "w", "white piece"), Piece(3, "stone", "b", "black piece")
    green = Piece(-1, "castle", "g", "green castle piece")
    assert scene.columns["d4"] == (green, black, white)
    assert scene.spoken["d4"] == "d4: castle, height 3, white over black over green"
    assert scene.spoken["a7"] == "a7: tower, height 2, white over blue"
    assert scene.spoken["b7"] == "b7: empty"
    assert set(scene.columns) == {"a7", "b4", "d2", "d4", "d6", "f4", "g1"}


def test_the_board_of_the_scene_has_a7_at_the_top_left_and_five_castles() -> None:
    scene = GAME.scene(GAME.initial("two-player"))
    cells = {cell.square: cell for cell in scene.cells}
    assert len(cells) == 49
    assert (cells["a7"].x, cells["a7"].y) == (0.5, 0.5)
    assert (cells["g1"].x, cells["g1"].y) == (6.5, 6.5)
    assert {square for square, cell in cells.items() if cell.kind == "castle"} == {"b4", "d2", "d4", "d6", "f4"}
    assert {cells["a1"].kind, cells["b1"].kind} == {"light", "dark"}
    assert sorted(label.text for label in scene.labels) == list("1234567abcdefg")


def test_hints_offer_a_build_without_and_a_push_with_its_last_square() -> None:
    hints = GAME.hints(GAME.initial("two-player"))
    assert list(hints) == ["a6", "b7", "f1", "g2"]
    assert hints["a6"] == (
        Hint("+a6", (), "build"),
        Hint("a6-a5", ("a5",), "push"),
        Hint("a6-a7", ("a7",), "push"),
        Hint("a6-b6", ("b6",), "push"),
    )


def test_the_evaluation_of_four_seats_sees_one_leader_at_most() -> None:
    for position in sampled_positions("four-player", 2):
        assert sum(GAME.evaluate(position, seat) > 0 for seat in range(4)) <= 1


def test_another_castle_is_worth_more_than_a_taller_tower() -> None:
    with_castle = GAME.parse_position("7/3,gw,3/7/1,g,1,g,1,g,1/7/3,g,3/ww,5,bb 2 b 0")
    with_tower = GAME.parse_position("7/3,g,3/7/1,g,1,g,1,g,1/7/3,g,3/wwww,5,bb 2 b 0")
    assert GAME.evaluate(with_castle, 0) > GAME.evaluate(with_tower, 0)


def test_a_winning_push_comes_first_and_is_a_tactic() -> None:
    position = GAME.parse_position("7/2,ww,g,3/7/1,gw,1,gw,1,gw,1/7/3,g,3/6,bb 2 w 0")
    winning = GAME.parse_move(position, "c6-d6")
    assert GAME.order(position, GAME.legal_moves(position))[0] == winning
    assert winning in GAME.noisy_moves(position)


def test_a_push_that_takes_the_last_tower_of_an_opponent_is_a_tactic() -> None:
    position = GAME.parse_position("7/3,g,3/2,www,bb,3/1,g,1,g,1,g,1/7/3,g,3/7 2 w 0")
    assert GAME.noisy_moves(position) == [GAME.parse_move(position, "c5-d5")]


def test_noisy_moves_are_legal_pushes_and_none_in_a_quiet_position() -> None:
    assert GAME.noisy_moves(GAME.initial("two-player")) == []
    for position in sampled_positions("four-player", 4):
        moves = list(GAME.noisy_moves(position))
        assert all(GAME.is_legal(position, move) for move in moves)
        assert all("-" in GAME.format_move(position, move) for move in moves)
