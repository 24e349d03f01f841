"""The id of each request: in its answer, in problem documents, in every log line and trace that follows from it."""

import re
import secrets

from flask import Flask, g, request

from api.access.auth import SAFE_METHODS
from events.runtime import origin, tracing

HEADER = "X-Request-Id"
_WELL_FORMED = re.compile("[A-Za-z0-9-]{8,64}")


def register(app: Flask) -> None:
    """Give each request of ``app`` an id: that of a proxy in front if it is well-formed, else a random one."""
    app.before_request(_begin)
    app.teardown_request(_end)


def _begin() -> None:
    given = request.headers.get(HEADER, "")
    g.request_id = given if _WELL_FORMED.fullmatch(given) else secrets.token_hex(8)
    match_id = (request.view_args or {}).get("match_id")
    known = {"match": match_id} if match_id else {}
    work = [origin.request(g.request_id, **known)]
    if tracing.is_on() and request.method not in SAFE_METHODS:  # commands are traced, and not what is only read
        name = f"{request.method} {request.endpoint or 'none'}"
        work.append(tracing.span(name, request=g.request_id, **known))
    # Entered one by one: what ExitStack does besides is a hundredth of a request.
    for block in work:
        block.__enter__()
    g.work = work


def _end(_: BaseException | None) -> None:
    for block in reversed(g.pop("work", [])):
        block.__exit__(None, None, None)
