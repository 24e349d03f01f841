"""The sender of webhooks: calls the receiver, carries out its answer, and decides about a failure."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock
from typing import NamedTuple

from events.notify.endpoints import MAX_KEPT_ANSWER_BYTES, Endpoint, Endpoints, PayloadForm, SentWebhook
from events.notify.ledger import Ledger
from events.notify.notice import DeliveryState, Notice, NoticeKind
from events.notify.outbox import SLOW_WEBHOOKS, Dispatch, Purpose
from events.notify.webhooks.payload import TEST_TYPE, TYPES, WebhookStanding, notice_payload, trial_payload
from events.notify.webhooks.retries import held_until, next_attempt, retry_after_ms, within_time
from events.notify.webhooks.signing import signed_headers
from events.runtime.egress import EXCHANGE_TIMEOUT_S, Egress, EgressResponse
from events.runtime.egress_rules import EgressError, read_url
from workers.notices.match_reader import MatchReader
from workers.notices.senders import SendOutcome
from workers.notices.webhook_answers import BotAnswers, Fallback

GONE = 410
DISABLED_AS_GONE = "The receiver has answered 410 Gone: it wants no more webhooks."
MAX_STATUS_OF_SUCCESS = 299
ABORT_HEADER = ("webhook-delivery", "abort-message")
"""With this header of its answer a receiver refuses a webhook for good."""

WITH_DEADLINE = (NoticeKind.TURN, NoticeKind.DEADLINE)
QUICK_TIMEOUT_S = 5.0
"""For a test, and for a receiver that was quick so far: it is tried again, with more time, among the slow ones."""

HOST_BUSY_MS = 2_000
"""The delay of a webhook to a slow host that is being called."""

USER_AGENT = "Rookery-Webhooks"


class WebhookMessage(NamedTuple):
    """The content: ``standing`` is how the match of ``notice`` stands; both are None for a test."""

    id: str
    type: str
    body: bytes
    notice: Notice | None = None
    standing: WebhookStanding | None = None


class Called(NamedTuple):
    """The result of a call ``at`` an instant: the answer, or ``failure``, why there was none, as a sentence."""

    at: int
    headers: Mapping[str, str]
    answer: EgressResponse | None
    failure: str
    took_ms: int

    @property
    def delivered(self) -> bool:
        """Whether the receiver has taken the webhook."""
        return self.answer is not None and 200 <= self.answer.status <= MAX_STATUS_OF_SUCCESS

    @property
    def words(self) -> str:
        """The answer of the receiver, as a sentence."""
        if self.answer is None:
            return self.failure
        moved = " Redirects are not followed." if 300 <= self.answer.status < 400 else ""
        return f"The receiver answered {self.answer.status}.{moved}"

    def header(self, name: str) -> str | None:
        """Return a header of the answer, None without one."""
        return None if self.answer is None else self.answer.headers.get(name)


class WebhookSender:
    """Sends webhooks by ``egress``."""

    def __init__(
        self,
        endpoints: Endpoints,
        ledger: Ledger,
        matches: MatchReader,
        answers: BotAnswers,
        fallback: Fallback,
        egress: Egress,
    ) -> None:
        self._endpoints = endpoints
        self._ledger = ledger
        self._matches = matches
        self._answers = answers
        self._fallback = fallback
        self._egress = egress
        self._lock = Lock()
        self._slow_hosts: set[str] = set()

    def send(self, dispatch: Dispatch, now: int) -> SendOutcome:
        """Call the receiver and return the outcome.

        Crash-safe: a repetition has the same webhook-id, from which the request key of an answered move is made.
        """
        endpoint = self._endpoints.find(dispatch.player, dispatch.target)
        if endpoint is None:
            return SendOutcome(DeliveryState.NOT_SENT, "Not sent, because the webhook was deleted.")
        message = self._message(dispatch, endpoint)
        if message is None:
            return SendOutcome(DeliveryState.NOT_SENT, "Not sent, because its entry was erased from the ledger.")
        is_test = message.notice is None
        if endpoint.disabled is not None and not is_test:
            told = "" if endpoint.is_off_by_owner else self._fallback.tell_by_mail(message.notice, now)
            return SendOutcome(
                DeliveryState.NOT_SENT, f"Not sent, because the webhook is off: {endpoint.disabled}{told}"
            )
        if endpoint.held_until is not None and endpoint.held_until > now and not (is_test or dispatch.requested):
            return self._held(dispatch, message, endpoint.held_until, now)
        if not endpoint.is_quick and dispatch.lane != SLOW_WEBHOOKS:
            return SendOutcome(DeliveryState.WAITING, "Its turn comes soon.", now, tried=False, lane=SLOW_WEBHOOKS)
        with self._slot(endpoint) as free:
            if not free:
                reason = "Waits for another webhook to the same server."
                return SendOutcome(DeliveryState.WAITING, reason, now + HOST_BUSY_MS, tried=False)
            timeout_s = QUICK_TIMEOUT_S if is_test or endpoint.is_quick else EXCHANGE_TIMEOUT_S
            called = self._call(endpoint, message, now, timeout_s)
        after = self._taken if called.delivered else self._failed
        outcome = after(dispatch, message, called, now)
        self._log(dispatch, endpoint, message, called, outcome)
        return outcome

    @contextmanager
    def _slot(self, endpoint: Endpoint) -> Iterator[bool]:
        """Hold the one slot of a slow host while the block lasts; False where it is held."""
        host = read_url(endpoint.url).host
        with self._lock:
            free = endpoint.is_quick or host not in self._slow_hosts
            takes = free and not endpoint.is_quick
            self._slow_hosts |= {host} if takes else set()
        try:
            yield free
        finally:
            with self._lock:
                self._slow_hosts -= {host} if takes else set()

    def _message(self, dispatch: Dispatch, endpoint: Endpoint) -> WebhookMessage | None:
        page_url = self._matches.page_url
        if dispatch.purpose == Purpose.TEST:
            return WebhookMessage(dispatch.id, TEST_TYPE, trial_payload(dispatch.player, dispatch.first_at, page_url))
        notice = self._ledger.find(dispatch.player, dispatch.notices[0])
        if notice is None:
            return None
        loaded = self._matches.load(notice.match)
        standing = None if loaded is None else self._matches.standing(loaded, notice.player)
        full = endpoint.payload == PayloadForm.FULL
        body = notice_payload(notice, standing, full=full, page_url=page_url)
        return WebhookMessage(notice.id, TYPES[notice.kind], body, notice, standing)

    def _call(self, endpoint: Endpoint, message: WebhookMessage, now: int, timeout_s: float) -> Called:
        headers = {
            "Content-Type": "application/json",
            "User-Agent": USER_AGENT,
            **signed_headers(endpoint.keys_at(now), message.id, now, message.body),
        }
        answer, failure, began = None, "", time.monotonic()
        try:
            answer = self._egress.post(endpoint.url, headers, message.body, timeout_s=timeout_s)
        except EgressError as error:
            failure = str(error)
        return Called(now, headers, answer, failure, int(1000 * (time.monotonic() - began)))

    def _held(self, dispatch: Dispatch, message: WebhookMessage, until: int, now: int) -> SendOutcome:
        retry = within_time(until, dispatch.first_at, now, _deadline_of(message))
        told = self._fallback.tell_by_mail(message.notice, now) if retry.tell_by_mail else ""
        reason = f"The receiver has asked for fewer requests, or takes none.{told}"
        if retry.due is None:
            return SendOutcome(DeliveryState.FAILED, f"{reason} It would come too late.", tried=False)
        return SendOutcome(DeliveryState.WAITING, reason, retry.due, tried=False)

    def _taken(self, dispatch: Dispatch, message: WebhookMessage, called: Called, now: int) -> SendOutcome:
        def change(endpoint: Endpoint) -> Endpoint:
            return endpoint.after_success(now).after_call(called.took_ms)

        self._endpoints.change(dispatch.player, dispatch.target, change)
        did = ""
        if called.answer is not None and message.notice is not None and message.standing is not None:
            did = self._answers.carry_out(message.notice, message.standing, called.answer)
        return SendOutcome(DeliveryState.SENT, f"{called.words}{did}")

    def _failed(self, dispatch: Dispatch, message: WebhookMessage, called: Called, now: int) -> SendOutcome:
        status = None if called.answer is None else called.answer.status
        wait = retry_after_ms(called.header("retry-after"), now)

        def change(endpoint: Endpoint) -> Endpoint:
            until = held_until(status, endpoint.failures + 1, wait, now)
            failed = endpoint.after_failure(now, until).after_call(called.took_ms)
            is_gone = status == GONE and endpoint.disabled is None
            return replace(failed, disabled=DISABLED_AS_GONE) if is_gone else failed

        changed = self._endpoints.change(dispatch.player, dispatch.target, change)
        disabled = None if changed is None else changed.disabled
        if changed is not None and disabled is not None and not changed.is_off_by_owner:
            self._fallback.tell_of_disabled(dispatch.player, changed, now)
        if message.notice is None:
            return SendOutcome(DeliveryState.FAILED, called.words)
        refused = called.header(ABORT_HEADER[0]) == ABORT_HEADER[1]
        if refused or disabled is not None:
            why = "It refuses this webhook for good." if refused else f"The webhook is off now: {disabled}"
            told = self._fallback.tell_by_mail(message.notice, now)
            return SendOutcome(DeliveryState.FAILED, f"{called.words} {why}{told}")
        retry = next_attempt(
            dispatch.id, dispatch.attempts, dispatch.first_at, now, deadline=_deadline_of(message), retry_after_ms=wait
        )
        told = self._fallback.tell_by_mail(message.notice, now) if retry.tell_by_mail else ""
        if retry.due is None:
            return SendOutcome(DeliveryState.FAILED, f"{called.words} It is not sent again.{told}")
        return SendOutcome(DeliveryState.WAITING, f"{called.words}{told}", retry.due)

    def _log(
        self, dispatch: Dispatch, endpoint: Endpoint, message: WebhookMessage, called: Called, outcome: SendOutcome
    ) -> None:
        answer = called.answer
        attempt = SentWebhook(
            webhook_id=message.id,
            type=message.type,
            match=None if message.notice is None else message.notice.match,
            at=called.at,
            took_ms=called.took_ms,
            url=endpoint.url,
            headers=called.headers,
            body=message.body.decode(),
            status=None if answer is None else answer.status,
            answer="" if answer is None else answer.body[:MAX_KEPT_ANSWER_BYTES].decode(errors="replace"),
            delivered=called.delivered,
            outcome=outcome.reason,
        )
        self._endpoints.log(dispatch.player, endpoint.id, attempt)


def _deadline_of(message: WebhookMessage) -> int | None:
    """Return the instant up to which the player must have acted, None where a webhook is about no such thing."""
    if message.notice is None or message.standing is None or message.notice.kind not in WITH_DEADLINE:
        return None
    return message.standing.deadline
