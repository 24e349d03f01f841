"""Games and matches that go on for a number of plies, from random moves."""

from collections.abc import Sequence
from random import Random
from typing import Any

from domain.game import AnyGame
from domain.match.enums import Channel
from domain.match.events import Event, MatchCreated, MatchStarted, MoveSubmitted
from domain.match.state import Seat
from domain.match.terms import STANDARD

TRIED = 12


def long_game(game: AnyGame, setup: str, plies: int) -> tuple[list[str], list[int]]:
    """Return the moves of a game that goes on for ``plies``, and the seats that make them."""
    chance, position, moves, seats = Random(plies), game.initial(setup), list[str](), list[int]()
    stood: dict[Any, int] = {}
    while len(moves) < plies:
        legal = list(game.legal_moves(position))
        possible = []
        for move in chance.sample(legal, len(legal)):
            after = game.play(position, move)
            if stood.get(game.key(after), 0) < 2 and game.outcome(after, ()) is None:
                # Rather a move that can be undone: others bring the end of every game nearer.
                quiet = _counter(after) > _counter(position)
                possible.append((not quiet, move, after))
                if quiet or len(possible) == TRIED:
                    break
        _, move, after = min(possible, key=lambda each: each[0])
        moves.append(game.format_move(position, move))
        seats.append(game.to_move(position))
        position = after
        stood[game.key(position)] = stood.get(game.key(position), 0) + 1
    return moves, seats


def _counter(position: Any) -> int:
    """Return how many plies nothing has happened that cannot be undone."""
    return next((getattr(position, name) for name in ("halfmove_clock", "pushes") if hasattr(position, name)), 0)


def events_of(game: AnyGame, setup: str, plies: int, players: Sequence[str], now: int) -> list[Event]:
    """Return the events of a running match of ``plies``, one each second until ``now``."""
    moves, seats = long_game(game, setup, plies)
    began = now - 1000 * plies
    created = MatchCreated(
        at=began, creator=players[0], game=game.id, ruleset=game.ruleset, setup=setup,
        seats=tuple(Seat.taken(player) for player in players), rated=False, private=False, seed="1", terms=STANDARD,
    )  # fmt: skip
    played = zip(range(1, plies + 1), moves, seats, strict=True)
    submitted = [
        MoveSubmitted(at=began + 1000 * ply, seat=seat, ply=ply, move=move, channel=Channel.API)
        for ply, move, seat in played
    ]
    return [created, MatchStarted(at=began), *submitted]
