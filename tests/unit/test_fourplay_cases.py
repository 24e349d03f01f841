"""Fourplay sentence by sentence: cases for what the examples of the rules (section 11) leave open."""

import pytest

from domain.fourplay import GAME
from domain.game import GameOver, RulesError
from tests.support.slow_fourplay.placing import KINGS, placed
from tests.support.tables import table


@pytest.mark.parametrize(
    ("pieces", "rest", "legal", "refused"),
    [
        # The trade: exactly one piece of any kind between, at any distance; the Queen or the Mutator is named first.
        ("rKd8 bKa14 yKo14 gKo2 rQo8", "r play - - 0", "o8<>d8", "d8<>o8"),
        ("rKd8 bKa14 yKo14 gKo2 rQo8 g,m8", "r play - - 0", "o8-n8", "o8<>d8"),
        ("rKd8 bKa14 yKo14 gKo2 rQd12 rDgd10", "r play - d10>d8 0", "d12<>d8", "d12<>d10"),
        (KINGS + "rMug7 yQg6 b,d4", "r play - - 0", "g7<>a1", "g7<>o14 g6<>a1"),
        ("rKa1 yKo14 gKo2 rMug7 bQg6 b,d4", "r play b - 0", "g7<>a1", "g6<>a1"),
        (KINGS + "rMug7 yMug6 bQg5 b,d4", "r play - - 0", "a1-a2", "g7<>a1"),
        # What attacks the King, and what does not.
        (KINGS + "rQg7 r,d4 bMua4 rAb5", "r play - - 0", "g7-g6", "g7<>a1"),
        (KINGS + "rQg7 r,d4 bMua4 rAb5 rGa2", "r play - - 0", "g7<>a1", "a1<>g7"),
        (KINGS + "rQg7 r,d4 yQa9 r,a5", "r play - - 0", "a1-a2", "g7<>a1"),
        (KINGS + "rQg7 r,d4 yQa9 r,a5 r,a6", "r play - - 0", "g7<>a1", "a9xa6"),
        (KINGS + "rQg7 r,d4 gDga2", "r play - - 0", "g7<>a1 a1xa2", "a1>a2"),
        (KINGS + "rQg7 r,d4 gDga3", "r play - a3>a1 0", "g7<>a1", "a1<a3"),
        (KINGS + "rQg7 r,d4 gDgm3 rGa3", "r play - m3>a3 0", "a1-a2", "g7<>a1"),
        (KINGS + "rQg7 r,d4 gMua2", "r play - - 0", "a1xa2", "g7<>a1"),
        ("rKa1 bKa14 yKo14 rQg7 r,d4 gMua2", "r play g - 0", "g7<>a1 a1xa2", "a2xa1"),
        # No move is forbidden because of check.
        (KINGS + "yQb9 gRm2", "r play - - 0", "a1-b1 a1-a2 a1-b2", "pass"),
        # The Archer's reach: four along rows and columns, three along diagonals; nothing between.
        (KINGS + "rAd4 gGh4 gGd8 bGg7 bGa7 gGg1", "r play - - 0", "d4*h4 d4*d8 d4*g7 d4*a7 d4*g1", "d4*a1 d4xd8"),
        (KINGS + "rAc3 gGh3 gGg7 bGc8 bGe4", "r play - - 0", "c3-c7", "c3*h3 c3*g7 c3*c8 c3*e4"),
        (KINGS + "rMui7 gAj6", "r play - - 0", "i7-e7 i7-f6 i7-g5 i7*j6", "i7-g9 i7-h4 i7-f8 i7-k5"),
        (KINGS + "rMui8 gAi7", "r play - - 0", "i8*i7", "i8-f7 i8-g6"),
        (KINGS + "rMui8 gAj7 gGg8", "r play - - 0", "i8-f7 i8-g6", "i8-e8 i8*h8 i8*g8"),
        # Leapers, and pieces that stop at the first one.
        (KINGS + "rGd4 g,e8 r,c8", "r play - - 0", "d4xe8 d4-h5 d4-h3", "d4-c8 d4xc8 d4-e8"),
        (KINGS + "rGd7", "r play - - 0", "d7-h6", "d7-h8 d7xh8"),
        (KINGS + "rVMd4 rHMe5 g,d9 g,j5", "r play - - 0", "d4xd9 e5xj5", "d4-e4 e5-e6 d4-d10 e5-k5 d4-d9"),
        # The Little Dog: not onto the Neutron, its own square or own pieces; a second host only after detaching.
        (KINGS + "rDgg7 rGh7", "r play - g7>h7 0", "g7-h9 g7-f7 g7-j9 g7<h7", "g7-h8 g7xh8 g7-g7 g7>h7 g7xh7 g7-f8"),
        (KINGS + "rDgb3 gRn13", "r play - b3>o14 0", "b3-m12 b3-o12 b3xn13", "b3xo14 b3<n13 b3-n13 b3-n12 b3-b4"),
        (KINGS + "rDgb2 rDgb3 gDgc3", "r play - b2>b3;b3>b2 0", "b2<b3 b2xc3 b2-b5 b3-b4", "b2-b2 b2xb3 b2>c3 b3-b5"),
        (KINGS + "rDgb2 bDgb3", "r play - b3>a14 0", "b2>b3 b2>a1", "b2xb3 b3<a14 b2<a1 b2>b2 b2>b1"),
        ("rKa1 yKo14 gKo2 rDgb2 bDgb3", "r play b - 0", "b2>b3", "b3>b2 b3-b4"),
        # The Mutator: frozen Dogs lend their leaps too; moves that several neighbours lend are one move.
        ("rKa1 yKo14 gKo2 rMuc3 bDgb3 gRn13", "r play b b3>o14 0", "c3xn13 c3-m12", "c3xo14 c3<o14 c3-c4 c3xb3"),
        (KINGS + "rMud4 gRd5 gRe5 rVMe4", "r play - - 0", "d4xd5 d4-d1 d4-a4", "d4-d6 d4-f4 d4xe5"),
        # Promotion: in every foreign corner, by the Ant's own step, below the limits of its own army.
        (KINGS + "r,b14", "r play - - 0", "b14-a15 b14-a15=Q b14-a15=Dg", "b14-a15=K b14-a15=A b14-a15=, b14-c15=Q"),
        (KINGS + "y,n14 b,b2", "y play - - 0", "n14-o15", "n14-o15=Q b2xa1=Q"),
        (KINGS + "b,b2", "b play - - 0", "b2xa1 b2xa1=Q b2xa1=Mu", "b2-a1=Q b2xa1=A"),
        (KINGS + "r,o1", "r play - - 0", "o1-n2", "o1-n2=Q o1-o1=Q o1xo2=Q"),
        (KINGS + "r,n14 rMuc1 rMuc2 rMuc3 rMuc4 rMuc5 rMuc6 rMuc7 yQg9", "r play - - 0", "n14-o15=Q", "n14-o15=Mu"),
        ("rKa1 bKa14 yKo14 gKk2 rMun2 g,n3 gBm2", "r play - - 0", "n2-o1 n2-o1=R n2-m3", "n2-o1=Mu n2-o1=K n2xm2"),
        ("rKa1 bKa14 yKo14 gKk2 rMuo2 g,n2 gVMo3", "r play - - 0", "o2-o1 o2-n1", "o2-o1=Q o2-n1=Q"),
        ("rKa1 bKa14 yKo14 gKk2 rMun2 g,l2 gBm2", "r play - - 0", "n2-o1", "n2-o1=R"),
    ],
)  # fmt: skip
def test_moves_are_listed_and_accepted_or_refused(pieces: str, rest: str, legal: str, refused: str) -> None:
    position = GAME.parse_position(placed(pieces, rest))
    listed = list(GAME.legal_moves(position))
    for move in legal.split():
        assert move in listed
        assert GAME.parse_move(position, move) == move
    for move in refused.split():
        assert move not in listed
        with pytest.raises(RulesError):
            GAME.parse_move(position, move)


@pytest.mark.parametrize(
    ("pieces", "rest", "move", "pieces_after", "rest_after"),
    [
        # Attachments: of a promoted host, of a new Dog, between Dogs that leap, of frozen Dogs and hosts.
        (KINGS + "r,b14 gDgm3", "r play - m3>b14 4", "b14-a15=Dg", KINGS + "rDga15 gDgm3", "b play - m3>a15 5"),
        (KINGS + "rDgb2 rDgb3 gDgc3", "r play - b2>b3;b3>b2;c3>b2 4",
         "b2xc3", KINGS + "rDgc3 rDgb3", "b play - b3>c3;c3>b3 0"),
        (KINGS + "rDgb2 rDgb3", "r play - b2>b3;b3>b2 0", "b2<b3", KINGS + "rDgb2 rDgb3", "b play - b3>b2 1"),
        ("rKa1 yKo14 gKo2 rRd4 bDgb3 bGd9", "r play b b3>d9 7", "d4xd9", "rKa1 yKo14 gKo2 rRd9 bDgb3", "y play b - 0"),
        ("rKa1 yKo14 gKo2 rRd4 bDgb3 bGd9", "r play b b3>d4 7",
         "d4-d8", "rKa1 yKo14 gKo2 rRd8 bDgb3 bGd9", "y play b b3>d8 8"),
        (KINGS + "rMub2 gDgb3 yDgb4", "r play - b3>b4;b4>b3 7", "b2xb3", KINGS + "rMub3 yDgb4", "b play - - 0"),
        (KINGS + "rMub2 gDgb3 yDgc9", "r play - b3>b2;c9>b3 7", "b2xb3", KINGS + "rMub3 yDgc9", "b play - - 0"),
        (KINGS + "rDga9 rDga10 rGb9", "r play - a10>b9 0",
         "a9>a10", KINGS + "rDga9 rDga10 rGb9", "b play - a9>a10;a10>b9 1"),
        (KINGS + "rMug7 yQg6 b,d4 gDgm3 rDgc9", "r play - c9>g7;m3>a1 3",
         "g7<>a1", "rMua1 bKa14 yKo14 gKo2 rKg7 yQg6 b,d4 gDgm3 rDgc9", "b play - c9>a1;m3>g7 4"),
        # A captured King puts its owner out at once; the turn goes to the next survivor.
        (KINGS + "b,b2 yRd4", "b play - - 3", "b2xa1=Q", "bKa14 yKo14 gKo2 bQa1 yRd4", "y play r - 0"),
        ("rKa1 bKa14 yKo14 gKc7 rAc3 gDgm3", "r play - m3>c7 3",
         "c3*c7", "rKa1 bKa14 yKo14 rAc3 gDgm3", "b play g - 0"),
        ("rKa1 bKa14 yKo14 rDgn2", "r play g n2>a14 3", "n2-a12", "rKa1 bKa14 yKo14 rDga12", "b play g a12>a14 4"),
        ("bKa14 yKo14 gKo2 gRb14 gVMm14", "g play r - 3", "b14xa14", "gRa14 yKo14 gKo2 gVMm14", "y play rb - 0"),
        ("yKb14 bKa14 gKo2 gGg1", "y play r - 3", "b14xa14", "yKa14 gKo2 gGg1", "g play rb - 0"),
        # The clock counts every turn without a capture.
        (KINGS + "rQd4 rGb2", "r play - - 98", "d4<>a1", "rQa1 bKa14 yKo14 gKo2 rKd4 rGb2", "b play - - 99"),
        (KINGS + "rDgb2", "r play - - 99", "b2>a1", KINGS + "rDgb2", "b play - b2>a1 100"),
        (KINGS + "rDgb2 b,b5 g,n9", "r play - b2>b5 99", "b2<b5", KINGS + "rDgb2 b,b5 g,n9", "b play - - 100"),
    ],
)  # fmt: skip
def test_a_move_leads_to_its_position(pieces: str, rest: str, move: str, pieces_after: str, rest_after: str) -> None:
    position = GAME.parse_position(placed(pieces, rest))
    reached = GAME.play(position, GAME.parse_move(position, move))
    assert GAME.format_position(reached) == placed(pieces_after, rest_after)
    assert GAME.parse_position(placed(pieces_after, rest_after)) == reached


ALONE = "yKo14 bRb2"


@pytest.mark.parametrize(
    ("pieces", "rest", "scores", "reason"),
    [
        (KINGS, "r play - - 0", (0.5, 0.5, 0.5, 0.5), "insufficient-material"),
        (KINGS, "r play - - 100", (0.5, 0.5, 0.5, 0.5), "insufficient-material"),
        ("rKa1 yKo14 bRb2 gDgc3", "y play gb c3>b2 100", (0.8333, 0.3333, 0.8333, 0.0), "insufficient-material"),
        (KINGS + "rDgb2", "r play - - 100", (0.5, 0.5, 0.5, 0.5), "no-progress"),
        ("rKa1 yKo14 rDgb2", "r play gb - 100", (0.8333, 0.3333, 0.8333, 0.0), "no-progress"),
        (ALONE, "y play bgr - 0", (0.6667, 0.0, 1.0, 0.3333), "last-king"),
        (ALONE, "y play grb - 100", (0.3333, 0.6667, 1.0, 0.0), "last-king"),
        (ALONE + " yQa1", "y play rbg - 3", (0.0, 0.3333, 1.0, 0.6667), "last-king"),
    ],
)
def test_the_first_end_in_the_order_of_8_counts(pieces: str, rest: str, scores: tuple[float, ...], reason: str) -> None:
    position = GAME.parse_position(placed(pieces, rest))
    ended = GAME.outcome(position, [position, position])
    assert ended is not None
    assert (ended.scores, ended.reason) == (scores, reason)
    assert list(GAME.legal_moves(position)) == []
    with pytest.raises(GameOver, match=reason):
        GAME.parse_move(position, "a1-a2")


@pytest.mark.parametrize(
    ("pieces", "rest"),
    [
        (KINGS + "rDgb2", "r play - - 99"),
        ("rKa1 yKo14 bRb2 rDgd4", "r play gb - 0"),
        ("rKa1 yKo14 bRb2 y,o15", "r play bg - 0"),
    ],
)
def test_a_single_piece_of_a_survivor_keeps_the_game_going(pieces: str, rest: str) -> None:
    position = GAME.parse_position(placed(pieces, rest))
    assert GAME.outcome(position, [position]) is None
    assert list(GAME.legal_moves(position)) != []


def test_a_repeated_position_has_the_same_side_attachments_and_order_of_the_eliminated() -> None:
    pieces = "rKa1 yKo14 rDgb2"
    position = GAME.parse_position(placed(pieces, "r play bg b2>a1 8"))
    same = GAME.parse_position(placed(pieces, "r play bg b2>a1 4"))
    for rest in ("y play bg b2>a1 0", "r play gb b2>a1 0", "r play bg - 0", "r play bg b2>o14 0"):
        other = GAME.parse_position(placed(pieces, rest))
        assert GAME.outcome(position, [same, other, other]) is None
        ended = GAME.outcome(position, [same, other, same])
        assert ended is not None
        assert ended.reason == "repetition"


@pytest.mark.parametrize(("pieces", "rest", "checked"), table(__file__, "a king is in check by every survivor not on"))
def test_a_king_is_in_check_by_every_survivor_not_on_turn(pieces: str, rest: str, *, checked: bool) -> None:
    assert GAME.in_check(GAME.parse_position(placed(pieces, rest))) is checked


def test_a_player_who_has_bought_all_that_money_and_limits_allow_can_only_finish() -> None:
    dear = "rKa1 rAa2 rAa3 rQa4 rDga5 rDga6 "
    cheap = "rGb1 rGb2 rGb3 rGb4 rGb5 rGb6 r,c1 r,c2 r,c3"
    position = GAME.parse_position(placed(dear + cheap, "r setup - - 0"))
    assert {move.partition("@")[0] for move in GAME.legal_moves(position)} == {",", "VM", "HM", "done"}
    position = GAME.play(position, ",@c4")
    assert list(GAME.legal_moves(position)) == ["done"]
    assert GAME.format_position(GAME.play(position, "done")) == placed(dear + cheap + " r,c4", "b setup - - 0")
