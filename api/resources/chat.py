"""Talking beside a match. Its players hear each other always, everybody else hears and joins in when it is over."""

from typing import Any

from flask import Response
from marshmallow import fields, validate

from api import representations as show
from api.auth import current_person, require_person, signed_in
from api.limits import spend
from api.openapi import PREFIX, Blueprint, json_response
from api.problems import Problem
from api.resources.commands import ANSWER_HEADERS, KEY_HEADER, fingerprint, request_key
from api.resources.matches import readable
from api.schemas import LARGEST_NUMBER, PlayerShown, QueryNumber, Shown, Strict, Text, pattern
from api.services import services
from domain.match.state import MatchState
from events.chats import ChatFull, Message
from events.clock import rfc3339
from events.people import Person
from events.store import Request

blueprint = Blueprint("chat", __name__, url_prefix=PREFIX, description="Talking beside a match")

LONGEST_MESSAGE = 2000


class Said(Strict):
    text = Text(
        required=True,
        validate=[
            validate.Length(1, LONGEST_MESSAGE, error=f"must have 1 to {LONGEST_MESSAGE} characters"),
            pattern(r"[\s\S]*\S[\s\S]*", "must not be blank"),
        ],
    )


class MessageShown(Shown):
    id = fields.Integer(metadata={"description": "1, 2, 3 and so on in each chat"})
    at = fields.DateTime()
    author = fields.Nested(PlayerShown)
    seat = fields.Integer(allow_none=True, metadata={"description": "The author's seat; null: a spectator"})
    text = fields.String()


class ChatShown(Shown):
    items = fields.List(fields.Nested(MessageShown))
    next = fields.Integer(allow_none=True, metadata={"description": "What to pass as after for the next page"})


class ChatQuery(Strict):
    after = QueryNumber(load_default=0, validate=validate.Range(0, LARGEST_NUMBER))
    limit = QueryNumber(load_default=200, validate=validate.Range(1, 500, error="must be 1 to 500"))


@blueprint.route("/matches/<match>/chat")
@blueprint.documents(200, ChatShown, problems=[404, 422])
@blueprint.arguments(ChatQuery, location="query")
def show_chat(query: dict[str, int], match: str) -> Response:
    """What was said, oldest first; the live stream announces messages as events named chat, without their text"""
    state = readable(match)
    _refuse_muted(state, current_person())
    found = services().chats.read(match, query["after"], query["limit"] + 1)
    page = found[: query["limit"]]
    following = page[-1].number if len(found) > len(page) else None
    return json_response({"items": _shown(page, state), "next": following})


@blueprint.route("/matches/<match>/chat", methods=["POST"])
@blueprint.documents(
    201, MessageShown, signed_in=True, problems=[404, 409, 415, 422], headers=ANSWER_HEADERS, parameters=[KEY_HEADER]
)
@signed_in
@blueprint.arguments(Said)
def say(arguments: dict[str, str], match: str) -> Response:
    """Say something"""
    state, person = readable(match), require_person()
    _refuse_muted(state, person)
    spend("words", person.id)
    spend("chat_bytes", person.id, cost=len(arguments["text"].encode()))
    key = request_key()
    asked = Request(f"{person.id}:{key}", fingerprint(key))
    try:
        message = services().chats.say(match, person.id, arguments["text"], asked)
    except ChatFull as error:
        raise Problem("chat-full", "So much has been said here that there is no room for more.") from error
    return json_response(_shown([message], state)[0], 201)


def hears(state: MatchState, person: Person | None) -> bool:
    """Tell whether ``person``, who may see the match, hears its chat now and may join in when signed in."""
    if state.ended:
        return True
    return person is not None and (person.id == state.creator or state.seat_of(person.id) is not None)


def _refuse_muted(state: MatchState, person: Person | None) -> None:
    if not hears(state, person):
        raise Problem("muted", "The players talk among themselves until the match is over; then everybody hears it.")


def _shown(messages: list[Message], state: MatchState) -> list[dict[str, Any]]:
    persons = services().people.persons(message.author for message in messages)
    return [
        {
            "id": message.number,
            "at": rfc3339(message.at),
            "author": show.player(message.author, persons),
            "seat": state.seat_of(message.author),
            "text": message.text,
        }
        for message in messages
    ]
