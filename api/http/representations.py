"""How matches, players and events look to callers: plain functions from domain values to JSON values."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from flask import request

from api.access.headers import stream_origin
from api.http import timing
from api.http.ids import rematch_id
from api.http.openapi import PREFIX
from api.http.timing import instant
from api.services import services
from domain.games import GAMES, find_ruleset
from domain.match.enums import Status
from domain.match.event_types import SEEDS
from domain.match.state import OPPONENT_PREFIX, MatchState
from domain.search.levels import LEVELS
from events.people.person import Person
from events.readmodels import Summary, summarise
from events.runtime.wall_clock import rfc3339
from events.store.codec import content_shown
from events.store.contract import Head
from events.store.envelope import Envelope


def opponent_level(player: str) -> int | None:
    """Return the level of the opponent with id or name ``player``, None when it is no opponent."""
    number = player.removeprefix(OPPONENT_PREFIX)
    if number == player or not number.isascii() or not number.isdigit() or str(int(number)) != number:
        return None
    return int(number) if int(number) in LEVELS else None


def player(id: str, persons: Mapping[str, Person]) -> dict[str, Any]:
    """Return a player as people see it; ``persons`` holds those who are no opponents."""
    level = opponent_level(id)
    if level is not None:
        return {"id": id, "name": f"Opponent {level}", "kind": "opponent", "level": level}
    person = persons.get(id)
    if person is None:
        return {"id": id, "name": "somebody who left", "kind": "person", "level": None}
    return {"id": id, "name": person.name, "kind": person.kind, "level": None}


def foreseen_deadlines(found: Iterable[Summary]) -> list[Summary]:
    """Return the summaries with their deadlines as free days and vacations that are known to come will have them."""
    listed = list(found)
    waiting = {
        each.match: player
        for each in listed
        if each.status == Status.PLAYING and each.deadline is not None and each.to_move is not None
        for player in [each.seats[each.to_move].player]
        if player is not None
    }
    deadlines = services().timekeeper.expected_deadlines(waiting)
    return [each._replace(deadline=deadlines.get(each.match, each.deadline)) for each in listed]


def people_in(summaries: Iterable[Summary]) -> dict[str, Person]:
    """Return all people who created or sit in the matches, in one round trip."""
    ids: dict[str, None] = {}
    for summary in summaries:
        ids[summary.creator] = None
        ids.update((seat.player, None) for seat in summary.seats if seat.player is not None and seat.level is None)
    return services().people.persons(ids)


def match_summary(summary: Summary, persons: Mapping[str, Person]) -> dict[str, Any]:
    """Return what lists say about a match."""
    game = GAMES.get(summary.game)
    names = game.setups[summary.setup].seat_names if game and summary.setup in game.setups else ()
    return {
        "id": summary.match,
        "version": summary.version,
        "game": {"id": summary.game, "title": game.title if game else summary.game, "ruleset": summary.ruleset},
        "setup": summary.setup,
        "rated": summary.rated,
        "private": summary.private,
        "status": summary.status,
        "creator": player(summary.creator, persons),
        "seats": [
            {
                "seat": number,
                "name": names[number] if number < len(names) else f"Seat {number + 1}",
                "state": "open" if seat.player is None else "taken" if seat.joined else "invited",
                "player": None if seat.player is None else player(seat.player, persons),
            }
            for number, seat in enumerate(summary.seats)
        ],
        "to_move": summary.to_move,
        "ply": summary.ply,
        "draw_agreed": list(summary.draw_agreed),
        "result": None if summary.scores is None else {"scores": list(summary.scores), "reason": summary.reason},
        "annulled": summary.reason == "annulled",
        "created_at": rfc3339(summary.created_at),
        "updated_at": rfc3339(summary.updated_at),
        "deadline": instant(summary.deadline),
        "terms": None if summary.terms is None else timing.terms(summary.terms),
    }


def match(state: MatchState, head: Head, ply: int | None = None, now: int | None = None) -> dict[str, Any]:
    """Return a match at ``head`` with the position after ``ply`` plies (None: as it stands), which it must have.

    Its clocks are shown as they are at ``now``, milliseconds since 1970 UTC (None: the present instant).
    """
    summary = summarise(state)
    position = state.position_after(len(state.moves) if ply is None else ply)
    # A match whose ruleset is not installed has no position; all else of it can still be read.
    game = None if position is None else find_ruleset(state.game, state.ruleset)
    base = stream_origin(services().settings.stream_url, request.host)
    return {
        **match_summary(summary, people_in([summary])),
        "version_tag": str(head.tag),
        "frozen": state.frozen,
        "broken": state.broken,
        "ply": len(state.moves),
        "shown_ply": len(state.moves) if ply is None else ply,
        "position": game.format_position(position) if game else "",
        "diagram": game.diagram(position) if game else "",
        "moves": list(state.moves),
        "spelled": spelled(state),
        "channels": list(state.channels),
        "clock": timing.clock(services().timekeeper.with_availability(state), services().now() if now is None else now),
        "takeback": None if state.takeback is None else asdict(state.takeback),
        "fallen": timing.fallen(state),
        "rematch_of": state.rematch_of,
        "rematch": rematch_of(state),
        "losses": [
            {"found_at": instant(loss.at), "after_version": loss.after}
            for loss in services().incidents.losses(state.match)
        ],
        "stream_url": f"{base}{PREFIX}/matches/{state.match}/stream",
    }


def spelled(state: MatchState) -> list[str]:
    """Return the moves of a match as players of the game like to read them."""
    return list(state.history.display_moves(state.moves)) if state.history else []


def rematch_of(state: MatchState) -> str | None:
    """Return the id of the match that follows this one, None while there is none."""
    if not state.ended:
        return None
    following = rematch_id(state.match)
    return following if services().store.head(following).version else None


def event(envelope: Envelope) -> dict[str, Any]:
    """Return an event as the public sees it, its content in the order of names: the same bytes whenever it is read.

    Its content has the present schema: texts that an older one recorded, and that may have to be erased, are not in it.
    The seed of a match stays inside: with it, who plays an opponent could compute the opponent's moves beforehand.
    """
    hidden = "seed" if envelope.type in SEEDS else None
    return {
        "id": envelope.id,
        "version": envelope.version,
        "type": envelope.type,
        "at": rfc3339(envelope.at),
        "actor": envelope.actor,
        "data": {name: value for name, value in sorted(content_shown(envelope).items()) if name != hidden},
    }
