"""The earlier positions of a game as one sequence, and the persistent vector that it is made of."""

from random import Random
from typing import Any

import pytest

from domain.game import AnyGame
from domain.games import GAMES
from domain.history import History, occurrences
from domain.vector import Vector, with_item

PLIES = 150


class Counting:
    def __init__(self, game: AnyGame) -> None:
        self._game = game
        self.keys = self.written = self.parsed = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)

    def key(self, position: Any) -> Any:
        self.keys += 1
        return self._game.key(position)

    def format_position(self, position: Any) -> str:
        self.written += 1
        return self._game.format_position(position)

    def parse_position(self, text: str) -> Any:
        self.parsed += 1
        return self._game.parse_position(text)


def played(game: AnyGame, setup: str, seed: int) -> tuple[list[Any], list[str]]:
    """Return the positions in which the moves of a random game were played, and the moves."""
    chance, position = Random(seed), game.initial(setup)
    positions, moves = list[Any](), list[Any]()
    while len(moves) < PLIES and (legal := list(game.legal_moves(position))):
        move = chance.choice(legal[:3])
        positions.append(position)
        moves.append(game.format_move(position, move))
        position = game.play(position, move)
    return positions, moves


def grown(game: Any, positions: list[Any]) -> History:
    """Return the history of ``positions``, made one by one."""
    history = History(game)
    for position in positions:
        history = history.with_position(position)
    return history


@pytest.mark.parametrize("name", sorted(GAMES))
def test_a_history_is_the_sequence_of_its_positions(name: str) -> None:
    game = GAMES[name]
    positions, _ = played(game, next(iter(game.setups)), 1)
    history = grown(game, positions)
    assert list(history) == positions
    assert [history[ply] for ply in range(len(history))] == positions
    assert history[-1] == positions[-1]
    for plies in (0, 1, len(positions) // 2, len(positions)):
        assert list(history[:plies]) == positions[:plies]
        assert history[:plies] == tuple(positions[:plies])
    with pytest.raises(IndexError):
        history[len(positions)]


@pytest.mark.parametrize("name", sorted(GAMES))
def test_repetitions_are_counted_as_by_comparing_all_positions(name: str) -> None:
    game = GAMES[name]
    positions, _ = played(game, next(iter(game.setups)), 2)
    # Going through a game again and again repeats its positions; the counters in them go on all the same.
    chance = Random(name)
    shuffled = [chance.choice(positions) for _ in range(3 * PLIES)]
    history = grown(game, shuffled)
    written = History.restore(game, history.texts(), history.movers(), ())
    continued = written[:PLIES]
    for position in shuffled[PLIES:]:
        continued = continued.with_position(position)
    for position in positions:
        expected = occurrences(position, tuple(shuffled), game.key)
        assert [each.occurrences(position) for each in (history, written, continued)] == [expected] * 3
        beginning = occurrences(position, tuple(shuffled[:PLIES]), game.key)
        assert [each[:PLIES].occurrences(position) for each in (history, written, continued)] == [beginning] * 3


def test_extending_a_history_looks_at_the_new_position_only() -> None:
    game = Counting(GAMES["towers"])
    positions, moves = played(game, "two-player", 3)  # type: ignore[arg-type]
    history = grown(game, positions)
    assert game.keys == len(positions)
    for position in positions:
        history.occurrences(position)
    assert game.keys == 2 * len(positions)
    history.texts()
    longer = history.with_position(positions[0])
    longer.texts()
    assert game.written == len(positions) + 1
    assert longer[: len(positions)].texts() == history.texts()
    assert history.display_moves(moves) == longer.display_moves([*moves, moves[0]])[:-1]


def test_a_restored_history_parses_nothing_until_a_position_is_looked_at() -> None:
    game = Counting(GAMES["tower-game"])
    positions, moves = played(game, "original", 4)  # type: ignore[arg-type]
    history = grown(game, positions)
    restored = History.restore(game, history.texts(), history.movers(), history.display_moves(moves))  # type: ignore[arg-type]
    longer = restored.with_position(positions[5])
    assert longer.occurrences(positions[5]) == 2
    assert (restored.texts(), restored.movers(), restored.display_moves(moves)) == (
        history.texts(),
        history.movers(),
        history.display_moves(moves),
    )
    assert game.parsed == 0
    assert restored[7] == positions[7]
    assert game.parsed == 1
    assert list(restored) == positions


def test_what_was_remembered_of_moves_that_are_taken_back_is_forgotten() -> None:
    game = GAMES["tower-game"]
    positions, moves = played(game, "original", 5)
    history = grown(game, positions)
    spelled, texts = history.display_moves(moves), history.texts()
    other = next(move for move in game.legal_moves(positions[9]) if game.format_move(positions[9], move) != moves[9])
    back = history[:9].with_position(positions[9]).with_position(game.play(positions[9], other))
    assert back.texts()[:10] == texts[:10]
    assert back.texts()[10] != texts[10]
    canonical = game.format_move(positions[9], other)
    reply = game.format_move(back[10], next(iter(game.legal_moves(back[10]))))
    assert back.display_moves([*moves[:9], canonical, reply])[9] == game.display_move(positions[9], other) != spelled[9]


def test_the_last_move_is_spelled_without_a_look_at_the_moves_before_it() -> None:
    game = Counting(GAMES["tower-game"])
    positions, moves = played(game, "original", 4)  # type: ignore[arg-type]
    spelled = grown(game, positions).display_moves(moves)
    restored = History.restore(game, grown(game, positions).texts(), (), ())  # type: ignore[arg-type]
    assert restored.display_last_move(moves) == spelled[-1] != moves[-1]
    assert game.parsed == 1
    assert History.restore(game, restored.texts(), (), spelled).display_last_move(moves) == spelled[-1]  # type: ignore[arg-type]
    assert game.parsed == 1


ITEMS = tuple(range(500))


def vector(length: int) -> Vector[int]:
    made: Vector[int] = Vector()
    for item in range(length):
        made = made.with_item(item)
    return made


def test_a_vector_is_read_like_the_tuple_of_its_items() -> None:
    made = vector(len(ITEMS))
    assert made == ITEMS
    assert (len(made), list(made), hash(made), repr(made)) == (len(ITEMS), list(ITEMS), hash(ITEMS), repr(ITEMS))
    assert [made[place] for place in (0, 31, 32, 33, 499, -1, -500)] == [0, 31, 32, 33, 499, 499, 0]
    for place in (slice(40), slice(-3, None), slice(100, 300), slice(None, None, -7), slice(300, 100), slice(900)):
        assert made[place] == ITEMS[place]


def test_no_item_is_beyond_the_ends() -> None:
    for place in (3, -4):
        try:
            vector(3)[place]
        except IndexError:
            continue
        raise AssertionError(place)


def test_two_vectors_may_be_made_of_one() -> None:
    made = vector(100)
    one, other = made.with_item(1), made.with_item(2)
    assert (made, one, other) == (ITEMS[:100], (*ITEMS[:100], 1), (*ITEMS[:100], 2))
    assert with_item((7, 8), 9) == (7, 8, 9)


def test_the_parts_stay_few_so_that_adding_copies_little() -> None:
    for length in (1, 33, 1000, 10_000):
        assert len(vector(length)._parts) <= length.bit_length()
