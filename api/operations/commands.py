"""Commands on matches: how they are declared, executed and answered."""

from collections.abc import Callable, Sequence
from typing import Any

import marshmallow as ma
import msgspec
from flask import Response

from api.access.auth import admitted_availability, require_person
from api.access.matches import may_see
from api.endpoints import endpoint
from api.http import conditions
from api.http.answers import Answer, json_response
from api.http.problems import no_such_match
from api.representations.matches import Event, ReceiptField, represent_event, represent_receipt
from api.services import services
from domain.match.commands import Command
from events.matches.matches import Executed, UnknownMatchError
from events.store.contract import VersionTag

MAX_SEATS = 8

REFUSALS = (403, 404, 409, 412)
"""Statuses with which every command may be refused."""


class ExecutedCommand(Answer):
    match: str
    version: int
    version_tag: conditions.VersionTagText
    events: Sequence[Event]
    receipt: ReceiptField = msgspec.UNSET


def command_endpoint(body: type[ma.Schema]) -> Callable[[Callable[..., Response]], Callable[..., Response]]:
    """Declare a view that executes a command with a ``body``."""
    return endpoint(
        201,
        answer=ExecutedCommand,
        body=body,
        signed_in=True,
        problems=REFUSALS,
        headers=conditions.COMMAND_HEADERS,
        parameters=[conditions.KEY_PARAMETER, conditions.IF_MATCH_PARAMETER],
    )


def execute(
    match_id: str, command: Command, *, expected: VersionTag | None = None, confidential: bool = False
) -> Response:
    """Execute the caller's command and answer with the events that followed.

    ``expected`` is the version that the match must be at when the caller names none. The body of a ``confidential``
    request holds erasable text. Raises the problem no-such-match for a match that the caller may not see.
    """
    person = require_person()
    parts, request = services(), conditions.idempotent_request(person, confidential=confidential)
    try:
        executed = parts.match_service.execute(
            match_id,
            command,
            person.id,
            request,
            conditions.expected_version() or expected,
            may_see=lambda state: may_see(state, person),
            availability={person.id: admitted_availability()},
        )
    except UnknownMatchError:
        raise no_such_match() from None
    for event in executed.events:
        parts.administration.record_event(event)
    answer = ExecutedCommand(
        match=match_id,
        version=executed.version,
        version_tag=str(executed.head.tag),
        events=[represent_event(event) for event in executed.events],
        receipt=represent_receipt(parts.receipts, match_id, executed.head, executed.at),
    )
    return json_response(answer, 201, executed_headers(executed))


def executed_headers(executed: Executed) -> dict[str, Any]:
    """Return the version after the command as ETag, and whether an earlier request executed it."""
    headers = conditions.etag(executed.head)
    return {**headers, "Idempotency-Replayed": "true"} if executed.repeated else headers
