"""The page of one match: the board at any ply, its seats, its moves, and what the viewer may do."""

from typing import Any

from flask import redirect, render_template, url_for
from msgspec.structs import asdict
from werkzeug.wrappers import Response

from api.access.auth import current_person
from api.access.chats import may_read_chat, may_write_chat
from api.access.matches import visible_match
from api.operations.awaiting import AwaitedMatches
from api.pages import wording
from api.pages.announcements import is_turn_of
from api.pages.available_actions import available_actions
from api.pages.board_steps import steps_nearby
from api.pages.board_view import count_turns, requested_view, turn_number
from api.pages.clocks import describe_deadline, seat_clocks, upcoming_vacations
from api.pages.consequences import find_consequences
from api.pages.draft import draft_panel
from api.pages.layout import blueprint
from api.pages.line_tree import describe_tree
from api.pages.match_news import describe_news
from api.pages.picture_responses import plies_in_words
from api.pages.pictures import board_at, colours_of, requested_ply
from api.pages.played_moves import played_moves, rounds, runs_since
from api.pages.position_facts import describe_position, tabulate_facts
from api.pages.shared_pictures import shared_match
from api.representations.clocks import SECOND_MS
from api.representations.matches import Match, MatchSummary, people_in, represent_match, represent_summary
from api.services import services
from domain.game import AnyGame
from domain.games import find_ruleset
from domain.match.decisions.timekeeping import MAX_FORGIVING_MS
from domain.match.enums import Status
from domain.match.lines import ConditionalMoves, standing
from domain.match.state import MatchState
from domain.match.terms import DAY, HOUR, duration, in_words
from events.readmodels import Summary, pool_of, rated_result, summarise
from events.service.matches import Loaded

GIFTS = {
    time // SECOND_MS: duration(time) for time in (6 * HOUR, 12 * HOUR, *(days * DAY for days in (1, 2, 3, 7, 14, 30)))
}
"""Times to give to another seat: seconds, and how they are called."""

MIN_WIDE_RATIO = 1.4
"""A scene that is wider than high by this factor is given the room of the page."""


@blueprint.get("/matches/<match_id>")
def match_page(match_id: str) -> str | Response:
    """Return the page of a match, at the ply that the query asks for (default: as it stands)."""
    loaded = visible_match(match_id)
    state, head = loaded.state, loaded.head
    if state.play.position is None:  # its ruleset is not installed: there is no board, but whatever needs none
        return redirect(url_for("web.case_page", match_id=match_id))
    person = current_person()
    viewer = person.id if person else None
    seat = state.seat_of(viewer) if viewer else None
    game = find_ruleset(state.game, state.ruleset)
    ply = requested_ply(state)
    view = requested_view(state, game, seat)
    shown = represent_match(state, head, ply)
    scene = game.scene(state.play.position)
    rated_count = rated_result(summarise(state)) is not None
    now, foreseen = services().now(), services().timekeeper.with_availability(state)
    seats = _seats(foreseen, shown, game, now)
    played = played_moves(state)
    return render_template(
        "match.html",
        match=shown,
        game=game,
        setup=game.setups[state.setup],
        seats=seats,
        seat=seat,
        ply=ply,
        plies=len(state.play.moves),
        place=game.format_position(state.play.position),
        turn=turn_number(state, view),
        turns=count_turns(state),
        board=board_at(state, game, ply, view),
        steps=steps_nearby(state, game, view, ply),
        rounds=rounds(state, game, played),
        yours=is_turn_of(state, seat),
        said=_describe_turn(state, seats, seat),
        **describe_news(loaded, shown, person, [move.move for move in played]),
        circumstances=describe_position(state, [entry["name"] for entry in seats], seat),
        counts_shown=tabulate_facts(game.facts(state.play.position, state.play.history), len(seats)),
        may=available_actions(state, viewer, seat, now),
        consequences=find_consequences(state, viewer, loaded.orders.get(seat) if seat is not None else None, now),
        since=runs_since(played, seat) if seat is not None and shown.to_move == seat else (),
        gifts=GIFTS,
        following=_next_awaited(viewer, match_id),
        lines=_lines(loaded, seat),
        draft=draft_panel(state, game, seat),
        hears=may_read_chat(state, person),
        speaks=may_write_chat(state, person),
        wants_others=viewer in services().chats.players_open_to_others(match_id)
        if state.ended and seat is not None
        else None,
        headline=wording.headline(state.result.scores, [entry["name"] for entry in seats])
        if state.result.scores
        else None,
        counts=rated_count,
        unrated_yet=rated_count and not any(entry["change"] for entry in seats),
        ahead=describe_deadline(foreseen, now),
        announced=upcoming_vacations(foreseen, now),
        terms=in_words(state.terms) if state.terms else (),
        fallen=state.result.fallen,
        forgivable_until=state.result.fallen.at + MAX_FORGIVING_MS if state.result.fallen else None,
        takeback=_takeback(state),
        losses=services().incidents.losses(match_id),
        now=now,
        shared=shared_match(state, game, ply, [_player_name(entry) for entry in seats], _standing(state, seats)),
        wide=scene.width > MIN_WIDE_RATIO * scene.height,
        has_levels=scene.has_levels,
    )


def _player_name(seat: dict[str, Any]) -> str:
    return str(seat["player"].name) if seat["player"] else "open seat"


def _standing(state: MatchState, seats: list[dict[str, Any]]) -> str:
    """Return how a match stands, for those who see no more of it than a link."""
    moves = plies_in_words(len(state.play.moves)).capitalize()
    if state.result.scores:
        return f"{wording.headline(state.result.scores, [seat['name'] for seat in seats])}, {moves.lower()}."
    mover = next((seat["name"] for seat in seats if seat["to_move"]), None)
    return f"{moves}, {mover} to move." if mover else f"{moves}."


def _seats(state: MatchState, shown: Match, game: AnyGame, now: int) -> list[dict[str, Any]]:
    """Return the seats of the API's match with clock, colour, rating in the match's pool, score and rating change."""
    pool = pool_of(state.game, len(state.seats))
    readmodels = services().readmodels
    changes = readmodels.rating_change(state.match_id) if state.status == Status.FINISHED and state.rated else {}
    colours = colours_of(state, game)
    clocks = seat_clocks(state, now)
    gone = game.elimination.eliminated(state.play.position)
    seats = []
    for entry in shown.seats:
        player = entry.player
        ratings = readmodels.ratings(player.id) if player else ()
        seats.append(
            {
                **asdict(entry),
                "colour": colours[entry.seat],
                "rating": next((rating for rating in ratings if rating.pool == pool), None),
                "score": None if state.result.scores is None else wording.score_words(state.result.scores[entry.seat]),
                "change": changes.get(player.id) if player else None,
                "to_move": not state.cases.frozen and shown.to_move == entry.seat,
                "clock": clocks[entry.seat],
                "agrees": entry.seat in state.offers.draw_agreed,
                "gone": state.status == Status.PLAYING and entry.seat in gone,
            }
        )
    return seats


def _lines(loaded: Loaded, seat: int | None) -> dict[str, Any] | None:
    """Return what the viewer's seat has laid down; None for who has no seat."""
    if seat is None:
        return None
    orders = loaded.orders.get(seat, ConditionalMoves())
    if orders.lines is None:
        return {"forced": orders.forced, "tree": [], "status": None, "words": ""}
    status, words = standing(loaded.state, seat, orders.lines)
    return {
        "forced": orders.forced,
        "tree": describe_tree(loaded.state, orders.lines),
        "status": status,
        "words": words,
    }


def _next_awaited(viewer: str | None, match_id: str) -> tuple[Summary, MatchSummary] | None:
    """Return the match that awaits the viewer next, beside this one, with its summary in the words of the API."""
    if viewer is None:
        return None
    queue = AwaitedMatches(viewer).page("queue", None, 2).items
    found = next((summary for summary in queue if summary.match != match_id), None)
    return None if found is None else (found, represent_summary(found, people_in([found])))


def _takeback(state: MatchState) -> dict[str, Any] | None:
    if state.offers.takeback is None:
        return None
    count = len(state.play.moves) - state.offers.takeback.ply
    return {"seat": state.offers.takeback.seat, "moves": "the last move" if count == 1 else f"the last {count} moves"}


def _describe_turn(state: MatchState, seats: list[dict[str, Any]], seat: int | None) -> str:
    """Return in one sentence what the match waits for."""
    if not state.ended and (state.cases.frozen or state.play.broken is not None):
        why = "is frozen" if state.cases.frozen else "cannot be replayed"
        return f"The match {why}: it goes on when an arbiter has ruled."
    if state.status == Status.PLAYING:
        mover = next((entry for entry in seats if entry["to_move"]), seats[0])
        if mover["seat"] == seat:
            return f"Your move: you play {mover['name']}."
        if mover["player"].kind == "opponent":
            return f"{mover['player'].name} ({mover['name']}) is thinking. It answers by itself."
        return f"Waiting for {mover['player'].name} ({mover['name']}) to move."
    if state.ended:
        return ""
    waiting = [entry for entry in seats if entry["state"] != "taken"]
    if seat is not None and not state.seats[seat].joined:
        return f"You are invited to play {seats[seat]['name']}."
    names = " and ".join(
        entry["player"].name if entry["player"] else f"somebody to play {entry['name']}" for entry in waiting
    )
    said = f"Waiting for {names} to join."
    if seat is not None:
        return said
    kept = (f"{entry['name']} is kept for {entry['player'].name}." for entry in waiting if entry["player"])
    return " ".join((said, *kept))
