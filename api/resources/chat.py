"""Talking beside a match, messages that readers report, and people whom the caller blocks or mutes."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from flask import Blueprint
from msgspec import Meta

from api.access.auth import current_person, require_person, require_role
from api.access.limits import spend
from api.access.matches import is_chat_open, may_write_chat, refuse_chat_reader, refuse_chat_writer, visible_match
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer, Instant, NextAfter, one_of
from api.http.conditions import COMMAND_HEADERS, KEY_PARAMETER, idempotent_request
from api.http.problems import Problem
from api.http.schemas import MAX_NUMBER, EmptyBody, QueryInteger, StrictSchema, page_limit, prose
from api.operations.lists import identify
from api.operations.reports import ReportPage, report_page
from api.representations.players import Player, opponent_level, represent_player
from api.services import services
from domain.match.decisions.cases import refuse_party
from domain.match.refusals import CommandError
from domain.match.state import MatchState
from events.people.administration import ARBITER
from events.people.blocks import BLOCK, KINDS, MUTE
from events.people.chats import MAX_MESSAGES_PER_CHAT, ChatFullError, ChatMessage as StoredMessage, chat_players
from events.people.person import Person
from events.people.reports import AbuseReport
from events.runtime.errors import LimitReachedError
from events.runtime.wall_clock import rfc3339

blueprint = Blueprint("chat", __name__, url_prefix=PREFIX)

MAX_MESSAGE_CHARACTERS = 2000


class MessageRequest(StrictSchema):
    text = prose(MAX_MESSAGE_CHARACTERS)


class Message(Answer):
    id: Annotated[int, Meta(description="1, 2, 3 and so on in each chat")]
    at: Instant
    author: Player
    seat: Annotated[int | None, Meta(description="The author's seat; null: a spectator")]
    text: Annotated[str, Meta(description="Empty when it was hidden, or its author has been erased")]
    hidden: Annotated[bool, Meta(description="An arbiter has hidden the message")]


class Chat(Answer):
    items: Sequence[Message]
    writable: Annotated[bool, Meta(description="Whether you may write something now")]
    open: Annotated[bool, Meta(description="Whether all who played want others to join in when it is over")]
    next: NextAfter


class ChatQuery(StrictSchema):
    after = QueryInteger(0, MAX_NUMBER, load_default=0)
    limit = page_limit(200, 500)


@blueprint.get("/matches/<match_id>/chat")
@endpoint(answer=Chat, query=ChatQuery, problems=[404])
def show_chat(query: Mapping[str, int], match_id: str) -> Chat:
    """List the messages of a match

    Oldest first. The live stream announces messages by events named chat, without their text.
    """
    state, person = visible_match(match_id).state, current_person()
    refuse_chat_reader(state, person)
    messages = services().chats.read(match_id, query["after"], query["limit"] + 1)
    page = messages[: query["limit"]]
    return Chat(
        items=_represent(_shown_to(person, match_id, page), state),
        writable=may_write_chat(state, person),
        open=is_chat_open(state),
        next=page[-1].number if len(messages) > len(page) else None,
    )


@blueprint.post("/matches/<match_id>/chat")
@endpoint(
    201,
    answer=Message,
    body=MessageRequest,
    signed_in=True,
    problems=[404, 409],
    headers=COMMAND_HEADERS,
    parameters=[KEY_PARAMETER],
)
def send_message(sent: Mapping[str, str], match_id: str) -> Message:
    """Send a message

    To all players of the match. The chat is public once the match is over.
    """
    state, person = visible_match(match_id).state, require_person()
    refuse_chat_writer(state, person)
    spend("words", person.id)
    spend("chat_bytes", person.id, cost=len(sent["text"].encode()))
    chats = services().chats
    # Crash-safe: before the message. A kill in between leaves a mark at which nothing is found.
    services().checks.mark_chat(match_id, chats.length(match_id), services().now())
    try:
        message = chats.post(match_id, person.id, sent["text"], idempotent_request(person, confidential=True))
    except ChatFullError as error:
        raise Problem("chat-full", "This chat has no room for more messages.") from error
    return _represent([message], state)[0]


@blueprint.put("/matches/<match_id>/chat/openness")
@endpoint(204, body=EmptyBody, signed_in=True, problems=[404])
def open_chat(_: object, match_id: str) -> None:
    """Invite others into the chat

    Others may join in after the match when all people who played it want that.
    """
    _want_others(match_id, wanted=True)


@blueprint.delete("/matches/<match_id>/chat/openness")
@endpoint(204, signed_in=True, problems=[404])
def close_chat(match_id: str) -> None:
    """Keep others out of the chat

    Takes the caller's consent back.
    """
    _want_others(match_id, wanted=False)


def _want_others(match_id: str, *, wanted: bool) -> None:
    state, person = visible_match(match_id).state, require_person()
    if person.id not in chat_players(state):
        raise CommandError("not-your-seat", "only the players of the match decide who joins in")
    services().chats.open_to_others(match_id, person.id, wanted)


def _shown_to(person: Person | None, match_id: str, messages: Sequence[StoredMessage]) -> Sequence[StoredMessage]:
    """Return ``messages`` without those of players whom ``person`` blocks or mutes, and those they have reported."""
    if person is None:
        return messages
    silenced = services().blocks.of(person.id)
    reported = {report.number for report in services().reports.of(match_id) if report.reporter == person.id}
    return [message for message in messages if message.author not in silenced and message.number not in reported]


def _represent(messages: Sequence[StoredMessage], state: MatchState) -> list[Message]:
    persons = services().people.persons(message.author for message in messages)
    hidden = services().reports.hidden(state.match_id) if messages else set()
    return [
        Message(
            id=message.number,
            at=rfc3339(message.at),
            author=represent_player(message.author, persons),
            seat=state.seat_of(message.author),
            text="" if message.number in hidden else message.text,
            hidden=message.number in hidden,
        )
        for message in messages
    ]


reports = Blueprint("reports", __name__, url_prefix=PREFIX)

MAX_REASON_CHARACTERS = 500
MAX_SKIPPED_MATCHES = 1000
"""Matches with reports that a page can leave out."""


class ReportRequest(StrictSchema):
    reason = prose(MAX_REASON_CHARACTERS)


class ReportsQuery(StrictSchema):
    after = QueryInteger(0, MAX_SKIPPED_MATCHES, load_default=0)
    limit = page_limit(20, 50)


@reports.post("/matches/<match_id>/chat/<int:number>/reports")
@endpoint(204, body=ReportRequest, signed_in=True, problems=[404])
def report_message(sent: Mapping[str, str], match_id: str, number: int) -> None:
    """Report a message

    Arbiters decide on it. Until then the caller does not see it any more.
    """
    state, person = visible_match(match_id).state, require_person()
    refuse_chat_reader(state, person)
    _require_message(match_id, number)
    spend("reports", person.id)
    services().reports.add(AbuseReport(match_id, number, person.id, sent["reason"]))


@reports.post("/matches/<match_id>/chat/<int:number>/hiding")
@endpoint(204, body=EmptyBody, signed_in=True, problems=[404])
def hide_message(_: object, match_id: str, number: int) -> None:
    """Hide a message

    For arbiters: from everybody.
    """
    _settle(match_id, number, hide=True)


@reports.post("/matches/<match_id>/chat/<int:number>/showing")
@endpoint(204, body=EmptyBody, signed_in=True, problems=[404])
def show_message(_: object, match_id: str, number: int) -> None:
    """Let a message stand

    For arbiters: its reports are closed, and it is shown to everybody.
    """
    _settle(match_id, number, hide=False)


@reports.get("/reports")
@endpoint(answer=ReportPage, query=ReportsQuery, signed_in=True)
def list_reports(query: Mapping[str, int]) -> ReportPage:
    """List reported messages

    For arbiters, the match with the longest wait first. `limit` counts matches.
    """
    require_role(ARBITER)
    return report_page(query["after"], query["limit"])


def _settle(match_id: str, number: int, *, hide: bool) -> None:
    arbiter = require_role(ARBITER)
    # Not visible_match: arbiters read reported messages of private matches, too.
    state = services().matches.load(match_id).state
    refuse_party(state, arbiter.id)
    _require_message(match_id, number)
    # Crash-safe: a crash between the two steps leaves the message hidden and not logged; an arbiter who got no answer
    # and repeats the request does and logs the same.
    services().reports.settle(match_id, number, hide)
    act = "message-hidden" if hide else "message-shown"
    services().administration.record(act, arbiter.id, {"match": match_id, "message": number})


def _require_message(match_id: str, number: int) -> None:
    """Raise the problem no-such-message unless the chat of the match has a message of this number."""
    messages = services().chats.read(match_id, number - 1, 1) if 0 < number <= MAX_MESSAGES_PER_CHAT else []
    if not messages or messages[0].number != number:
        raise Problem("no-such-message", "The chat of this match has no message of this number.")


blocks = Blueprint("blocks", __name__, url_prefix=PREFIX)


class BlockedPlayer(Answer):
    player: Player
    kind: Annotated[
        str, one_of(KINDS, "mute: messages are not shown; block: nor invitations, nor seats in your matches")
    ]


class BlockList(Answer):
    items: Sequence[BlockedPlayer]


@blocks.get("/me/blocks")
@endpoint(answer=BlockList, signed_in=True)
def list_blocks() -> BlockList:
    """List blocked and muted players

    They are not notified of it.
    """
    listed = services().blocks.of(require_person().id)
    persons = services().people.persons(listed)
    return BlockList(
        items=[
            BlockedPlayer(player=represent_player(other, persons), kind=kind) for other, kind in sorted(listed.items())
        ]
    )


@blocks.put("/me/blocks/<player>")
@endpoint(204, body=EmptyBody, signed_in=True, problems=[404, 409])
def block(_: object, player: str) -> None:
    """Block a player

    No invitations from them, no seats for them in matches that the caller opens, none of their messages.
    """
    _put(player, BLOCK)


@blocks.put("/me/mutes/<player>")
@endpoint(204, body=EmptyBody, signed_in=True, problems=[404, 409])
def mute(_: object, player: str) -> None:
    """Mute a player

    Their messages are not shown to the caller.
    """
    _put(player, MUTE)


@blocks.delete("/me/blocks/<player>")
@endpoint(204, signed_in=True, problems=[404])
def unblock(player: str) -> None:
    """Unblock a player

    They are neither blocked nor muted any more.
    """
    if not services().blocks.remove(require_person().id, identify(player)):
        raise Problem("not-blocked", "You neither block nor mute this player.")


def _put(player: str, kind: str) -> None:
    person, other = require_person(), identify(player)
    if other == person.id or opponent_level(other) is not None:
        detail = "Only other people can be blocked or muted."
        raise Problem("not-blockable", detail, {"player": ["is no other person"]})
    try:
        services().blocks.put(person.id, other, kind)
    except LimitReachedError as error:
        raise Problem("too-many-blocks", f"{error}.".capitalize()) from error
