"""Wrong passwords for one name make the next attempts wait, from whatever addresses they come.

A limit for each address alone lets many machines guess the password of one person. After a few attempts a name is kept
waiting, each time twice as long. A device on which the person has signed in before is not, so that strangers cannot
lock people out of their own accounts.
"""

import hashlib

from api.http.problems import Problem
from events.runtime.connections import StoreClient
from events.runtime.keys import PeopleKeys

MAX_FREE_ATTEMPTS = 10
MAX_DELAY_S = 300
FORGOTTEN_AFTER_S = 3600


class SignInDelays:
    """Counts attempts for each name in the Redis of ``client``; names are kept as hashes, for an hour at most."""

    def __init__(self, client: StoreClient, prefix: str) -> None:
        self._client = client
        self._people = PeopleKeys(prefix)

    def begin(self, name: str) -> None:
        """Count an attempt as failed until ``succeed`` is called; raises the problem too-many-requests.

        The attempt counts before the password is looked at, so that a hundred at the same instant count as a hundred.
        """
        attempts, wait = self._keys(name)
        left = int(self._client.ttl(wait))
        if left > 0:
            raise _too_many(left)
        with self._client.pipeline(transaction=True) as pipeline:
            pipeline.incr(attempts)
            pipeline.expire(attempts, FORGOTTEN_AFTER_S)
            count = int(pipeline.execute()[0])
        if count > MAX_FREE_ATTEMPTS:
            delay = min(MAX_DELAY_S, 2 ** min(count - MAX_FREE_ATTEMPTS, 16))
            if not self._client.set(wait, "", ex=delay, nx=True):
                raise _too_many(max(1, int(self._client.ttl(wait))))

    def succeed(self, name: str) -> None:
        """Forget the attempts for ``name``."""
        self._client.delete(*self._keys(name))

    def _keys(self, name: str) -> tuple[str, str]:
        hashed = hashlib.sha256(name.lower().encode(errors="replace")).hexdigest()[:32]
        return self._people.failed_sign_ins(hashed), self._people.sign_in_delay(hashed)


def _too_many(seconds: int) -> Problem:
    detail = f"Too many wrong passwords were tried for this name. Wait {seconds} seconds."
    return Problem("too-many-requests", detail, headers={"Retry-After": str(seconds)})
