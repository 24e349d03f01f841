"""Matches for the benchmarks: random games, and matches of two people in a store."""

import itertools
import secrets
from random import Random
from typing import Any

from domain.game import AnyGame
from domain.match.commands import CreateMatch, JoinMatch, SubmitMove
from domain.match.state import Seat
from events.matches.matches import Matches
from events.store.contract import Request
from tests.support.timeless import execute

PLAYERS = ("paaaaaaaaaaaaaaaa", "pbbbbbbbbbbbbbbbb")


def random_game(game: AnyGame, setup: str, plies: int = 0) -> list[str]:
    """Return the moves of a random game: the first ``plies`` of one that is long enough, or (0) a complete one."""
    for seed in itertools.count(1):
        chance, position, moves = Random(seed), game.initial(setup), list[str]()
        history: list[Any] = []
        while game.outcome(position, history) is None and (not plies or len(moves) < plies):
            move = chance.choice(list(game.legal_moves(position)))
            moves.append(game.format_move(position, move))
            history.append(position)
            position = game.play(position, move)
        if not plies or len(moves) == plies:
            return moves
    raise AssertionError("unreachable: some game is long enough")


def start_match(matches: Matches, game: str, setup: str, players: tuple[str, str] = PLAYERS) -> str:
    match = f"m{secrets.token_hex(8)}"
    one, two = players
    create = CreateMatch(
        match=match, creator=one, game=game, setup=setup, seats=(Seat.taken(one), Seat.invited(two)), rated=False,
        private=False, seed="1",
    )  # fmt: skip
    execute(matches, match, create, one, Request("create", "create"))
    execute(matches, match, JoinMatch(player=two), two, Request("join", "join"))
    return match


def play_match(matches: Matches, game: str, setup: str, moves: list[str]) -> str:
    """Play a complete match of two people; return its id."""
    match = start_match(matches, game, setup)
    for ply, move in enumerate(moves):
        player = PLAYERS[ply % 2]
        execute(matches, match, SubmitMove(player=player, move=move), player, Request(f"{ply}", move))
    return match
