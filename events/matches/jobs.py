"""Long work that was requested, one job at a time about a match or a person: a worker does it, results stay a while."""

import zlib
from collections.abc import Callable
from typing import NamedTuple

from domain.search import ENGINE_VERSION
from events.runtime.connections import StoreClient
from events.runtime.keys import JobKeys
from events.runtime.origin import current
from events.runtime.work_list import WorkList
from events.store.converter import pack, unpack

BUNDLE = "bundle"
RECOMPUTATION = "recomputation"
ARCHIVE = "archive"
"""Everything that is stored about a person; the subject is the person's id."""

ANIMATION = "animation"
"""A stretch of a match as an animated picture; the further subject is an ``AnimationQuery``."""

NODES_PER_FRAME = 1_000
"""The cost of a frame of an animated picture, in nodes of a search, which take about as long."""

NODES_PER_EVENT = 10
"""The cost of replaying an event, in nodes of a search, which takes about as long."""

RESULT_TTL_S = 24 * 3600
ARCHIVE_TTL_S = 3600


class Job(NamedTuple):
    """A job: its kind, the version that it is about (0: the match as it stands), its origin, its further subject."""

    kind: str
    version: int
    origin: str = ""
    detail: str = ""


def basis_of_answer(digest: str) -> str:
    """Return the basis of a recomputed answer of an opponent: the digest of its event, the engine."""
    return f"{digest}:{ENGINE_VERSION}"


class Jobs:
    """The jobs of an installation, entries of the work list ``work``, owned by their requesters.

    A ``basis`` names everything that a result follows from: for another basis there is no result yet.
    """

    def __init__(self, client: StoreClient, prefix: str, now: Callable[[], int], work: WorkList) -> None:
        self._client = client
        self._keys = JobKeys(prefix)
        self.now = now
        self.work = work

    def request(
        self, subject: str, kind: str, version: int = 0, detail: str = "", *, requester: str, cost: int
    ) -> bool:
        """Record a job of ``cost`` nodes; return False when another one of the subject has to be done first.

        The ``requester`` (a person, or a network address) for whom less was done is served first.
        """
        job = Job(kind, version, str(current()), detail)
        if self.work.add(subject, requester, self.now(), pack(job), cost=cost):
            return True
        pending = self.pending(subject)
        return pending is not None and pending == job._replace(origin=pending.origin)

    def pending(self, subject: str) -> Job | None:
        """Return the job of the subject; None when it has none."""
        packed = self.work.entry_content("", subject)
        return None if packed is None else unpack(Job, packed)

    def result(self, subject: str, kind: str, basis: str) -> bytes | None:
        """Return the stored result, None when there is none."""
        compressed = self._client.get(self._keys.result(subject, kind, basis))
        return None if compressed is None else zlib.decompress(compressed)

    def store_result(self, subject: str, kind: str, basis: str, result: bytes, ttl_s: int = RESULT_TTL_S) -> None:
        """Store a result for ``ttl_s``."""
        self._client.set(self._keys.result(subject, kind, basis), zlib.compress(result, 1), ex=ttl_s)

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
        self.work.discard("", [person_id])
        self._client.delete(self._keys.result(person_id, ARCHIVE, ""))
