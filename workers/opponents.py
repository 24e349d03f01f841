"""The opponents' answers: the move of an opponent whose turn it is, and its word on a draw offer."""

import hashlib
from typing import NamedTuple

from domain.games import find_ruleset
from domain.match.commands import AcceptDraw, Command, DeclineDraw, SubmitMove
from domain.match.refusals import Refused
from domain.match.state import PLAYING, MatchState
from domain.search import ENGINE, accepts_draw, choose
from events.matches import Executed, Matches, NoSuchMatch
from events.readmodels.summary import draw_answers_owed
from events.store import Request, RequestMismatch, StaleVersion

ATTEMPTS = 5

_ANY = ""
"""The fingerprint of an answer: its key alone says which one it is, whichever engine computed it."""


class Debt(NamedTuple):
    """What an opponent owes a match: its seat, player id and level, and whether it is a draw answer or a move."""

    seat: int
    player: str
    level: int
    draw: bool


def debt_of(state: MatchState) -> Debt | None:
    """Return what an opponent owes the match next, draw answers first, or None when nothing is up to opponents."""
    if state.status != PLAYING:
        return None
    to_move = find_ruleset(state.game, state.ruleset).to_move(state.position)
    answering = draw_answers_owed(state)
    for seat in (*answering, to_move):
        player, _, level = state.seats[seat]
        if player is not None and level is not None:
            return Debt(seat, player, level, draw=seat in answering)
    return None


def answer(matches: Matches, match: str) -> Executed | None:
    """Do the one thing that an opponent owes the match next; return what was written, None when nothing is owed.

    A second opponent that is to move after the first is asked by the event that the first one's move causes.

    Nothing is kept between load and append, so a kill in mid-search costs only the time: whoever gets the task again
    computes the same answer. A task that runs twice makes no second move: the answer is bound to the version that it
    was computed for, and a move also carries its ply as request key, so that the second append finds the first one.
    Raises StoreUnavailable and what ``Matches.load`` raises for a match that cannot be replayed.
    """
    chosen: dict[int, SubmitMove] = {}
    command: Command
    for _ in range(ATTEMPTS):
        try:
            state = matches.load(match).state
        except NoSuchMatch:
            return None
        debt = debt_of(state)
        if debt is None:
            return None
        ply = len(state.moves) + 1
        if debt.draw:
            command, request = _draw_answer(state, debt), Request(f"opponent:draw:{state.version}", _ANY)
        else:
            if ply not in chosen:
                chosen[ply] = _move(state, debt, ply)
            command, request = chosen[ply], Request(f"opponent:{ply}", _ANY)
        try:
            return matches.execute(match, command, debt.player, request, expected_version=state.version)
        except StaleVersion:
            # Something else happened meanwhile, a draw offer perhaps; the position may still be the same.
            continue
        except (Refused, RequestMismatch):
            # Another task has answered already, or the match has ended.
            return None
    # Whatever keeps changing the match causes events, and each of them asks the opponent again.
    return None


def seed_for(match_seed: int, ply: int) -> int:
    """Return the seed of the search for a ply: 48 bits of the SHA-256 of the match's seed and the ply, in decimal."""
    return int.from_bytes(hashlib.sha256(f"{match_seed}/{ply}".encode()).digest()[:6], "big")


def _move(state: MatchState, debt: Debt, ply: int) -> SubmitMove:
    game = find_ruleset(state.game, state.ruleset)
    seed = seed_for(state.seed, ply)
    choice = choose(game, state.position, state.history, debt.level, seed)
    return SubmitMove(
        player=debt.player,
        move=game.format_move(state.position, choice.move),
        level=debt.level,
        seed=seed,
        engine=str(ENGINE),
    )


def _draw_answer(state: MatchState, debt: Debt) -> AcceptDraw | DeclineDraw:
    game = find_ruleset(state.game, state.ruleset)
    if sum(seat.player == debt.player for seat in state.seats) > 1:
        # A player answers once for one seat: an opponent on several cannot agree for all of them.
        return DeclineDraw(debt.player)
    if accepts_draw(game, state.position, state.history, debt.level, debt.seat):
        return AcceptDraw(debt.player)
    return DeclineDraw(debt.player)
