"""Sending the outbox: one dispatch after the other is claimed, looked at once more, sent, and recorded."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from threading import Lock

import structlog

from events.matches.matches import Matches, UnknownMatchError
from events.notify.facts import may_be_outdated, why_outdated
from events.notify.ledger import Ledger
from events.notify.notice import DeliveryState, Notice, NoticeChannel, Timing
from events.notify.outbox import SLOW_WEBHOOKS, Dispatch, Outbox, Purpose
from events.notify.policy import ABOUT, MINUTE_MS, hold_of
from events.runtime.backoff import Backoff
from events.runtime.errors import StoreUnavailableError
from events.runtime.wall_clock import rfc3339
from workers.claims import Renewal
from workers.notices.reach import CircumstancesReader
from workers.notices.senders import Sender, SendOutcome

RETRY_DELAYS_MS = Backoff(60_000, 4 * 3_600_000)
GIVE_UP_MS = 5 * 24 * 3_600_000
MAX_FAULTS = 5
"""A dispatch at which this server itself fails is given up after this number of attempts."""

MAX_DELIVERY_S = 300
"""A dispatch that is sent for longer is left to another worker."""

MAX_PER_HINT = 50
SHARES = {NoticeChannel.MAIL: 3, NoticeChannel.PUSH: 2, NoticeChannel.WEBHOOK: 3, SLOW_WEBHOOKS: 3}
"""How much is sent at a time in one process, by lane: servers that hang hold up their own lane only."""

MAX_NOTICES_LOOKED_AT = 20
"""The last ones of a player, among which mail of the last minute is looked for."""

NO_SENDER = SendOutcome(DeliveryState.FAILED, "This server cannot send through this channel.")
SENT_TOGETHER = SendOutcome(DeliveryState.WAITING, "Sent in a minute, with what else has happened then.", tried=False)

log = structlog.get_logger("notices")


class Slots:
    """How much is being sent at this moment in this process, by lane."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._taken: Counter[str] = Counter()

    @contextmanager
    def slot(self, lane: str) -> Iterator[bool]:
        """Hold a slot of ``lane`` while the block lasts; False is yielded when all are held."""
        with self._lock:
            free = self._taken[lane] < SHARES[lane]
            self._taken[lane] += free
        try:
            yield free
        finally:
            with self._lock:
                self._taken[lane] -= free


class Deliveries:
    """Sends the dispatches that are due; a claimed one comes back after an error."""

    def __init__(
        self,
        outbox: Outbox,
        ledger: Ledger,
        matches: Matches,
        circumstances: CircumstancesReader,
        senders: Mapping[NoticeChannel, Sender],
        now: Callable[[], int],
    ) -> None:
        self._outbox = outbox
        self._ledger = ledger
        self._matches = matches
        self._circumstances = circumstances
        self._senders = senders
        self._now = now
        self._slots = Slots()

    def deliver_due(self) -> int:
        """Send up to MAX_PER_HINT dispatches that are due; return how many were handled."""
        handled = 0
        while handled < MAX_PER_HINT and any(map(self._deliver_next, SHARES)):
            handled += 1
        return handled

    def _deliver_next(self, lane: str) -> bool:
        """Send a dispatch of ``lane``; return False when none is due, or as many are being sent as may be at a time."""
        with self._slots.slot(lane) as free:
            dispatch = self._outbox.take([lane]) if free else None
            if dispatch is None:
                return False
            with Renewal(partial(self._outbox.renew, dispatch), self._outbox.work.lease_ms, MAX_DELIVERY_S):
                self.deliver(dispatch)
            return True

    def deliver(self, dispatch: Dispatch) -> None:
        """Send ``dispatch`` unless something is against it; record its outcome.

        Crash-safe: killed before the record it is sent again, with the same Message-ID or webhook-id.
        """
        now = self._now()
        try:
            if len(dispatch.notices) > 1:
                dispatch = self._without_outdated(dispatch, now)
            outcome = self._obstacle(dispatch, now)
            if outcome is None and _may_go_with_others(dispatch) and dispatch.attempts == 1:
                gathered = None if self._is_soon_after_another(dispatch, now) else self._gathered(dispatch, now)
                outcome = SENT_TOGETHER._replace(due=now + MINUTE_MS) if gathered is None else None
                dispatch = gathered or dispatch
            sender = self._senders.get(dispatch.channel)
            outcome = outcome or (NO_SENDER if sender is None else sender.send(dispatch, now))
        except StoreUnavailableError:
            raise
        except Exception:
            log.exception("cannot be sent", dispatch=dispatch.id, channel=dispatch.channel)
            state = DeliveryState.WAITING if dispatch.attempts < MAX_FAULTS else DeliveryState.FAILED
            outcome = SendOutcome(state, "The server failed at sending it; this is a fault of Rookery.")
        self._record(dispatch, outcome, self._now())

    def _obstacle(self, dispatch: Dispatch, now: int) -> SendOutcome | None:
        if dispatch.purpose not in (Purpose.DIGEST, Purpose.NOTICE):
            return None
        if not dispatch.notices:
            return SendOutcome(DeliveryState.NOT_SENT, "Nothing of it was still to be told.")
        notices = self._ledger.find_all(dispatch.player, dispatch.notices)
        if not notices:
            return SendOutcome(DeliveryState.NOT_SENT, "Its entry was erased from the ledger.")
        if dispatch.requested and dispatch.channel == NoticeChannel.WEBHOOK:
            return None  # a receiver that is tried out gets it again, outdated or not: it is told how the match stands
        reason = self._why_not(notices[0], dispatch)
        if reason is not None:
            return SendOutcome(DeliveryState.NOT_SENT, _not_sent(dispatch, reason))
        if dispatch.requested or dispatch.channel == NoticeChannel.WEBHOOK or dispatch.purpose == Purpose.DIGEST:
            return None
        holds = []
        for notice in notices:
            circumstances = self._circumstances.read(dispatch.player, notice.match, now)
            hold = hold_of(notice.kind, notice.deadline, circumstances)
            if hold is None:
                return None
            holds.append(hold)
        return SendOutcome(DeliveryState.WAITING, min(holds).reason, min(holds).until, tried=False)

    def _gathered(self, dispatch: Dispatch, now: int) -> Dispatch | None:
        """Return ``dispatch`` with all other notices due by mail now; None when it goes with another one."""
        others = (other for other in self._outbox.of(dispatch.player) if other.id != dispatch.id and other.due <= now)
        alike = (other for other in others if _may_go_with_others(other) and other.purpose == dispatch.purpose)
        ready = [other for other in alike if self._obstacle(other, now) is None]
        return self._outbox.gather(dispatch, ready, now)

    def _is_soon_after_another(self, dispatch: Dispatch, now: int) -> bool:
        if dispatch.purpose == Purpose.DIGEST:
            return False
        notices = self._ledger.page(dispatch.player, limit=MAX_NOTICES_LOOKED_AT).notices
        match = next((notice.match for notice in notices if notice.id in dispatch.notices), None)
        return any(
            (sent.channel, sent.state) == (NoticeChannel.MAIL, DeliveryState.SENT) and sent.at > now - MINUTE_MS
            for notice in notices
            for sent in notice.deliveries
            if notice.match != match
        )

    def _without_outdated(self, dispatch: Dispatch, now: int) -> Dispatch:
        """Return the gathered notices that are still true; the rest is recorded as not sent."""
        entries = {entry.id: entry for entry in self._ledger.find_all(dispatch.player, dispatch.notices)}
        kept = []
        for id in dispatch.notices:
            reason = self._why_not(entries[id], dispatch) if id in entries else "Its entry was erased."
            if reason is None:
                kept.append(id)
            else:
                self._outbox.drop(dispatch, id, _not_sent(dispatch, reason), now)
        return replace(dispatch, notices=tuple(kept))

    def _why_not(self, notice: Notice, dispatch: Dispatch) -> str | None:
        preferences = self._circumstances.preferences.read(notice.player)
        timings = {NoticeChannel.MAIL: preferences.mail, NoticeChannel.PUSH: preferences.push}.get(dispatch.channel, {})
        if timings.get(notice.kind) == Timing.NEVER and not dispatch.requested:
            return f"You no longer want to be told of {ABOUT[notice.kind]} this way."
        if notice.match is None or not may_be_outdated(notice.fact):
            return None
        try:
            return why_outdated(notice.fact, notice.player, self._matches.load(notice.match).state)
        except StoreUnavailableError:
            raise
        except UnknownMatchError:
            return "The match is not there any more."
        except Exception:
            # One match that cannot be read must not keep the others of a digest from being told.
            log.exception("cannot be looked at", match=notice.match)
            return "The match cannot be read."

    def _record(self, dispatch: Dispatch, outcome: SendOutcome, now: int) -> None:
        if outcome.state != DeliveryState.WAITING:
            self._outbox.finish(dispatch, outcome.state, outcome.reason, now)
        elif outcome.tried and now - dispatch.first_at > GIVE_UP_MS:
            reason = f"Given up after {GIVE_UP_MS // 86_400_000} days. {outcome.reason}"
            self._outbox.finish(dispatch, DeliveryState.FAILED, reason, now)
        else:
            due = retry_at(dispatch, now) if outcome.due is None else outcome.due
            self._outbox.postpone(dispatch, due, outcome.reason, now, tried=outcome.tried, lane=outcome.lane)
        log.info(
            "handled",
            dispatch=dispatch.id,
            purpose=dispatch.purpose,
            channel=dispatch.channel,
            state=outcome.state,
            due=None if outcome.due is None else rfc3339(outcome.due),
        )


def _may_go_with_others(dispatch: Dispatch) -> bool:
    """Tell whether a dispatch is a notice by mail that its player has not asked for once more."""
    is_notice = dispatch.purpose in (Purpose.DIGEST, Purpose.NOTICE)
    return dispatch.channel == NoticeChannel.MAIL and is_notice and not dispatch.requested


def _not_sent(dispatch: Dispatch, reason: str) -> str:
    return f"Not {'in your digest' if dispatch.purpose == Purpose.DIGEST else 'sent'}. {reason}"


def retry_at(dispatch: Dispatch, now: int) -> int:
    """Return when ``dispatch`` is tried again: up to a quarter off the plan, always the same."""
    return now + int(RETRY_DELAYS_MS.after(max(1, dispatch.attempts)) * _jitter(dispatch))


def _jitter(dispatch: Dispatch) -> float:
    digest = hashlib.sha256(f"{dispatch.id} {dispatch.attempts}".encode()).digest()
    return 0.75 + int.from_bytes(digest[:2], "big") / (2 * 0xFFFF)
