"""Commands on matches: one route shape, one way of executing them."""

from collections.abc import Callable
from typing import Any

from flask import Response
from marshmallow import fields

from api.access.auth import require_person, signed_in
from api.access.matches import may_see
from api.http import representations as show
from api.http.conditions import ANSWER_HEADERS, EXPECTED_HEADER, KEY_HEADER, expected_version, fingerprint, request_key
from api.http.openapi import Blueprint, json_response
from api.http.schemas import (
    Shown,
    Strict,
    version_tag,
)
from api.resources.matches import EventShown
from api.services import services
from domain.match import commands as c
from events.service.matches import Executed
from events.store.contract import Request, VersionTag

REFUSALS = (403, 404, 409, 412, 415, 422)


class ExecutedShown(Shown):
    match = fields.String()
    version = fields.Integer()
    version_tag = version_tag()
    events = fields.List(fields.Nested(EventShown))


View = Callable[[dict[str, Any], str], Response]


def acting(on: Blueprint, path: str, schema: type[Strict]) -> Callable[[View], View]:
    """Serve what a caller does in a match at ``POST /matches/<match>/<path>``, with a body of ``schema``."""

    def register(view: View) -> View:
        documented = on.documents(
            201,
            ExecutedShown,
            signed_in=True,
            problems=REFUSALS,
            headers=ANSWER_HEADERS,
            parameters=[KEY_HEADER, EXPECTED_HEADER],
        )
        guarded = documented(signed_in(on.arguments(schema)(view)))
        on.add_url_rule(f"/matches/<match>/{path}", view_func=guarded, methods=["POST"])
        return view

    return register


def execute(match: str, command: c.Command, expected: VersionTag | None = None, confidential: bool = False) -> Response:
    """Carry out the command of the caller and answer with the events that followed.

    ``expected`` is the version that the match must be at when the caller names none. The body of a ``confidential``
    request holds what must be erasable. Raises the problem no-such-match for a match that the caller may not see.
    """
    person, key = require_person(), request_key()
    executed = services().match_service.execute(
        match,
        command,
        person.id,
        Request(f"{person.id}:{key}", fingerprint(key if confidential else "")),
        expected if (stated := expected_version()) is None else stated,
        may_see=lambda state: may_see(state, person),
    )
    for event in executed.events:
        services().administration.record_event(event)
    payload = {
        "match": match,
        "version": executed.version,
        "version_tag": str(executed.head.tag),
        "events": [show.event(envelope) for envelope in executed.events],
    }
    return json_response(payload, 201, executed_headers(executed))


def executed_headers(executed: Executed) -> dict[str, str]:
    """Return the version after what was done as ETag, and whether an earlier request did it."""
    headers = {"ETag": f'"{executed.head.tag}"'}
    if executed.repeated:
        headers["Idempotency-Replayed"] = "true"
    return headers
