"""Bashni against a second, slow generator, written from the rules with lists of letters and nothing else in mind."""

import random
from collections.abc import Iterator

import pytest

from domain.bashni import RULESETS
from domain.errors import IllegalMove
from domain.game import AnyGame
from tests.support.draws import sampled

Bashni = AnyGame

Board = dict[tuple[int, int], str]

every_ruleset = pytest.mark.parametrize("game", RULESETS, ids=lambda game: f"ruleset {game.ruleset}")

DIRECTIONS = ((-1, -1), (-1, 1), (1, -1), (1, 1))


def read_board(position: str) -> tuple[Board, str, int]:
    """The columns of a position string by (file, rank), top first; side; quiet plies."""
    written, side, halfmove_clock = position.split(" ")
    board: Board = {}
    for rank, text in zip(range(8, 0, -1), written.split("/"), strict=True):
        file, rest = 1, text
        while rest:
            if rest[0].isdigit():
                file, rest = file + int(rest[0]), rest[1:]
                continue
            column, rest = rest[1:].split(")", 1) if rest[0] == "(" else (rest[0], rest[1:])
            board[file, rank] = column
            file += 1
    return board, side, int(halfmove_clock)


def write_board(board: Board, side: str, halfmove_clock: int) -> str:
    signs = {square: f"({column})" if len(column) > 1 else column or "." for square, column in board.items()}
    written = "/".join(["".join([signs.get((file, rank), ".") for file in range(1, 9)]) for rank in range(8, 0, -1)])
    for run in range(8, 0, -1):
        written = written.replace("." * run, str(run))
    return f"{written} {side} {halfmove_clock}"


def on_board(square: tuple[int, int]) -> bool:
    return 1 <= square[0] <= 8 and 1 <= square[1] <= 8


def name(square: tuple[int, int]) -> str:
    return "abcdefgh"[square[0] - 1] + str(square[1])


def jumps(
    board: Board, square: tuple[int, int], column: str, barred: frozenset[tuple[int, int]]
) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Victim and landing square of every jump that 5.1 allows ``column``, which has left the board, from ``square``."""
    colour = column[0].lower()
    for across, up in DIRECTIONS:
        ahead = (square[0] + across, square[1] + up)
        while column[0].isupper() and on_board(ahead) and ahead not in board:
            ahead = (ahead[0] + across, ahead[1] + up)
        if ahead not in board or board[ahead][0].lower() == colour or ahead in barred:
            continue
        landing = (ahead[0] + across, ahead[1] + up)
        while on_board(landing) and landing not in board:
            yield ahead, landing
            if column[0].islower():
                break
            landing = (landing[0] + across, landing[1] + up)


def jump(board: Board, column: str, victim: tuple[int, int], landing: tuple[int, int]) -> tuple[Board, str]:
    """The board without the jumping column, and that column, after one jump (5.2)."""
    after = {square: letters for square, letters in board.items() if square != victim}
    if len(board[victim]) > 1:
        after[victim] = board[victim][1:]
    return after, crowned(column + board[victim][0], landing)


def crowned(column: str, square: tuple[int, int]) -> str:
    last_rank = {"w": 8, "b": 1}.get(column[0])
    return column[0].upper() + column[1:] if square[1] == last_rank else column


def captures(
    ruleset: int, board: Board, square: tuple[int, int], column: str, barred: frozenset[tuple[int, int]]
) -> Iterator[tuple[str, Board]]:
    """What may follow from ``square``: the squares still to be written, and the board after the move.

    What may not be jumped (``barred``) is every square jumped before in ruleset 1, the one jumped last in ruleset 2.
    """
    ways = list(jumps(board, square, column, barred))
    for victim, landing in ways:
        after, taller = jump(board, column, victim, landing)
        now_barred = barred | {victim} if ruleset == 1 else frozenset((victim,))
        if column[0].isupper():
            others = [other for same, other in ways if same == victim]
            leading = [other for other in others if list(jumps(after, other, taller, now_barred))]
            if leading and landing not in leading:
                continue
        ends = True
        for rest, final in captures(ruleset, after, landing, taller, now_barred):
            ends = False
            yield "x" + name(landing) + rest, final
        if ends:
            yield "x" + name(landing), {**after, landing: taller}


def reference_moves(ruleset: int, position: str) -> dict[str, str]:
    board, side, halfmove_clock = read_board(position)
    other = "b" if side == "w" else "w"
    if halfmove_clock == 30:
        return {}
    own = [square for square, column in board.items() if column[0].lower() == side]
    taking: dict[str, str] = {}
    plain: dict[str, str] = {}
    for square in own:
        column = board[square]
        rest = {place: letters for place, letters in board.items() if place != square}
        for path, after in captures(ruleset, rest, square, column, frozenset()):
            taking[name(square) + path] = write_board(after, other, 0)
        forward = 1 if side == "w" else -1
        for across, up in DIRECTIONS:
            to = (square[0] + across, square[1] + up)
            while on_board(to) and to not in board and (column[0].isupper() or up == forward):
                calm = halfmove_clock + 1 if column[0].isupper() else 0
                plain[f"{name(square)}-{name(to)}"] = write_board({**rest, to: crowned(column, to)}, other, calm)
                if column[0].islower():
                    break
                to = (to[0] + across, to[1] + up)
    return taking or plain


def random_position(rng: random.Random) -> str:
    """Columns scattered over the board by the two laws of section 1, many of them kings, some of them tall."""
    board: Board = {}
    left = {"w": 12, "b": 12}
    squares = [(file, rank) for file in range(1, 9) for rank in range(1, 9) if (file + rank) % 2 == 0]
    kings = rng.choice((0.1, 0.4, 0.8))
    for square in rng.sample(squares, rng.randint(2, 20)):
        colour = rng.choice("wb")
        column = ""
        for layer in (colour, "b" if colour == "w" else "w"):
            count = min(left[layer], rng.choice((0, 0, 0, 1, 2)) if column else rng.choice((1, 1, 1, 2, 3)))
            left[layer] -= count
            column += "".join(layer.upper() if rng.random() < kings else layer for _ in range(count))
            if not column:
                break
        if column:
            board[square] = crowned(column, square)
    return write_board(board, rng.choice("wb"), rng.choice((0, 7, 29)))


def legal_moves_with_results(game: Bashni, text: str) -> dict[str, str]:
    position = game.parse_position(text)
    return {
        game.format_move(position, move): game.format_position(game.play(position, move))
        for move in game.legal_moves(position)
    }


@every_ruleset
@sampled("seed", range(6))
def test_moves_and_their_results_agree_with_the_reference_in_scattered_positions(game: Bashni, seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(250):
        text = random_position(rng)
        expected = reference_moves(game.ruleset, text)
        found = legal_moves_with_results(game, text)
        assert found == expected, text
        assert list(found) == sorted(expected), text


@every_ruleset
@sampled("seed", range(4))
def test_moves_and_their_results_agree_with_the_reference_through_random_games(game: Bashni, seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(3):
        position = game.initial("start")
        while moves := list(game.legal_moves(position)):
            text = game.format_position(position)
            assert legal_moves_with_results(game, text) == reference_moves(game.ruleset, text), text
            position = game.play(position, rng.choice(moves))


@every_ruleset
@sampled("seed", range(3))
def test_captures_of_every_kind_are_refused_and_accepted_as_by_the_reference(game: Bashni, seed: int) -> None:
    rng = random.Random(seed)
    names = [file + rank for file in "abcdefgh" for rank in "12345678" if (ord(file) + int(rank)) % 2 == 0]
    tried = legal = 0
    for _ in range(150):
        text = random_position(rng)
        position = game.parse_position(text)
        expected = reference_moves(game.ruleset, text)
        for written in list(expected)[:8]:
            squares = written.replace("-", "x").split("x")
            for index in range(len(squares)):
                changed = [*squares[:index], rng.choice(names), *squares[index + 1 :]]
                for variant in (changed, squares[: index + 1], [*squares, rng.choice(names)]):
                    if len(variant) < 2:
                        continue
                    sign = "x" if "x" in written or len(variant) > 2 else "-"
                    candidate = sign.join(variant)
                    tried += 1
                    if candidate in expected:
                        legal += 1
                        assert game.format_move(position, game.parse_move(position, candidate)) == candidate
                    else:
                        with pytest.raises(IllegalMove):
                            game.parse_move(position, candidate)
    assert tried > legal > 0
