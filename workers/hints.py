"""Hints: tasks in the broker which say only that something in a work list can be claimed.

A hint may be lost, late or repeated: the entry stands in the list. Who adds an entry that is due at once gives a hint;
here they are given for entries that become due later, and again, less and less often, while the first claimable
entry stays the same.
"""

import threading
from collections.abc import Callable, Collection, Sequence

from events.runtime.backoff import Backoff
from events.runtime.work_list import WorkList
from workers.retries import Retries
from workers.shares import FIRST_SHARD, Share, has_shard
from workers.threads import repeat

ROUND_S = 2.0
"""The interval at which relays look for entries that are due."""

DELAYS_MS = Backoff(5_000, 60_000)


class ListHints:
    """Gives hints about ``work``: ``request`` enqueues one for a lane, ``most`` of them at a time."""

    def __init__(self, work: WorkList, request: Callable[[str], object], most: int = 1) -> None:
        self._work = work
        self._request = request
        self._most = most
        self._given = Retries(DELAYS_MS)

    def give(self, now: int, shards: Collection[int] | None = None, *, woken: bool = False) -> int:
        """Give the hints that are due at ``now`` about ``shards`` of the list; return how many."""
        due = {lane: at for lane, at in self._work.next_due(shards).items() if at <= now}
        self._given.keep(due)
        lanes = [lane for lane in due if woken or self._given.is_due(lane, None, now)]
        counts = self._work.count(now, shards) if lanes and self._most > 1 else {}
        hints = 0
        for lane in lanes:
            for _ in range(min(self._most, max(1, counts.get(lane, 1)))):
                self._request(lane)
                hints += 1
            self._given.record(lane, due[lane], now)
        return hints


class HintRounds:
    """Gives the hints about all work lists of an installation that this relay has a ``share`` of.

    Of the lists some are ``sharded``; those with a ``single`` shard belong to the relay with FIRST_SHARD. ``woken`` is
    set when something is added to the sharded ones that is due at once.
    """

    def __init__(
        self,
        sharded: Sequence[ListHints],
        single: Sequence[ListHints],
        woken: threading.Event,
        now: Callable[[], int],
        share: Share = lambda: None,
    ) -> None:
        self._sharded = sharded
        self._single = single
        self._woken = woken
        self._now = now
        self._share = share

    def run(self, stop: threading.Event) -> None:
        """Do rounds until ``stop`` is set, waiting with growing delays for whatever is unavailable."""

        def step() -> float:
            self.do_round()
            if not stop.is_set():
                self._woken.wait(ROUND_S)
            return 0.0

        repeat(step, stop, lambda: None, line="hints")

    def do_round(self) -> int:
        """Give the hints that are due; return how many. Raises StoreUnavailableError and OperationalError."""
        # Before the lists are looked at: an entry that is added from now on wakes the next round.
        woken = self._woken.is_set()
        self._woken.clear()
        now = self._now()
        # New entries of this relay may belong to the share of another one, which looks there within a round.
        shards = None if woken else self._share()
        hints = sum(relay.give(now, shards, woken=woken) for relay in self._sharded)
        if has_shard(self._share, FIRST_SHARD):
            hints += sum(relay.give(now) for relay in self._single)
        return hints
