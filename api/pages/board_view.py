"""The viewer's orientation of a board, and the moves marked on it: those since the viewer's last move."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from flask import request

from domain.game import AnyGame
from domain.match.enums import Channel
from domain.match.state import MatchState
from events.pictures.board import Trace
from events.readmodels import Summary

MAX_TRACES = 16
"""Moves that are marked on one board."""

_SQUARE = re.compile(r"[a-o]{1,2}[0-9]{1,2}")


class View(NamedTuple):
    """A board turned clockwise by ``quarters`` quarter turns, as ``seat`` sees it (None: a spectator)."""

    quarters: int = 0
    seat: int | None = None


def requested_view(state: MatchState, game: AnyGame, seat: int | None) -> View:
    """Return the view of ``seat``: turned as the query asks, by default with the home of the seat at the bottom."""
    asked = request.args.get("turned", "")
    if asked in map(str, range(count_turns(state))):
        return View(int(asked) * _quarters_per_turn(state), seat)
    return View(0 if seat is None else game.setups[state.setup].turns[seat], seat)


def count_turns(state: MatchState | Summary) -> int:
    """Return the number of orientations of the board: one for each side at which a seat sits."""
    return 2 if len(state.seats) == 2 else 4


def turn_number(state: MatchState | Summary, view: View) -> int:
    """Return the number of the orientation of ``view`` in queries."""
    return view.quarters // _quarters_per_turn(state)


def _quarters_per_turn(state: MatchState | Summary) -> int:
    return 4 // count_turns(state)


def traces_at(state: MatchState, game: AnyGame, ply: int, seat: int | None) -> list[Trace]:
    """Return the moves to mark after ``ply`` plies: those since ``seat`` last moved by hand, or else that move.

    For a spectator: the last moves of all seats except the next to move.
    """
    return [trace_of(state, game, each) for each in traced_plies(state, ply, seat)]


def traced_plies(state: MatchState, ply: int, seat: int | None) -> range:
    """Return, counted from 0, the plies of the moves that ``traces_at`` marks."""
    movers = state.play.history.movers()
    if seat is None:
        first = ply - len(state.seats) + 1
    else:
        own = (number for number in range(ply, 0, -1) if movers[number - 1] == seat and _by_hand(state, number))
        first = min(next(own, 0), ply - 1)
    return range(max(first, ply - MAX_TRACES, 0), ply)


def trace_of(state: MatchState, game: AnyGame, ply: int) -> Trace:
    """Return the trace of the move played after ``ply`` plies."""
    mover = state.play.history.movers()[ply]
    return Trace(mover, squares_of(game, state.play.position_after(ply), state.play.moves[ply]))


def _by_hand(state: MatchState, ply: int) -> bool:
    return state.play.channels[ply - 1] not in (Channel.CONDITIONAL, Channel.FORCED)


def squares_of(game: AnyGame, position: Any, move: str) -> Sequence[str]:
    """Return the squares that ``move`` touches, in order: from the hints of the game, else from its notation."""
    for start, hints in game.hints(position).items():
        for hint in hints:
            if hint.move == move:
                return tuple(square for square in (start, *hint.path) if square)
    return squares_named(move)


def squares_named(text: str) -> Sequence[str]:
    """Return the squares in the notation of a move or of a part of one, in order."""
    return _SQUARE.findall(text)
