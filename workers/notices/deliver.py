"""Sending what is in the outbox: one dispatch after the other is leased, looked at once more, sent, and recorded."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock

import structlog

from events.installation import Installation
from events.notices.facts import may_be_outdated, why_outdated
from events.notices.kinds import DeliveryState, NoticeChannel, Timing
from events.notices.notice import Notice
from events.notices.outbox import Dispatch, Purpose
from events.notices.policy import ABOUT, hold_of
from events.runtime.backoff import Backoff
from events.runtime.errors import StoreUnavailableError
from events.runtime.wall_clock import rfc3339
from events.service.matches import UnknownMatchError
from workers.notices.reach import circumstances_of
from workers.notices.senders import Outcome, Sender

LEASE_MS = 300_000
"""Longer than any attempt: one that takes longer would be made by a second worker."""

RETRY_DELAYS_MS = Backoff(60_000, 4 * 3_600_000)
GIVE_UP_MS = 5 * 24 * 3_600_000
"""What could not be sent for this long is given up."""

MAX_FAULTS = 5
"""A dispatch at which this server itself fails is given up after this number of attempts."""

MAX_PER_HINT = 50

MAX_AT_A_TIME = 4
"""Through one channel: half the threads of a worker, so that servers which hang hold up one channel only."""

MAX_AT_A_TIME_PER_PLAYER = 2
BUSY_DELAY_MS = 4_000
"""After so long it is tried again whether what had to wait for others can be sent."""

log = structlog.get_logger("notices")


class Slots:
    """How much is being sent at this moment in this process, by channel and by player."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._taken: Counter[tuple[str, ...]] = Counter()

    @contextmanager
    def slot(self, dispatch: Dispatch) -> Iterator[bool]:
        """Hold a slot for ``dispatch`` while the block lasts; False is yielded when there is none."""
        channel, player = (dispatch.channel,), (dispatch.channel, dispatch.player)
        with self._lock:
            free = self._taken[channel] < MAX_AT_A_TIME and self._taken[player] < MAX_AT_A_TIME_PER_PLAYER
            if free:
                self._taken.update((channel, player))
        try:
            yield free
        finally:
            if free:
                with self._lock:
                    self._taken.subtract((channel, player))
                    self._taken += Counter()


class Deliveries:
    """Sends what is due. Safe to share between threads.

    Methods raise StoreUnavailableError; what was leased then comes back when its lease ends.
    """

    def __init__(self, installation: Installation, senders: Mapping[NoticeChannel, Sender]) -> None:
        self._parts = installation
        self._outbox = installation.outbox
        self._senders = senders
        self._slots = Slots()

    def deliver_due(self, limit: int = MAX_PER_HINT) -> int:
        """Send what is due, up to ``limit`` dispatches; return how many were handled.

        Raises ClockMismatchError when the clock of this process is wrong: it would take what others are sending.
        """
        self._parts.store.check_clock()
        handled = 0
        while handled < limit and (dispatch := self._outbox.take(self._parts.now(), LEASE_MS)) is not None:
            self.deliver(dispatch)
            handled += 1
        return handled

    def deliver(self, dispatch: Dispatch) -> None:
        """Send ``dispatch``, which was taken from the outbox, unless something is against it; record what became of it.

        Crash-safe: a kill before the record leaves the lease, and it is sent again when that ends: by mail with the
        same Message-ID, by webhook with the same id. Only the receiver can tell then that it has it already.
        """
        now = self._parts.now()
        try:
            if dispatch.purpose == Purpose.DIGEST:
                dispatch = self._without_outdated(dispatch, now)
            outcome = self._obstacle(dispatch, now) or self._send(dispatch, now)
        except StoreUnavailableError:
            raise
        except Exception:
            log.exception("cannot be sent", dispatch=dispatch.id, channel=dispatch.channel)
            state = DeliveryState.WAITING if dispatch.attempts < MAX_FAULTS else DeliveryState.FAILED
            outcome = Outcome(state, "The server failed at sending it; this is a fault of Rookery.")
        self._record(dispatch, outcome, self._parts.now())

    def _obstacle(self, dispatch: Dispatch, now: int) -> Outcome | None:
        """Return what becomes of something that must not be sent, or not now; None when nothing is against it."""
        if dispatch.purpose == Purpose.DIGEST and not dispatch.notices:
            return Outcome(DeliveryState.NOT_SENT, "Nothing of this digest was still to be told.")
        if dispatch.purpose != Purpose.NOTICE:
            return None
        notice = self._parts.ledger.find(dispatch.player, dispatch.notices[0])
        if notice is None:
            return Outcome(DeliveryState.NOT_SENT, "Its entry was erased from the ledger.")
        if dispatch.requested and dispatch.channel == NoticeChannel.WEBHOOK:
            return None  # a receiver that is tried out gets it again, outdated or not: it is told how the match stands
        reason = self._why_not(notice, dispatch)
        if reason is not None:
            return Outcome(DeliveryState.NOT_SENT, f"Not sent. {reason}")
        if dispatch.requested or dispatch.channel == NoticeChannel.WEBHOOK:
            return None
        known = circumstances_of(self._parts, dispatch.player, notice.match, now)
        hold = hold_of(notice.kind, notice.deadline, known)
        return None if hold is None else Outcome(DeliveryState.WAITING, hold.reason, hold.until, tried=False)

    def _without_outdated(self, dispatch: Dispatch, now: int) -> Dispatch:
        """Return a digest with what is still so; the rest is recorded as not sent."""
        found = {each.id: each for each in self._parts.ledger.find_all(dispatch.player, dispatch.notices)}
        kept = []
        for id in dispatch.notices:
            reason = self._why_not(found[id], dispatch) if id in found else "Its entry was erased."
            if reason is None:
                kept.append(id)
            else:
                self._outbox.drop(dispatch, id, f"Not in your digest. {reason}", now)
        return replace(dispatch, notices=tuple(kept))

    def _why_not(self, notice: Notice, dispatch: Dispatch) -> str | None:
        """Return why there is no more need to tell of ``notice``, a sentence; None when there is."""
        preferences = self._parts.preferences.read(notice.player)
        timings = {NoticeChannel.MAIL: preferences.mail, NoticeChannel.PUSH: preferences.push}.get(dispatch.channel, {})
        if timings.get(notice.kind) == Timing.NEVER and not dispatch.requested:
            return f"You no longer want to be told of {ABOUT[notice.kind]} this way."
        if notice.match is None or not may_be_outdated(notice.fact):
            return None
        try:
            return why_outdated(notice.fact, notice.player, self._parts.matches.load(notice.match).state)
        except StoreUnavailableError:
            raise
        except UnknownMatchError:
            return "The match is not there any more."
        except Exception:
            # One match that cannot be read must not keep the others of a digest from being told.
            log.exception("cannot be looked at", match=notice.match)
            return "The match cannot be read."

    def _send(self, dispatch: Dispatch, now: int) -> Outcome:
        with self._slots.slot(dispatch) as free:
            return self._senders[dispatch.channel].send(dispatch, now) if free else _busy(dispatch, now)

    def _record(self, dispatch: Dispatch, outcome: Outcome, now: int) -> None:
        if outcome.state != DeliveryState.WAITING:
            self._outbox.finish(dispatch, outcome.state, outcome.reason, now)
        elif outcome.tried and now - dispatch.first_at > GIVE_UP_MS:
            reason = f"Given up after {GIVE_UP_MS // 86_400_000} days. {outcome.reason}"
            self._outbox.finish(dispatch, DeliveryState.FAILED, reason, now)
        else:
            due = retry_at(dispatch, now) if outcome.due is None else outcome.due
            self._outbox.postpone(dispatch, due, outcome.reason, now, tried=outcome.tried)
        log.info(
            "handled",
            dispatch=dispatch.id,
            purpose=dispatch.purpose,
            channel=dispatch.channel,
            state=outcome.state,
            due=None if outcome.due is None else rfc3339(outcome.due),
        )


def _busy(dispatch: Dispatch, now: int) -> Outcome:
    due = now + int(BUSY_DELAY_MS * _jitter(dispatch))
    return Outcome(DeliveryState.WAITING, "Waits until other things are sent.", due, tried=False)


def retry_at(dispatch: Dispatch, now: int) -> int:
    """Return when ``dispatch`` is tried again after its last attempt: up to a quarter earlier or later than planned.

    The same for the same attempt.
    """
    return now + int(RETRY_DELAYS_MS.after(max(1, dispatch.attempts)) * _jitter(dispatch))


def _jitter(dispatch: Dispatch) -> float:
    digest = hashlib.sha256(f"{dispatch.id} {dispatch.attempts}".encode()).digest()
    return 0.75 + int.from_bytes(digest[:2], "big") / (2 * 0xFFFF)
