"""The caller's mail address: confirming it, who may write, stopped mail, and the outcome of mail that arrived."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated
from urllib.parse import quote

from flask import Blueprint, Response
from marshmallow import validate
from msgspec import Meta

from api.access.auth import require_person
from api.access.limits import spend_by_address
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer, Instant, one_of
from api.http.problems import Problem
from api.http.schemas import EmptyBody, EnumField, PresentPassword, StrictSchema, StrictString
from api.operations.mail_confirmations import parse_mail_address, send_link, spend_confirmation, want_address
from api.operations.mail_links import confirmable_address, invalid_link, refusing_player
from api.services import services
from events.notify import addresses
from events.notify.inbox import MAX_MAILS_SHOWN, Verdict
from events.notify.letters import address_changed
from events.notify.mail_links import MAX_LINK_CHARACTERS, USED
from events.notify.notice import PauseCause, WhoMayWrite
from events.people.person import Person
from events.runtime.wall_clock import rfc3339

blueprint = Blueprint("mail_addresses", __name__, url_prefix=PREFIX)


class AddressRequest(StrictSchema):
    address = StrictString(
        required=True, validate=validate.Length(1, addresses.MAX_ADDRESS_OCTETS, error="must be a mail address")
    )
    password = PresentPassword(about="Your password: who has your mail address can choose another password")


class WhoMayWriteRequest(StrictSchema):
    who_may_write = EnumField(WhoMayWrite, required=True)


class ConfirmationRequest(StrictSchema):
    token = StrictString(1, MAX_LINK_CHARACTERS, required=True, about="The end of the link in the mail")


class MailPause(Answer):
    cause: Annotated[str, one_of(PauseCause)]
    reason: str
    since: Instant


class MailAddressAnswer(Answer):
    address: Annotated[str | None, Meta(description="The confirmed address, to which notices are sent")]
    confirmed_at: Instant | None
    wanted: Annotated[str | None, Meta(description="The address that waits to be confirmed")]
    wanted_at: Instant | None
    problem: Annotated[str | None, Meta(description="Why the mail that asks to confirm it has not arrived, if known")]
    paused: Annotated[MailPause | None, Meta(description="Why no notices are sent to the address")]
    who_may_write: Annotated[str, one_of(WhoMayWrite, "What an answer to mail needs beside its token")]
    mail_is_sent: Annotated[bool, Meta(description="Whether this server sends mail at all")]


class ConfirmedAddress(Answer):
    player: Annotated[str, Meta(description="The name of the account that has the address now")]
    address: str


@blueprint.get("/me/mail-address")
@endpoint(answer=MailAddressAnswer, signed_in=True, session_only=True)
def show_mail_address() -> MailAddressAnswer:
    """Show the caller's mail address

    And whether notices are sent to it. Only a session can ask, for a token may have leaked.
    """
    return _represent(services().addresses.read(require_person().id))


@blueprint.put("/me/mail-address")
@endpoint(answer=MailAddressAnswer, body=AddressRequest, signed_in=True, session_only=True, problems=[409])
def set_mail_address(sent: Mapping[str, str]) -> MailAddressAnswer:
    """Change the caller's mail address

    A mail with a link goes to the new address. Until the link is followed the present address stays.
    """
    return _represent(want_address(_mail_user(), parse_mail_address(sent["address"])))


@blueprint.delete("/me/mail-address")
@endpoint(204, signed_in=True, session_only=True)
def remove_mail_address() -> None:
    """Remove the caller's mail address

    Confirmed or not. Nothing is sent to it any more.
    """
    services().addresses.change(require_person().id, addresses.without_address)


@blueprint.post("/me/mail-address/confirmations")
@endpoint(202, answer=MailAddressAnswer, body=EmptyBody, signed_in=True, session_only=True, problems=[409])
def send_confirmation(_: object) -> MailAddressAnswer:
    """Send the confirmation mail again

    Links that were sent before stay valid.
    """
    person = _mail_user()
    stored = services().addresses.read(person.id)
    if stored.wanted is None:
        raise Problem("no-mail-address", "No mail address of yours waits to be confirmed.")
    spend_confirmation(person, stored.wanted)
    now = services().now()
    stored = services().addresses.change(person.id, lambda before: addresses.asked_again(before, now))
    send_link(person, stored, now)
    return _represent(stored)


@blueprint.post("/mail-confirmations")
@endpoint(201, answer=ConfirmedAddress, body=ConfirmationRequest)
def confirm_mail_address(sent: Mapping[str, str]) -> ConfirmedAddress:
    """Confirm a mail address

    By the link that was sent to it. No sign-in is needed.
    """
    spend_by_address("mail_links")
    person, wanted, before = confirmable_address(sent["token"])
    now = services().now()
    # Crash-safe: the word to the former address is there before the change, and is not sent if that does not happen.
    if before.address is not None and before.address != wanted:
        services().outbox.add(address_changed(person.id, before.address, now))
    if services().addresses.confirm(person.id, wanted, now) is None:
        raise invalid_link(USED)
    return ConfirmedAddress(player=person.name, address=wanted)


@blueprint.put("/me/mail-address/who-may-write")
@endpoint(answer=MailAddressAnswer, body=WhoMayWriteRequest, signed_in=True, session_only=True)
def set_who_may_write(sent: Mapping[str, WhoMayWrite]) -> MailAddressAnswer:
    """Choose what an answer by mail needs

    Beside its token, to act for the caller.
    """
    chosen = sent["who_may_write"]
    return _represent(
        services().addresses.change(require_person().id, lambda before: replace(before, who_may_write=chosen))
    )


@blueprint.post("/me/mail-address/resumption")
@endpoint(201, answer=MailAddressAnswer, body=EmptyBody, signed_in=True, session_only=True)
def resume_mail(_: object) -> MailAddressAnswer:
    """Resume notices by mail

    After they were stopped, or after mail came back.
    """
    return _represent(services().addresses.change(require_person().id, addresses.resumed))


@blueprint.post("/me/mail-address/secrets")
@endpoint(204, body=EmptyBody, signed_in=True, session_only=True)
def make_old_mail_worthless(_: object) -> None:
    """Invalidate all mail sent so far

    Nobody can answer it or follow its links any more.
    """
    services().addresses.make_old_mail_worthless(require_person().id)


@blueprint.post("/mail-refusals/<token>")
@endpoint(204, problems=[422])
def refuse_mail(token: str) -> None:
    """Stop notices by mail, as the one-click link of a mail does (RFC 8058); no sign-in is needed

    The body is not read. To stop twice is to stop once.
    """
    spend_by_address("refusals")
    player = refusing_player(token)
    now = services().now()
    services().addresses.change(player, lambda before: addresses.stopped(before, now))


@blueprint.get("/mail-refusals/<token>")
@endpoint(307, headers={"Location": "The page with the button"})
def show_refusal(token: str) -> Response:
    """Go to the page that stops mail

    It has the button that stops notices by mail. This request changes nothing.
    """
    return Response(status=307, headers={"Location": f"/mail/stop/{quote(token, safe='')}"})


def _mail_user() -> Person:
    person = require_person()
    if services().settings.mail is None:
        raise Problem("mail-not-sent", "This server sends no mail.")
    if person.kind == "guest":
        raise Problem("guests-get-no-mail", "Guests get no mail: sign up first.")
    return person


def _represent(stored: addresses.MailAddress) -> MailAddressAnswer:
    pause = stored.pause
    return MailAddressAnswer.of(
        stored,
        paused=None if pause is None else MailPause.of(pause, since=rfc3339(pause.at)),
        mail_is_sent=services().settings.mail is not None,
    )


incoming_mail = Blueprint("incoming-mail", __name__, url_prefix=PREFIX)


class IncomingMail(Answer):
    at: Annotated[Instant, Meta(description="When it arrived")]
    sender: Annotated[str, Meta(description="The address in its From header; empty when that names not exactly one")]
    subject: str
    bytes: int
    verdict: Annotated[str, one_of(Verdict)]
    reason: Annotated[str, Meta(description="The verdict as a sentence; empty while the mail waits to be read")]
    answered: Annotated[bool, Meta(description="Whether an answer was sent to your confirmed address")]


class IncomingMailList(Answer):
    items: Annotated[Sequence[IncomingMail], Meta(description=f"The last {MAX_MAILS_SHOWN}, newest first")]


@incoming_mail.get("/me/incoming-mail")
@endpoint(answer=IncomingMailList, signed_in=True, session_only=True)
def list_incoming_mail() -> IncomingMailList:
    """List the caller's answers by mail

    The last mails to the caller's addresses here, each with its outcome.
    """
    mails = services().inbox.recent(require_person().id, MAX_MAILS_SHOWN)
    return IncomingMailList(items=[IncomingMail.of(mail, bytes=mail.size) for mail in mails])
