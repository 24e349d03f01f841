"""Authentication by a session cookie or a bearer token, and the protection of cookies against other sites."""

from flask import Response, g, request

from api.access.limits import announce, rate_limits, too_many
from api.http.bodies import current_request, request_globals
from api.http.problems import Problem
from api.services import services
from domain.match.due import Availability
from domain.match.enums import Channel
from events.people.availability import unpack_availability
from events.people.person import Person, Suspension, UnknownPersonError
from events.runtime.settings import Settings
from events.runtime.wall_clock import rfc3339

COOKIE = "rookery_session"
SECURE_COOKIE = f"__Host-{COOKIE}"
"""The name under TLS: browsers accept such a cookie from this host only, not from others of its domain."""

SESSION_S = 90 * 24 * 3600
DEVICE_COOKIE = "rookery_device"
"""Marks a device on which its person has signed in before: wrong passwords of strangers do not delay it."""

DEVICE_S = 400 * 24 * 3600
"""The longest time for which browsers keep a cookie."""

_TICKET = "rookery.ticket"
"""Where a request keeps the credential of its ticket, which is redeemed once and needed at every heartbeat."""

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def current_person() -> Person | None:
    """Return the caller, None for an anonymous one; raises invalid-token for a token that identifies nobody."""
    kept = request_globals()
    if "person" not in kept:
        credentials, ticket = services().people.credentials, request.environ.get(_TICKET)
        if ticket is not None:
            kept.person = credentials.person_of(ticket)
        else:
            kind, secret = _credential()
            kept.person = credentials.person_of(credentials.key(kind, secret)) if secret else None
            if kept.person is None:
                _refuse_bad_token(kind)
        if kept.person is not None:
            services().directory.record(kept.person)
    person: Person | None = kept.person
    return person


def issue_ticket() -> str | None:
    """Return a ticket that identifies the caller once in another process; None for an anonymous caller."""
    if current_person() is None:
        return None
    return services().tickets.issue(credential_key())


def credential_key() -> str:
    """Return the key under which the session or token of the request is stored; it does not reveal the secret."""
    return services().people.credentials.key(*_credential())


def redeem_ticket() -> None:
    """Identify the caller by the ticket in the query, if any, for this request; raises the problem invalid-token."""
    ticket = request.args.get("ticket")
    if ticket is None:
        return
    credential = services().tickets.redeem(ticket)
    if credential is None:
        raise Problem(
            "invalid-token", "This ticket was used, or is too old: open the stream at the address of the API again."
        )
    request.environ[_TICKET] = credential


def require_person() -> Person:
    """Return the caller; raises the problem not-signed-in for an anonymous one."""
    person = current_person()
    if person is None:
        raise Problem("not-signed-in", "Sign in, play as a guest, or send a token.")
    return person


def admitted_availability() -> Availability:
    """Return the availability of the caller of an unsafe request, as it was when the request was admitted."""
    return unpack_availability(g.availability)


def admit_person(session_only: bool) -> None:
    """Raise a problem unless a person is asking, on unsafe methods no more often than their limit allows.

    ``session_only`` refuses tokens: one that has leaked must not be able to make others that outlive it.
    """
    if request.method not in SAFE_METHODS:
        _admit()
    require_person()
    if session_only:
        refuse_token()


def shows_credential() -> bool:
    """Return whether the request carries a credential, valid or not."""
    return _TICKET in request.environ or "Authorization" in request.headers or bool(_credential()[1])


def refuse_token() -> None:
    """Raise the problem session-required when the caller uses a token."""
    if bearer() is not None:
        require_person()
        raise Problem(
            "session-required", "Sign in to do this: with a token, which may have leaked, it is not possible."
        )


def bearer() -> str | None:
    """Return the token of the Authorization header, None without the header; raises the problem invalid-token."""
    header = request.headers.get("Authorization")
    if header is None:
        return None
    scheme, _, secret = header.partition(" ")
    if scheme.lower() != "bearer" or not secret.strip():
        raise Problem("invalid-token", "The Authorization header must say: Bearer, a space, and a token.")
    return secret.strip()


def channel() -> Channel:
    """Return the channel of the caller: the web with a session cookie, the API with a token."""
    return Channel.WEB if bearer() is None else Channel.API


def refuse_other_sites() -> None:
    """Raise the problem cross-origin for an unsafe request that a page of another site may have caused.

    Only a cookie, sent by the browser itself, can be abused: a request with a token is never refused. Browsers send
    ``Origin`` with every unsafe request, old ones at least when it crosses origins.
    """
    received = current_request()
    if received.method in SAFE_METHODS or "Authorization" in received.headers:
        return
    origin, own = received.headers.get("Origin"), own_origin()
    if origin is None:
        if received.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
            raise Problem("cross-origin", "Pages of other sites cannot act for you here.")
    elif origin.lower() != own:
        detail = f"Pages of other sites cannot act for you here: yours is of {origin[:100]}, this site is {own}."
        raise Problem("cross-origin", detail)


def own_origin() -> str:
    """Return the origin (scheme, host, port) under which the caller sees this site, in lower case."""
    # With secure cookies the site is served by TLS only, whatever scheme its proxy uses towards this server.
    scheme = "https" if services().settings.secure_cookies else request.scheme
    return f"{scheme}://{request.host}".lower()


def session_cookie(settings: Settings) -> str:
    """Return the name of the cookie that holds a session."""
    return SECURE_COOKIE if settings.secure_cookies else COOKIE


def begin_session(response: Response, person: Person) -> Response:
    """Open a session of ``person`` in place of an earlier one and set its cookie; raises the problem not-signed-in."""
    people, settings = services().people, services().settings
    name = session_cookie(settings)
    earlier = request.cookies.get(name)
    if earlier:
        people.sessions.end(earlier)
    try:
        secret = people.sessions.open(person, SESSION_S)
    except UnknownPersonError as error:
        raise account_gone() from error
    response.set_cookie(name, secret, max_age=SESSION_S, httponly=True, samesite="Lax", secure=settings.secure_cookies)
    if person.kind != "guest":
        response.set_cookie(
            DEVICE_COOKIE,
            people.mark_device(person),
            max_age=DEVICE_S,
            path="/api/v1/sessions",
            httponly=True,
            samesite="Strict",
            secure=settings.secure_cookies,
        )
    return response


def account_gone() -> Problem:
    """Return the problem of a person who has been erased during the request."""
    return Problem("not-signed-in", "This account has been erased.")


def account_suspended(suspension: Suspension) -> Problem:
    """Return the problem of a suspended person."""
    end = "until the suspension is lifted" if suspension.until is None else f"until {rfc3339(suspension.until)}"
    return Problem("suspended", f"Your account is suspended {end}: {suspension.reason}")


def end_session(response: Response) -> Response:
    """End the session of the request and delete its cookie."""
    settings = services().settings
    name = session_cookie(settings)
    secret = request.cookies.get(name)
    if secret:
        services().people.sessions.end(secret)
    response.delete_cookie(name, httponly=True, samesite="Lax", secure=settings.secure_cookies)
    return response


def _admit() -> None:
    """Identify the caller and count the write, in one round trip."""
    kind, secret = _credential()
    writes = rate_limits().items["writes"]
    admission = services().people.credentials.admit(kind, secret, writes.get_expiry()) if secret else None
    kept = request_globals()
    kept.person = person = admission.person if admission else None
    kept.availability = admission.availability if admission else None
    if person is None:
        _refuse_bad_token(kind)
    else:
        services().directory.record(person)
    if admission and admission.suspension:
        raise account_suspended(admission.suspension)
    if admission:
        announce("writes", writes.amount - admission.used, admission.resets_in)
        if admission.used > writes.amount:
            raise too_many("writes", admission.resets_in)


def _credential() -> tuple[str, str]:
    """Return the kind and the secret of the caller's credential; an empty secret without one."""
    token = bearer()
    return (
        ("token", token)
        if token is not None
        else ("session", request.cookies.get(session_cookie(services().settings), ""))
    )


def _refuse_bad_token(kind: str) -> None:
    """Raise the problem invalid-token for a credential of this kind that identifies nobody."""
    if kind == "token":
        raise Problem("invalid-token", "This token was revoked or never existed.")


def require_role(*roles: str) -> Person:
    """Return the caller, who has one of ``roles``; raises the problems not-signed-in and role-required."""
    person = require_person()
    if services().administration.roles_of(person.id).isdisjoint(roles):
        raise Problem("role-required", f"Only {' and '.join(f'{role}s' for role in roles)} can do this.")
    return person
