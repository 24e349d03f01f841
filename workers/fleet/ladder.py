"""Whether the levels of the opponents are graded: whole games between two of them, and the average score.

A side is a level or ``RANDOM``, which plays any legal move. With two seats colours alternate; with more, one seat of
the stronger side plays against the weaker side on all others and takes every seat in turn. Every game has a seed of its
own, so a ladder can be repeated to the last move, whatever the number of processes.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from random import Random
from typing import Any, Literal, NamedTuple

from domain.game import AnyGame
from domain.games import find_ruleset
from domain.search import choose

Side = int | Literal["random"]
RANDOM: Literal["random"] = "random"

PAIRS: tuple[tuple[Side, Side], ...] = ((8, 4), (4, 1), (1, RANDOM))
"""The pairs by which a game shows that its levels are graded."""


class Played(NamedTuple):
    """One game: the seat of the stronger side, its score, the reason of the end and the number of plies."""

    seat: int
    score: float
    reason: str
    plies: int


class Row(NamedTuple):
    """How a stronger side did against a weaker one: games, average score (0 to 1), games by score, average plies."""

    setup: str
    strong: Side
    weak: Side
    games: int
    score: float
    by_score: tuple[tuple[float, int], ...]
    plies: float


def play_ladder(
    game: AnyGame,
    games: int = 40,
    pairs: Iterable[tuple[Side, Side]] = PAIRS,
    seed: int = 1,
    processes: int = 1,
    on_game: Callable[[Played], None] = lambda _: None,
) -> Iterator[Row]:
    """Yield a row for every setup of ``game`` and every pair, stronger side first; ``on_game`` hears of every game."""
    pairs = tuple(pairs)
    for setup in game.setups:
        for strong, weak in pairs:
            yield match_up(game, setup, strong, weak, games, seed, processes, on_game)


def match_up(
    game: AnyGame,
    setup: str,
    strong: Side,
    weak: Side,
    games: int,
    seed: int = 1,
    processes: int = 1,
    on_game: Callable[[Played], None] = lambda _: None,
) -> Row:
    """Return how ``strong`` does against ``weak`` in ``games`` games of ``setup``.

    With more than one of ``processes`` the games are shared out among as many. Raises KeyError for an unknown setup or
    level, ValueError for less than one game.
    """
    if games < 1:
        raise ValueError(f"a match has one game or more, not {games}")
    game.initial(setup)
    if processes == 1:
        play_one = partial(play_game, game, setup, strong, weak, seed)
        return _row(setup, strong, weak, map(play_one, range(games)), on_game)
    with ProcessPoolExecutor(processes) as pool:
        play_one = partial(_play_registered, game.id, game.ruleset, setup, strong, weak, seed)
        return _row(setup, strong, weak, pool.map(play_one, range(games)), on_game)


def play_game(game: AnyGame, setup: str, strong: Side, weak: Side, seed: int, number: int) -> Played:
    """Play game ``number`` (from 0) of a match to its end by the rules; its number gives the seat of ``strong``."""
    seats = len(game.setups[setup].seat_names)
    seat = number % seats
    chance = Random(f"{seed}/{number}")  # noqa: S311
    position = game.initial(setup)
    history: list[Any] = []
    while (outcome := game.outcome(position, history)) is None:
        side = strong if game.to_move(position) == seat else weak
        move = _move(game, position, history, side, chance)
        history.append(position)
        position = game.play(position, move)
    return Played(seat, outcome.scores[seat], outcome.reason, len(history))


def _play_registered(game_id: str, ruleset: int, *match_up: Any) -> Played:
    """Play a game by a ruleset of the register: functions do not travel to other processes, names do."""
    return play_game(find_ruleset(game_id, ruleset), *match_up)


def _move(game: AnyGame, position: Any, history: Sequence[Any], side: Side, chance: Random) -> Any:
    if side == RANDOM:
        return chance.choice(list(game.legal_moves(position)))
    return choose(game, position, history, side, chance.getrandbits(32)).move


def _row(setup: str, strong: Side, weak: Side, games: Iterable[Played], on_game: Callable[[Played], None]) -> Row:
    played: list[Played] = []
    for one in games:
        played.append(one)
        on_game(one)
    scores = [one.score for one in played]
    return Row(
        setup,
        strong,
        weak,
        len(played),
        sum(scores) / len(scores),
        tuple((score, scores.count(score)) for score in sorted(set(scores), reverse=True)),
        sum(one.plies for one in played) / len(played),
    )
