"""What time makes due about notices: reminders, and chats with new messages. Crash-safe: idempotent, without memory."""

import threading

import structlog

from events.installation import Installation
from events.notices.scheduled_checks import Check
from events.runtime import beats
from events.runtime.backoff import Backoff
from events.runtime.errors import StoreUnavailableError
from events.service.matches import UnknownMatchError
from workers.notices.decide import Decider
from workers.shares import Share
from workers.threads import repeat

ROUND_MS = 1000

RETRY_MS = Backoff(10_000, 600_000)

log = structlog.get_logger("notices")


class NoticeRounds:
    """Does what time makes due about notices, in the ``share`` of this relay."""

    def __init__(self, installation: Installation, decider: Decider, share: Share = lambda: None) -> None:
        self._parts = installation
        self._decider = decider
        self._share = share

    def run(self, stop: threading.Event) -> None:
        """Do rounds until ``stop`` is set, waiting with growing delays for whatever is unavailable."""

        def step() -> float:
            self.do_round()
            return ROUND_MS / 1000

        repeat(step, stop, lambda: None, line="notice-rounds")

    def do_round(self) -> None:
        """Do what is due. Raises ClockMismatchError: nobody is reminded early."""
        self._parts.store.check_clock()
        shards = self._share()
        while (check := self._parts.checks.take(shards)) is not None:
            beats.beat()
            self._carry_out(check)

    def _carry_out(self, check: Check) -> None:
        try:
            self._decider.look_at_check(check)
        except StoreUnavailableError:
            raise
        except UnknownMatchError:
            self._parts.checks.finish(check)
        except Exception as error:
            # A match that cannot be read must not keep others from being told, and is tried less and less often.
            log.error("a match cannot be looked at", match=check.match, error=str(error))
            self._parts.checks.postpone(check, self._parts.now() + int(RETRY_MS.after(check.claim.attempts)))
