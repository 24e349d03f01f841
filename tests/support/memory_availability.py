"""Availability in memory, for tests and simulations."""

from collections.abc import Iterable
from threading import Lock

from domain.match.due import Availability
from events.people.availability import AvailabilityStore, Change, Sync, sync_lane
from events.runtime.keys import WorkListKeys
from events.runtime.work_list import Claim

NO_LIST = WorkListKeys("", "", "")


class MemoryAvailabilityStore(AvailabilityStore):
    def __init__(self) -> None:
        self._lock = Lock()
        self._stored: dict[str, Availability] = {}
        self._syncs: dict[str, Sync] = {}

    def read(self, players: Iterable[str]) -> dict[str, Availability]:
        return {player: self._stored.get(player, Availability()) for player in players}

    def change(self, player: str, change: Change) -> tuple[Availability, str | None]:
        with self._lock:
            before = self._stored.get(player, Availability())
            after = change(before)
            if after == before:
                return after, None
            lane = sync_lane(player, before, after)
            self._stored[player] = after
            claim = Claim(NO_LIST, lane, "", lane, player, "", 0, 1)
            self._syncs[lane] = Sync(claim, player, forced=lane != player)
            return after, lane

    def claim_sync(self, lane: str | None = None) -> Sync | None:
        with self._lock:
            chosen = next(iter(self._syncs), None) if lane is None else lane
            return None if chosen is None else self._syncs.pop(chosen, None)

    def finish_sync(self, sync: Sync) -> None:
        """See AvailabilityStore."""

    def pending(self) -> list[str]:
        """Return the lanes of the changes that matches have yet to follow."""
        return list(self._syncs)
