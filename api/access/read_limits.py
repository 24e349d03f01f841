"""How often callers may read: a request that no other limit counts is counted here, per person or per address."""

import time

from flask import Flask, current_app, g

from api.access.auth import SAFE_METHODS, current_person, shows_credential
from api.access.limits import announce, rate_limits, spend, spend_by_address
from api.http.bodies import current_request
from api.http.problems import Problem
from events.people.person import Person
from events.runtime.errors import StoreError

UNCOUNTED = frozenset({"web.static", "healthz", "readyz", "problem", None})
"""Endpoints that are as cheap as a refusal."""

COSTLY_PAGES = frozenset({
    "web.board_picture", "web.imagined_picture", "web.board_png", "web.game_png", "web.match_page", "web.plies",
    "web.record_page", "web.ask_record", "web.deadlines_ics", "web.notice_feed", "web.match_feed",
    "web.match_feed_at_secret",
})  # fmt: skip
"""Pages that play moves, draw boards or replay matches. Endpoints of the API declare this themselves."""

UNREACHABLE_S = 1.0
"""After the store could not be reached reads are not counted for this long, so that they need not wait for it."""


def register(app: Flask) -> None:
    """Let ``app`` limit how often callers read."""
    app.before_request(_limit_reads)


def _limit_reads() -> None:
    received = current_request()
    name = received.endpoint
    if name in UNCOUNTED:
        return
    endpoint = getattr(current_app.view_functions.get(str(name)), "endpoint", None)
    if received.method not in SAFE_METHODS and endpoint is not None and endpoint.signed_in:
        return  # counted as a write
    rates = rate_limits()
    if time.monotonic() < rates.unreachable_until:
        return
    costly = name in COSTLY_PAGES if endpoint is None else endpoint.costly
    try:
        count_reads("computations" if costly else "reads")
    except StoreError:
        rates.unreachable_until = time.monotonic() + UNREACHABLE_S


def count_reads(limit: str, cost: int = 1) -> None:
    """Count ``cost`` uses of ``limit`` by the caller, or by an anonymous one's address; raises too-many-requests."""
    person = _known_person()
    remaining = spend(limit, person.id, cost=cost) if person is not None else spend_by_address(limit, cost=cost)
    announce(limit, remaining)


def _known_person() -> Person | None:
    try:
        return current_person() if shows_credential() else None
    except Problem:
        g.pop("person", None)  # an unknown token is refused where a person is required
        return None
