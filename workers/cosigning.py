"""The round in which a relay sees to it that every checkpoint is cosigned."""

from collections.abc import Callable

from events.proof.checkpoint_log import CheckpointLog
from events.proof.notes import parse_note
from events.transparency.witnesses import Witnesses

REPEAT_MS = 30_000
"""So long after a request the same is not requested again: the worker may be busy with it."""


class CosigningRound:
    """Requests that witnesses be asked while there are some that have not cosigned the last checkpoint and are due."""

    def __init__(
        self, witnesses: Witnesses, checkpoints: CheckpointLog, request: Callable[[], None], now: Callable[[], int]
    ) -> None:
        self._witnesses = witnesses
        self._checkpoints = checkpoints
        self._request = request
        self._now = now
        self._requested_at = 0

    def __call__(self) -> bool:
        """Request it if there is anything to ask; tell whether it was requested.

        Crash-safe: the store says who has cosigned; what was requested and lost is requested again.
        """
        now = self._now()
        if now < self._requested_at + REPEAT_MS or (packed := self._checkpoints.note()) is None:
            return False
        if not self._witnesses.waiting(parse_note(packed), now):
            return False
        self._request()
        self._requested_at = now
        return True
