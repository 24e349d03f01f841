"""The boards of a match ply by ply, as differences: what a page needs to step through the moves without asking."""

import json
from collections.abc import Container
from functools import cache

from flask import Response, request
from markupsafe import Markup

from api.access.auth import current_person
from api.access.matches import visible_match
from api.http.answers import json_response
from api.http.problems import Problem
from api.pages.board_view import View, requested_view, trace_of, traced_plies
from api.pages.layout import blueprint
from api.pages.pictures import colours_of
from domain.game import AnyGame
from domain.match.guards import rules_of
from domain.match.state import MatchState
from events.pictures.board import Trace, face_id
from events.pictures.steps import Board, Steps, board_of, steps_between

MAX_PLIES = 30
"""Steps in one answer: drawing them is work."""

NEARBY_PLIES = 2
"""Steps before and after the ply that a page shows, which the page brings along."""

KEPT = "private, max-age=3600"
NOT_KEPT = "private, no-cache"


@blueprint.get("/matches/<match_id>/plies")
def plies(match_id: str) -> Response:
    """Return the steps from the board after ``from`` plies to the board after ``to``, as the viewer sees the match.

    The query has ``turned`` as the page of the match does, and ``version``, the version tag that the caller knows: of
    the same version the answer stays true, so that the browser may keep it. Raises the problem invalid-fields.
    """
    loaded = visible_match(match_id)
    state, tag = loaded.state, str(loaded.head.tag)
    game = rules_of(state)
    last = _asked("to", len(state.play.moves), len(state.play.moves))
    first = _asked("from", max(0, last - MAX_PLIES), last)
    if last - first > MAX_PLIES:
        raise _refusal("from", f"at most {MAX_PLIES} plies are told at once")
    person = current_person()
    view = requested_view(state, game, state.seat_of(person.id) if person else None)
    steps = steps_of(state, game, view, first, last)
    kept = request.args.get("version") == tag
    return json_response({"version_tag": tag, **steps}, headers={"Cache-Control": KEPT if kept else NOT_KEPT})


def steps_of(state: MatchState, game: AnyGame, view: View, first: int, last: int, drawn: Container[str] = ()) -> Steps:
    """Return the steps from the board after ``first`` plies to that after ``last``; ``drawn`` as in steps_between."""
    colours = colours_of(state, game)

    @cache
    def trace(ply: int) -> Trace:
        return trace_of(state, game, ply)

    def board(ply: int) -> Board:
        traces = [trace(each) for each in traced_plies(state, ply, view.seat)]
        return board_of(game.scene(state.play.position_after(ply)), colours, quarters=view.quarters, traces=traces)

    return steps_between(map(board, range(first, last + 1)), colours, first, drawn)


def steps_nearby(state: MatchState, game: AnyGame, view: View, ply: int) -> Markup:
    """Return as JSON, for an element of a page, the steps near the board after ``ply`` plies, which the page shows."""
    columns, colours = game.scene(state.play.position_after(ply)).columns, colours_of(state, game)
    drawn = {face_id(piece, colours) for pieces in columns.values() for piece in pieces}
    first, last = max(0, ply - NEARBY_PLIES), min(len(state.play.moves), ply + NEARBY_PLIES)
    text = json.dumps(steps_of(state, game, view, first, last, drawn), ensure_ascii=False, separators=(",", ":"))
    # In a script element only these can end it or begin a comment; what stays as on the board is compressed well.
    return Markup(text.replace("</", "<\\/").replace("<!", "\\u003c!"))  # noqa: S704 - escaped as a script needs it


def _asked(name: str, default: int, most: int) -> int:
    asked = request.args.get(name)
    if asked is None:
        return default
    if not asked.isascii() or not asked.isdigit() or len(asked) > 6 or int(asked) > most:
        raise _refusal(name, f"must be a ply from 0 to {most}")
    return int(asked)


def _refusal(name: str, reason: str) -> Problem:
    return Problem("invalid-fields", f"{name}: {reason}.", {name: [reason]})
