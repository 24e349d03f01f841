"""The moves of a match as its page lists them."""

from collections.abc import Iterable, Mapping
from itertools import count, groupby
from typing import NamedTuple

from api.representations.matches import spelled_moves
from domain.game import AnyGame
from domain.match.enums import Channel
from domain.match.guards import rules_of
from domain.match.state import MatchState

AUTOMATIC_CHANNELS = (Channel.CONDITIONAL, Channel.FORCED)
"""Channels of moves that the server made for their player."""

MAX_MOVES_IN_RUN = 4
"""If a seat made more moves in a row, such as an army being set up, sentences name only the last one."""


class Played(NamedTuple):
    """A move on record: its ply, its seat, its spelling, and its channel if it was not made by hand."""

    ply: int
    seat: int
    move: str
    channel: str | None


class Run(NamedTuple):
    """Moves that ``seat`` made in a row: their number ``moves``, and those to name."""

    seat: int
    moves: int
    named: list[Played]


def played_moves(state: MatchState) -> list[Played]:
    """Return the moves of a match; those that set up an army in words."""
    game = rules_of(state)
    draft = game.draft(game.initial(state.setup))
    titles = {piece.code: piece.title for piece in draft.pieces} if draft else {}
    channels = (channel if channel in AUTOMATIC_CHANNELS else None for channel in state.play.channels)
    spelled = (_in_words(move, titles, draft.done) if draft else move for move in spelled_moves(state))
    plies = zip(count(1), state.play.history.movers(), spelled, channels, strict=False)
    return [Played(*fields) for fields in plies]


def _in_words(move: str, titles: Mapping[str, str], done: str) -> str:
    """Return a move that places a piece, or completes the army, in words: ``,@b2`` is "Ant on b2"."""
    code, _, square = move.partition("@")
    if move == done:
        return "army complete"
    return f"{titles[code]} on {square}" if square and code in titles else move


def rounds(state: MatchState, game: AnyGame, played: Iterable[Played]) -> list[list[list[Played]]]:
    """Return the moves in rounds: for each seat those of its turn; skipped and eliminated seats leave gaps."""
    seats = len(state.seats)
    listed: list[list[list[Played]]] = []
    last = seats
    for move in played:
        same_turn = move.seat == last and game.is_mid_turn(state.play.position_after(move.ply - 1))
        if move.seat <= last and not same_turn:
            listed.append([[] for _ in range(seats)])
        listed[-1][move.seat].append(move)
        last = move.seat
    return listed


def runs_since(played: list[Played], seat: int) -> list[Run]:
    """Return the moves since ``seat`` last made one by hand: those that its player has not seen."""
    by_hand = (move.ply for move in played if move.seat == seat and move.channel is None)
    runs = []
    for mover, moves in groupby(played[max(by_hand, default=0) :], lambda move: move.seat):
        run = list(moves)
        runs.append(Run(mover, len(run), run if len(run) <= MAX_MOVES_IN_RUN else run[-1:]))
    return runs
