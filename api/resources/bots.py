"""Bots: accounts that a program plays for, and their capacity."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

from flask import Blueprint
from marshmallow import fields, validate
from msgspec import Meta

from api.access.auth import account_gone, require_person
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer, Next
from api.http.problems import Problem
from api.http.schemas import EnumField, Paging, StrictBoolean, StrictInteger, StrictSchema, StrictString, page_limit
from api.operations.lists import invalid_cursor
from api.representations.clocks import SECOND_MS
from api.representations.players import CAPACITY_GAMES, Capacity, Player, represent_capacity, represent_person
from api.services import services
from domain.match.terms import MAX_TIME_MS
from events.matches.readmodels.paging import Place, page_of, parse_cursor
from events.people import capacity as declared
from events.people.bots import Bot as StoredBot
from events.people.capacity import MAX_CONCURRENT, Invitations
from events.people.person import Person, UnknownPersonError

blueprint = Blueprint("bots", __name__, url_prefix=PREFIX)

MAX_BOTS_PER_PAGE = 50
"""How many matches each of them plays is counted for the answer."""


class Bot(Answer):
    player: Player
    capacity: Capacity
    matches: Annotated[int, Meta(description="Matches it plays now, and invitations that wait for it")]
    free: Annotated[int, Meta(description="How many more matches it takes now")]


class BotList(Answer):
    items: Sequence[Bot]
    next: Next


def _move_time(description: str) -> StrictInteger:
    most = MAX_TIME_MS // SECOND_MS
    return StrictInteger(
        load_default=None,
        allow_none=True,
        validate=validate.Range(1, most, error=f"must be 1 to {most} seconds"),
        about=f"Seconds. {description}",
    )


class CapacityRequest(StrictSchema):
    games = fields.List(
        StrictString(validate=validate.OneOf(CAPACITY_GAMES, error="must be a game, or a game/setup, of this server")),
        required=True,
        validate=validate.Length(max=len(CAPACITY_GAMES)),
        metadata={"description": "Games with all their setups (towers), or one setup of a game (towers/two-player)"},
    )
    concurrent = StrictInteger(
        required=True,
        validate=validate.Range(0, MAX_CONCURRENT, error=f"must be 0 to {MAX_CONCURRENT}"),
        about="Matches at once, invitations that wait included; 0: no new ones at present",
    )
    rated = StrictBoolean(load_default=True, about="Whether it plays rated matches, too")
    private = StrictBoolean(load_default=True, about="Whether it plays private matches, too")
    min_move_time = _move_time("The terms must leave at least this for every single move; null: anything goes")
    max_move_time = _move_time("The terms must let no move take longer than this; null: anything goes")
    invitations = EnumField(
        Invitations,
        load_default=Invitations.ANYONE,
        about="Whose invitations it takes; not of those whom it blocks, in any case",
    )
    accepts_at_once = StrictBoolean(
        load_default=False, about="Whether the server accepts invitations for it, as soon as the match is created"
    )


class BotQuery(Paging):
    limit = page_limit(20, MAX_BOTS_PER_PAGE)


@blueprint.get("/bots")
@endpoint(answer=BotList, query=BotQuery)
def list_bots(query: Mapping[str, Any]) -> BotList:
    """List the bots

    What each of them takes on, and how much of it is free.
    """
    limit = query["limit"]
    try:
        after = parse_cursor(query.get("cursor")) or Place(0, "")
    except ValueError as error:
        raise invalid_cursor() from error
    listed = services().bots.listed(after.member, limit + 1)
    page = page_of([(Place(0, id), id) for id in listed], limit)
    bots = services().bots.among(page.items)
    return BotList(items=_represent([bots[id] for id in page.items if id in bots]), next=page.next)


@blueprint.get("/me/bot")
@endpoint(answer=Bot, signed_in=True, problems=[404])
def show_own_bot() -> Bot:
    """Show the caller's bot

    The capacity that the caller, a bot, has declared.
    """
    person = require_person()
    return _represent([_own_bot(person)])[0]


@blueprint.put("/me/bot")
@endpoint(answer=Bot, body=CapacityRequest, signed_in=True, session_only=True, problems=[409])
def declare_bot(sent: Mapping[str, Any]) -> Bot:
    """Make the account a bot, or change what the bot takes on; matches that it plays already go on

    A program plays for a bot, and others see that. Only an account without rated matches can become one: its rating is
    that of the program. A session is required.
    """
    person = require_person()
    if person.kind == "guest":
        raise Problem("account-kind-fixed", "A guest cannot be a bot: sign up first.")
    if person.kind != "bot" and _is_rated(person):
        raise Problem("account-kind-fixed", "You have rated matches of your own: sign up again for the bot.")
    try:
        services().bots.declare(person, _capacity(sent))
    except UnknownPersonError as error:
        raise account_gone() from error
    return _represent([_own_bot(person)])[0]


@blueprint.delete("/me/bot")
@endpoint(204, signed_in=True, session_only=True, problems=[404, 409])
def retire_bot() -> None:
    """Make a bot an ordinary account again

    Only while it plays no match and has played no rated one.
    """
    person = require_person()
    _own_bot(person)
    if services().readmodels.active(person.id):
        raise Problem("account-kind-fixed", "The bot has matches that are not over: end them first.")
    if _is_rated(person):
        raise Problem("account-kind-fixed", "The bot has a rating, which is the program's: it stays a bot.")
    try:
        services().bots.retire(person)
    except UnknownPersonError as error:
        raise account_gone() from error


def _own_bot(person: Person) -> StoredBot:
    bot = services().bots.among([person.id]).get(person.id)
    if bot is None:
        raise Problem("not-a-bot", "Your account is no bot.")
    return bot


def _is_rated(person: Person) -> bool:
    """Tell whether ``person`` has a rating, or plays for one."""
    readmodels = services().readmodels
    playing = readmodels.projected(readmodels.active(person.id))
    return bool(readmodels.ratings(person.id)) or any(
        projected is not None and projected.summary.rated for projected in playing
    )


def _capacity(sent: Mapping[str, Any]) -> declared.Capacity:
    def milliseconds(seconds: int | None) -> int | None:
        return None if seconds is None else seconds * SECOND_MS

    return declared.Capacity(
        games=tuple(sorted(set(sent["games"]))),
        concurrent=sent["concurrent"],
        rated=sent["rated"],
        private=sent["private"],
        min_move_ms=milliseconds(sent["min_move_time"]),
        max_move_ms=milliseconds(sent["max_move_time"]),
        invitations=Invitations(sent["invitations"]),
        accepts_at_once=sent["accepts_at_once"],
    )


def _represent(bots: Iterable[StoredBot]) -> list[Bot]:
    shown = list(bots)
    matches = services().readmodels.engagements([bot.id for bot in shown])
    persons = services().people.persons(matches)
    return [
        Bot(
            player=represent_person(persons[bot.id]),
            capacity=represent_capacity(bot.capacity),
            matches=matches[bot.id],
            free=0 if bot.suspended else max(0, bot.capacity.concurrent - matches[bot.id]),
        )
        for bot in shown
        if bot.id in persons
    ]
