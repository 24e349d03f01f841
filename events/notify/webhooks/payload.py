"""The payload of webhooks: JSON of one shape for each type, with the names of the API, nothing private. Pure.

A full payload also has the position and the moves of its receiver; one that would be too large is thin.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from domain.match.enums import Status
from domain.match.guards import rules_of
from domain.match.state import MatchState
from domain.match.terms import Terms, in_words
from domain.presentation import ArmyDraft
from events.notify.notice import Notice, NoticeKind
from events.notify.webhooks.answers import ANSWERS
from events.notify.wording import page_of
from events.people.person import Person
from events.runtime.wall_clock import rfc3339
from events.store.contract import VersionTag

MAX_PAYLOAD_BYTES = 20_000

TYPES: Mapping[NoticeKind, str] = {
    NoticeKind.TURN: "match.turn",
    NoticeKind.DEADLINE: "deadline.near",
    NoticeKind.OFFER: "match.offer",
    NoticeKind.CHAT: "match.chat",
    NoticeKind.INVITATION: "challenge.received",
    NoticeKind.STARTED: "match.started",
    NoticeKind.ENDED: "match.ended",
    NoticeKind.CASE: "match.case",
    NoticeKind.RULING: "match.ruling",
    NoticeKind.CONTEST: "contest",
}
TEST_TYPE = "test"
_SECOND_MS = 1000


class WebhookStanding(NamedTuple):
    """How a match stands when a webhook about it is sent; blocked ``people`` have no name."""

    state: MatchState
    tag: VersionTag
    deadline: int | None
    people: Mapping[str, Person]


def notice_payload(notice: Notice, standing: WebhookStanding | None, *, full: bool, page_url: str) -> bytes:
    """Return the body of the webhook about ``notice``; ``standing`` is None for no match, or an unreadable one."""
    told: dict[str, Any] = {"player": notice.player, "summary": notice.summary, "match": notice.match}
    if notice.kind == NoticeKind.CONTEST:
        told["links"] = {"page": f"{page_url.rstrip('/')}{page_of(notice.fact, None)}"}
    if standing is not None:
        told |= _match(notice, standing, page_url.rstrip("/"))
        if full and standing.state.play.position is not None:
            whole = _body(
                TYPES[notice.kind], notice.at, {**told, "form": "full", **_board(notice.player, standing.state)}
            )
            if len(whole) <= MAX_PAYLOAD_BYTES:
                return whole
    return _body(TYPES[notice.kind], notice.at, {**told, "form": "thin"})


def trial_payload(player: str, at: int, page_url: str) -> bytes:
    """Return the body of a webhook that ``player`` has sent as a test."""
    summary = "This is a test: webhooks from here reach you."
    return _body(TEST_TYPE, at, {"player": player, "summary": summary, "links": {"page": page_url.rstrip("/")}})


def _body(type: str, at: int, told: Mapping[str, Any]) -> bytes:
    payload = {"type": type, "timestamp": rfc3339(at), "data": told}
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()


def _match(notice: Notice, standing: WebhookStanding, page_url: str) -> dict[str, Any]:
    state = standing.state
    to_move = _to_move(state)
    api = f"{page_url}/api/v1/matches/{state.match_id}"
    return {
        "game": {"id": state.game, "ruleset": state.ruleset},
        "setup": state.setup,
        "version": standing.tag.version,
        "version_tag": str(standing.tag),
        "status": state.status,
        "rated": state.rated,
        "private": state.private,
        "seat": _seat_of(state, notice.player, to_move),
        "seats": [_seat(state, number, standing.people) for number in range(len(state.seats))],
        "to_move": to_move,
        "ply": state.play.plies,
        "last_move": state.play.moves[-1] if state.play.moves else None,
        "draw_agreed": list(state.offers.draw_agreed),
        "takeback": None if state.offers.takeback is None else {"ply": state.offers.takeback.ply},
        "result": _result(state),
        "deadline": None if standing.deadline is None else rfc3339(standing.deadline),
        "terms": _terms(state.terms),
        "answers": list(ANSWERS.get(notice.kind, ())),
        "links": {
            "page": f"{page_url}/matches/{state.match_id}",
            "match": api,
            "legal_moves": f"{api}/legal-moves",
            "moves": f"{api}/moves",
        },
    }


def _board(player: str, state: MatchState) -> dict[str, Any]:
    game, position = rules_of(state), state.play.position
    to_move = _to_move(state)
    is_turn = to_move is not None and state.seats[to_move].player == player
    draft = game.draft(position) if is_turn else None
    return {
        "position": game.format_position(position),
        "diagram": game.diagram(position),
        "legal_moves": [game.format_move(position, move) for move in game.legal_moves(position)] if is_turn else [],
        "compositions": [composition._asdict() for composition in game.compositions(position)] if is_turn else [],
        "draft": None if draft is None else _draft(draft),
    }


def _to_move(state: MatchState) -> int | None:
    if state.status != Status.PLAYING or state.play.broken is not None:
        return None
    return rules_of(state).to_move(state.play.position)


def _seat_of(state: MatchState, player: str, to_move: int | None) -> int | None:
    if to_move is not None and state.seats[to_move].player == player:
        return to_move
    return state.seat_of(player)


def _seat(state: MatchState, number: int, people: Mapping[str, Person]) -> dict[str, Any]:
    seat = state.seats[number]
    name = "" if state.play.position is None else rules_of(state).setups[state.setup].seat_names[number]
    told: dict[str, Any] = {"seat": number, "name": name, "joined": seat.joined, "player": None}
    if seat.player is not None:
        person = people.get(seat.player)
        kind = "opponent" if seat.level is not None else "erased" if person is None else person.kind
        told["player"] = {"id": seat.player, "name": (person.name or None) if person else None, "kind": kind}
    return told


def _result(state: MatchState) -> dict[str, Any] | None:
    if state.result.scores is None:
        return None if state.result.reason is None else {"scores": None, "reason": state.result.reason}
    return {"scores": list(state.result.scores), "reason": state.result.reason}


def _terms(terms: Terms) -> dict[str, Any]:
    return {
        "control": terms.control,
        "bank": terms.bank // _SECOND_MS,
        "increment": terms.increment // _SECOND_MS,
        "cap": terms.cap // _SECOND_MS,
        "ceiling": None if terms.ceiling is None else terms.ceiling // _SECOND_MS,
        "first_move": terms.first_move // _SECOND_MS,
        "words": list(in_words(terms)),
    }


def _draft(draft: ArmyDraft) -> dict[str, Any]:
    pieces = [
        {"code": piece.code, "title": piece.title, "price": piece.price, "limit": piece.limit, "squares": piece.squares}
        for piece in draft.pieces
    ]
    return {**draft._asdict(), "pieces": pieces}
