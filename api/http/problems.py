"""Problems of the API: one table of kinds, one way to answer them (RFC 9457, application/problem+json)."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Annotated, Any

import structlog
from flask import Flask, Response, current_app, g, request
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace
from werkzeug.exceptions import BadHost, HTTPException, MethodNotAllowed

from api.http.answers import Answer, json_response
from api.http.problem_explanations import EXPLANATIONS
from domain.match.refusals import CommandError
from events.archive.framing import ArchiveUnavailableError, DamagedArchiveError
from events.people.passwords import TooManySignInsError
from events.private.notebooks import QuotaExceededError
from events.runtime.errors import StoreFullError, StoreUnavailableError
from events.service.bot_admission import BeyondCapacityError
from events.service.matches import UnknownMatchError
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
"""What stands in these places of a path is a secret: it goes into no log, and no browser passes it on."""

KINDS: Mapping[str, tuple[int, str]] = {
    "bad-request": (400, "The request cannot be understood"),
    "malformed-json": (400, "The body is not JSON"),
    "other-host": (421, "This server is another host"),
    "not-signed-in": (401, "You are not signed in"),
    "invalid-token": (401, "The token is not valid"),
    "wrong-password": (401, "The name or the password is wrong"),
    "blocked": (403, "You are blocked"),
    "not-invitable": (403, "This player takes no such invitations"),
    "suspended": (403, "Your account is suspended"),
    "cross-origin": (403, "The request comes from another site"),
    "chat-closed": (403, "The chat is closed to you"),
    "sign-up-required": (403, "Sign up to do this"),
    "session-required": (403, "A token cannot do this"),
    "role-required": (403, "You need a role for this"),
    "conflict-of-interest": (403, "You have an interest in this match"),
    "own-ruling": (403, "It is your own ruling"),
    "own-case": (403, "You have opened this case"),
    "not-your-case": (403, "It is not your case"),
    "not-your-seat": (403, "You have no seat in this match"),
    "not-found": (404, "There is nothing here"),
    "no-such-match": (404, "There is no such match"),
    "no-such-game": (404, "There is no such game"),
    "no-such-player": (404, "There is no such player"),
    "no-such-notice": (404, "You have no such notice"),
    "no-such-message": (404, "There is no such message"),
    "not-blocked": (404, "You do not block this player"),
    "no-such-version": (404, "There is no such version"),
    "no-such-checkpoint": (404, "There is no such checkpoint"),
    "no-such-tile": (404, "The log has no such tile or bundle of entries"),
    "no-such-token": (404, "You have no such token"),
    "no-such-player-key": (404, "You have no such key"),
    "not-a-bot": (404, "This account is no bot"),
    "no-such-subscription": (404, "You have no such push subscription"),
    "no-feed-address": (404, "There is no address of feeds"),
    "push-not-offered": (404, "Push notices are not offered"),
    "no-such-webhook": (404, "You have no such webhook"),
    "no-such-delivery": (404, "There is no such delivery"),
    "no-vacation": (404, "You have no such vacation"),
    "method-not-allowed": (405, "This cannot be done here"),
    "stale-version": (409, "The match has moved on"),
    "version-tag-required": (412, "A version tag is required"),
    "not-your-turn": (409, "It is not your turn"),
    "match-over": (409, "The match is over"),
    "no-longer-playing": (409, "You no longer play in this match"),
    "match-not-started": (409, "The match has not started"),
    "match-exists": (409, "The match exists already"),
    "seats-taken": (409, "All seats are taken"),
    "seat-taken": (409, "The seat is taken"),
    "already-seated": (409, "You have a seat already"),
    "draw-already-offered": (409, "You have offered a draw already"),
    "no-draw-offer": (409, "No draw is on offer"),
    "too-late-to-abort": (409, "It is too late to call the match off"),
    "match-not-over": (409, "The match is not over"),
    "time-up": (409, "The time is up"),
    "time-not-up": (409, "The time is not up"),
    "nothing-to-forgive": (409, "There is nothing to forgive"),
    "too-late-to-forgive": (409, "It is too late to forgive"),
    "too-many-offers": (409, "You have made too many offers in this match"),
    "vacation-overlaps": (409, "You have a vacation then already"),
    "vacation-exhausted": (409, "No vacation is left"),
    "takebacks-not-allowed": (409, "Moves cannot be taken back"),
    "takeback-already-requested": (409, "A takeback has been requested already"),
    "nothing-to-take-back": (409, "There is nothing to take back"),
    "no-takeback-request": (409, "There is no request to take moves back"),
    "lines-not-allowed": (409, "Conditional lines are not allowed"),
    "quota-exceeded": (409, "Your storage is full"),
    "chat-full": (409, "The chat is full"),
    "match-frozen": (409, "The match is frozen"),
    "broken-match": (409, "The match cannot be replayed"),
    "dispute-open": (409, "There is an open case already"),
    "no-open-dispute": (409, "There is no open case"),
    "too-many-disputes": (409, "You have raised too many disputes"),
    "too-late-to-dispute": (409, "It is too late to dispute"),
    "statement-already-filed": (409, "You have filed your statement"),
    "nothing-to-freeze": (409, "There is nothing to freeze"),
    "nothing-to-appeal": (409, "There is nothing to appeal"),
    "already-settled": (409, "It was settled on appeal"),
    "nothing-to-reopen": (409, "There is nothing to reopen"),
    "too-late-to-appeal": (409, "It is too late to appeal"),
    "no-proposal": (409, "No other ruleset is proposed"),
    "no-such-target": (409, "There is nothing to send it to"),
    "name-taken": (409, "The name is taken"),
    "too-many-matches": (409, "You have too many matches"),
    "beyond-capacity": (409, "The bot does not take this match on"),
    "account-kind-fixed": (409, "The account stays what it is"),
    "too-many-blocks": (409, "You block too many people"),
    "mail-not-sent": (409, "This server sends no mail"),
    "no-mail-address": (409, "You have no such mail address"),
    "too-many-tokens": (409, "You have too many tokens"),
    "too-many-player-keys": (409, "You have too many keys"),
    "too-many-webhooks": (409, "You have too many webhooks"),
    "too-many-subscriptions": (409, "You have too many push subscriptions"),
    "subscription-ended": (409, "The push subscription has ended"),
    "too-large": (413, "The request is too large"),
    "not-json": (415, "The body must be JSON"),
    "invalid-fields": (422, "Some fields are invalid"),
    "invalid-signature": (422, "The signature is invalid"),
    "invalid-player-key": (422, "The key cannot be added"),
    "invalid-webhook-address": (422, "Webhooks cannot be sent there"),
    "unknown-game": (422, "There is no such game"),
    "unknown-setup": (422, "There is no such setup"),
    "unknown-ruleset": (422, "There is no such ruleset"),
    "unknown-player": (422, "There is no such player"),
    "invalid-seats": (422, "The seats are invalid"),
    "guests-get-no-mail": (422, "Guests get no mail"),
    "invalid-link": (422, "The link is not valid"),
    "guests-play-unrated": (422, "Guests play unrated"),
    "guests-play-weaker-opponents": (422, "Guests play weaker opponents"),
    "not-blockable": (422, "This player cannot be blocked"),
    "invalid-subscription": (422, "The push subscription is invalid"),
    "invalid-terms": (422, "The terms are invalid"),
    "invalid-lines": (422, "The lines are invalid"),
    "invalid-gift": (422, "The gift of time is invalid"),
    "invalid-calendar": (422, "The calendar is invalid"),
    "invalid-quiet-hours": (422, "The quiet hours are invalid"),
    "vacation-in-the-past": (422, "The vacation begins in the past"),
    "vacation-too-far": (422, "The vacation begins too far ahead"),
    "vacation-too-short": (422, "The vacation is too short"),
    "not-ready": (409, "It is not ready"),
    "job-running": (409, "Another job of the match is running"),
    "not-recomputable": (422, "This cannot be recomputed"),
    "no-such-ply": (422, "There is no such ply"),
    "illegal-move": (422, "The move is against the rules"),
    "malformed-move": (422, "The move cannot be read"),
    "malformed-position": (422, "The position cannot be read"),
    "unknown-pause": (422, "A clock is not paused for this"),
    "invalid-dispute": (422, "The dispute is invalid"),
    "invalid-ruling": (422, "The ruling is invalid"),
    "invalid-ruleset": (422, "The ruleset is invalid"),
    "idempotency-key-reused": (422, "The idempotency key belongs to another request"),
    "too-many-requests": (429, "Too many requests"),
    "internal-error": (500, "The server failed"),
    "store-unavailable": (503, "The store cannot be reached"),
    "store-full": (503, "The store takes no writes"),
    "sign-in-busy": (503, "Too many people are signing in"),
    "not-copied": (503, "Stored, but not yet copied"),
    "wrong-clock": (503, "A clock of the server is wrong"),
    "too-many-streams": (503, "Too many live streams"),
    "no-stream": (503, "The live stream is not served here"),
}
"""Status and title of each kind. Refusals of ``domain.match.decide`` have their own codes here, and no others."""

_BY_STATUS = {
    404: ("not-found", "There is nothing at this address."),
    405: ("method-not-allowed", "This address does not support this method."),
    413: ("too-large", "A request has at most 64 KiB."),
    415: ("not-json", "Send a JSON body with Content-Type: application/json."),
}

log = structlog.get_logger("rookery.api")


class ProblemDocument(Answer):
    """RFC 9457. ``errors`` maps a field to what is wrong with it."""

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
    """A refusal on its way to the caller. ``detail`` is the reason in a player's words.

    ``errors`` maps fields to messages; ``members`` are further members of the answer, ``headers`` further headers.
    """

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
        self.status, self.title = KINDS[code]
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
    if isinstance(error, ClockMismatchError):
        detail = (
            f"The clock of this part of the server is {describe_offset(error.offset_ms)} that of the store, so nothing "
            "is written here. Nothing has changed. Try again in a moment, with the same idempotency key."
        )
        return Problem("wrong-clock", detail, headers={"Retry-After": str(RETRY_AFTER_S)})
    if isinstance(error, StoreFullError):
        detail = (
            "The server takes no writes: its disk or memory is almost full, or too few copies of its store can be "
            "reached. Nothing was changed. You can read as usual; try again later."
        )
        return Problem("store-full", detail, headers={"Retry-After": str(RETRY_AFTER_FULL_S)})
    if isinstance(error, NotCopiedError):
        detail = (
            "This is stored, but not yet copied to as many servers as the operator demands, so a failure could still "
            "take it. Repeat it in a moment, with the same idempotency key: it is not carried out twice."
        )
        return Problem("not-copied", detail, headers={"Retry-After": str(RETRY_AFTER_S)})
    if isinstance(error, ReplicasBehindError):
        detail = (
            "The server takes no moves now: a copy of its store is behind or cannot be reached. Nothing is known to "
            "have changed. You can read as usual; try again in a moment, with the same idempotency key."
        )
        return Problem("store-unavailable", detail, headers={"Retry-After": str(RETRY_AFTER_S)})
    if isinstance(error, ArchiveUnavailableError | DamagedArchiveError):
        return _of_archive(error)
    if isinstance(error, StoreUnavailableError):
        detail = "Nothing is known to have changed. Try again in a moment, with the same idempotency key."
        return Problem("store-unavailable", detail, headers={"Retry-After": str(RETRY_AFTER_S)})
    if isinstance(error, TooManySignInsError):
        detail = "Too many people are signing in at this moment. Try again in a few seconds."
        return Problem("sign-in-busy", detail, headers={"Retry-After": str(RETRY_AFTER_S)})
    if isinstance(error, HTTPException):
        return _of_http(error)
    return Problem("internal-error", "The error has been recorded. There is nothing wrong with your request.")


def _of_archive(error: ArchiveUnavailableError | DamagedArchiveError) -> Problem:
    detail = (
        "This needs matches that are archived because they ended long ago, and the archive cannot be reached now. "
        "Nothing has changed. Matches that are being played are not concerned. Try again later."
    )
    if isinstance(error, DamagedArchiveError):
        detail = (
            "This needs a match that is archived because it ended long ago, and its file in the archive is damaged. "
            "Nothing has changed. Matches that are being played are not concerned. This one can be read again when the "
            "operator has restored the file."
        )
    return Problem("store-unavailable", detail, headers={"Retry-After": str(RETRY_AFTER_FULL_S)})


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
    g.person = None  # the page does not use the store, which may be unreachable
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
    else:
        code = "bad-request" if 400 <= status < 500 else "internal-error"
        detail = error.description or KINDS[code][1]
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
    status, title = KINDS[code]
    kind = {"type": f"/problems/{code}", "status": status, "title": title, "explanation": EXPLANATIONS[code]}
    return json_response(kind)


def _sentence(text: str) -> str:
    if not text:
        return text
    return f"{text[0].upper()}{text[1:]}{'' if text.endswith(('.', '!', '?')) else '.'}"
