"""Long work that was requested: recorded here, done by a worker, its result stored for a while.

A request never does such work itself. It records a job, a worker does the job when the sweeper has enqueued it, and
later requests find the result. A job is about a match or a person, its subject; each subject has one job at a time.
"""

import zlib
from collections.abc import Callable
from typing import NamedTuple

from domain.search import ENGINE_VERSION
from events.runtime.connections import StoreClient
from events.runtime.keys import JobKeys
from events.runtime.origin import current
from events.store.converter import pack, unpack

BUNDLE = "bundle"
RECOMPUTATION = "recomputation"
ARCHIVE = "archive"
"""Everything that is stored about a person; the subject is the person's id."""

RESULT_TTL_S = 24 * 3600
ARCHIVE_TTL_S = 3600
JOB_TTL_S = 600
"""A job that no worker has finished after so long is given up, so that another one can be requested."""


class Job(NamedTuple):
    """What is to be done: its kind, the version that it is about (0: the match as it stands), when it was requested.

    ``origin`` is what has requested it (``events.runtime.origin``).
    """

    kind: str
    version: int
    requested_at: int
    origin: str = ""


def basis_of_answer(digest: str) -> str:
    """Return what a recomputed answer of an opponent follows from: the digest of its event, the engine."""
    return f"{digest}:{ENGINE_VERSION}"


class Jobs:
    """The jobs of an installation. Safe to share between threads; every method raises StoreUnavailableError.

    ``now`` returns milliseconds since 1970 UTC. A ``basis`` names everything that a result follows from: digests of
    events, the version of the engine, the key that signed. For another basis there is no result yet.
    """

    def __init__(self, client: StoreClient, prefix: str, now: Callable[[], int]) -> None:
        self._client = client
        self._keys = JobKeys(prefix)
        self.now = now

    def request(self, subject: str, kind: str, version: int = 0) -> bool:
        """Record a job; return False when another job of the subject has to be done first."""
        job = Job(kind, version, self.now(), str(current()))
        # Crash-safe: killed before it is listed, the job is listed when it is requested again.
        is_new = self._client.set(self._keys.job(subject), pack(job), nx=True, ex=JOB_TTL_S)
        self._list(subject)
        return bool(is_new) or ((found := self.pending(subject)) is not None and found[:2] == job[:2])

    def pending(self, subject: str) -> Job | None:
        """Return the job of the subject; None when it has none."""
        found = self._client.get(self._keys.job(subject))
        return None if found is None else unpack(Job, found)

    def waiting(self, limit: int) -> list[tuple[str, int]]:
        """Return up to ``limit`` subjects that have a job, each with the instant since when."""
        listed = self._client.zrange(self._keys.waiting, 0, limit - 1, withscores=True)
        found = [(subject.decode(), int(since)) for subject, since in listed]
        for subject, _ in found:
            if self.pending(subject) is None:
                self._client.zrem(self._keys.waiting, subject)
                if self.pending(subject) is not None:  # it was requested in between
                    self._list(subject)
        return [(subject, since) for subject, since in found if self.pending(subject) is not None]

    def count(self) -> int:
        """Return how many subjects are listed with a job."""
        return int(self._client.zcard(self._keys.waiting))

    def finish(self, subject: str) -> None:
        """Forget the job of the subject, done or not."""
        self._client.delete(self._keys.job(subject))
        self._client.zrem(self._keys.waiting, subject)

    def result(self, subject: str, kind: str, basis: str) -> bytes | None:
        """Return the stored result, None when there is none."""
        found = self._client.get(self._keys.result(subject, kind, basis))
        return None if found is None else zlib.decompress(found)

    def store_result(self, subject: str, kind: str, basis: str, result: bytes) -> None:
        """Store a result for RESULT_TTL_S."""
        self._client.set(self._keys.result(subject, kind, basis), zlib.compress(result, 1), ex=RESULT_TTL_S)

    def bundle_content(self, match_id: str, basis: str) -> tuple[bytes, int] | None:
        """Return the stored content of a bundle and the instant as of which it is signed, None when there is none."""
        stored = self.result(match_id, BUNDLE, basis)
        if stored is None:
            return None
        at, _, packed = stored.partition(b"\n")
        return packed, int(at)

    def store_bundle_content(self, match_id: str, basis: str, packed: bytes, at: int) -> None:
        """Store the content of a bundle for RESULT_TTL_S, to be signed as of ``at`` whenever it is asked for."""
        self.store_result(match_id, BUNDLE, basis, b"%d\n%s" % (at, packed))

    def archive(self, person_id: str) -> bytes | None:
        """Return the stored archive of a person, None when there is none."""
        return self._client.get(self._keys.result(person_id, ARCHIVE, ""))

    def store_archive(self, person_id: str, archive: bytes) -> None:
        """Store the archive of a person, which is compressed already, for ARCHIVE_TTL_S."""
        self._client.set(self._keys.result(person_id, ARCHIVE, ""), archive, ex=ARCHIVE_TTL_S)

    def erase(self, person_id: str) -> None:
        """Delete the archive of a person and the job that makes it."""
        self.finish(person_id)
        self._client.delete(self._keys.result(person_id, ARCHIVE, ""))

    def _list(self, subject: str) -> None:
        self._client.zadd(self._keys.waiting, {subject: self.now()}, nx=True)
