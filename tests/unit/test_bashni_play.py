"""What holds in every game of Bashni, tried in seeded random play; and how a position is shown, judged and searched."""

import random
from collections.abc import Iterator

import pytest

from domain.bashni import GAME, RULESETS
from domain.bashni.position import Position
from domain.bashni.weights import TURN
from domain.game import AnyGame
from domain.presentation import Hint
from tests.support.tables import named_cases, table

Bashni = AnyGame

START = GAME.initial("start")


@pytest.fixture(params=RULESETS, ids=lambda game: f"ruleset {game.ruleset}")
def game(request: pytest.FixtureRequest) -> Bashni:
    found: Bashni = request.param
    return found


def random_game(game: Bashni, seed: int) -> list[Position]:
    rng = random.Random(seed)
    positions = [START]
    while moves := list(game.legal_moves(positions[-1])):
        positions.append(game.play(positions[-1], rng.choice(moves)))
    return positions


def sampled(game: Bashni, seeds: int, every: int) -> Iterator[Position]:
    for seed in range(seeds):
        yield from random_game(game, seed)[seed % every :: every]


def columns(position: Position) -> list[str]:
    """The columns of a position, letters from the top down, read from its string."""
    board = GAME.format_position(position).split(" ")[0]
    for sign in "12345678/":
        board = board.replace(sign, " ")
    towers = [part.split(")")[0] for part in board.split("(")[1:]]
    for tower in towers:
        board = board.replace(f"({tower})", " ", 1)
    return towers + [letter for letter in board if letter != " "]


def mirrored(text: str) -> str:
    """The position string with the board turned by half a turn and the colours exchanged."""
    board, side, halfmove_clock = text.split(" ")
    ranks = []
    for rank in reversed(board.split("/")):
        tokens, rest = [], rank
        while rest:
            size = rest.index(")") + 1 if rest[0] == "(" else 1
            tokens.append(rest[:size])
            rest = rest[size:]
        ranks.append("".join(reversed(tokens)))
    exchanged = "/".join(ranks).translate(str.maketrans("wWbB", "bBwW"))
    return f"{exchanged} {'b' if side == 'w' else 'w'} {halfmove_clock}"


def test_a_pair_of_squares_is_legal_exactly_when_it_is_generated(game: Bashni) -> None:
    for position in sampled(game, 12, 9):
        generated = set(game.legal_moves(position))
        pairs = [(start, end) for start in range(-1, 38) for end in range(-1, 38)]
        assert {pair for pair in pairs if game.is_legal(position, pair)} == {
            move for move in generated if len(move) == 2
        }
        assert all(game.is_legal(position, move) for move in generated)


def test_any_tuple_of_numbers_may_be_asked_about(game: Bashni) -> None:
    rng = random.Random(7)
    for position in sampled(game, 10, 5):
        generated = set(game.legal_moves(position))
        for _ in range(100):
            move = tuple(
                rng.randint(-40, 75) if rng.random() < 0.1 else rng.randrange(36) for _ in range(rng.randrange(6))
            )
            assert game.is_legal(position, move) == (move in generated)
        assert not game.is_legal(position, (0, 10**30))
        assert not game.is_legal(position, (0, 10) * 5000)


def test_both_colours_play_by_the_same_rules(game: Bashni) -> None:
    for position in sampled(game, 10, 3):
        other = game.parse_position(mirrored(game.format_position(position)))
        assert len(list(game.legal_moves(other))) == len(list(game.legal_moves(position)))
        assert game.evaluate(other, 0) == game.evaluate(position, 1)


@pytest.mark.parametrize(("better", "worse"), named_cases(__file__, "a better position is judged better"))
def test_a_better_position_is_judged_better(better: str, worse: str) -> None:
    assert GAME.evaluate(GAME.parse_position(better), 0) > GAME.evaluate(GAME.parse_position(worse), 0)


def test_the_start_is_level_but_for_the_move() -> None:
    assert GAME.evaluate(START, 0) == TURN


def test_a_position_is_forced_when_there_is_a_capture(game: Bashni) -> None:
    for position in sampled(game, 10, 1):
        moves = list(game.legal_moves(position))
        captures = [move for move in moves if "x" in game.format_move(position, move)]
        assert game.is_forced(position) == bool(captures)
        assert moves == (captures or moves)


def test_ordering_keeps_all_moves_and_puts_the_larger_capture_first(game: Bashni) -> None:
    for position in sampled(game, 10, 3):
        moves = list(game.legal_moves(position))
        assert sorted(game.order(position, moves)) == moves
    position = game.parse_position("8/8/5b2/8/1b1b4/2w5/8/8 w 0")
    ordered = [game.format_move(position, move) for move in game.order(position, game.legal_moves(position))]
    assert ordered == ["c3xe5xg7", "c3xa5"]


def test_a_hint_of_a_capture_leads_over_every_landing_square() -> None:
    position = GAME.parse_position("8/8/5b2/8/1b1b4/2w5/8/8 w 0")
    assert GAME.hints(position) == {
        "c3": (Hint("c3xa5", ("a5",), "capture"), Hint("c3xe5xg7", ("e5", "g7"), "capture"))
    }
    assert GAME.hints(START)["a3"] == (Hint("a3-b4", ("b4",), "move"),)


def test_a_diagram_shows_whole_columns_from_the_top_down() -> None:
    position = GAME.parse_position("7b/8/8/8/5W2/(Bw)1(wBB)5/8/8 b 15")
    assert GAME.diagram(position).splitlines() == [
        "8     .     .   .   b", "7  .    .     .   .", "6     .     .   .   .", "5  .    .     .   .",
        "4     .     .   W   .", "3  Bw   wBB   .   .", "2     .     .   .   .", "1  .    .     .   .",
        "   a  b c   d e f g h", "", "Black to move", "King moves without capture in a row: 15 of 30",
    ]  # fmt: skip


def test_a_scene_shows_every_column_from_the_bottom_up() -> None:
    scene = GAME.scene(GAME.parse_position("7b/8/8/8/5W2/(Bw)1(wBB)5/8/8 b 7"))
    assert {square: "".join(piece.letter for piece in pieces) for square, pieces in scene.columns.items()} == {
        "h8": "b",
        "f4": "W",
        "a3": "wB",
        "c3": "BBw",
    }
    assert {(piece.seat, piece.kind, piece.title) for piece in scene.columns["a3"]} == {
        (0, "man", "white man"),
        (1, "king", "black king"),
    }


def test_a_scene_names_all_squares_with_rank_one_at_the_bottom() -> None:
    scene = GAME.scene(START)
    places = {cell.square: (cell.x, cell.y, cell.kind) for cell in scene.cells}
    assert len(places) == 64
    assert places["a1"] == (0.5, 7.5, "dark")
    assert places["b1"] == (1.5, 7.5, "light")
    assert places["h8"] == (7.5, 0.5, "dark")
    assert sorted(label.text for label in scene.labels) == list("12345678abcdefgh")
    assert all(0 < label.x < scene.width and 0 < label.y < scene.height for label in scene.labels)


@pytest.mark.parametrize(("square", "words"), table(__file__, "a square is put into words from the top down"))
def test_a_square_is_put_into_words_from_the_top_down(square: str, words: str) -> None:
    scene = GAME.scene(GAME.parse_position("7b/8/8/8/8/2(Wbb)1(bBbbWw)3/8/8 w 0"))
    assert scene.spoken[square] == words
    assert len(scene.spoken) == 64
