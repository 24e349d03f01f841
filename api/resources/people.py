"""Signing up and in, guests, the caller's own account and tokens."""

from typing import Any

from flask import Response, request
from marshmallow import fields, validate

from api.access.auth import (
    DEVICE_COOKIE,
    bearer,
    begin_session,
    current_person,
    end_session,
    gone,
    require_person,
    session_only,
    signed_in,
    suspended,
)
from api.access.limits import spend_by_address
from api.http import representations as show
from api.http.openapi import PREFIX, Blueprint, json_response
from api.http.problems import Problem
from api.http.schemas import PlayerShown, Shown, Strict, Text, pattern
from api.services import services
from events.people.accounts import NameTakenError
from events.people.names import NAME, InvalidNameError
from events.people.passwords import MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH, InvalidPasswordError
from events.people.person import Person, UnknownPersonError
from events.people.tokens import MAX_LABEL_LENGTH, Token, TooManyTokensError
from events.private.availability import Availability, with_calendar
from events.private.time_zones import zone_names
from events.runtime.wall_clock import rfc3339

blueprint = Blueprint("people", __name__, url_prefix=PREFIX, description="Accounts, sessions and tokens")


def _password() -> Text:
    said = f"must have {MIN_PASSWORD_LENGTH} to {MAX_PASSWORD_LENGTH} characters"
    return Text(required=True, validate=validate.Length(MIN_PASSWORD_LENGTH, MAX_PASSWORD_LENGTH, error=said))


class Credentials(Strict):
    name = Text(
        required=True,
        validate=pattern(NAME.pattern.strip("^$"), "must have 3 to 24 characters: letters, digits, - and _"),
    )
    password = _password()


TIME_ZONE = {
    "description": "The time zone (IANA) of the new account, such as Europe/Rome; UTC without one, or with one that is "
    "not known here"
}


class Arrival(Strict):
    time_zone = Text(load_default="", validate=validate.Length(max=64), metadata=TIME_ZONE)


class SignUp(Credentials, Arrival):
    pass


class NewPassword(Strict):
    current = _password()
    password = _password()


class NewToken(Strict):
    label = Text(
        required=True,
        validate=validate.Length(1, MAX_LABEL_LENGTH, error=f"must have 1 to {MAX_LABEL_LENGTH} characters"),
    )


class MeShown(PlayerShown):
    created_at = fields.DateTime()


class TokenShown(Shown):
    id = fields.String()
    label = fields.String()
    created_at = fields.DateTime()


class NewTokenShown(TokenShown):
    secret = fields.String(metadata={"description": "Shown this once and never again"})


class TokensShown(Shown):
    items = fields.List(fields.Nested(TokenShown))


@blueprint.route("/players", methods=["POST"])
@blueprint.documents(201, MeShown, problems=[409, 415, 422], headers={"Set-Cookie": "The session"})
@blueprint.arguments(SignUp)
def sign_up(arguments: dict[str, str]) -> Response:
    """Sign up, and be signed in; a guest who signs up keeps id, matches, settings, tokens and all else"""
    spend_by_address("sign_up")
    guest = _guest_who_asks()
    try:
        person = services().people.sign_up(arguments["name"], arguments["password"], guest)
    except UnknownPersonError as error:
        raise Problem("not-signed-in", "This guest has signed up already, or is gone: sign in.") from error
    except InvalidNameError as error:
        raise Problem("invalid-fields", f"Choose another name: {error}.", {"name": [str(error)]}) from error
    except InvalidPasswordError as error:
        raise unfit_password(error) from error
    except NameTakenError as error:
        detail = "This name is taken, or looks like one that is taken: choose another."
        raise Problem("name-taken", detail, {"name": ["is taken"]}) from error
    _set_time_zone(person, arguments["time_zone"])
    return begin_session(json_response(_me(person), 201), person)


@blueprint.route("/sessions", methods=["POST"])
@blueprint.documents(201, MeShown, problems=[401, 415, 422], headers={"Set-Cookie": "The session"})
@blueprint.arguments(Credentials)
def sign_in(credentials: dict[str, str]) -> Response:
    """Sign in"""
    name, people, delays = credentials["name"], services().people, services().sign_in_delays
    spend_by_address("sign_ins")
    spend_by_address("sign_in", name.lower())
    if not people.knows_device(name, request.cookies.get(DEVICE_COOKIE, "")):
        delays.begin(name)
    person = people.sign_in(name, credentials["password"])
    if person is None:
        raise Problem("wrong-password", "No player has this name and this password.")
    delays.succeed(name)
    suspension = people.suspension(person)
    if suspension is not None:
        raise suspended(suspension)
    return begin_session(json_response(_me(person), 201), person)


@blueprint.route("/sessions/current", methods=["DELETE"])
@blueprint.documents(204)
def sign_out() -> Response:
    """Sign out; without a session there is nothing to do, and that is fine"""
    return end_session(Response(status=204))


@blueprint.route("/sessions", methods=["DELETE"])
@blueprint.documents(204, signed_in=True)
@session_only
@signed_in
def sign_out_everywhere() -> Response:
    """Sign out everywhere: all sessions of the caller end, on all devices; tokens stay"""
    services().people.sessions.end_all(require_person())
    return end_session(Response(status=204))


@blueprint.route("/me/password", methods=["PUT"])
@blueprint.documents(204, signed_in=True, problems=[415, 422], headers={"Set-Cookie": "The session"})
@session_only
@signed_in
@blueprint.arguments(NewPassword)
def set_password(arguments: dict[str, str]) -> Response:
    """Change the password; all other sessions of the caller end, tokens stay"""
    person = require_person()
    spend_by_address("sign_in", person.name.lower())
    try:
        changed = services().people.set_password(person, arguments["current"], arguments["password"])
    except InvalidPasswordError as error:
        raise unfit_password(error) from error
    if not changed:
        raise Problem("invalid-fields", "That is not your password.", {"current": ["is not your password"]})
    return begin_session(Response(status=204), person)


@blueprint.route("/guests", methods=["POST"])
@blueprint.documents(201, MeShown, problems=[415, 422], headers={"Set-Cookie": "The session"})
@blueprint.arguments(Arrival)
def become_guest(arguments: dict[str, str]) -> Response:
    """Play as a guest: a person without a password, for as long as the session lasts"""
    spend_by_address("guests")
    person = services().people.guest()
    _set_time_zone(person, arguments["time_zone"])
    return begin_session(json_response(_me(person), 201), person)


@blueprint.route("/me")
@blueprint.documents(200, MeShown, signed_in=True)
@signed_in
def me() -> Response:
    """Who is asking"""
    return json_response(_me(require_person()))


@blueprint.route("/me/tokens")
@blueprint.documents(200, TokensShown, signed_in=True)
@signed_in
def list_tokens() -> Response:
    """The tokens of the caller, oldest first, without their secrets"""
    tokens = services().people.tokens.of(require_person())
    return json_response({"items": [_token(token) for token in tokens]})


@blueprint.route("/me/tokens", methods=["POST"])
@blueprint.documents(201, NewTokenShown, signed_in=True, problems=[409, 415, 422])
@session_only
@signed_in
@blueprint.arguments(NewToken)
def create_token(arguments: dict[str, str]) -> Response:
    """Make a token for programs; only a session can"""
    try:
        token, secret = services().people.tokens.create(require_person(), arguments["label"])
    except TooManyTokensError as error:
        raise Problem("too-many-tokens", f"{error}.".capitalize()) from error
    except UnknownPersonError as error:
        raise gone() from error
    return json_response({**_token(token), "secret": secret}, 201)


@blueprint.route("/me/tokens/<token>", methods=["DELETE"])
@blueprint.documents(204, signed_in=True, problems=[404])
@session_only
@signed_in
def revoke_token(token: str) -> Response:
    """Make a token worthless at once; only a session can"""
    if not services().people.tokens.revoke(require_person(), token):
        raise Problem("no-such-token", "You have no token with this id.")
    return Response(status=204)


def unfit_password(error: InvalidPasswordError) -> Problem:
    """Return the problem of a password that cannot be chosen."""
    return Problem("invalid-fields", f"Choose another password: {error}.", {"password": [str(error)]})


def _guest_who_asks() -> Person | None:
    """Return the guest whose session the request has; None for anybody else and for programs."""
    person = None if bearer() is not None else current_person()
    if person is None or person.kind != "guest":
        return None
    suspension = services().people.suspension(person)
    if suspension is not None:
        raise suspended(suspension)
    return person


def _set_time_zone(person: Person, zone: str) -> None:
    """Give a new account its time zone, if it is known and none has been set.

    Crash-safe: killed before it, the account is in UTC until its owner sets another zone.
    """
    if zone not in zone_names():
        return
    now = services().now()

    def change(availability: Availability) -> Availability:
        return (
            with_calendar(availability, zone, availability.free_days, now)
            if availability.zone == Availability().zone
            else availability
        )

    services().timekeeper.change(person.id, change, now)


def _me(person: Person) -> dict[str, Any]:
    return {**show.player(person.id, {person.id: person}), "created_at": rfc3339(person.created_at)}


def _token(token: Token) -> dict[str, Any]:
    return {"id": token.id, "label": token.label, "created_at": rfc3339(token.created_at)}
