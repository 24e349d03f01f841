"""Long work that is asked for: noted here, done by a worker, its result kept for a while.

A request never does such work itself. It says what is to be done, a worker does it when the sweeper has enqueued it,
and later requests find the result. A job is about a match, or about a person; each has one job at a time.
"""

import json
import zlib
from collections.abc import Callable
from typing import NamedTuple

from domain.search import ENGINE_VERSION
from events.runtime.connections import StoreClient

BUNDLE = "bundle"
RECOMPUTATION = "recomputation"
ARCHIVE = "archive"
"""All that is kept about a person; a job about the person's id."""

RESULT_KEPT_S = 24 * 3600
ARCHIVE_KEPT_S = 3600
JOB_KEPT_S = 600
"""After this a job that no worker has finished is given up, so that another one may be asked for."""


class Job(NamedTuple):
    """What is to be done: its kind, the version that it is about (0: the match as it stands), and when it was asked."""

    kind: str
    version: int
    asked_at: int


def basis_of_answer(digest: str) -> str:
    """Return what an opponent's answer follows from when it is computed again: the digest of its event, the engine."""
    return f"{digest}:{ENGINE_VERSION}"


class Jobs:
    """The jobs of an installation. Safe to share between threads; every method raises redis-py's errors.

    ``now`` returns milliseconds since 1970 UTC. A ``basis`` names all that a result follows from: digests of events,
    the version of the engine, the key that signed. With another basis there is no result yet.
    """

    def __init__(self, client: StoreClient, prefix: str, now: Callable[[], int]) -> None:
        self._client = client
        self._prefix = prefix
        self._now = now

    def ask(self, match: str, kind: str, version: int = 0) -> bool:
        """Let a worker do this; return False when another job of the match has to be done first."""
        job = Job(kind, version, self._now())
        # Crash-safe: killed before it is listed, the job is listed when it is asked for again.
        made = self._client.set(self._job(match), json.dumps(job), nx=True, ex=JOB_KEPT_S)
        self._list(match)
        return bool(made) or ((found := self.of(match)) is not None and found[:2] == job[:2])

    def of(self, match: str) -> Job | None:
        """Return the job of ``match``; None when it has none."""
        found = self._client.get(self._job(match))
        return None if found is None else Job(*json.loads(found))

    def waiting(self, most: int) -> list[tuple[str, int]]:
        """Return up to ``most`` matches that have a job, each with the instant since when."""
        listed = self._client.zrange(self._waiting, 0, most - 1, withscores=True)
        found = [(match.decode(), int(since)) for match, since in listed]
        for match, _ in found:
            if self.of(match) is None:
                self._client.zrem(self._waiting, match)
                if self.of(match) is not None:  # it was asked for in between
                    self._list(match)
        return [(match, since) for match, since in found if self.of(match) is not None]

    def finish(self, match: str) -> None:
        """Forget the job of ``match``, done or not."""
        self._client.delete(self._job(match))
        self._client.zrem(self._waiting, match)

    def keep(self, match: str, kind: str, basis: str, result: bytes) -> None:
        """Keep ``result`` for a day."""
        self._client.set(self._result(match, kind, basis), zlib.compress(result, 1), ex=RESULT_KEPT_S)

    def keep_archive(self, person: str, archive: bytes) -> None:
        """Keep the archive of a person for an hour."""
        self._client.set(self._result(person, ARCHIVE, ""), archive, ex=ARCHIVE_KEPT_S)

    def archive(self, person: str) -> bytes | None:
        """Return the archive of a person that was made in the last hour, None when none was."""
        found: bytes | None = self._client.get(self._result(person, ARCHIVE, ""))
        return found

    def erase(self, person: str) -> None:
        """Forget the archive of a person, and that one was asked for."""
        self.finish(person)
        self._client.delete(self._result(person, ARCHIVE, ""))

    def result(self, match: str, kind: str, basis: str) -> bytes | None:
        """Return the result that was kept, None when there is none."""
        found = self._client.get(self._result(match, kind, basis))
        return None if found is None else zlib.decompress(found)

    def _list(self, match: str) -> None:
        self._client.zadd(self._waiting, {match: self._now()}, nx=True)

    @property
    def _waiting(self) -> str:
        return f"{self._prefix}jobs"

    def _job(self, match: str) -> str:
        return f"{self._prefix}job:{{{match}}}"

    def _result(self, match: str, kind: str, basis: str) -> str:
        return f"{self._prefix}made:{{{match}}}:{kind}:{basis}"
