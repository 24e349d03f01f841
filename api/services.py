"""The parts that resources use: one installation per app, and the delays after wrong passwords."""

import hashlib
from collections.abc import Callable
from functools import cached_property
from typing import Any

from flask import Flask, current_app, request

from api.http.problems import Problem
from events.installation import Installation
from events.runtime.connections import StoreClient
from events.runtime.keys import PeopleKeys

MAX_FREE_ATTEMPTS = 10
MAX_DELAY_S = 300
ATTEMPTS_KEPT_S = 3600


class SignInDelays:
    """Wrong passwords for a name, by its hash and for an hour, delay the next attempts from any address.

    Limits per address alone would let many machines guess one password. Devices on which the person has signed in
    before do not wait, so that strangers cannot lock people out of their own accounts.
    """

    def __init__(self, client: StoreClient, prefix: str) -> None:
        self._client = client
        self._keys = PeopleKeys(prefix)

    def begin(self, name: str) -> None:
        """Count an attempt as failed until ``succeed`` is called. Raises the problem too-many-requests.

        Attempts are counted before the password is checked, so that simultaneous ones all count.
        """
        attempts, wait = self._keys_of(name)
        left = int(self._client.ttl(wait))
        if left > 0:
            raise _too_many(left)
        with self._client.pipeline(transaction=True) as pipeline:
            pipeline.incr(attempts)
            pipeline.expire(attempts, ATTEMPTS_KEPT_S)
            count = int(pipeline.execute()[0])
        if count > MAX_FREE_ATTEMPTS:
            delay = min(MAX_DELAY_S, 2 ** min(count - MAX_FREE_ATTEMPTS, 16))
            if not self._client.set(wait, "", ex=delay, nx=True):
                raise _too_many(max(1, int(self._client.ttl(wait))))

    def succeed(self, name: str) -> None:
        """Forget the attempts for ``name``."""
        self._client.delete(*self._keys_of(name))

    def _keys_of(self, name: str) -> tuple[str, str]:
        digest = hashlib.sha256(name.lower().encode(errors="replace")).hexdigest()[:32]
        return self._keys.failed_sign_ins(digest), self._keys.sign_in_delay(digest)


def _too_many(seconds: int) -> Problem:
    detail = f"Too many wrong passwords were tried for this name. Wait {seconds} seconds."
    return Problem("too-many-requests", detail, headers={"Retry-After": str(seconds)})


EXTENSION = "rookery"


class Api(Flask):
    """An app whose views and hooks are plain functions."""

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Return ``func``; Flask would look at each request again whether it is a coroutine."""
        return func


class Services(Installation):
    """An installation as an app sees it. Making one does not connect: an app may start before its store."""

    @cached_property
    def sign_in_delays(self) -> SignInDelays:
        """How long names and addresses have to wait after wrong passwords."""
        return SignInDelays(self.client, self.prefix)


def refuse_wrong_clock() -> None:
    """Raise ClockMismatchError for a request that may write while the clock of this process is wrong."""
    if request.method in ("GET", "HEAD", "OPTIONS"):
        return
    clock = services().store.clock
    if clock is not None:
        clock.check()


def services() -> Services:
    """Return the services of the current app."""
    registered: Services = current_app.extensions[EXTENSION]
    return registered
