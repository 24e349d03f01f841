"""How often anybody may look: every request that is not counted otherwise counts here, per person or per address."""

import time

from flask import Flask, current_app, g, request

from api.access.auth import SAFE_METHODS, current_person, shows_credential
from api.access.limits import rate_limits, spend, spend_by_address
from api.http.problems import Problem
from events.people.person import Person
from events.runtime.errors import StoreError

UNCOUNTED = frozenset({"web.static", "healthz", "readyz", "metrics", "problem", None})
"""Endpoints that are as cheap as a refusal."""

COMPUTING = frozenset(
    {
        "positions.imagine",
        "compositions.check_composition",
        "squares.show_square",
        "games.show_position",
        "proofs.bundle",
        "web.board_picture",
        "web.imagined_picture",
        "web.board_png",
        "web.game_png",
        "web.match_page",
        "web.plies",
        "web.record_page",
        "web.ask_record",
        "jobs.ask_bundle",
        "jobs.ask_recomputation",
    }
)
"""Endpoints that play moves, draw boards or replay matches."""

AWAY_S = 1.0
"""After the store could not be reached reads are not counted for this long, so that they need not wait for it."""


def register(app: Flask) -> None:
    """Let ``app`` limit how often anybody may look."""
    app.before_request(_limit_reads)


def _limit_reads() -> None:
    rates = rate_limits()
    if request.endpoint in UNCOUNTED or time.monotonic() < rates.away_until:
        return
    view = current_app.view_functions.get(str(request.endpoint))
    if request.method not in SAFE_METHODS and getattr(view, "counts_writes", False):
        return
    try:
        _count("computations" if request.endpoint in COMPUTING else "reads")
    except StoreError:
        rates.away_until = time.monotonic() + AWAY_S


def _count(limit: str) -> None:
    person = _person()
    if person is not None:
        spend(limit, person.id)
    else:
        spend_by_address(limit)


def _person() -> Person | None:
    try:
        return current_person() if shows_credential() else None
    except Problem:
        g.pop("person", None)  # an unknown token is refused where a person is required
        return None
