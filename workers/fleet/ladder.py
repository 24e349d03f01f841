"""The ladder of the opponents: complete games between two levels, and the average score.

A side is a level or ``RANDOM``, which plays any legal move. With two seats colours alternate; with more, one seat of
the stronger side plays against the weaker side on all others and takes every seat in turn. Every game has its own
seed, so a ladder is reproducible move by move, whatever the number of processes.
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
"""The pairs that show whether the levels of a game are graded."""


class LadderGame(NamedTuple):
    """One game: the seat of the stronger side, its score, the reason of the outcome and the number of plies."""

    seat: int
    score: float
    reason: str
    plies: int


class LadderRow(NamedTuple):
    """The results of a stronger side: games, average score (0 to 1), number of games by score, average plies."""

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
    on_game: Callable[[LadderGame], None] = lambda _: None,
) -> Iterator[LadderRow]:
    """Yield a row for every setup of ``game`` and every pair, stronger side first; call ``on_game`` after each game."""
    pairs = tuple(pairs)
    for setup in game.setups:
        for strong, weak in pairs:
            yield play_pair(game, setup, strong, weak, games, seed, processes, on_game)


def play_pair(
    game: AnyGame,
    setup: str,
    strong: Side,
    weak: Side,
    games: int,
    seed: int = 1,
    processes: int = 1,
    on_game: Callable[[LadderGame], None] = lambda _: None,
) -> LadderRow:
    """Return the results of ``strong`` against ``weak`` in ``games`` games of ``setup``.

    The games are distributed over ``processes``. Raises KeyError for an unknown setup or level, ValueError for less
    than one game.
    """
    if games < 1:
        raise ValueError(f"games must be at least 1, not {games}")
    game.initial(setup)
    if processes == 1:
        play_one = partial(play_game, game, setup, strong, weak, seed)
        return _row(setup, strong, weak, map(play_one, range(games)), on_game)
    with ProcessPoolExecutor(processes) as pool:
        play_one = partial(_play_registered, game.id, game.ruleset, setup, strong, weak, seed)
        return _row(setup, strong, weak, pool.map(play_one, range(games)), on_game)


def play_game(game: AnyGame, setup: str, strong: Side, weak: Side, seed: int, number: int) -> LadderGame:
    """Play game ``number`` (from 0) to the end; its number determines the seat of ``strong``."""
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
    return LadderGame(seat, outcome.scores[seat], outcome.reason, len(history))


def _play_registered(game_id: str, ruleset: int, *arguments: Any) -> LadderGame:
    """Play a game under a registered ruleset: games cannot be pickled, their names can."""
    return play_game(find_ruleset(game_id, ruleset), *arguments)


def _move(game: AnyGame, position: Any, history: Sequence[Any], side: Side, chance: Random) -> Any:
    if side == RANDOM:
        return chance.choice(list(game.legal_moves(position)))
    return choose(game, position, history, side, chance.getrandbits(32)).move


def _row(
    setup: str, strong: Side, weak: Side, games: Iterable[LadderGame], on_game: Callable[[LadderGame], None]
) -> LadderRow:
    played: list[LadderGame] = []
    for game in games:
        played.append(game)
        on_game(game)
    scores = [game.score for game in played]
    return LadderRow(
        setup,
        strong,
        weak,
        len(played),
        sum(scores) / len(scores),
        tuple((score, scores.count(score)) for score in sorted(set(scores), reverse=True)),
        sum(game.plies for game in played) / len(played),
    )
