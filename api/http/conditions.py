"""Versions, conditions and idempotency keys of requests (ETag, If-Match, If-None-Match, Idempotency-Key)."""

import hashlib
import re
import secrets
from collections.abc import Callable
from typing import Any

from flask import Response, g, request

from api.http.openapi import json_response
from api.http.problems import Problem
from api.http.schemas import EXAMPLE_TAG, TAG_PATTERN
from events.store.contract import Head, VersionTag
from events.store.envelope import canonical_json

_KEY = re.compile("^[!-~]{1,128}$")


_CONDITION = re.compile(f'^(?:W/)?"({TAG_PATTERN})"$')


_BARE_VERSION = re.compile('^(?:W/)?"?[0-9]{1,15}"?$')


KEY_HEADER = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "Names this request: repeated with the same key it acts once and answers the same",
    "schema": {"type": "string", "pattern": _KEY.pattern},
}


EXPECTED_HEADER = {
    "name": "If-Match",
    "in": "header",
    "description": "The version (an ETag) that the match must be at: at another, or at the same number in another "
    "history, the answer is 409 stale-version. A number alone is refused with 412 bare-version",
    "schema": {"type": "string", "pattern": _CONDITION.pattern},
    "example": f'"{EXAMPLE_TAG}"',
}


def request_key() -> str:
    """Return the caller's idempotency key, or one that nobody else has; raises the problem invalid-fields."""
    key = request.headers.get("Idempotency-Key")
    if key is None:
        return secrets.token_urlsafe(16)
    if not _KEY.fullmatch(key):
        reason = "must be 1 to 128 visible ASCII characters"
        raise Problem("invalid-fields", f"Idempotency-Key {reason}.", {"Idempotency-Key": [reason]})
    return key


def expected_version() -> VersionTag | None:
    """Return the version of If-Match, None without one; raises the problems bare-version and invalid-fields."""
    condition = request.headers.get("If-Match")
    if condition is None:
        return None
    matched = _CONDITION.fullmatch(condition)
    if matched is not None:
        return VersionTag.parse(matched[1])
    reason = f'must be the version tag of an answer in quotation marks, such as "{EXAMPLE_TAG}"'
    if _BARE_VERSION.fullmatch(condition):
        detail = f"If-Match {reason}: a version number alone does not tell which history it belongs to."
        raise Problem("bare-version", detail, {"If-Match": [reason]})
    raise Problem("invalid-fields", f"If-Match {reason}.", {"If-Match": [reason]})


def fingerprint(secret: str = "") -> str:
    """Return what tells this request from others: the SHA-256 of its method, path and canonical body.

    It is remembered longer than a text that is erased. With the ``secret`` key of the request in it, which is not
    kept, a guess at the text cannot be checked against it.
    """
    parts = (request.method.encode(), request.path.encode(), canonical_json(g.body), *filter(None, (secret.encode(),)))
    return hashlib.sha256(b"\n".join(parts)).hexdigest()


VERSION_HEADER = {"ETag": f'The version tag of the match in quotation marks, such as "{EXAMPLE_TAG}"'}


CONDITION = {
    "name": "If-None-Match",
    "in": "header",
    "description": "An ETag: when the match is still at that version of the same history the answer is 304",
    "schema": {"type": "string"},
}


def versioned(head: Head, payload: Callable[[], Any], settled: bool = True) -> Response:
    """Return a response with the ETag of ``head``, or 304 when the caller has that version and it is ``settled``."""
    etag = f'"{head.tag}"'
    if settled and request.if_none_match.contains_weak(str(head.tag)):
        return Response(status=304, headers={"ETag": etag})
    return json_response(payload(), headers={"ETag": etag})


ANSWER_HEADERS = {**VERSION_HEADER, "Idempotency-Replayed": "true when an earlier request with this key did it"}
