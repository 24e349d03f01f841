"""The boards of a match ply by ply, as differences, so that a page can step through the moves without requests."""

import json
from collections.abc import Container
from functools import cache

from flask import Response, request
from markupsafe import Markup

from api.access.auth import current_person
from api.access.matches import visible_match
from api.http.answers import json_response
from api.http.problems import Problem
from api.pages.layout import blueprint
from api.pages.pictures import TurnedView, colours_of, requested_view, trace_of, traced_plies
from domain.game import AnyGame
from domain.match.guards import rules_of
from domain.match.state import MatchState
from events.pictures.board import Trace, face_id
from events.pictures.steps import DisplayedBoard, Steps, board_of, steps_between

MAX_PLIES = 30
"""Steps in one answer: each has to be drawn."""

NEARBY_PLIES = 2
"""Steps before and after the ply shown that are embedded in a page."""

CACHED = "private, max-age=3600"
REVALIDATED = "private, no-cache"


@blueprint.get("/matches/<match_id>/plies")
def plies(match_id: str) -> Response:
    """Return the steps from the board after ``from`` plies to that after ``to``, as the viewer sees the match."""
    loaded = visible_match(match_id)
    state, tag = loaded.state, str(loaded.head.tag)
    game = rules_of(state)
    last = _requested("to", len(state.play.moves), len(state.play.moves))
    first = _requested("from", max(0, last - MAX_PLIES), last)
    if last - first > MAX_PLIES:
        raise _refusal("from", f"at most {MAX_PLIES} moves at once")
    person = current_person()
    view = requested_view(state, game, state.seat_of(person.id) if person else None)
    steps = steps_of(state, game, view, first, last)
    caching = CACHED if request.args.get("version") == tag else REVALIDATED
    return json_response({"version_tag": tag, **steps}, headers={"Cache-Control": caching})


def steps_of(
    state: MatchState, game: AnyGame, view: TurnedView, first: int, last: int, drawn: Container[str] = ()
) -> Steps:
    """Return the steps from the board after ``first`` plies to that after ``last``; ``drawn`` as in steps_between."""
    colours = colours_of(state, game)

    @cache
    def trace(ply: int) -> Trace:
        return trace_of(state, game, ply)

    def board(ply: int) -> DisplayedBoard:
        traces = [trace(traced_ply) for traced_ply in traced_plies(state, ply, view.seat)]
        return board_of(game.scene(state.play.position_after(ply)), colours, quarters=view.quarters, traces=traces)

    return steps_between(map(board, range(first, last + 1)), colours, first, drawn)


def steps_nearby(state: MatchState, game: AnyGame, view: TurnedView, ply: int) -> Markup:
    """Return the steps around ``ply``, which the page shows, as JSON to embed in the page."""
    columns, colours = game.scene(state.play.position_after(ply)).columns, colours_of(state, game)
    drawn = {face_id(piece, colours) for pieces in columns.values() for piece in pieces}
    first, last = max(0, ply - NEARBY_PLIES), min(len(state.play.moves), ply + NEARBY_PLIES)
    text = json.dumps(steps_of(state, game, view, first, last, drawn), ensure_ascii=False, separators=(",", ":"))
    # Only these can end a script element or begin a comment. Anything else stays as on the board: it compresses well.
    return Markup(text.replace("</", "<\\/").replace("<!", "\\u003c!"))  # noqa: S704 - escaped for a script element


def _requested(name: str, default: int, most: int) -> int:
    text = request.args.get(name)
    if text is None:
        return default
    if not text.isascii() or not text.isdigit() or len(text) > 6 or int(text) > most:
        raise _refusal(name, f"must be a move from 0 to {most}")
    return int(text)


def _refusal(name: str, reason: str) -> Problem:
    return Problem("invalid-fields", f"{name}: {reason}.", {name: [reason]})
