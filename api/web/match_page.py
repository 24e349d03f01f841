"""The page of one match: the board at any ply, its seats, its moves, and what the viewer may do."""

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from flask import Response, abort, render_template, request
from markupsafe import Markup

from api.auth import current_person
from api.problems import Problem, no_such_match
from api.representations import match, spelled, visible
from api.resources.compositions import MOST_PARTS, compose
from api.services import services
from api.web import wording
from api.web.board import colour_names, draw
from api.web.frame import blueprint
from domain.game import Game, RulesError
from domain.games import find_ruleset
from domain.match.decide import ABORT_BEFORE_PLY
from domain.match.state import FINISHED, PLAYING, MatchState
from events.readmodels import pool_of, rated_result, summarise

WIDE = 1.4
"""A scene that is wider than high by this factor is given the room of the page."""

_SQUARE = re.compile(r"[a-z]{1,2}[0-9]{1,2}")


@blueprint.get("/matches/<match_id>")
def match_page(match_id: str) -> str:
    """Return the page of a match, at the ply that the query asks for (default: as it stands)."""
    state = _visible_match(match_id)
    person = current_person()
    viewer = person.id if person else None
    seat = state.seat_of(viewer) if viewer else None
    game = find_ruleset(state.game, state.ruleset)
    ply = _ply(state)
    turned = _turned(state, seat)
    shown = match(state, ply)
    scene = game.scene(state.position)
    counts = rated_result(summarise(state)) is not None
    seats = _seats(state, shown, game)
    return render_template(
        "match.html",
        match=shown,
        game=game,
        setup=game.setups[state.setup],
        seats=seats,
        seat=seat,
        ply=ply,
        plies=len(state.moves),
        turned=turned,
        board=_board(state, game, ply, turned),
        rounds=_rounds(state, game),
        said=_said(state, seats, seat),
        may=_may(state, viewer, seat),
        headline=wording.headline(state.scores, [entry["name"] for entry in seats]) if state.scores else None,
        counts=counts,
        unrated_yet=counts and not any(entry["change"] for entry in seats),
        wide=scene.width > WIDE * scene.height,
    )


@blueprint.get("/matches/<match_id>/board.svg")
def board_picture(match_id: str) -> Response:
    """Return the board alone: at a ply, after the move ``try`` or after the parts so far of a move put together.

    For ``try`` (422 when that is illegal) the header Rookery-Move carries the canonical form of the move,
    percent-encoded. ``compose`` is the kind of a move put together, each ``part`` one of its parts.
    """
    state = _visible_match(match_id)
    game = find_ruleset(state.game, state.ruleset)
    ply = _ply(state)
    turned = _turned(state, None)
    tried, kind = request.args.get("try"), request.args.get("compose")
    headers = {"Cache-Control": "private, no-cache"}
    marked: Sequence[str]
    if kind is not None:
        parts = request.args.getlist("part")[:MOST_PARTS]
        marked = _SQUARE.findall(parts[-1]) if parts else ()
        picture = draw(compose(state, kind, parts).scene, _colours(state, game), turned=turned, marked=marked)
    elif tried is not None:
        position = state.position_after(ply)
        try:
            move = game.read_move(position, tried, state.setup)
        except RulesError as error:
            raise Problem("illegal-move", str(error)) from error
        canonical = game.format_move(position, move)
        headers["Rookery-Move"] = quote(canonical)
        marked = squares_of(game, position, canonical)
        picture = draw(game.scene(game.play(position, move)), _colours(state, game), turned=turned, marked=marked)
    else:
        picture = _board(state, game, ply, turned)
    return Response(picture, content_type="image/svg+xml", headers=headers)


def squares_of(game: Game[Any, Any], position: Any, move: str) -> Sequence[str]:
    """Return the squares that ``move`` touches, in order: as the game hints at it, else as its string names them."""
    for start, hints in game.hints(position).items():
        for hint in hints:
            if hint.move == move:
                return tuple(square for square in (start, *hint.path) if square)
    return _SQUARE.findall(move)


def _visible_match(match_id: str) -> MatchState:
    state = services().matches.load(match_id).state
    if not visible(state, current_person()):
        raise no_such_match()
    return state


def _ply(state: MatchState) -> int:
    asked = request.args.get("ply")
    if asked is None:
        return len(state.moves)
    if not asked.isascii() or not asked.isdigit() or len(asked) > 6 or int(asked) > len(state.moves):
        abort(404, f"This match has plies 0 to {len(state.moves)}.")
    return int(asked)


def _turned(state: MatchState, seat: int | None) -> bool:
    """Tell whether the board is seen from the other side: as asked, else so that the second of two sits near."""
    asked = request.args.get("turned")
    return asked == "1" if asked in ("0", "1") else seat == 1 and len(state.seats) == 2


def _colours(state: MatchState, game: Game[Any, Any]) -> tuple[str, ...]:
    return colour_names(game.setups[state.setup].seat_names)


def _board(state: MatchState, game: Game[Any, Any], ply: int, turned: bool) -> Markup:
    marked: Sequence[str] = ()
    if ply > 0:
        marked = squares_of(game, state.position_after(ply - 1), state.moves[ply - 1])
    return draw(game.scene(state.position_after(ply)), _colours(state, game), turned=turned, marked=marked)


def _seats(state: MatchState, shown: dict[str, Any], game: Game[Any, Any]) -> list[dict[str, Any]]:
    """Return the seats of the API's match with colour, rating in the pool of the match, score and rating change."""
    pool = pool_of(state.game, len(state.seats))
    readmodels = services().readmodels
    changes = readmodels.rating_change(state.match) if state.status == FINISHED and state.rated else {}
    colours = _colours(state, game)
    seats = []
    for entry in shown["seats"]:
        player = entry["player"]
        ratings = readmodels.ratings(player["id"]) if player else ()
        seats.append(
            {
                **entry,
                "colour": colours[entry["seat"]],
                "rating": next((rating for rating in ratings if rating.pool == pool), None),
                "score": None if state.scores is None else wording.score_words(state.scores[entry["seat"]]),
                "change": changes.get(player["id"]) if player else None,
                "to_move": shown["to_move"] == entry["seat"],
                "agrees": entry["seat"] in state.draw_agreed,
            }
        )
    return seats


def _rounds(state: MatchState, game: Game[Any, Any]) -> list[list[tuple[int, str] | None]]:
    """Return the moves in rounds, one column per seat: (ply, move), None where a seat did not move.

    A round ends where the turn does not go on to a later seat; so skipped and eliminated seats leave gaps.
    """
    rounds: list[list[tuple[int, str] | None]] = []
    last = len(state.seats)
    for ply, (move, position) in enumerate(zip(spelled(state), state.history, strict=True), 1):
        seat = game.to_move(position)
        if seat <= last:
            rounds.append([None] * len(state.seats))
        rounds[-1][seat] = (ply, move)
        last = seat
    return rounds


def _said(state: MatchState, seats: list[dict[str, Any]], seat: int | None) -> str:
    """Return in one sentence what the match waits for."""
    if state.status == PLAYING:
        mover = next((entry for entry in seats if entry["to_move"]), seats[0])
        if mover["seat"] == seat:
            return f"Your move: you play {mover['name']}."
        if mover["player"]["kind"] == "opponent":
            return f"{mover['player']['name']} ({mover['name']}) is thinking. It answers by itself."
        return f"Waiting for {mover['player']['name']} ({mover['name']}) to move."
    if state.ended:
        return ""
    waiting = [entry for entry in seats if entry["state"] != "taken"]
    if seat is not None and not state.seats[seat].joined:
        return f"You are invited to play {seats[seat]['name']}."
    names = " and ".join(
        entry["player"]["name"] if entry["player"] else f"somebody to play {entry['name']}" for entry in waiting
    )
    return f"Waiting for {names} to join."


def _may(state: MatchState, viewer: str | None, seat: int | None) -> dict[str, Any]:
    """Return what the viewer can do beside moving. The server decides again when it is done."""
    seated = seat is not None and state.seats[seat].joined
    playing = state.status == PLAYING
    in_game = playing and seated and seat not in find_ruleset(state.game, state.ruleset).eliminated(state.position)
    open_match = not playing and not state.ended
    early = not state.ended and len(state.moves) < ABORT_BEFORE_PLY
    offered = bool(state.draw_agreed)
    agreed = seat in state.draw_agreed
    return {
        "move": in_game,
        "resign": in_game and not (early and len(state.moves) == 0),
        "abort": early and (seated or viewer == state.creator),
        "offer_draw": in_game and not offered,
        "answer_draw": in_game and offered and not agreed,
        "accept": open_match and seat is not None and not seated,
        "join": [
            number
            for number, entry in enumerate(state.seats)
            if open_match and seat is None and entry.player is None and viewer
        ],
        "sign_in": open_match and viewer is None,
    }
