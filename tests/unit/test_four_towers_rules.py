"""Four Towers against its rules document: laws on random games, refusals."""

import random
import re

import pytest

from domain.errors import GameOver, IllegalMove, MalformedNotation, RulesError
from domain.four_towers import GAME
from domain.four_towers.attacks import BLACK
from domain.four_towers.board import COORDINATES, NAMES, NUMBERS_AT, TARGETS
from domain.four_towers.moves import HEAD_SHIFT, HEADS, RETURN, Move, MultiMove, Rearrangement, victim_bits
from domain.four_towers.position import Position
from tests.support.draws import sampled
from tests.support.tables import table


def after(position: Position, text: str) -> str:
    return GAME.format_position(GAME.play(position, GAME.parse_move(position, text)))


def refused(position: Position, text: str) -> bool:
    try:
        GAME.parse_move(position, text)
    except RulesError:
        return True
    return False


def random_positions(seed: int, every: int) -> list[Position]:
    """Return positions of one random game, with the final one."""
    rng = random.Random(seed)
    position = GAME.initial("standard")
    some = []
    ply = 0
    while moves := list(GAME.legal_moves(position)):
        if ply % every == 0:
            some.append(position)
        position = GAME.play(position, rng.choice(moves))
        ply += 1
    return [*some, position]


def refusal(position_text: str, text: str) -> str:
    with pytest.raises(IllegalMove) as refused_:
        GAME.parse_move(GAME.parse_position(position_text), text)
    return str(refused_.value)


def test_the_board_has_the_symmetry_of_the_half_turn() -> None:
    start = GAME.initial("standard")
    for square, code in enumerate(start.board):
        x, y = COORDINATES[square]
        assert start.board[NUMBERS_AT[12 - x, 12 - y]] == (code ^ BLACK if code else 0)


@sampled("seed", [3, 4])
def test_a_move_is_legal_exactly_when_it_is_generated(seed: int) -> None:
    rng = random.Random(seed)
    for position in random_positions(seed, every=120):
        generated = list(GAME.legal_moves(position))
        assert all(GAME.is_legal(position, move) for move in generated)
        moves = set(generated)
        origins = [number for number, head in enumerate(HEADS) if head.mark == RETURN or position.board[head.origin]]
        invented = (
            rng.choice(origins) << HEAD_SHIFT
            | rng.choice(TARGETS)
            | rng.choice((0, 0, victim_bits(rng.randrange(len(NAMES)))))
            | rng.choice((0, 0, 0, 5))
            for _ in range(3000)
        )
        assert [move for move in invented if GAME.is_legal(position, move) != (move in moves)] == []


@pytest.mark.parametrize(
    "nonsense", [-1, 1 << 40, (127 << 11), 15, MultiMove(()), MultiMove((-1, -1)), Rearrangement(9, b"")]
)
def test_what_is_no_move_at_all_is_not_legal(nonsense: Move) -> None:
    assert not GAME.is_legal(GAME.initial("standard"), nonsense)


def test_every_playable_order_of_a_multi_move_is_read_as_the_canonical_one() -> None:
    position = GAME.parse_position("3/6/8k/10/10/3P5/3D6/P9/9/6/K2 w - -/- - 0 1")
    canonical = "a4-a5;e6-d6;d6-c6"
    for order in ("a4-a5;e6-d6;d6-c6", "e6-d6;a4-a5;d6-c6", "e6-d6;d6-c6;a4-a5"):
        assert GAME.format_move(position, GAME.parse_move(position, order)) == canonical
    assert GAME.format_move(position, GAME.read_move(position, " e6-d6; d6-c6; a4-a5 ", "standard")) == canonical
    in_order = GAME.parse_move(position, "a4-a5;e6-e7")
    assert isinstance(in_order, MultiMove)
    out_of_order = MultiMove(tuple(reversed(in_order.components)))
    assert not GAME.is_legal(position, out_of_order)


@sampled("seed", range(3))
def test_multi_moves_are_legal_read_back_and_change_the_board(seed: int) -> None:
    rng = random.Random(seed)
    position = GAME.parse_position("3/6/8k/10/10/9/8N1/6D3/4P2b1/6/K2 w - -/R - 0 1")
    for move in rng.sample(list(GAME.multi_moves(position)), 25):
        assert GAME.is_legal(position, move)
        assert GAME.parse_move(position, GAME.format_move(position, move)) == move
        following = GAME.play(position, move)
        assert following.board != position.board
        assert GAME.parse_position(GAME.format_position(following)) == following


def test_two_square_moves_of_a_multi_move_are_noted_unless_the_pawn_moves_on() -> None:
    position = "3/6/8k/10/10/9/8N1/6D3/4P2b1/6/K2 w - -/R - 0 1"
    assert after(GAME.parse_position(position), "e3-e5;i5-g6").split()[2] == "e4e5"
    assert after(GAME.parse_position(position), "e3-e5;e5-e6").split()[2] == "-"


def test_a_multi_move_remembers_all_pieces_that_moved() -> None:
    position = GAME.parse_position("3/6/8k/10/10/9/8N1/6D3/4P2b1/6/K2 w - B/R - 0 1")
    assert after(position, "g1-f2;i5-g6").split()[3] == "NK/R"
    assert after(position, "e3-e4;i5-g6").split()[3] == "N/R"


def test_a_promotion_in_a_multi_move_starts_the_clock_again_and_the_new_piece_may_move_on() -> None:
    position = GAME.parse_position("3/2P3/k8/3D6/10/9/10/10/9/6/K2 w - -/- - 30 1")
    assert after(position, "e10-f10=R;f10-f9").split()[5] == "0"
    assert "dragon" in refusal(GAME.format_position(position), "e10-f10=D;f10-f9")


def test_players_may_name_the_pieces_of_a_rearrangement_in_any_order_and_leave_spaces() -> None:
    position = GAME.parse_position("3/6/8k/10/10/9/p2W6/1NN7/9/6/K2 w - -/- - 0 1")
    for text in ("I:Nb5,Na3", "I:Na3, Nb5"):
        with pytest.raises(MalformedNotation):
            GAME.parse_move(position, text)
    move = GAME.read_move(position, " I:Nb5, Na3 ", "standard")
    assert GAME.format_move(position, move) == "I:Na3,Nb5"
    assert GAME.format_position(GAME.play(position, move)) == ("3/6/8k/10/10/9/pN1W6/10/N8/6/K2 b - -/- - 1 1")


def test_a_position_that_only_a_multi_move_saves_is_not_over() -> None:
    position = GAME.parse_position("3/6/9/9k/10/9/r2D6/1P8/K7r/P5/3 w - -/- - 0 1")
    assert list(GAME.legal_moves(position)) == []
    assert GAME.outcome(position, ()) is None
    assert [GAME.format_move(position, move) for move in GAME.multi_moves(position)] == ["a3-b3;d2-d3", "b4-a4;d2-d3"]
    assert GAME.any_unlisted_move(position) in GAME.multi_moves(position)


def test_a_position_that_only_a_rearrangement_saves_is_not_over() -> None:
    text = "3/6/m8/7b2/k3P1W3/3w5/5N1c2/N2r6/4K4/4q1/3 w - -/- - 0 1"
    position = GAME.parse_position(text)
    assert list(GAME.legal_moves(position)) == []
    assert GAME.outcome(position, ()) is None
    assert GAME.any_unlisted_move(position) in GAME.rearrangements(position)
    assert not refused(position, "V:Ne5,Pe7")
    without = GAME.parse_position(text.replace("W", "N"))
    assert GAME.outcome(without, ()) == ((0.0, 1.0), "checkmate")


def test_moves_of_the_dragons_depend_on_what_moved_last() -> None:
    text = "3/6/5D2k/10/10/9/p9/10/9/6/K2 w - {} - 0 1"
    reached = {
        memory: len(list(GAME.legal_moves(GAME.parse_position(text.format(memory))))) for memory in ("-/-", "K/-")
    }
    assert reached["K/-"] == reached["-/-"] + 7


@pytest.mark.parametrize(("text", "reason"), table(__file__, "an illegal move is refused with a reason"))
def test_an_illegal_move_is_refused_with_a_reason(text: str, reason: str) -> None:
    assert reason in refusal(GAME.format_position(GAME.initial("standard")), text)


@pytest.mark.parametrize(("position", "text", "reason"), table(__file__, "a refusal names what fails"))
def test_a_refusal_names_what_fails(position: str, text: str, reason: str) -> None:
    assert reason in refusal(position, text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "a1-a3", "e4", "e4-", "P/a4<>d5", "a4-a5(b4)", "a4-a5=K", "a4-a5=L", "@K:a5", "@N:a1", "I:", "X:Na3"),
        *("a4-a5;", "a4-a5;R/a3-a5", "a4-a5;b4xb5", "I:Na3,Na3", "I:Ne6", "I:Nd5", "a4-a5\0", "x" * 10_000, "٣"),
        *(";" * 10_000, "a4-a5;b4-b5;c4-c5;d4-d5;e3-e4", " " * 20_000, "O-O", "A4-A5"),
    ],
)
def test_what_is_written_like_no_move_is_malformed(text: str) -> None:
    with pytest.raises(MalformedNotation):
        GAME.parse_move(GAME.initial("standard"), text)


def test_an_ended_game_refuses_every_move() -> None:
    mated = GAME.parse_position("3/6/8k/8Q1/10/9/10/9R/9/6/K2 b - -/- - 0 1")
    is_drawn = GAME.parse_position("3/6/8k/10/10/4Q4/10/10/9/6/2K b - -/- - 150 1")
    for position in (mated, is_drawn):
        for text in ("k9-k8", "k9-k8;j9-j8", "I:Na3", "@N:a5"):
            with pytest.raises(GameOver):
                GAME.parse_move(position, text)


@pytest.mark.parametrize(("text", "reason"), table(__file__, "a wrong position is refused with the place"))
def test_a_wrong_position_is_refused_with_the_place(text: str, reason: str) -> None:
    with pytest.raises(MalformedNotation, match=re.escape(reason)):
        GAME.parse_position(text)


def test_noted_pairs_must_be_different_and_in_order() -> None:
    board = "3/6/8k/10/10/9/3p2p3/10/9/6/K2 w {} -/- - 0 1"
    assert GAME.format_position(GAME.parse_position(board.format("d6d5,g6g5"))) == board.format("d6d5,g6g5")
    for pairs in ("g6g5,d6d5", "d6d5,d6d5"):
        with pytest.raises(MalformedNotation, match="order"):
            GAME.parse_position(board.format(pairs))


def test_the_diagram_shows_towers_memories_and_the_right_to_return() -> None:
    lines = GAME.diagram(GAME.parse_position("k2/6/9/10/10/9/3N6/10/9/6/K2 b - N/- b@d5 8 5")).split("\n")
    assert lines[6] == " 5 . . . N . . . . . ."
    assert lines[7] == " 4 . . . . . . + . . ."
    assert "Black to move" in lines[-2]
    assert lines[-1] == "the bishop captured on d5 may return"


def test_a_material_lead_is_good_and_a_capture_comes_first() -> None:
    position = GAME.parse_position("2k/6/9/3q6/10/9/10/10/4R4/6/K2 w - -/- - 0 1")
    assert GAME.evaluate(position, 1) > 0
    moves = list(GAME.legal_moves(position))
    assert GAME.format_move(position, GAME.order(position, moves)[0]) == "e3xe8"
    assert [GAME.format_move(position, move) for move in GAME.noisy_moves(position)] == ["e3xe8"]
