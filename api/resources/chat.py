"""Talking beside a match. Its players can always read it; everyone else can when the match is over.

Others join in only when all people who played the match want them to.
"""

from typing import Any

from flask import Response
from marshmallow import fields, validate

from api.access.auth import current_person, require_person, signed_in
from api.access.limits import spend
from api.access.matches import visible_match
from api.http import representations as show
from api.http.conditions import ANSWER_HEADERS, KEY_HEADER, fingerprint, request_key
from api.http.messages import LARGEST_NUMBER
from api.http.openapi import PREFIX, Blueprint, json_response
from api.http.problems import Problem
from api.http.schemas import Empty, PlayerShown, QueryNumber, Shown, Strict, next_page, page_limit, words
from api.operations.chat import _players, is_open, refuse_deaf, speaks
from api.services import services
from domain.match.refusals import Refused
from domain.match.state import MatchState
from events.people.person import Person
from events.private.chats import ChatFullError, Message
from events.runtime.wall_clock import rfc3339
from events.store.contract import Request

blueprint = Blueprint("chat", __name__, url_prefix=PREFIX, description="Talking beside a match")

LONGEST_MESSAGE = 2000


class Said(Strict):
    text = words(LONGEST_MESSAGE)


class MessageShown(Shown):
    id = fields.Integer(metadata={"description": "1, 2, 3 and so on in each chat"})
    at = fields.DateTime()
    author = fields.Nested(PlayerShown)
    seat = fields.Integer(allow_none=True, metadata={"description": "The author's seat; null: a spectator"})
    text = fields.String(metadata={"description": "Empty when it was hidden, or its author has been erased"})
    hidden = fields.Boolean(metadata={"description": "An arbiter has hidden the message"})


class ChatShown(Shown):
    items = fields.List(fields.Nested(MessageShown))
    writable = fields.Boolean(metadata={"description": "Whether you may say something now"})
    open = fields.Boolean(metadata={"description": "Whether all who played want others to join in when it is over"})
    next = next_page()


class ChatQuery(Strict):
    after = QueryNumber(load_default=0, validate=validate.Range(0, LARGEST_NUMBER))
    limit = page_limit(200, 500)


@blueprint.route("/matches/<match>/chat")
@blueprint.documents(200, ChatShown, problems=[404, 422])
@blueprint.arguments(ChatQuery, location="query")
def show_chat(query: dict[str, int], match: str) -> Response:
    """What was said, oldest first; the live stream announces messages as events named chat, without their text"""
    state, person = visible_match(match).state, current_person()
    refuse_deaf(state, person)
    found = services().chats.read(match, query["after"], query["limit"] + 1)
    page = found[: query["limit"]]
    following = page[-1].number if len(found) > len(page) else None
    answer = {
        "items": _shown(_heard(match, page, person), state),
        "writable": speaks(state, person),
        "open": is_open(state),
        "next": following,
    }
    return json_response(answer)


@blueprint.route("/matches/<match>/chat", methods=["POST"])
@blueprint.documents(
    201,
    MessageShown,
    signed_in=True,
    problems=[403, 404, 409, 415, 422],
    headers=ANSWER_HEADERS,
    parameters=[KEY_HEADER],
)
@signed_in
@blueprint.arguments(Said)
def say(arguments: dict[str, str], match: str) -> Response:
    """Say something"""
    state, person = visible_match(match).state, require_person()
    _refuse_mute(state, person)
    spend("words", person.id)
    spend("chat_bytes", person.id, cost=len(arguments["text"].encode()))
    key = request_key()
    asked = Request(f"{person.id}:{key}", fingerprint(key))
    try:
        message = services().chats.say(match, person.id, arguments["text"], asked)
    except ChatFullError as error:
        raise Problem("chat-full", "So much has been said here that there is no room for more.") from error
    return json_response(_shown([message], state)[0], 201)


@blueprint.route("/matches/<match>/chat/openness", methods=["PUT"])
@blueprint.documents(204, signed_in=True, problems=[403, 404, 415, 422])
@signed_in
@blueprint.arguments(Empty)
def open_chat(_: dict[str, Any], match: str) -> Response:
    """Want others to join in when the match is over; they may when all people who played it want that"""
    return _want_others(match, True)


@blueprint.route("/matches/<match>/chat/openness", methods=["DELETE"])
@blueprint.documents(204, signed_in=True, problems=[403, 404])
@signed_in
def close_chat(match: str) -> Response:
    """Do not want others to join in"""
    return _want_others(match, False)


def _refuse_mute(state: MatchState, person: Person) -> None:
    refuse_deaf(state, person)
    if not speaks(state, person):
        raise Problem("muted", "Only who has played this match can talk here, unless all of them want others to.")
    others = _players(state) - {person.id}
    if others and services().blocks.blocking(others, person.id) == others:
        raise Problem("blocked", "Who plays this match does not want to hear from you.")


def _want_others(match: str, wanted: bool) -> Response:
    state, person = visible_match(match).state, require_person()
    if person.id not in _players(state):
        raise Refused("not-your-seat", "only who plays the match decides who joins in")
    services().chats.want_others(match, person.id, wanted)
    return Response(status=204)


def _heard(match: str, messages: list[Message], person: Person | None) -> list[Message]:
    """Return what ``person`` is shown of ``messages``: nothing of whom they block or mute, nor what they reported."""
    if person is not None:
        silenced = services().blocks.of(person.id)
        reported = {each.number for each in services().reports.of(match) if each.reporter == person.id}
        messages = [each for each in messages if each.author not in silenced and each.number not in reported]
    return messages


def _shown(messages: list[Message], state: MatchState) -> list[dict[str, Any]]:
    persons = services().people.persons(message.author for message in messages)
    hidden = services().reports.hidden(state.match) if messages else set()
    return [
        {
            "id": message.number,
            "at": rfc3339(message.at),
            "author": show.player(message.author, persons),
            "seat": state.seat_of(message.author),
            "text": "" if message.number in hidden else message.text,
            "hidden": message.number in hidden,
        }
        for message in messages
    ]
