"""Versions, conditions and idempotency keys of requests: ETag, If-Match, If-None-Match, Idempotency-Key."""

import hashlib
import re
import secrets
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from flask import Response, request
from msgspec import Meta

from api.http.answers import Answer, json_response
from api.http.bodies import current_request, read_json
from api.http.openapi import Described
from api.http.problems import Problem
from events.people.person import Person
from events.store.contract import DIGEST_DIGITS, Head, Request, VersionTag
from events.store.envelope import canonical_json

TAG_PATTERN = f"[0-9]{{1,15}}-[0-9a-f]{{{DIGEST_DIGITS}}}"
EXAMPLE_TAG = "6-3fa9c1d25b0e7c44"

VersionTagText = Annotated[
    str,
    Meta(
        pattern=f"^{TAG_PATTERN}$",
        description="The version and the beginning of its event's digest: a version number alone does not tell which "
        "history it belongs to. In quotation marks it is the ETag",
        examples=[EXAMPLE_TAG],
    ),
]

_KEY = re.compile("^[!-~]{1,128}$")
_CONDITION = re.compile(f'^"({TAG_PATTERN})"$')
_BARE_VERSION = re.compile('^"?[0-9]{1,15}"?$')

VERSION_HEADER = {"ETag": f'The version tag of the match in quotation marks, such as "{EXAMPLE_TAG}"'}
COMMAND_HEADERS = {**VERSION_HEADER, "Idempotency-Replayed": "true when an earlier request with this key did it"}


def header_parameter(name: str, description: str, **described: str) -> Mapping[str, Any]:
    """Return the header ``name`` of a request as a parameter of an operation; ``described`` adds to its schema."""
    return {"name": name, "in": "header", "description": description, "schema": {"type": "string", **described}}


KEY_PARAMETER = header_parameter(
    "Idempotency-Key",
    "Names this request: repeated with the same key it acts once and answers the same",
    pattern=_KEY.pattern,
)
IF_MATCH_PARAMETER = {
    **header_parameter(
        "If-Match",
        "The version (an ETag) that the match must be at: at another, or at the same number in another "
        "history, the answer is 409 stale-version. A number alone is refused with 412 version-tag-required",
        pattern=_CONDITION.pattern,
    ),
    "example": f'"{EXAMPLE_TAG}"',
}
IF_NONE_MATCH_PARAMETER = header_parameter(
    "If-None-Match", "An ETag: when the match is still at that version of the same history the answer is 304"
)

CONDITIONAL = Described(
    headers={"ETag": "Names this content"},
    parameters=[header_parameter("If-None-Match", "An ETag: when the content is still the same the answer is 304")],
    also=[304],
)
"""The document's part of an answer with an ETag of its content."""


def unless_unchanged(response: Response) -> Response:
    """Return ``response`` with an ETag of its content, or 304 when the caller has it."""
    response.add_etag(weak=True)  # the same content may be compressed or not
    response.make_conditional(request)
    return response


def idempotent_request(person: Person, *, confidential: bool = False) -> Request:
    """Return the key and the identity of the caller's request; raises the problem invalid-fields for a malformed key.

    The fingerprint of a request is remembered longer than a text that is erased. That of a ``confidential`` one is
    keyed with its idempotency key, which is not stored, so that guesses at the text cannot be checked against it.
    """
    key, received = request_key(), current_request()
    parts = [received.method.encode(), received.path.encode(), canonical_json(read_json())]
    if confidential:
        parts.append(key.encode())
    return Request(f"{person.id}:{key}", hashlib.sha256(b"\n".join(parts)).hexdigest())


def request_key() -> str:
    """Return the caller's idempotency key, or a random one; raises the problem invalid-fields."""
    key = request.headers.get("Idempotency-Key")
    if key is None:
        return secrets.token_urlsafe(16)
    if not _KEY.fullmatch(key):
        reason = "must be 1 to 128 visible ASCII characters"
        raise Problem("invalid-fields", f"Idempotency-Key {reason}.", {"Idempotency-Key": [reason]})
    return key


def expected_version() -> VersionTag | None:
    """Return the version of If-Match, None without one; raises the problems version-tag-required and invalid-fields."""
    condition = request.headers.get("If-Match")
    if condition is None:
        return None
    matched = _CONDITION.fullmatch(condition)
    if matched is not None:
        return VersionTag.parse(matched[1])
    reason = f'must be the version tag of an answer in quotation marks, such as "{EXAMPLE_TAG}"'
    if condition.startswith("W/"):  # RFC 9110, section 13.1.1: the comparison is strong
        detail = f"If-Match {reason}: a weak one never matches."
        raise Problem("version-tag-required", detail, {"If-Match": [reason]})
    if _BARE_VERSION.fullmatch(condition):
        detail = f"If-Match {reason}: a version number alone does not tell which history it belongs to."
        raise Problem("version-tag-required", detail, {"If-Match": [reason]})
    raise Problem("invalid-fields", f"If-Match {reason}.", {"If-Match": [reason]})


def versioned(head: Head, answer: Callable[[], Answer], *, settled: bool = True) -> Response:
    """Return a response with the ETag of ``head``, or 304 when the caller has that version and it is ``settled``."""
    headers = etag(head)
    if settled and request.if_none_match.contains_weak(str(head.tag)):
        return Response(status=304, headers=headers)
    return json_response(answer(), headers=headers)


def etag(head: Head) -> dict[str, str]:
    """Return the header ETag of the version ``head``."""
    return {"ETag": f'"{head.tag}"'}
