"""A second, slow reference of the rules of Towers on lists of letters, straight from sections 3 to 8, compared."""

import random
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import pytest

from domain.errors import MalformedNotation
from domain.towers import GAME, Move
from domain.towers.position import Position
from tests.support.draws import sampled

CASTLES = {"d6", "b4", "d4", "f4", "d2"}
LETTERS = {2: "wb", 4: "wurb"}
PIECES_EACH = {2: 75, 4: 50}
STEPS = ((0, 1), (0, -1), (1, 0), (-1, 0))
SQUARES = [file + rank for file in "abcdefg" for rank in "1234567"]


class Table(NamedTuple):
    """Towers by square, bottom first; the letters of the players, the letter to move, pushes in a row."""

    towers: dict[str, list[str]]
    players: str
    side: str
    pushes: int


def read(text: str) -> Table:
    board, players, side, pushes = text.split(" ")
    towers: dict[str, list[str]] = {square: [] for square in SQUARES}
    for rank, row in zip("7654321", board.split("/"), strict=True):
        file = 0
        for item in row.split(","):
            if item.isdigit():
                file += int(item)
            else:
                towers["abcdefg"[file] + rank] = list(item)
                file += 1
    return Table(towers, LETTERS[int(players)], side, int(pushes))


def write(table: Table) -> str:
    rows = []
    for rank in "7654321":
        items: list[str] = []
        for file in "abcdefg":
            tower = "".join(table.towers[file + rank])
            if tower:
                items.append(tower)
            elif items and items[-1].isdigit():
                items[-1] = str(int(items[-1]) + 1)
            else:
                items.append("1")
        rows.append(",".join(items))
    return f"{'/'.join(rows)} {len(table.players)} {table.side} {table.pushes}"


def push(table: Table, start: str, step: tuple[int, int]) -> tuple[str, dict[str, list[str]]]:
    """Return the last square of a push and the towers after it."""
    towers = {square: list(tower) for square, tower in table.towers.items()}
    falling, here, below = towers[start], start, list[str]()
    while True:
        file, rank = "abcdefg".find(here[0]) + step[0], int(here[1]) + step[1]
        there = "abcdefg"[file] + str(rank) if 0 <= file < 7 and 1 <= rank <= 7 else None
        blocked = [
            piece
            for number, piece in enumerate(falling)
            if number == 0 or there is None or len(below) + number + 1 <= len(table.towers[there])
        ]
        towers[here] = below + blocked
        falling = falling[len(blocked) :]
        if not falling:
            return here, towers
        assert there is not None
        here, below = there, list(table.towers[there])


def ways(table: Table, player: str) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """Yield the legal actions of ``player`` as if it were its turn, each with the towers after it."""
    on_board = sum(tower.count(player) for tower in table.towers.values())
    for square, tower in table.towers.items():
        if not tower or tower[-1] != player:
            continue
        if square not in CASTLES and len(tower) <= 4 and on_board < PIECES_EACH[len(table.players)]:
            yield "+" + square, {**table.towers, square: [*tower, player]}
        if len(tower) >= 2:
            for step in STEPS:
                last, towers = push(table, square, step)
                if last != square:
                    yield f"{square}-{last}", towers


def can_act(table: Table, player: str) -> bool:
    """Return whether ``player`` has a legal action, as if it were its turn."""
    return next(ways(table, player), None) is not None


def winner_by_castles(table: Table) -> tuple[str, str] | None:
    """Return the winner by rule 1 and the reason; the player before the side to move comes first."""
    players = table.players
    mover = (players.index(table.side) - 1) % len(players)
    castles_needed, crowned_needed = (4, 3) if len(players) == 2 else (3, 2)
    for player in players[mover:] + players[:mover]:
        castles = [tower for square, tower in table.towers.items() if square in CASTLES and tower[-1] == player]
        if len(castles) >= castles_needed:
            return player, "castles"
        if sum(len(tower) == 5 for tower in castles) >= crowned_needed:
            return player, "crowned-castles"
    return None


def outcome(table: Table) -> tuple[str | None, str] | None:
    """Return the winner (None: a draw) and the reason by rules 1, 2 and 4, or None while the game goes on."""
    won = winner_by_castles(table)
    if won:
        return won
    if not can_act(table, table.side):
        return table.players[table.players.index(table.side) - 1], "no-moves"
    return (None, "no-progress") if table.pushes >= 50 else None


def play(table: Table, move: str, towers: dict[str, list[str]]) -> Table:
    """Return the table after ``move``, which leads to ``towers``."""
    pushes = 0 if move[0] == "+" else table.pushes + 1
    number = table.players.index(table.side)
    following = (table.players[number + 1 :] + table.players[:number]) or table.players
    after = Table(towers, table.players, following[0], pushes)
    if winner_by_castles(after):
        return after
    able = next((player for player in following if can_act(after, player)), after.side)
    return after._replace(side=able)


def overfull(table: Table) -> bool:
    """Return whether a colour has more pieces on the board than there are."""
    counts = [sum(tower.count(player) for tower in table.towers.values()) for player in table.players]
    return max(counts) > PIECES_EACH[len(table.players)]


def turn_was_not_skipped(table: Table) -> bool:
    """Return whether the side to move of four cannot act although one of the two after it can (section 8)."""
    if len(table.players) == 2 or winner_by_castles(table) or can_act(table, table.side):
        return False
    number = table.players.index(table.side)
    return any(can_act(table, table.players[(number + step) % 4]) for step in (1, 2))


def legal_strings(position: Position) -> list[str]:
    return [GAME.format_move(position, move) for move in GAME.legal_moves(position)]


def random_game(setup: str, seed: int) -> list[tuple[Position, Move | None]]:
    rng = random.Random(seed)
    position, game = GAME.initial(setup), list[tuple[Position, Move | None]]()
    while legal := list(GAME.legal_moves(position)):
        move = rng.choice(legal)
        game.append((position, move))
        position = GAME.play(position, move)
    return [*game, (position, None)]


def random_position(rng: random.Random) -> str:
    """Return a position string with towers of any heights and colours strewn over the board."""
    letters = rng.choice(("wb", "wurb"))
    density, highest = rng.random(), rng.randint(1, 5)
    towers = {
        square: [rng.choice(letters) for _ in range(rng.randint(1, highest))] if rng.random() < density else []
        for square in SQUARES
    }
    for castle in CASTLES:
        towers[castle] = ["g", *towers[castle][:4]]
    return write(Table(towers, letters, rng.choice(letters), rng.choice((0, 3, 49, 50))))


@sampled(("setup", "seed"), [("four-player-diagram", 0), *product(("two-player", "four-player"), (0, 1))])
def test_a_second_reading_of_the_rules_agrees_throughout_random_games(setup: str, seed: int) -> None:
    game = random_game(setup, seed)
    table = read(GAME.format_position(game[0][0]))
    for position, move in game:
        assert GAME.format_position(position) == write(table)
        ended = outcome(table)
        legal = dict(ways(table, table.side))
        assert legal_strings(position) == ([] if ended else sorted(legal))
        found = GAME.outcome(position, ())
        assert (found and found.reason) == (ended and ended[1])
        if found and ended and ended[0]:
            assert found.scores[table.players.index(ended[0])] == sum(found.scores) == 1.0
        if move is not None:
            text = GAME.format_move(position, move)
            table = play(table, text, legal[text])


@sampled("seed", range(20, 24))
def test_a_second_reading_of_the_rules_agrees_on_random_positions(seed: int) -> None:
    rng = random.Random(seed)
    refused = 0
    for _ in range(50):
        text = random_position(rng)
        table = read(text)
        if overfull(table) or turn_was_not_skipped(table):
            refused += 1
            with pytest.raises(MalformedNotation):
                GAME.parse_position(text)
            continue
        position = GAME.parse_position(text)
        assert GAME.format_position(position) == text
        ended = outcome(table)
        found = GAME.outcome(position, ())
        assert (found and found.reason) == (ended and ended[1])
        expected = {} if ended else dict(ways(table, table.side))
        assert legal_strings(position) == sorted(expected)
        for move in GAME.legal_moves(position):
            written = GAME.format_move(position, move)
            after = play(table, written, expected[written])
            assert GAME.format_position(GAME.play(position, move)) == write(after)
    assert refused < 25
