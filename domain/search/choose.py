"""The move of an opponent, and whether it accepts a draw: pure functions of game, position, history, level and seed."""

from collections.abc import Callable, Collection, Mapping, Sequence
from hashlib import sha256
from random import Random
from typing import Final, NamedTuple

from domain.errors import GameOver
from domain.game import Game, M, P
from domain.search.budgets import COMMON_PACE, MAX_SHORT_LEVEL, long_budget, thinks_long
from domain.search.negamax import Choice, RootMove, Search
from domain.search.proof import prove
from domain.search.values import WIN, clamp_evaluation


class Level(NamedTuple):
    """How strong an opponent is.

    ``nodes`` is the node budget of a search, ``depth`` the plies that it looks ahead (captures and compulsory moves
    come on top). ``blunder_rate`` is the share of its own next moves that it overlooks, drawn again at every turn; it
    always sees at least one. ``noise_amplitude`` is the largest noise, in hundredths of the smallest piece, that is
    added to the value of each of its next moves: it may play any move whose value is within that of the best. Certain
    wins and losses get no noise.
    """

    nodes: int
    depth: int
    blunder_rate: float
    noise_amplitude: int


MAX_DEPTH: Final = 64

MAX_GUEST_LEVEL: Final = 5
"""The strongest opponent of a guest: stronger ones cost the most time, and guests need no account."""

LEVELS: Final[Mapping[int, Level]] = {
    1: Level(nodes=400, depth=1, blunder_rate=0.61, noise_amplitude=400),
    2: Level(nodes=400, depth=1, blunder_rate=0.49, noise_amplitude=210),
    3: Level(nodes=700, depth=2, blunder_rate=0.38, noise_amplitude=130),
    4: Level(nodes=1_400, depth=3, blunder_rate=0.305, noise_amplitude=90),
    5: Level(nodes=2_000, depth=4, blunder_rate=0.18, noise_amplitude=40),
    6: Level(nodes=5_000, depth=5, blunder_rate=0.08, noise_amplitude=20),
    7: Level(nodes=10_000, depth=MAX_DEPTH, blunder_rate=0.02, noise_amplitude=10),
    8: Level(nodes=24_000, depth=MAX_DEPTH, blunder_rate=0.0, noise_amplitude=10),
    **{
        number: Level(nodes=nodes, depth=MAX_DEPTH, blunder_rate=0.0, noise_amplitude=10)
        for number, nodes in enumerate(COMMON_PACE.budgets, MAX_SHORT_LEVEL + 1)
    },
}
"""The levels of a game without numbers of its own: ``strength_of`` has those of each game."""

NODES_AND_RATES: Final[Mapping[str, Sequence[tuple[int, float]]]] = {
    "fourplay": (
        *((400, 0.955), (400, 0.905), (600, 0.845), (1_000, 0.77)),
        *((1_400, 0.70), (2_400, 0.46), (6_000, 0.40), (24_000, 0.0)),
    ),
    "tower-game": (
        *((400, 0.515), (400, 0.41), (800, 0.39), (1_400, 0.365)),
        *((2_600, 0.29), (4_800, 0.19), (9_000, 0.085), (16_000, 0.0)),
    ),
}
"""Node budget and blunder rate of the levels up to 8 in games where those of LEVELS would not lie evenly apart.

In Fourplay the others make up for much of what one of four overlooks; in The Tower Game nodes bring the most.
"""

ENGINE_VERSION: Final = 9
"""The version of the search. Raise it with every change that may alter a choice: stored choices must be repeatable."""

DRAWS_VERSION: Final = 4
"""The engine version since which the draws of a seed are the same: what a later one leaves alone chooses as before."""

PROOF_SHARE: Final = 16
"""The divisor of the nodes with which an opponent that thinks for long first looks for a proof of a win."""

MAX_PROOF_NODES: Final = 500_000
"""Nodes of that search: its table holds too few positions for more."""

MAX_UNLISTED_MOVES: Final = 32
"""Moves of the kinds that a game never lists which are considered beside all others."""

DRAW_THRESHOLD: Final = -150
"""The value at and below which an opponent accepts a draw: one and a half of the smallest piece behind."""


def strength_of(game_id: str, level: int) -> Level:
    """Return how strong an opponent of ``level`` is in a game; raises KeyError for an unknown level."""
    strength = LEVELS[level]
    if thinks_long(level):
        return strength._replace(nodes=long_budget(game_id, level))
    if game_id not in NODES_AND_RATES:
        return strength
    nodes, blunder_rate = NODES_AND_RATES[game_id][level - 1]
    return strength._replace(nodes=nodes, blunder_rate=blunder_rate)


def node_budget(game_id: str, level: int) -> int:
    """Return how many nodes an opponent of ``level`` may visit for a move; raises KeyError for an unknown level."""
    return strength_of(game_id, level).nodes


def choose(
    game: Game[P, M],
    position: P,
    history: Sequence[P],
    level: int,
    seed: int,
    nodes: int | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Choice[M]:
    """Return the move of an opponent of ``level`` (1 to 12) for the seat to move.

    ``history`` is the earlier positions of the game, oldest first. The same arguments give the same choice on every
    machine; another ``seed`` may give another of several good moves. At most ``nodes`` are visited, None for those of
    the level. ``on_progress`` is called with the nodes visited so far, every PROGRESS_NODES of them; an exception in it
    ends the search. Raises GameOver when there is no move, KeyError for an unknown level, ValueError for more nodes
    than the level has.
    """
    strength = strength_of(game.id, level)
    budget = _budget(game.id, level, nodes)
    moves, unlisted = root_moves_of(game, position)
    if not moves:
        raise GameOver("the game is over: there is no move to choose")
    seat = game.to_move(position)
    if len(moves) == 1:
        return Choice(moves[0], clamp_evaluation(game.evaluate(position, seat)), 0, 0)
    fraction = _fractions(seed, len(history))
    seen = _seen(moves, strength, fraction)
    root_moves = [RootMove(move, int(fraction() * (strength.noise_amplitude + 1)), move in unlisted) for move in seen]
    spent = 0
    if thinks_long(level) and game.seats_at(position) == 2:
        spent = min(budget // PROOF_SHARE, MAX_PROOF_NODES)
        proof = prove(game, position, history, spent, on_progress)
        if proof is not None:
            plies = len(proof.line)
            return Choice(proof.line[0], WIN - plies, plies, proof.nodes)

    def report(nodes: int) -> None:
        if on_progress is not None:
            on_progress(spent + nodes)

    search = Search(game, seat, game.seats_at(position), history, budget - spent, report)
    choice = search.best(position, root_moves, strength.depth)
    return choice._replace(nodes=spent + choice.nodes)


def moves_seen(game: Game[P, M], position: P, plies: int, level: int, seed: int) -> list[M]:
    """Return the moves that an opponent of ``level`` does not overlook in a position after ``plies`` plies.

    ``seed`` is that of the ply, as for ``choose``. Raises KeyError for an unknown level.
    """
    moves, _ = root_moves_of(game, position)
    return _seen(moves, strength_of(game.id, level), _fractions(seed, plies)) if len(moves) > 1 else moves


def _fractions(seed: int, plies: int) -> Callable[[], float]:
    # Random guarantees the same sequence in later versions of Python only for the fractions.
    return Random(f"{DRAWS_VERSION}/{seed}/{plies}").random  # noqa: S311


def _seen(moves: list[M], strength: Level, fraction: Callable[[], float]) -> list[M]:
    """Return the moves that are not overlooked; one is always seen."""
    return [move for move in moves if fraction() >= strength.blunder_rate] or [moves[int(fraction() * len(moves))]]


def seed_for(match_seed: str, ply: int) -> int:
    """Return the seed of the search for a ply: 48 bits of the SHA-256 of the match's seed, "/" and the ply in decimal.

    It is public once the move is made, like the digest of the event that has the match's seed. The match's seed must
    therefore have far more bits than can be guessed by trial.
    """
    return int.from_bytes(sha256(f"{match_seed}/{ply}".encode()).digest()[:6], "big")


def accepts_draw(
    game: Game[P, M], position: P, history: Sequence[P], level: int, seat: int, nodes: int | None = None
) -> bool:
    """Return whether an opponent of ``level`` on ``seat`` accepts a draw: its search finds it clearly worse off.

    It may be the turn of any seat. An opponent accepts no draw of an ended game. ``nodes`` and errors as in ``choose``.
    """
    strength, budget = LEVELS[level], _budget(game.id, level, nodes)
    moves, unlisted = root_moves_of(game, position)
    if not moves:
        return False
    search = Search(game, seat, game.seats_at(position), history, budget)
    root_moves = [RootMove(move, 0, move in unlisted) for move in moves]
    return search.best(position, root_moves, strength.depth).value <= DRAW_THRESHOLD


def _budget(game_id: str, level: int, nodes: int | None) -> int:
    """Return the nodes that a search of ``level`` may visit, ``nodes`` unless that is None or too many."""
    most = node_budget(game_id, level)
    budget = most if nodes is None else nodes
    if not 1 <= budget <= most:
        raise ValueError(f"an opponent of level {level} visits 1 to {most} nodes, not {budget}")
    return budget


def root_moves_of(game: Game[P, M], position: P) -> tuple[list[M], Collection[M]]:
    """Return the moves to choose from in the order of the game, and those that are of kinds which it never lists."""
    unlisted = game.unlisted_candidates(position, MAX_UNLISTED_MOVES)
    moves = game.order(position, [*game.legal_moves(position), *unlisted])
    if not moves and (last := game.any_unlisted_move(position)) is not None:
        moves = unlisted = [last]
    return moves, set(unlisted)
