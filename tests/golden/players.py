"""Those who play golden matches: each brings about what the others seldom do. Everything follows from the seed."""

import random
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from domain.game import AnyGame, Outcome
from domain.search import choose

HUNTER = 3
"""The level of the opponent that hunts those who play at random."""
OPENING = 16
"""Plies after which those begin to go to and fro who return."""


class Line(NamedTuple):
    """The moves of a game as text, and its outcome; None when it was broken off."""

    moves: tuple[str, ...]
    outcome: Outcome | None


class Place(NamedTuple):
    """What a player sees: the position with its legal moves, the positions before it and the moves made so far."""

    game: AnyGame
    position: Any
    history: Sequence[Any]
    legal: Sequence[Any]
    moves: Sequence[str]
    seed: int


def at_random(place: Place, chance: random.Random) -> Any:
    return chance.choice(place.legal)


def _captures(place: Place) -> Sequence[Any]:
    game = place.game
    return place.legal if game.is_forced(place.position) else list(game.noisy_moves(place.position))


def capturing(place: Place, chance: random.Random) -> Any:
    """Return a capture if there is one: boards grow empty soon."""
    return chance.choice(_captures(place) or place.legal)


def peaceful(place: Place, chance: random.Random) -> Any:
    """Return a move that captures nothing, if there is one: games end for want of progress."""
    captures = set(_captures(place))
    return chance.choice([move for move in place.legal if move not in captures] or place.legal)


def returning(place: Place, chance: random.Random) -> Any:
    """Return to where the last move came from, if possible: positions repeat."""
    seats = place.game.seats_at(place.position)
    if len(place.moves) > OPENING:
        back = "-".join(reversed(place.moves[-seats].split("-")))
        for move in place.legal:
            if place.game.format_move(place.position, move) == back:
                return move
    return peaceful(place, chance)


def hunted(place: Place, chance: random.Random) -> Any:
    """Return an opponent's move for the first seat and any capture for the others: kings are caught early."""
    if place.game.to_move(place.position) == 0:
        return choose(place.game, place.position, place.history, HUNTER, place.seed).move
    return capturing(place, chance)


def thinking(place: Place, chance: random.Random) -> Any:
    """Return the move of an opponent, of level 1 and 2 by turns."""
    return choose(place.game, place.position, place.history, 1 + len(place.moves) % 2, place.seed).move


PLAYERS: dict[str, tuple[Callable[[Place, random.Random], Any], int, int]] = {
    "at random": (at_random, 30, 450), "capturing": (capturing, 30, 450), "peaceful": (peaceful, 8, 450),
    "returning": (returning, 12, 450), "hunted": (hunted, 3, 200), "thinking": (thinking, 5, 200),
}  # fmt: skip
"""By what they do; how many games of each setup they play, and after how many plies these are broken off."""


def play(game: AnyGame, setup: str, name: str, seed: int) -> Line:
    """Return the game that the players ``name`` play with ``seed``."""
    player, _, longest = PLAYERS[name]
    chance = random.Random(f"{setup}/{name}/{seed}")
    position, history, moves = game.initial(setup), list[Any](), list[str]()
    while (outcome := game.outcome(position, history)) is None and len(moves) < longest:
        legal = list(game.legal_moves(position))
        rare = game.any_unlisted_move(position) if not legal or chance.random() < 0.1 else None
        move = rare if rare is not None else player(Place(game, position, history, legal, moves, seed), chance)
        moves.append(game.format_move(position, move))
        history.append(position)
        position = game.play(position, move)
    return Line(tuple(moves), outcome)
