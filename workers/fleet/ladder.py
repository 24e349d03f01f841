"""The ladder of the opponents: complete games between two levels or ``RANDOM``, and the average score.

Colours alternate; with more seats the stronger side takes each in turn against the weaker. Every game has its own seed,
so a ladder is reproducible.
"""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, Literal, NamedTuple

from domain.game import AnyGame
from domain.games import find_ruleset
from domain.search import choose
from events.matches.fleet_jobs import Parameters, PlannedSlice

Side = int | Literal["random"]
RANDOM: Literal["random"] = "random"
PAIRS: tuple[tuple[Side, Side], ...] = ((8, 4), (4, 1), (1, RANDOM))
"""The pairs that show whether the levels of a game are graded."""


class LadderQuery(NamedTuple):
    """A ladder of a ruleset of a game: ``games`` games for each setup and pair."""

    game: str
    ruleset: int
    games: int
    seed: int


class LadderGame(NamedTuple):
    """One game: the seat of the stronger side, its score, the reason of the outcome and the number of plies."""

    seat: int
    score: float
    reason: str
    plies: int


class PlayedGames(NamedTuple):
    """The games of a slice."""

    games: tuple[LadderGame, ...] = ()


class LadderRow(NamedTuple):
    """The results of a stronger side: games, average score (0 to 1), number of games by score, average plies."""

    setup: str
    strong: Side
    weak: Side
    games: int
    score: float
    by_score: tuple[tuple[float, int], ...]
    plies: float


def plan(parameters: Parameters) -> list[list[PlannedSlice]]:
    """Return a slice for each game of a LadderQuery: setup, both sides, number of the game. Raises KeyError."""
    query = LadderQuery(**parameters)
    return [
        [
            PlannedSlice([setup, strong, weak, number], 1, f"{setup}, {strong} against {weak}, game {number + 1}")
            for setup, strong, weak in pairings(find_ruleset(query.game, query.ruleset))
            for number in range(query.games)
        ]
    ]


def do(parameters: Parameters, content: Sequence[Any]) -> PlayedGames:
    """Play one game. Crash-safe: it writes nothing."""
    query = LadderQuery(**parameters)
    setup, strong, weak, number = content
    game = find_ruleset(query.game, query.ruleset)
    return PlayedGames((play_game(game, setup, strong, weak, query.seed, number),))


def pairings(game: AnyGame) -> Iterator[tuple[str, Side, Side]]:
    """Yield every setup of ``game`` with every pair, stronger side first, in the order of the rows of a ladder."""
    for setup in game.setups:
        for strong, weak in PAIRS:
            yield setup, strong, weak


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


def _move(game: AnyGame, position: Any, history: Sequence[Any], side: Side, chance: Random) -> Any:
    if side == RANDOM:
        return chance.choice(list(game.legal_moves(position)))
    return choose(game, position, history, side, chance.getrandbits(32)).move


def make_row(setup: str, strong: Side, weak: Side, played: Sequence[LadderGame]) -> LadderRow:
    """Return the results of the games that were ``played``."""
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
