"""The timestamps of checkpoints (RFC 3161) as they are stored, and which is still to be requested."""

from typing import NamedTuple

from events.proof.checkpoint_log import CheckpointLog
from events.proof.checkpoints import DAY_LETTERS
from events.runtime.backoff import Backoff
from events.runtime.connections import StoreClient
from events.runtime.keys import ProofKeys
from events.store.converter import pack, unpack

RETRY_MS = Backoff(60_000, 3_600_000)
_ATTEMPTS = "attempts"


class _Attempts(NamedTuple):
    failures: int
    due: int


class TimestampStore:
    """The timestamps of an installation."""

    def __init__(self, client: StoreClient, prefix: str, checkpoints: CheckpointLog) -> None:
        self._client = client
        self._key = ProofKeys(prefix).timestamps
        self._checkpoints = checkpoints

    def of_day(self, day: str) -> bytes | None:
        """Return the answer of the service for the checkpoint of ``day`` (TimeStampResp, DER); None without one."""
        return None if day == _ATTEMPTS else self._client.hget(self._key, day)

    def waiting(self, now: int) -> str | None:
        """Return the day whose checkpoint is to be timestamped ``now``; None if there is none."""
        latest = self._checkpoints.latest_day()
        if latest is None:
            return None
        day = latest[:DAY_LETTERS]
        answer, attempts = self._client.hmget(self._key, [day, _ATTEMPTS])
        is_due = attempts is None or unpack(_Attempts, attempts).due <= now
        return day if answer is None and is_due else None

    def keep(self, day: str, answer: bytes) -> None:
        """Keep the ``answer`` of the service for the checkpoint of ``day``."""
        self._client.hset(self._key, day, answer)
        self._client.hdel(self._key, _ATTEMPTS)

    def note_failure(self, now: int) -> None:
        """Note that an attempt has failed ``now``: the next one is due later, and later each time."""
        attempts = self._client.hget(self._key, _ATTEMPTS)
        failures = (0 if attempts is None else unpack(_Attempts, attempts).failures) + 1
        self._client.hset(self._key, _ATTEMPTS, pack(_Attempts(failures, now + int(RETRY_MS.after(failures)))))
