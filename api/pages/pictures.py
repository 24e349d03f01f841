"""The pictures of a match: its board at any ply, in preview of a move or line; caching and policy of all pictures."""

import re
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, NamedTuple
from urllib.parse import quote

from flask import Response, abort, request
from markupsafe import Markup
from marshmallow import ValidationError, fields, validate

from api.access.auth import current_person
from api.access.matches import visible_match
from api.http.bodies import read_json
from api.http.problems import Problem
from api.http.schemas import StrictString, flattened
from api.operations.exploration import MAX_PART_CHARACTERS, MAX_PARTS, PositionRequest, compose, play_line
from api.pages.layout import blueprint
from domain.errors import RulesError
from domain.game import AnyGame
from domain.match.enums import Channel
from domain.match.guards import rules_of
from domain.match.state import MatchState
from domain.scene import Scene
from events.matches.readmodels import Summary
from events.pictures.board import Trace, draw, trace_between
from events.pictures.standalone import Drawing, draw_document, render_png

MAX_TRACES = 16
"""Moves that are marked on one board."""

_SQUARE = re.compile(r"[a-o]{1,2}[0-9]{1,2}")


class TurnedView(NamedTuple):
    """A board turned clockwise by ``quarters`` quarter turns, as ``seat`` sees it (None: a spectator)."""

    quarters: int = 0
    seat: int | None = None


def requested_view(state: MatchState, game: AnyGame, seat: int | None) -> TurnedView:
    """Return the view of ``seat``: turned as the query asks, by default with the home of the seat at the bottom."""
    asked = request.args.get("turned", "")
    if asked in map(str, range(count_turns(state))):
        return TurnedView(int(asked) * _quarters_per_turn(state), seat)
    return TurnedView(0 if seat is None else game.setups[state.setup].turns[seat], seat)


def count_turns(state: MatchState | Summary) -> int:
    """Return the number of orientations of the board: one for each side at which a seat sits."""
    return 2 if len(state.seats) == 2 else 4


def turn_number(state: MatchState | Summary, view: TurnedView) -> int:
    """Return the number of the orientation of ``view`` in queries."""
    return view.quarters // _quarters_per_turn(state)


def _quarters_per_turn(state: MatchState | Summary) -> int:
    return 4 // count_turns(state)


def traces_at(state: MatchState, game: AnyGame, ply: int, seat: int | None) -> list[Trace]:
    """Return the moves to mark after ``ply`` plies: those since ``seat`` last moved by hand, or else that move.

    For a spectator: the last moves of all seats except the next to move.
    """
    return [trace_of(state, game, traced_ply) for traced_ply in traced_plies(state, ply, seat)]


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
    return trace_of_move(game, state.play.position_after(ply), state.play.position_after(ply + 1))


def trace_of_move(game: AnyGame, before: Any, after: Any) -> Trace:
    """Return the trace of the move between two positions."""
    return trace_between(game.to_move(before), game.scene(before), game.scene(after))


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


@blueprint.get("/matches/<match_id>/board.svg")
def board_picture(match_id: str) -> Response:
    """Return the board alone: at a ply, after the move ``try``, or after the parts so far of a composed move.

    It has its own colours. With ``inline``, for the pages of this site, it has the colours of the page, the marks and
    orientation of the viewer, and squares that can be selected.
    For ``try`` (422 if that is illegal) the headers Rookery-Move and Rookery-Spelled carry the move in canonical form
    and as players like to read it, percent-encoded. ``compose`` is the kind of a composed move, each ``part`` one of
    its parts.
    """
    state = visible_match(match_id).state
    game = rules_of(state)
    inline = request.args.get("inline") == "1"
    view = _own_view(state, game) if inline else requested_view(state, game, None)
    board = _requested_board(state, game, requested_ply(state), view)
    colours = colours_of(state, game)
    if inline:
        drawn = draw(board.scene, colours, quarters=view.quarters, traces=board.traces)
        response = Response(drawn, content_type="image/svg+xml", headers={"Cache-Control": REVALIDATED})
    else:
        drawing = draw_document(board.scene, colours, board.title, quarters=view.quarters, traces=board.traces)
        response = svg_response(drawing, REVALIDATED if board.preview else caching(state))
    if board.move is not None:
        response.headers["Rookery-Move"] = quote(board.move)
        response.headers["Rookery-Spelled"] = quote(board.spelled)
    return response


class _Board(NamedTuple):
    """The requested board; a ``preview`` shows a position that has not been played, such as that after ``move``."""

    scene: Scene
    traces: list[Trace]
    title: str
    preview: bool = False
    move: str | None = None
    spelled: str = ""


def _requested_board(state: MatchState, game: AnyGame, ply: int, view: TurnedView) -> _Board:
    """Return the requested board; raises Problem for an illegal move and for a composition that is not possible."""
    tried, kind = request.args.get("try"), request.args.get("compose")
    title = f"{game.title}, a move in preview"
    if kind is not None:
        parts = request.args.getlist("part")[:MAX_PARTS]
        position, scene = state.play.position, compose(state, kind, parts).scene
        trace = trace_between(game.to_move(position), game.scene(position), scene)
        return _Board(scene, [trace], title, True)
    if tried is None:
        return _Board(*scene_at(state, game, ply, view), picture_title(game, ply))
    position = state.play.position_after(ply)
    try:
        move = game.read_move(position, tried, state.setup)
    except RulesError as error:
        raise Problem("illegal-move", str(error)) from error
    name = game.format_move(position, move)
    after = game.play(position, move)
    spelled = game.display_move(position, move)
    return _Board(game.scene(after), [trace_of_move(game, position, after)], title, True, name, spelled)


class _PictureRequest(PositionRequest):
    kind = StrictString(1, MAX_PART_CHARACTERS)
    parts = fields.List(StrictString(1, MAX_PART_CHARACTERS), validate=validate.Length(0, MAX_PARTS))


@blueprint.post("/matches/<match_id>/board.svg")
def line_picture(match_id: str) -> Response:
    """Return the board after a line of moves, with the body and the problems of the API's positions.

    With ``kind`` and ``parts``, the board after these parts of a composed move, which follows the line.
    """
    state = visible_match(match_id).state
    try:
        imagined = _PictureRequest().load(read_json())
    except ValidationError as error:
        raise Problem("invalid-fields", "There is no such line.", flattened(error.messages)) from error
    ply, view = imagined.get("ply", len(state.play.moves)), _own_view(state, rules_of(state))
    line = play_line(state, ply, imagined["line"])
    if kind := imagined.get("kind"):
        before = line.game.scene(line.position)
        scene = compose(state, kind, imagined.get("parts", ()), ply, line.moves).scene
        trace = trace_between(line.game.to_move(line.position), before, scene)
        picture = draw(scene, colours_of(state, line.game), quarters=view.quarters, traces=[trace])
    elif line.moves:
        trace = trace_of_move(line.game, line.before, line.position)
        scene = line.game.scene(line.position)
        picture = draw(scene, colours_of(state, line.game), quarters=view.quarters, traces=[trace])
    else:
        picture = board_at(state, line.game, ply, view)
    return Response(picture, content_type="image/svg+xml", headers={"Cache-Control": "no-store"})


def _own_view(state: MatchState, game: AnyGame) -> TurnedView:
    """Return the viewer's view of the board, turned as the query asks."""
    person = current_person()
    return requested_view(state, game, state.seat_of(person.id) if person else None)


def requested_ply(state: MatchState) -> int:
    """Return the requested ply, by default the last; abort with 404 if the match has not reached it."""
    asked = request.args.get("ply")
    if asked is None:
        return len(state.play.moves)
    if not asked.isascii() or not asked.isdigit() or len(asked) > 6 or int(asked) > len(state.play.moves):
        abort(404, f"This match has moves 0 to {len(state.play.moves)}.")
    return int(asked)


def colours_of(state: MatchState, game: AnyGame) -> tuple[str, ...]:
    """Return the colour class of each seat."""
    return game.setups[state.setup].colours


def board_at(state: MatchState, game: AnyGame, ply: int, view: TurnedView, picture: str = "") -> Markup:
    """Return the board after ``ply`` plies with the moves marked that ``view`` asks for; ``picture`` as in ``draw``."""
    scene, traces = scene_at(state, game, ply, view)
    return draw(scene, colours_of(state, game), quarters=view.quarters, traces=traces, picture=picture)


def scene_at(state: MatchState, game: AnyGame, ply: int, view: TurnedView) -> tuple[Scene, list[Trace]]:
    """Return the board after ``ply`` plies and the moves to mark on it."""
    return game.scene(state.play.position_after(ply)), traces_at(state, game, ply, view.seat)


IMMUTABLE = "public, max-age=31536000, immutable"
REVALIDATED = "private, no-cache"
PUBLIC = "public, no-cache"


def as_of(match: MatchState | Summary) -> str:
    """Return version and instant of a match for the addresses of immutable pictures: a ply may be played again."""
    return f"{match.version}-{match.updated_at}"


def caching(state: MatchState) -> str:
    """Return the Cache-Control of a picture: immutable for a public match if the address contains ``as_of``."""
    if state.private:
        return REVALIDATED
    return IMMUTABLE if request.args.get("at") == as_of(state) else PUBLIC


def picture_title(game: AnyGame, ply: int) -> str:
    """Return the title of a picture of a match."""
    return f"{game.title}, {plies_in_words(ply)}"


def plies_in_words(ply: int) -> str:
    """Return the place of a position in a match: at the start, after 1 move, after 2 moves."""
    return "at the start" if ply == 0 else f"after {ply} move{'' if ply == 1 else 's'}"


def svg_response(drawing: Drawing, cache: str) -> Response:
    """Return ``drawing``, or 304 if the caller has it. The policy allows only its own style sheet."""
    style = b64encode(sha256(drawing.style.encode()).digest()).decode()
    response = _unless_known(drawing, cache, "image/svg+xml", f"'sha256-{style}'")
    if response.status_code == 200:
        response.set_data(drawing.svg)
    return response


def png_response(drawing: Drawing, cache: str) -> Response:
    """Return ``drawing`` as a PNG, or 304 if the caller has it."""
    # Browsers display a PNG in a document of their own, with inline styles.
    response = _unless_known(drawing, cache, "image/png", "'unsafe-inline'")
    if response.status_code == 200:
        response.set_data(render_png(drawing))
    return response


def _unless_known(drawing: Drawing, cache: str, content_type: str, styles: str) -> Response:
    tag = sha256(drawing.svg.encode()).hexdigest()[:16]
    unchanged = request.if_none_match.contains(tag)
    response = Response(status=304 if unchanged else 200, content_type=content_type, headers={"Cache-Control": cache})
    response.set_etag(tag)
    response.headers["Content-Security-Policy"] = (
        f"default-src 'none'; style-src {styles}; frame-ancestors 'none'; sandbox"
    )
    return response
