"""The frame of all pages: the blueprint, the viewer, the count of awaited matches, the error page."""

import re
from hashlib import sha256
from typing import Any

from flask import Blueprint, Response, abort, g, make_response, redirect, render_template, request, url_for
from flask.blueprints import BlueprintSetupState

from api.access.auth import credential_key, current_person, session_cookie
from api.http.problems import Problem
from api.operations.lists import first_awaited
from api.pages import wording
from api.services import services
from domain.games import GAMES
from events.people.administration import ARBITER
from events.people.person import Person
from events.pictures.board import swatch
from events.runtime.reads import ReadBatch

blueprint = Blueprint("web", __name__, template_folder="templates")

_INSIDE = re.compile(r"/(?![/\\])[^\x00-\x1f\x7f]*")
"""A path on this site. Browsers read a backslash as a slash, and drop tabs and line ends first."""


_INDENTATION = re.compile(rb"\n\s+<")
"""Indentation before tags; preformatted text has none."""


def local_path(target: str | None, default: str) -> str:
    """Return ``target`` if it is a path on this site, else ``default``: signing in never leads to another site."""
    return target if target and _INSIDE.fullmatch(target) else default


def signed_in_reader() -> Person:
    """Return the person who reads; others are led to the sign-in page, and from there back to the present page."""
    person = current_person()
    if person is None:
        here = request.full_path if request.query_string else request.path
        abort(redirect(url_for("web.sign_in", next=here)))
    return person


def problem_page(problem: Problem) -> Response:
    """Return a friendly page for an error outside the API, without the store, which may be unreachable."""
    has_session = g.person is not None if "person" in g else session_cookie(services().settings) in request.cookies
    g.person = None  # the page does not use the store, which may be unreachable
    page = render_template(
        "error.html", problem=problem, person=None, has_session=has_session, awaiting="", wording=wording,
        games_here=GAMES, bare=True,
    )  # fmt: skip
    return make_response(page, problem.status)


@blueprint.record
def _show_problems(setup: BlueprintSetupState) -> None:
    setup.app.extensions["rookery-problem-page"] = problem_page


@blueprint.after_request
def _finish_page(response: Response) -> Response:
    """Keep pages out of shared caches, have them revalidated, and strip their indentation."""
    if response.mimetype == "text/html":
        response.headers["Cache-Control"] = "private, no-cache"
        response.set_data(_INDENTATION.sub(b"\n<", response.get_data()))
    return response


@blueprint.context_processor
def _frame_values() -> dict[str, Any]:
    if "problem" in g:
        return {}
    person = current_person()
    return {
        "games_here": GAMES,
        "person": person,
        "arbiter": person is not None and ARBITER in _viewer_roles(),
        "awaiting": _awaiting(person),
        "visit": _visit() if person else "",
        "now": services().now(),
        "wording": wording,
        "swatch": swatch,
        "page_worker": services().settings.page_worker,
    }


def read_viewer_roles(batch: ReadBatch) -> None:
    """Let ``batch`` read the roles of the viewer, too, which the frame of each page needs."""
    person = current_person()
    if person is not None:
        g.viewer_roles = batch.add(services().administration.read_of_roles(person.id))


def _viewer_roles() -> frozenset[str]:
    if "viewer_roles" not in g:
        read_viewer_roles(ReadBatch(services().client))
    roles: frozenset[str] = g.viewer_roles()
    return roles


def _visit() -> str:
    """Return a mark that tells sign-ins of a browser apart, and says nothing about the session."""
    return sha256(f"visit\n{credential_key()}".encode()).hexdigest()[:8]


def _awaiting(person: Person | None) -> str:
    if person is None:
        return ""
    page = first_awaited(person.id)
    count = len(page.items)
    return f"{count}+" if page.next else str(count or "")
