"""The round in which a relay sees to it that checkpoints are cosigned and timestamped."""

from collections.abc import Callable

from events.installation import Installation
from events.proof.notes import parse_note

REPEAT_MS = 30_000
"""So long after a request the same is not requested again: the worker may be busy with it."""


class CosigningRound:
    """Requests, with ``request``, that those be asked who vouch for the last checkpoint and have not done so yet.

    These are the witnesses, and the timestamp service if there is one.
    """

    def __init__(self, installation: Installation, request: Callable[[], None]) -> None:
        self._parts = installation
        self._request = request
        self._requested_at = 0

    def __call__(self) -> bool:
        """Request it if there is anybody to ask; tell whether it was requested.

        Crash-safe: the store says who has answered; what was requested and lost is requested again.
        """
        now = self._parts.now()
        if now < self._requested_at + REPEAT_MS or not self._is_waiting(now):
            return False
        self._request()
        self._requested_at = now
        return True

    def _is_waiting(self, now: int) -> bool:
        if self._parts.settings.timestamp_url is not None and self._parts.timestamps.waiting(now) is not None:
            return True
        note = self._parts.checkpoints.note()
        return note is not None and bool(self._parts.witnesses.waiting(parse_note(note), now))
