"""Mail that arrived for the caller, and what became of it."""

from collections.abc import Sequence
from typing import Annotated

from flask import Blueprint
from msgspec import Meta

from api.access.auth import require_person
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer, Instant, one_of
from api.services import services
from events.notices.inbox import MAX_MAILS_SHOWN, ReceivedMail, Verdict
from events.runtime.wall_clock import rfc3339

blueprint = Blueprint("incoming-mail", __name__, url_prefix=PREFIX)


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


@blueprint.get("/me/incoming-mail")
@endpoint(answer=IncomingMailList, signed_in=True, session_only=True)
def list_incoming_mail() -> IncomingMailList:
    """List the caller's answers by mail

    The last mails to the caller's addresses here, each with its outcome.
    """
    mails = services().inbox.recent(require_person().id, MAX_MAILS_SHOWN)
    return IncomingMailList(items=[_represent(mail) for mail in mails])


def _represent(mail: ReceivedMail) -> IncomingMail:
    return IncomingMail(
        at=rfc3339(mail.at),
        sender=mail.sender,
        subject=mail.subject,
        bytes=mail.size,
        verdict=mail.verdict,
        reason=mail.reason,
        answered=mail.answered,
    )
