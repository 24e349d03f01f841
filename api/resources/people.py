"""Accounts: signing up and in, guests, tokens, passwords, and new passwords by mail."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from flask import Blueprint, Response
from marshmallow import validate
from msgspec import Meta
from msgspec.structs import asdict

from api.access import auth, passwords
from api.access.limits import spend, spend_by_address
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer, Instant, json_response
from api.http.problems import Problem
from api.http.schemas import PresentPassword, StrictSchema, StrictString, pattern
from api.operations.mail_confirmations import parse_mail_address, want_address
from api.operations.mail_links import invalid_link, resettable_account
from api.representations.players import Player, represent_person
from api.services import services
from domain.match.due import Availability
from events.notify.addresses import MAX_ADDRESS_OCTETS
from events.notify.letters import asker, password_reset
from events.notify.mail_links import MAX_LINK_CHARACTERS, USED
from events.people.accounts import NameTakenError
from events.people.availability import with_calendar, zone_names
from events.people.credentials import MAX_LABEL_LENGTH, Token as StoredToken
from events.people.names import NAME, InvalidNameError
from events.people.passwords import MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH, InvalidPasswordError
from events.people.person import Person, UnknownPersonError
from events.runtime.errors import LimitReachedError
from events.runtime.wall_clock import rfc3339

blueprint = Blueprint("people", __name__, url_prefix=PREFIX)

SESSION_HEADER = {"Set-Cookie": "The session"}


def _password() -> StrictString:
    return StrictString(MIN_PASSWORD_LENGTH, MAX_PASSWORD_LENGTH, required=True)


class Credentials(StrictSchema):
    name = StrictString(
        required=True,
        validate=pattern(NAME.pattern.strip("^$"), "must have 3 to 24 characters: letters, digits, - and _"),
    )
    password = _password()


class GuestRequest(StrictSchema):
    time_zone = StrictString(
        validate=validate.Length(max=64),
        load_default="",
        about="The time zone (IANA) of the new account, such as Europe/Rome; UTC without one, or with one "
        "that is not known here",
    )


class SignUpRequest(Credentials, GuestRequest):
    mail_address = StrictString(
        validate=validate.Length(max=MAX_ADDRESS_OCTETS),
        load_default="",
        about="A mail address, to which a link goes that confirms it; none if left out",
    )


class PasswordRequest(StrictSchema):
    current = PresentPassword()
    password = _password()


class TokenRequest(StrictSchema):
    label = StrictString(1, MAX_LABEL_LENGTH, required=True)


class Account(Player):
    created_at: Instant


class Token(Answer):
    id: str
    label: str
    created_at: Instant


class NewToken(Token):
    secret: Annotated[str, Meta(description="Shown this once and never again")]


class TokenList(Answer):
    items: Sequence[Token]


@blueprint.post("/players")
@endpoint(201, answer=Account, body=SignUpRequest, problems=[409], headers=SESSION_HEADER)
def sign_up(sent: Mapping[str, str]) -> Response:
    """Sign up, and be signed in

    The answer sets the cookie of a session. A guest who signs up keeps id, matches, settings, tokens and all else.
    """
    spend_by_address("sign_up")
    guest = _guest_of_session()
    address = parse_mail_address(sent["mail_address"], "mail_address") if sent["mail_address"] else ""
    try:
        person = services().people.sign_up(sent["name"], sent["password"], guest)
    except UnknownPersonError as error:
        raise Problem("not-signed-in", "This guest has signed up already, or is gone: sign in.") from error
    except InvalidNameError as error:
        raise Problem("invalid-fields", f"Choose another name: {error}.", {"name": [str(error)]}) from error
    except InvalidPasswordError as error:
        raise _invalid_password(error) from error
    except NameTakenError as error:
        detail = "This name is taken, or looks like one that is taken: choose another."
        raise Problem("name-taken", detail, {"name": ["is taken"]}) from error
    _set_time_zone(person, sent["time_zone"])
    if address:
        # Crash-safe: after a crash before this the account has no address, and its owner adds it in the settings.
        want_address(person, address)
    return auth.begin_session(json_response(_represent(person), 201), person)


@blueprint.post("/sessions")
@endpoint(201, answer=Account, body=Credentials, problems=[401], headers=SESSION_HEADER)
def sign_in(sent: Mapping[str, str]) -> Response:
    """Sign in

    The answer sets the cookie of a session, which lasts 90 days. After ten wrong passwords for a name each further
    attempt has to wait.
    """
    person = passwords.sign_in(sent["name"], sent["password"])
    if person is None:
        raise Problem("wrong-password", "No player has this name and this password.")
    suspension = services().people.suspension(person)
    if suspension is not None:
        raise auth.account_suspended(suspension)
    return auth.begin_session(json_response(_represent(person), 201), person)


@blueprint.delete("/sessions/current")
@endpoint(204)
def sign_out() -> Response:
    """Sign out

    Without a session nothing happens, and the answer is the same.
    """
    return auth.end_session(Response(status=204))


@blueprint.delete("/sessions")
@endpoint(204, signed_in=True, session_only=True)
def sign_out_everywhere() -> Response:
    """Sign out everywhere

    All sessions of the caller end, on all devices. Tokens stay.
    """
    services().people.sessions.end_all(auth.require_person())
    return auth.end_session(Response(status=204))


@blueprint.put("/me/password")
@endpoint(204, body=PasswordRequest, signed_in=True, session_only=True, headers=SESSION_HEADER)
def set_password(sent: Mapping[str, str]) -> Response:
    """Change the password

    All other sessions of the caller end. Tokens stay.
    """
    person = auth.require_person()
    try:
        services().people.set_password(person, sent["password"])
    except InvalidPasswordError as error:
        raise _invalid_password(error) from error
    return auth.begin_session(Response(status=204), person)


@blueprint.post("/guests")
@endpoint(201, answer=Account, body=GuestRequest, headers=SESSION_HEADER)
def create_guest(sent: Mapping[str, str]) -> Response:
    """Play as a guest

    A guest is a person without a password, for as long as the session lasts. The answer sets its cookie.
    """
    spend_by_address("guests")
    spend("all_guests")
    person = services().people.guest()
    _set_time_zone(person, sent["time_zone"])
    return auth.begin_session(json_response(_represent(person), 201), person)


@blueprint.get("/me")
@endpoint(answer=Account, signed_in=True)
def show_account() -> Account:
    """Show the caller's account

    Its id and name, what kind of account it is, and the roles that it has.
    """
    return _represent(auth.require_person())


@blueprint.get("/me/tokens")
@endpoint(answer=TokenList, signed_in=True)
def list_tokens() -> TokenList:
    """List the caller's tokens

    The oldest comes first. Secrets are never shown again.
    """
    return TokenList(items=[_represent_token(token) for token in services().people.tokens.of(auth.require_person())])


@blueprint.post("/me/tokens")
@endpoint(201, answer=NewToken, body=TokenRequest, signed_in=True, session_only=True, problems=[409])
def create_token(sent: Mapping[str, str]) -> NewToken:
    """Create a token for a program

    Only a session can. The secret is shown once, in this answer. Send it as `Authorization: Bearer <secret>`.
    """
    try:
        token, secret = services().people.tokens.create(auth.require_person(), sent["label"])
    except LimitReachedError as error:
        raise Problem("too-many-tokens", f"{error}.".capitalize()) from error
    except UnknownPersonError as error:
        raise auth.account_gone() from error
    return NewToken(**asdict(_represent_token(token)), secret=secret)


@blueprint.delete("/me/tokens/<token>")
@endpoint(204, signed_in=True, session_only=True, problems=[404])
def revoke_token(token: str) -> None:
    """Revoke a token

    It is worthless at once. Only a session can revoke tokens.
    """
    if not services().people.tokens.revoke(auth.require_person(), token):
        raise Problem("no-such-token", "You have no token with this id.")


def _invalid_password(error: InvalidPasswordError) -> Problem:
    return Problem("invalid-fields", f"Choose another password: {error}.", {"password": [str(error)]})


def _guest_of_session() -> Person | None:
    """Return the guest whose session the request has; None for anybody else and for programs."""
    person = None if auth.bearer() is not None else auth.current_person()
    if person is None or person.kind != "guest":
        return None
    suspension = services().people.suspension(person)
    if suspension is not None:
        raise auth.account_suspended(suspension)
    return person


def _set_time_zone(person: Person, zone: str) -> None:
    """Give a new account its time zone, if it is known and none has been set.

    Crash-safe: after a crash before this the account is in UTC until its owner sets another zone.
    """
    if zone not in zone_names():
        return
    now = services().now()

    def change(availability: Availability) -> Availability:
        unset = availability.zone == Availability().zone
        return with_calendar(availability, zone, availability.free_days, now) if unset else availability

    services().timekeeper.change(person.id, change, now)


def _represent(person: Person) -> Account:
    return Account(**asdict(represent_person(person)), created_at=rfc3339(person.created_at))


def _represent_token(token: StoredToken) -> Token:
    return Token.of(token)


password_resets = Blueprint("password_resets", __name__, url_prefix=PREFIX)

SENT = (
    "If an account has this name or mail address, and a confirmed mail address, a mail with a link is on its way. The "
    "link is valid for an hour."
)


class ResetRequest(StrictSchema):
    name = StrictString(
        required=True,
        validate=validate.Length(1, MAX_ADDRESS_OCTETS, error="must be a name or a mail address"),
        about="The name of the account, or its mail address",
    )


class NewPasswordRequest(StrictSchema):
    token = StrictString(1, MAX_LINK_CHARACTERS, required=True, about="The end of the link in the mail")
    password = StrictString(MIN_PASSWORD_LENGTH, MAX_PASSWORD_LENGTH, required=True)


class ResetAnswer(Answer):
    detail: Annotated[str, Meta(description="The same whether there is such an account or not")]


@password_resets.post("/password-resets")
@endpoint(202, answer=ResetAnswer, body=ResetRequest, problems=[409])
def ask_for_password_reset(sent: Mapping[str, str]) -> ResetAnswer:
    """Ask for a mail with a link to choose a new password

    The answer, and the work for it, are the same whether there is such an account or not.
    """
    if services().settings.mail is None:
        raise Problem("mail-not-sent", "This server sends no mail: ask its operator for a new password.")
    asked = sent["name"].strip()
    spend_by_address("resets_by_network")
    spend("resets", asker(asked))
    services().outbox.add(password_reset(asked, services().now()))
    return ResetAnswer(detail=SENT)


@password_resets.put("/password-resets")
@endpoint(204, body=NewPasswordRequest)
def reset_password(sent: Mapping[str, str]) -> None:
    """Choose a new password

    By the link in a mail. All sessions of the account end, tokens stay.
    """
    spend_by_address("mail_links")
    person, mark = resettable_account(sent["token"])
    try:
        chosen = services().people.choose_password(person, mark, sent["password"])
    except InvalidPasswordError as error:
        raise Problem("invalid-fields", f"Choose another password: {error}.", {"password": [str(error)]}) from error
    if not chosen:
        raise invalid_link(USED)
