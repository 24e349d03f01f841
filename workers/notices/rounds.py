"""What time makes due about notices: reminders, chats with new messages, and hints of what is to be sent.

A hint is a task on the queue ``notices`` that says only that something is due; what is due stands in the outbox. So a
hint may be lost, late or repeated.

Crash-safe: it remembers nothing that counts. Another relay, or this one after a restart, finds the same things to do,
and each of them is idempotent.
"""

import threading
from collections.abc import Callable
from functools import partial

import structlog

from events.installation import Installation
from events.runtime import beats
from events.runtime.backoff import Backoff
from events.runtime.errors import StoreUnavailableError
from events.service.matches import UnknownMatchError
from workers.notices.decide import Decider
from workers.retries import Retries
from workers.shares import Share
from workers.threads import repeat

ROUND_MS = 1000
"""What is due is looked for at least this often."""

MAX_LOOKS = 100
"""In one round, of each shard: the rest follows in the next one."""

MAX_HINTS = 8
"""At a time: as many as a worker has threads, each of which sends one thing after the other."""

HINT_DELAYS_MS = Backoff(5_000, 60_000)
"""Hints are repeated while what has been due for longest stays the same."""

log = structlog.get_logger("notices")


class Wake:
    """Lets the rounds know that something is to be sent at once; shared by the threads of a process."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def __call__(self) -> None:
        """Say that there is something to be sent."""
        self._event.set()

    def wait(self, stop: threading.Event, seconds: float) -> None:
        """Wait until something is to be sent or ``stop`` is set, ``seconds`` at most (a second or so)."""
        if not stop.is_set():
            self._event.wait(seconds)

    def take(self) -> bool:
        """Return whether something was to be sent since the last call."""
        woken = self._event.is_set()
        self._event.clear()
        return woken


class NoticeRounds:
    """Does what time makes due about notices, in the ``share`` of this relay. ``request_delivery`` enqueues a hint."""

    def __init__(
        self,
        installation: Installation,
        decider: Decider,
        request_delivery: Callable[[], object],
        wake: Wake,
        share: Share = lambda: None,
    ) -> None:
        self._parts = installation
        self._decider = decider
        self._request_delivery = request_delivery
        self._wake = wake
        self._share = share
        self._failed = Retries()
        self._hinted_due = -1
        self._hints = 0
        self._hint_again_at = 0

    def run(self, stop: threading.Event) -> None:
        """Do rounds until ``stop`` is set, waiting with growing delays for whatever is unavailable."""

        def step() -> float:
            self.do_round()
            self._wake.wait(stop, ROUND_MS / 1000)
            return 0.0

        repeat(step, stop, lambda: None, line="notice-rounds")

    def do_round(self) -> int:
        """Do what is due; return the number of hints that were given.

        Raises StoreUnavailableError, and ClockMismatchError when the clock of this process is wrong: then nobody is
        reminded early. Raises OperationalError when the broker cannot be reached.
        """
        # Before the outbox is looked at: what is added from now on wakes the next round.
        woken = self._wake.take()
        self._parts.store.check_clock()
        now = self._parts.now()
        # What cannot be looked at must not hide what is due behind it.
        limit = MAX_LOOKS + len(self._failed)
        for reminder in self._parts.looks.reminders_due(now, limit, self._share()):
            look = partial(self._decider.look_at_reminder, reminder)
            if not self._attempt(("reminder", reminder.match), now, look):
                self._parts.looks.end_reminder(reminder)
        for match_id in self._parts.looks.chats_due(now, limit, self._share()):
            look = partial(self._decider.look_at_chat, match_id)
            if not self._attempt(("chat", match_id), now, look):
                self._parts.looks.forget_chat(match_id, now)
        return self._give_hints(now, woken)

    def _attempt(self, subject: tuple[str, str], now: int, look: Callable[[], object]) -> bool:
        """Call ``look`` at a reminder or chat, and the match; return False when there is no such match any more."""
        beats.beat()
        if not self._failed.is_due(subject, 0, now):
            return True
        try:
            look()
        except StoreUnavailableError:
            raise
        except UnknownMatchError:
            return False
        except Exception as error:
            # A match that cannot be read must not keep others from being told, and is tried less and less often.
            self._failed.record(subject, 0, now)
            log.error("a match cannot be looked at", match=subject[1], error=str(error))
        return True

    def _give_hints(self, now: int, woken: bool) -> int:
        # What this relay has just added may belong to the share of another one, which looks there within a second.
        share = None if woken else self._share()
        due = self._parts.outbox.next_due(share)
        if due is None or due > now:
            return 0
        if due != self._hinted_due:
            self._hinted_due, self._hints = due, 0
        elif not woken and 0 < self._hint_again_at - now <= HINT_DELAYS_MS.longest:
            return 0
        self._hints += 1
        self._hint_again_at = now + int(HINT_DELAYS_MS.after(self._hints))
        hints = min(self._parts.outbox.count_due(now, share), MAX_HINTS)
        for _ in range(hints):
            self._request_delivery()
        return hints
