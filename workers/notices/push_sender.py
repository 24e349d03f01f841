"""Sends push messages: encrypts the text of a notice for one browser, and hands it to its push service."""

import os
from collections.abc import Callable
from typing import NamedTuple

import structlog
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key

from domain.games import GAMES
from domain.match.state import people_seated
from events.matches.readmodels import ReadModels
from events.notify.ledger import Ledger
from events.notify.notice import DeliveryState, Notice
from events.notify.outbox import Dispatch, Purpose
from events.notify.push.encryption import MAX_PLAINTEXT_BYTES, SALT_BYTES, encrypt, from_base64url
from events.notify.push.payload import body_of, message, title_of, topic_of, ttl_of, urgency_of
from events.notify.push.sender_key import SenderKeyStore, authorization
from events.notify.push.services import service_name
from events.notify.subscriptions import Subscription, Subscriptions
from events.notify.wording import page_of
from events.people.accounts import People
from events.people.availability import AvailabilityStore, zone_of
from events.people.blocks import Blocks, blocked_by, names_of_others
from events.proof.key_file import UnreadableKeyError
from events.runtime.backoff import read_retry_after
from events.runtime.egress import Egress, EgressResponse
from events.runtime.egress_rules import EgressError, EgressRefusedError
from workers.notices.senders import SendOutcome

TEST_TTL_S = 600
MIN_RETRY_MS = 60_000
MAX_RETRY_MS = 6 * 3_600_000
GONE = {
    404: "does not know this browser any more",
    410: "says that this browser wants no more notices",
    401: "takes no more notices of this server for this browser",
    403: "takes no more notices of this server for this browser",
}
"""The answers after which a subscription ends, in words."""

SIGNED_OUT = "The person who got notices here was signed out."

log = structlog.get_logger("push")


class PushMessage(NamedTuple):
    """A message as a push service takes it."""

    content: bytes
    ttl_s: int
    urgency: str
    topic: str


class PushComposer(NamedTuple):
    """Composes the messages of push notices, whose links lead to ``page_url``."""

    ledger: Ledger
    readmodels: ReadModels
    people: People
    blocks: Blocks
    availability: AvailabilityStore
    page_url: str

    def compose(self, dispatch: Dispatch, now: int) -> PushMessage | None:
        """Return the message of ``dispatch``; None when its notice is not in the ledger any more."""
        if dispatch.purpose == Purpose.TEST:
            words = "This is the test notice that you have asked for. Notices reach this browser."
            content = message("Rookery", words, self._link("/settings/notices"), "test")
            return PushMessage(content, TEST_TTL_S, "high", "test")
        notice = self.ledger.find(dispatch.player, dispatch.notices[0]) if dispatch.notices else None
        if notice is None:
            return None
        link = self._link(page_of(notice.fact, notice.match))
        content = message(self._title(notice), self._body(notice), link, topic_of(notice))
        return PushMessage(content, ttl_of(notice.deadline, now), urgency_of(notice.kind), topic_of(notice))

    def _title(self, notice: Notice) -> str:
        summary = self.readmodels.summary(notice.match) if notice.match else None
        if summary is None or summary.game not in GAMES:
            return "Rookery"
        persons = self.people.persons(people_seated(summary.seats))
        others = names_of_others(summary.seats, notice.player, persons, blocked_by(self.blocks, notice.player))
        return title_of(notice, GAMES[summary.game].title, others)

    def _body(self, notice: Notice) -> str:
        return body_of(notice, zone_of(self.availability.read([notice.player])[notice.player].zone))

    def _link(self, path: str) -> str:
        return f"{self.page_url.rstrip('/')}{path}"


class PushSender(NamedTuple):
    """The sender of the channel push; it calls push services through ``egress``, as ``subject`` (None: not at all)."""

    composer: PushComposer
    subscriptions: Subscriptions
    push_key: SenderKeyStore
    egress: Egress
    now: Callable[[], int]
    subject: str | None

    def send(self, dispatch: Dispatch, now: int) -> SendOutcome:
        """Send ``dispatch``, a test once; return its outcome. Crash-safe: a repetition replaces the shown one."""
        subscription = self.subscriptions.find(dispatch.player, dispatch.target)
        if subscription is None:
            return SendOutcome(DeliveryState.NOT_SENT, "The browser was removed from your settings.")
        if not subscription.ended and not self._is_signed_in(subscription, dispatch.player):
            self.subscriptions.end(dispatch.player, subscription.id, SIGNED_OUT, now, subscription.session)
            subscription = subscription._replace(ended=SIGNED_OUT)
        if subscription.ended:
            return SendOutcome(
                DeliveryState.NOT_SENT, f"{subscription.label} gets no more notices. {subscription.ended}"
            )
        if self.subject is None:
            return SendOutcome(DeliveryState.FAILED, "This server does not send push notices any more.")
        outcome = self._deliver(subscription, dispatch, now)
        if outcome.state == DeliveryState.WAITING and dispatch.purpose == Purpose.TEST:
            return SendOutcome(DeliveryState.FAILED, outcome.reason)
        return outcome

    def _deliver(self, subscription: Subscription, dispatch: Dispatch, now: int) -> SendOutcome:
        made = self.composer.compose(dispatch, now)
        if made is None:
            return SendOutcome(DeliveryState.NOT_SENT, "What it was about is not there any more.")
        try:
            answer = self._post(subscription, made, now)
        except UnreadableKeyError as error:
            log.error("the key of push notices cannot be read", error=str(error))
            return SendOutcome(DeliveryState.WAITING, "This server cannot read its key: its operator has to mend that.")
        except EgressError as error:
            state = DeliveryState.FAILED if isinstance(error, EgressRefusedError) else DeliveryState.WAITING
            outcome = SendOutcome(state, f"{service_name(subscription.endpoint)} could not be reached. {error}")
        else:
            outcome = self._outcome(subscription, dispatch, answer, now)
        delivered = outcome.state == DeliveryState.SENT
        self.subscriptions.record(dispatch.player, subscription.id, outcome.reason, self.now(), delivered=delivered)
        return outcome

    def _outcome(self, subscription: Subscription, dispatch: Dispatch, answer: EgressResponse, now: int) -> SendOutcome:
        service, status = service_name(subscription.endpoint), answer.status
        if 200 <= status < 300:
            return SendOutcome(DeliveryState.SENT, f"{service} has taken it for {subscription.label}.")
        if status in GONE:
            reason = f"{service} {GONE[status]} (status {status})."
            self.subscriptions.end(dispatch.player, subscription.id, reason, now, subscription.session)
            removed = f"{subscription.label} was removed: switch notices on again there."
            return SendOutcome(DeliveryState.FAILED, f"{reason} {removed}")
        refused = f"{service} answered with status {status}."
        if status in (408, 429) or status >= 500:
            return SendOutcome(DeliveryState.WAITING, refused, retry_after(answer.headers.get("retry-after"), now))
        return SendOutcome(DeliveryState.FAILED, refused)

    def _post(self, subscription: Subscription, made: PushMessage, now: int) -> EgressResponse:
        key: EllipticCurvePrivateKey = self.push_key.read()
        body = encrypt(
            made.content,
            from_base64url(subscription.point),
            from_base64url(subscription.secret),
            generate_private_key(SECP256R1()),
            os.urandom(SALT_BYTES),
            pad_to=MAX_PLAINTEXT_BYTES,  # the length would tell the push service the contents of a message
        )
        headers = {
            "Authorization": authorization(subscription.endpoint, key, self.subject or "", now),
            "Content-Encoding": "aes128gcm",
            "Content-Type": "application/octet-stream",
            "TTL": str(made.ttl_s),
            "Urgency": made.urgency,
            "Topic": made.topic,
        }
        return self.egress.post(subscription.endpoint, headers, body)

    def _is_signed_in(self, subscription: Subscription, player: str) -> bool:
        person = self.composer.people.credentials.person_of(subscription.session)
        return person is not None and person.id == player


def retry_after(header: str | None, now: int) -> int | None:
    """Return the instant that a header Retry-After names, within reasonable bounds; None without one."""
    wait = read_retry_after(header, now)
    return None if wait is None else now + max(MIN_RETRY_MS, min(MAX_RETRY_MS, wait))
