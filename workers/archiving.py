"""The rounds in which a relay archives: matches, a pack when there is enough of them, and leaves of their log."""

from collections.abc import Callable, Iterator
from itertools import islice

import structlog

from events.matches.readmodels import Projected
from events.operations.archiving import DAY_MS, MATCHES_PER_PACK, Archiver
from events.proof.checkpoint_log import CheckpointLog, NoCheckpointError
from events.proof.documents import DocumentError
from events.store.archive.framing import ArchiveUnavailableError, DamagedArchiveError

MATCHES_PER_ROUND = 200

log = structlog.get_logger("archive")


class LeavesRound:
    """Moves leaves that a checkpoint covers to the storage of the archive, again after a start."""

    def __init__(self, checkpoints: CheckpointLog) -> None:
        self._checkpoints = checkpoints
        self._done: str | None = None

    def __call__(self) -> int:
        """Move some tiles; return how many. While the storage cannot be reached they stay."""
        latest = self._checkpoints.latest_day()
        if latest == self._done:
            return 0
        try:
            moved = self._checkpoints.move_tiles()
        except (ArchiveUnavailableError, DamagedArchiveError, DocumentError, NoCheckpointError) as error:
            log.error("leaves of the log of checkpoints cannot be moved now", error=str(error))
            return 0
        if not moved:
            self._done = latest
        return moved


class ArchiveRound:
    """Archives the matches that are due, a full pack of a game at a time, the rest once a day."""

    def __init__(self, archiver: Archiver, streams: Callable[[], Iterator[str]], now: Callable[[], int]) -> None:
        self._archiver = archiver
        self._streams = streams
        self._now = now
        self._left = streams()
        self._waiting: dict[str, dict[str, Projected]] = {}
        self._emptied_at = 0

    def __call__(self) -> int:
        """Look at some matches, write a pack if there is enough for one; return how many matches were archived."""
        try:
            return self._step()
        except ArchiveUnavailableError as error:
            log.error("nothing can be archived now", error=str(error))
            return 0

    def _step(self) -> int:
        match_ids = list(islice(self._left, MATCHES_PER_ROUND))
        for due in self._archiver.due(match_ids):
            self._waiting.setdefault(due.summary.game, {})[due.summary.match] = due
        full = next((game for game, due in self._waiting.items() if len(due) >= MATCHES_PER_PACK), None)
        if full is not None:
            return self._archive(full)
        if len(match_ids) == MATCHES_PER_ROUND:
            return 0
        if self._now() - self._emptied_at >= DAY_MS:
            if self._waiting:
                return self._archive(next(iter(self._waiting)))
            self._archiver.move_notes()
            self._archiver.merge_tables()
            self._archiver.collect()
            self._emptied_at = self._now()
        self._left = self._streams()
        return 0

    def _archive(self, game: str) -> int:
        due = list(self._waiting.pop(game).items())
        if later := due[MATCHES_PER_PACK:]:
            self._waiting[game] = dict(later)
        return self._archiver.archive(game, [projected for _, projected in due[:MATCHES_PER_PACK]])
