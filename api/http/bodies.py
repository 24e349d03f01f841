"""Bodies and queries of requests, read strictly."""

import json
from collections.abc import Callable
from typing import Any, NoReturn

import marshmallow as ma
from flask import Request, g, request
from werkzeug.exceptions import HTTPException, RequestEntityTooLarge

from api.http.answers import JSON
from api.http.problems import Problem, listed_errors
from api.http.schemas import flattened, sentences

MAX_BODY_BYTES = 64 * 1024

current_request: Callable[[], Request] = request._get_current_object  # type: ignore[attr-defined]
request_globals: Callable[[], Any] = g._get_current_object
"""Return the objects behind ``request`` and ``g``, which look them up again whenever an attribute is read.

All these look-ups together were a tenth of the time of a request.
"""


def read_json() -> Any:
    """Return the body of the request, parsed once; an empty object without one. Raises not-json and malformed-json."""
    kept = request_globals()
    if "json" not in kept:
        kept.json = _parsed(current_request())
    return kept.json


def read_query() -> dict[str, str]:
    """Return the query of the request; raises the problem invalid-fields for a repeated name."""
    for name, values in request.args.lists():
        if len(values) > 1:
            raise Problem("invalid-fields", f"{name} is given twice in the query.", {name: ["is given twice"]})
    return request.args.to_dict()


def load(schema: ma.Schema, content: Any) -> Any:
    """Return ``content`` as ``schema`` reads it; raises the problem invalid-fields."""
    try:
        return schema.load(content)
    except ma.ValidationError as error:
        errors = flattened(error.messages)
        listed = listed_errors(errors)
        raise Problem("invalid-fields", sentences(listed, len(errors) - len(listed)), errors) from error


def _parsed(received: Request) -> Any:
    body = _body(received)
    if not body:
        return {}
    if received.mimetype != JSON:
        raise Problem("not-json", "Send a JSON body with Content-Type: application/json.")
    try:
        return _DECODER.decode(body.decode())
    except RecursionError:
        raise Problem("malformed-json", "The body is nested too deeply.") from None
    except ValueError as error:
        raise Problem("malformed-json", f"The body cannot be read: {error}.") from None


def _body(received: Request) -> bytes:
    try:
        body = received.get_data()
    except HTTPException:
        raise
    except Exception as error:  # each server has its own errors for chunks that are malformed or missing
        raise Problem("malformed-json", "The body breaks off, or its chunks cannot be read.") from error
    if received.content_length is None and len(body) >= MAX_BODY_BYTES:
        raise RequestEntityTooLarge  # werkzeug cuts a body of unknown length off without an error
    return body


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    if len(read) != len(pairs):
        raise ValueError("an object has the same key twice")
    return read


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_refuse_constant)
