"""Problems of the API: one table of kinds, one way to answer them (RFC 9457, application/problem+json)."""

import tomllib
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import structlog
from flask import Flask, Response, current_app, g, request
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace
from werkzeug.exceptions import BadHost, HTTPException, MethodNotAllowed, NotFound

from api.http.answers import Answer, json_response
from domain.match.refusals import CommandError
from events.matches.bot_admission import BeyondCapacityError
from events.matches.matches import UnknownMatchError
from events.people.notebooks import QuotaExceededError
from events.people.passwords import TooManySignInsError
from events.runtime.errors import StoreFullError, StoreUnavailableError
from events.store.archive.framing import ArchiveUnavailableError, DamagedArchiveError
from events.store.contract import ClockMismatchError, RequestMismatchError, StaleVersionError, describe_offset
from events.store.copies import NotCopiedError, ReplicasBehindError

JSON_PROBLEM = "application/problem+json"
RETRY_AFTER_S = 2
"""When a caller should retry while the store is unreachable."""

MAX_ERRORS = 20
"""Invalid fields that an answer names; it tells the number of others."""

MAX_ERROR_CHARACTERS = 300

RETRY_AFTER_FULL_S = 60

SECRET_ARGUMENTS = ("secret", "token")
"""These parts of a path are secrets: they go into no log, and no browser passes them on."""


class ProblemKind(NamedTuple):
    """A kind of problem: its status, its title, and a remedy."""

    status: int
    title: str
    explanation: str


KINDS = {
    code: ProblemKind(**kind) for code, kind in tomllib.loads(Path(__file__).with_suffix(".toml").read_text()).items()
}
"""All kinds by their codes: those of refusals of ``domain.match.decide``, and others."""

_BY_STATUS = {
    404: ("not-found", "There is nothing at this address."),
    405: ("method-not-allowed", "This address does not support this method."),
    413: ("too-large", "A request has at most 64 KiB."),
    415: ("not-json", "Send a JSON body with Content-Type: application/json."),
}

log = structlog.get_logger("rookery.api")


class ProblemDocument(Answer):
    """RFC 9457. ``errors`` maps a field to its faults."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    request_id: Annotated[str | UnsetType, Meta(description="The id of the request, as in X-Request-Id")] = UNSET
    errors: dict[str, list[str]] | UnsetType = UNSET
    quota: Annotated[str | UnsetType, Meta(description="quota-exceeded only: which one")] = UNSET
    bytes_kept: int | UnsetType = UNSET
    bytes_allowed: int | UnsetType = UNSET
    limit: Annotated[str | UnsetType, Meta(description="beyond-capacity only: the field of the capacity")] = UNSET
    more_errors: Annotated[int | UnsetType, Meta(description="How many fields are wrong beyond those in errors")] = (
        UNSET
    )
    current_version: Annotated[int | UnsetType, Meta(description="stale-version only: the version to act upon")] = UNSET
    current_version_tag: Annotated[
        str | UnsetType, Meta(description="stale-version only: what If-Match must name then")
    ] = UNSET


class Problem(Exception):
    """A refusal on its way to the caller: ``detail`` is the reason, ``errors`` maps fields to messages."""

    def __init__(
        self,
        code: str,
        detail: str,
        errors: Mapping[str, Sequence[str]] | None = None,
        headers: Mapping[str, str] | None = None,
        **members: Any,
    ) -> None:
        super().__init__(detail)
        self.code = code
        self.status, self.title, _ = KINDS[code]
        self.detail = detail
        self.errors = errors
        self.headers = dict(headers or {})
        self.members = members

    @property
    def document(self) -> ProblemDocument:
        """The answer."""
        errors = listed_errors(self.errors or {})
        return ProblemDocument(
            type=f"/problems/{self.code}",
            title=self.title,
            status=self.status,
            detail=self.detail,
            code=self.code,
            errors=errors or UNSET,
            more_errors=len(self.errors or ()) - len(errors) or UNSET,
            **self.members,
        )


def listed_errors(errors: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the first MAX_ERRORS of ``errors``, with names and messages cut to MAX_ERROR_CHARACTERS."""
    return {
        field[:MAX_ERROR_CHARACTERS]: [message[:MAX_ERROR_CHARACTERS] for message in messages[:MAX_ERRORS]]
        for field, messages in islice(errors.items(), MAX_ERRORS)
    }


def problem_of(error: Exception) -> Problem:
    """Return the problem for ``error``; anything unforeseen is an internal error."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, CommandError):
        return Problem(error.code, _sentence(str(error)), {error.field: [str(error)]} if error.field else None)
    if isinstance(error, StaleVersionError):
        return _stale(error)
    if isinstance(error, UnknownMatchError):
        return no_such_match()
    if isinstance(error, QuotaExceededError):
        used = f"{error.used:,} of {error.limit:,} bytes for notes, analysis trees and conditional moves are used"
        detail = f"{used}: delete some, perhaps of finished matches, to make room."
        return Problem("quota-exceeded", detail, quota="notebook", bytes_kept=error.used, bytes_allowed=error.limit)
    if isinstance(error, BeyondCapacityError):
        return Problem("beyond-capacity", f"{error}.", limit=error.limit)
    if isinstance(error, RequestMismatchError):
        detail = "This idempotency key was used for a request with other content: make a new key."
        return Problem("idempotency-key-reused", detail, {"Idempotency-Key": ["used for another request"]})
    if isinstance(error, HTTPException):
        return _of_http(error)
    if isinstance(error, ClockMismatchError):
        offset = describe_offset(error.offset_ms)
        detail = f"The clock of this part of the server is {offset} that of the store, so nothing is written here."
        return _of_server("wrong-clock", f"{detail} Nothing has changed. {_TRY_AGAIN}")
    for kind, code, seconds, detail in _SERVER_ERRORS:
        if isinstance(error, kind):
            return _of_server(code, detail, seconds)
    return Problem("internal-error", "The error has been recorded. There is nothing wrong with your request.")


_TRY_AGAIN = "Try again in a moment, with the same idempotency key."
_ARCHIVED = "Nothing has changed. Matches that are being played are not concerned."
_SERVER_ERRORS: Sequence[tuple[type[Exception], str, int, str]] = (
    (
        StoreFullError,
        "store-full",
        RETRY_AFTER_FULL_S,
        "The server takes no writes: its disk or memory is almost full, or too few copies of its store can be reached. "
        "Nothing was changed. You can read as usual; try again later.",
    ),
    (
        NotCopiedError,
        "not-copied",
        RETRY_AFTER_S,
        "This is stored, but not yet copied to as many servers as the operator demands, so a failure could still take "
        "it. Repeat it in a moment, with the same idempotency key: it is not carried out twice.",
    ),
    (
        ReplicasBehindError,
        "store-unavailable",
        RETRY_AFTER_S,
        "The server takes no moves now: a copy of its store is behind or cannot be reached. Nothing is known to have "
        "changed. You can read as usual; try again in a moment, with the same idempotency key.",
    ),
    (
        DamagedArchiveError,
        "store-unavailable",
        RETRY_AFTER_FULL_S,
        "This needs a match that is archived because it ended long ago, and its file in the archive is damaged. "
        f"{_ARCHIVED} This one can be read again when the operator has restored the file.",
    ),
    (
        ArchiveUnavailableError,
        "store-unavailable",
        RETRY_AFTER_FULL_S,
        "This needs matches that are archived because they ended long ago, and the archive cannot be reached now. "
        f"{_ARCHIVED} Try again later.",
    ),
    (StoreUnavailableError, "store-unavailable", RETRY_AFTER_S, f"Nothing is known to have changed. {_TRY_AGAIN}"),
    (
        TooManySignInsError,
        "sign-in-busy",
        RETRY_AFTER_S,
        "Too many people are signing in at this moment. Try again in a few seconds.",
    ),
)
"""Errors of the server with their problems, and the seconds after which a caller may try again."""


def _of_server(code: str, detail: str, retry_after_s: int = RETRY_AFTER_S) -> Problem:
    return Problem(code, detail, headers={"Retry-After": str(retry_after_s)})


def _stale(error: StaleVersionError) -> Problem:
    current = error.current
    if current.version > error.expected.version:
        detail = f"The match is at version {current.version}: read it again before you act."
    else:
        detail = (
            "What you have seen is no longer part of the match: the server has lost it in a failure. The match is at "
            f"version {current.version} of another history: read it again before you act."
        )
    return Problem("stale-version", detail, current_version=current.version, current_version_tag=str(current))


def no_such_match() -> Problem:
    """Return the problem for a match that does not exist, or that the caller may not see."""
    return Problem("no-such-match", "There is no match with this id, or it is private.")


def register(app: Flask) -> None:
    """Let ``app`` answer every error as a problem, and describe the kinds themselves under /problems/."""
    app.register_error_handler(Exception, answer)
    app.add_url_rule("/problems/<code>", "problem", _describe)


def answer(error: Exception) -> Response:
    """Return the response to a request that ended in ``error``."""
    problem = problem_of(error)
    g.problem = problem.code
    if problem.code == "internal-error":
        log.error(problem.code, path=_logged_path(), request=g.get("request_id"), exc_info=error)
    elif problem.status >= 500:
        log.warning(problem.code, path=_logged_path(), request=g.get("request_id"), error=str(error))
    response = _as_page(error, problem)
    if response is None:
        document = replace(problem.document, request_id=g.get("request_id") or UNSET)
        response = json_response(document, problem.status)
        response.content_type = JSON_PROBLEM
    response.headers.update(problem.headers)
    if problem.status == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


def _logged_path() -> str:
    """Return the path of the request without the secret that it may contain."""
    path, named = request.path, request.view_args or {}
    for secret in filter(None, map(named.get, SECRET_ARGUMENTS)):
        path = path.replace(secret, "...")
    return path


def _as_page(error: Exception, problem: Problem) -> Response | None:
    """Return ``problem`` as a page for people; None where JSON is wanted, or no page can be made."""
    page = current_app.extensions.get("rookery-problem-page")
    if page is None or request.path.startswith("/api/") or not request.accept_mimetypes.accept_html:
        return None
    if isinstance(error, BadHost) or problem.code == "other-host":  # there are no addresses to link to
        return None
    try:
        shown: Response = page(problem)
    except Exception as failure:
        log.error("problem-page-failed", path=_logged_path(), request=g.get("request_id"), exc_info=failure)
        return None
    return shown


def _of_http(error: HTTPException) -> Problem:
    status = error.code or 500
    if isinstance(error, BadHost):
        return Problem("bad-request", "A request names exactly one host in its header Host.")
    if status in _BY_STATUS:
        code, detail = _BY_STATUS[status]
        if isinstance(error, NotFound) and error.description != NotFound.description:
            detail = error.description or detail  # that of a page, which names the missing thing
    else:
        code = "bad-request" if 400 <= status < 500 else "internal-error"
        detail = error.description or KINDS[code].title
    headers = {}
    if isinstance(error, MethodNotAllowed) and error.valid_methods:
        headers["Allow"] = ", ".join(sorted(error.valid_methods))
    return Problem(code, detail, headers=headers)


def _describe(code: str) -> Response:
    if code not in KINDS:
        raise Problem("not-found", "There is no problem of this kind.")
    pages = "rookery-problem-page" in current_app.extensions
    if pages and request.accept_mimetypes.best_match(["application/json", "text/html"]) == "text/html":
        return Response(status=303, headers={"Location": f"/problems#{code}"})
    return json_response({"type": f"/problems/{code}", **KINDS[code]._asdict()})


def _sentence(text: str) -> str:
    if not text:
        return text
    return f"{text[0].upper()}{text[1:]}{'' if text.endswith(('.', '!', '?')) else '.'}"
