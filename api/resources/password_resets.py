"""New passwords for people who have forgotten theirs, by mail."""

from collections.abc import Mapping
from typing import Annotated

from flask import Blueprint
from marshmallow import validate
from msgspec import Meta

from api.access.limits import spend, spend_by_address
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer
from api.http.problems import Problem
from api.http.schemas import StrictSchema, StrictString
from api.operations.mail_links import invalid_link, resettable_account
from api.services import services
from events.notices.letters import asker, password_reset
from events.notices.mail_links import MAX_LINK_CHARACTERS, USED
from events.notices.mail_syntax import MAX_ADDRESS_OCTETS
from events.people.passwords import MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH, InvalidPasswordError

blueprint = Blueprint("password_resets", __name__, url_prefix=PREFIX)

SENT = (
    "If an account has this name or mail address, and a confirmed mail address, a mail with a link is on its way. The "
    "link is valid for an hour."
)


class ResetRequest(StrictSchema):
    name = StrictString(
        required=True,
        validate=validate.Length(1, MAX_ADDRESS_OCTETS, error="must be a name or a mail address"),
        metadata={"description": "The name of the account, or its mail address"},
    )


class NewPasswordRequest(StrictSchema):
    token = StrictString(
        required=True,
        validate=validate.Length(1, MAX_LINK_CHARACTERS),
        metadata={"description": "The end of the link in the mail"},
    )
    password = StrictString(
        required=True,
        validate=validate.Length(
            MIN_PASSWORD_LENGTH,
            MAX_PASSWORD_LENGTH,
            error=f"must have {MIN_PASSWORD_LENGTH} to {MAX_PASSWORD_LENGTH} characters",
        ),
    )


class ResetAnswer(Answer):
    detail: Annotated[str, Meta(description="The same whether there is such an account or not")]


@blueprint.post("/password-resets")
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


@blueprint.put("/password-resets")
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
