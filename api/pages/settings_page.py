"""The settings of a person, the forms to sign in and up, and the pages that links in mail lead to."""

from functools import cache

from flask import redirect, render_template, request, url_for
from markupsafe import Markup
from werkzeug.wrappers import Response

from api.access.auth import current_person
from api.operations.jobs import archive_state
from api.operations.mail_links import confirmable_address, refusing_player, resettable_account
from api.operations.notice_targets import ways_for
from api.pages.layout import blueprint, local_path
from api.pages.player_page import game_title
from api.representations.players import CAPACITY_GAMES
from api.services import services
from domain.match import vacation
from domain.match.calendar import MAX_FREE_DAYS
from domain.match.terms import duration
from domain.match.vacation import year_of
from domain.scene import Cell, Piece, Scene
from events.people.availability import zone_names
from events.people.capacity import MAX_CONCURRENT
from events.people.credentials import MAX_LABEL_LENGTH
from events.people.places import MAX_CONCURRENT_OF_PERSON
from events.people.player_keys import MAX_KEY_NAME_LENGTH
from events.pictures.board import draw
from events.runtime.wall_clock import rfc3339

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@blueprint.get("/settings")
def settings() -> str:
    """Return the settings of the device, and those of the signed-in person, if any."""
    person = current_person()
    if person is None:
        return render_template("settings.html", sample=_sample())
    now = services().now()
    availability = services().availability.read([person.id])[person.id]
    blocks = services().blocks.of(person.id)
    return render_template(
        "settings.html",
        sample=_sample(),
        push_is_offered=ways_for(person.kind).push,
        availability=availability,
        days=DAYS,
        max_free_days=MAX_FREE_DAYS,
        zones=sorted(zone_names()),
        current=vacation.current(availability.book, now),
        ahead=[period for period in availability.book if period.since > now],
        past=sum(period.until <= now for period in availability.book),
        left=duration(vacation.left(availability.book, year_of(now))),
        allowance=duration(vacation.ALLOWANCE),
        year=year_of(now),
        archive=archive_state(person),
        blocks=blocks,
        listed=services().directory.is_listed(person.id),
        blocked=services().people.persons(blocks),
        tokens=services().people.tokens.of(person),
        max_label_length=MAX_LABEL_LENGTH,
        player_keys=services().player_keys.of(person.id),
        max_key_name_length=MAX_KEY_NAME_LENGTH,
        bot=services().bots.among([person.id]).get(person.id),
        bot_games={name: game_title(name) for name in CAPACITY_GAMES},
        max_concurrent=MAX_CONCURRENT,
        room=services().match_starter.room_of([person.id], now)[person.id],
        max_room=MAX_CONCURRENT_OF_PERSON,
        now=now,
        rfc3339=rfc3339,
    )


@cache
def _sample() -> Markup:
    """Return a picture of discs and figures on squares, in the chosen colours and forms."""
    cells = tuple(
        Cell(f"{file}{2 - y}", x, y, "dark" if (x + y) % 2 else "light")
        for y in range(2)
        for x, file in enumerate("abcdef")
    )
    white, black = Piece(0, "man", "w", ""), Piece(1, "man", "b", "")
    columns = {
        "a1": (white,),
        "b2": (black, white, black),
        "c1": (white, Piece(0, "king", "W", "")),
        "d2": (Piece(0, "monarch", "K", ""),),
        "e2": (Piece(1, "knight", "n", ""),),
        "e1": (Piece(2, "queen", "rQ", ""),),
        "f1": (Piece(3, "rook", "bR", ""),),
    }
    return draw(Scene(6, 2, cells, (), columns), ("white", "black", "red", "blue"), picture="Pieces on a board")


@blueprint.get("/sign-in")
def sign_in() -> str | Response:
    """Return the sign-in form, or redirect a person who is signed in already."""
    return _form("sign_in.html")


@blueprint.get("/sign-up")
def sign_up() -> str | Response:
    """Return the sign-up form, which leads to a first match, or redirect a person who has an account already."""
    return _form("sign_up.html", "web.new_match")


def _form(template: str, leads_to: str = "web.my_matches") -> str | Response:
    after = local_path(request.args.get("next"), url_for(leads_to))
    person = current_person()
    if person is not None and person.kind != "guest":
        return redirect(after)
    return render_template(template, after=after, mail_is_sent=services().settings.mail is not None)


@blueprint.get("/mail/confirm/<token>")
def confirm_mail(token: str) -> str:
    """Return the page that confirms a mail address."""
    person, address, _ = confirmable_address(token)
    return render_template(
        "mail_page.html",
        title="Confirm your mail address",
        text=f"Shall {address} be the mail address of the account {person.name}?",
        button="Confirm it",
        call="POST /api/v1/mail-confirmations",
        token=token,
        said=f"{address} is confirmed: notices can be sent there.",
        after=url_for("web.notice_settings"),
    )


@blueprint.get("/mail/stop/<token>")
def stop_mail(token: str) -> str:
    """Return the page that stops notices by mail."""
    player = refusing_player(token)
    person = services().people.person(player)
    return render_template(
        "mail_page.html",
        title="Stop notices by mail",
        text=f"Shall no more notices about the matches of {person.name if person else player} be sent by mail?",
        button="Stop them",
        call=f"POST /api/v1/mail-refusals/{token}",
        token=None,
        said="No more notices are sent by mail. The settings of notices let them be sent again.",
        after=url_for("web.notice_settings"),
    )


@blueprint.get("/password-reset")
def password_reset() -> str:
    """Return the form that asks for a link to choose a new password."""
    return render_template("password_reset.html", mail_is_sent=services().settings.mail is not None)


@blueprint.get("/password-reset/<token>")
def new_password(token: str) -> str:
    """Return the form for a new password."""
    return render_template("new_password.html", name=resettable_account(token).person.name, token=token)
