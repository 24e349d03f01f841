"""The declarations of routes: the guards of a view and its description in the OpenAPI document."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar, Unpack

import marshmallow as ma
from flask import Response

from api.access.auth import admit_person
from api.access.passwords import require_passwords
from api.http.answers import Answer, json_response
from api.http.bodies import load, read_json, read_query
from api.http.conditions import CONDITIONAL, unless_unchanged
from api.http.openapi import Described, OperationDeclaration
from api.http.schemas import PresentPassword

A = TypeVar("A", bound=Answer)


def endpoint(
    status: int = 200,
    *,
    answer: type[A] | None = None,
    body: type[ma.Schema] | None = None,
    query: type[ma.Schema] | None = None,
    signed_in: bool = False,
    session_only: bool = False,
    costly: bool = False,
    conditional: bool = False,
    **described: Unpack[Described],
) -> Callable[[Callable[..., A | Response | None]], Callable[..., Response]]:
    """Declare a view of the API.

    The view gets the ``body`` or the ``query``, read by the schema, as its first argument, and returns an ``answer``,
    None for a response without a body, or a finished response. ``signed_in`` and ``session_only`` (no tokens) say who
    may call it; a ``PresentPassword`` in the body must be the caller's. ``costly`` views play moves, draw boards or
    replay matches, and have a lower limit. The answer of a ``conditional`` view has an ETag made of its content, and is
    304 without a body for a caller who has it.
    """
    schema = body or query
    loader, read = schema() if schema else None, read_json if body else read_query

    asks_for_password = loader is not None and any(isinstance(it, PresentPassword) for it in loader.fields.values())
    if conditional:
        described = {**CONDITIONAL, **described}

    def declare(view: Callable[..., A | Response | None]) -> Callable[..., Response]:
        @functools.wraps(view)
        def answering(*args: Any, **kwargs: Any) -> Response:
            if signed_in:
                admit_person(session_only)
            if loader is None:
                result = view(*args, **kwargs)
            else:
                sent = load(loader, read())
                if asks_for_password:
                    require_passwords(loader, sent)
                result = view(sent, *args, **kwargs)
            if isinstance(result, Response):
                return result
            if result is None:
                return Response(status=status)
            response = json_response(result, status)
            return unless_unchanged(response) if conditional else response

        implied = {400, 403, 413, 421, 429, 503, *((401,) if signed_in else ())}
        implied |= {415, 422} if body else {422} if query else set()
        answering.endpoint = OperationDeclaration(  # type: ignore[attr-defined]
            status=status,
            answer=answer,
            body=body,
            query=query,
            signed_in=signed_in,
            costly=costly,
            refusals=sorted(implied.union(described.get("problems", ()))),
            described=described,
        )
        return answering

    return declare
