"""Reminders: tasks that are requested again, less and less often, while their effect is missing."""

from collections.abc import Callable

import structlog

from events.proof.checkpoint_log import CheckpointLog, NoCheckpointError
from events.proof.checkpoints import day_of, hour_of
from events.proof.documents import DocumentError
from events.proof.notes import parse_note
from events.proof.transparency.timestamp_store import TimestampStore
from events.proof.transparency.witnesses import Witnesses
from events.runtime import beats
from workers.retries import Retries
from workers.task_queue import TaskQueue
from workers.threads import TRANSIENT

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS

log = structlog.get_logger("sweeper")


class Reminders:
    """Requests missing work from ``tasks`` again."""

    def __init__(self, tasks: TaskQueue, now: Callable[[], int]) -> None:
        self.tasks = tasks
        self.now = now
        self._retries = Retries()

    def remind(self, kind: str, subject: str, since: int, request: Callable[[str], None]) -> int:
        """Request work missing ``since`` an instant, unless that was done recently; return 1 if it was."""
        now = self.now()
        if not self._retries.is_due((kind, subject), since, now):
            return 0
        beats.beat()
        try:
            request(subject)
        except TRANSIENT:
            raise
        except Exception as error:
            # A match that cannot be read must not keep the work for the others from being requested.
            log.error("cannot be requested", kind=kind, of=subject, error=str(error))
        self._retries.record((kind, subject), since, now)
        log.warning("requested again", kind=kind, of=subject, missing_ms=now - since)
        return 1


class CheckpointReminders:
    """Has checkpoints signed and vouched for; ``timestamps`` None where no service is set."""

    def __init__(
        self, reminders: Reminders, checkpoints: CheckpointLog, witnesses: Witnesses, timestamps: TimestampStore | None
    ) -> None:
        self._reminders = reminders
        self._checkpoints = checkpoints
        self._witnesses = witnesses
        self._timestamps = timestamps
        self._looked_hour = ""

    def request_checkpoint(self) -> bool:
        """Request the checkpoint of the day or hour while there is none; return whether it was requested."""
        now = self._reminders.now()
        day, hour = day_of(now), hour_of(now)
        if self._looked_hour != hour:
            try:
                latest = self._checkpoints.latest()
            except (DocumentError, NoCheckpointError) as error:
                log.error("the last checkpoint cannot be read", error=str(error))
                latest = None
            if latest is None or latest.day < day:
                begun = now // DAY_MS * DAY_MS
                return bool(
                    self._reminders.remind(
                        "checkpoint", day, begun, lambda _: self._reminders.tasks.request_checkpoint()
                    )
                )
            if self._checkpoints.is_look_due(latest, now):
                begun = now // HOUR_MS * HOUR_MS
                return bool(
                    self._reminders.remind(
                        "checkpoint", hour, begun, lambda _: self._reminders.tasks.request_checkpoint()
                    )
                )
            self._looked_hour = hour
        return False

    def request_cosignatures(self) -> bool:
        """Request that witnesses and the timestamp service be asked who have not vouched for the last checkpoint."""
        now = self._reminders.now()
        if self._timestamps is None or self._timestamps.waiting(now) is None:
            note = self._checkpoints.note()
            if note is None or not self._witnesses.waiting(parse_note(note), now):
                return False
        begun = now // HOUR_MS * HOUR_MS
        return bool(
            self._reminders.remind(
                "cosignatures", hour_of(now), begun, lambda _: self._reminders.tasks.request_cosignatures()
            )
        )
