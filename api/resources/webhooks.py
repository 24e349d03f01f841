"""Webhooks: where the caller wants them sent, their keys, and the log of requests and answers."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from flask import Blueprint
from marshmallow import ValidationError, fields, validate
from msgspec import Meta
from msgspec.structs import asdict

from api.access.auth import require_person
from api.access.limits import spend
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer, Instant, one_of
from api.http.problems import Problem
from api.http.schemas import EmptyBody, EnumField, StrictBoolean, StrictSchema, StrictString, page_limit
from api.operations.notice_targets import queue_test
from api.services import services
from events.notify import endpoints
from events.notify.notice import NoticeChannel, NoticeKind
from events.notify.webhooks.signing import fresh_keys, public_key_of
from events.people.person import Person, random_letters
from events.runtime.egress_rules import MAX_URL_CHARACTERS, EgressRefusedError
from events.runtime.errors import LimitReachedError
from events.runtime.wall_clock import rfc3339

blueprint = Blueprint("webhooks", __name__, url_prefix=PREFIX)


def _distinct(kinds: Sequence[str]) -> None:
    if len(set(kinds)) != len(kinds):
        raise ValidationError("must name each kind once")


class WebhookRequest(StrictSchema):
    url = StrictString(
        1, MAX_URL_CHARACTERS, required=True, about="Where webhooks are sent: https, port 443, a public address"
    )
    kinds = fields.List(
        EnumField(NoticeKind),
        required=True,
        validate=[validate.Length(1, len(NoticeKind), error=f"must have 1 to {len(NoticeKind)} kinds"), _distinct],
        metadata={"description": "What it is told of", "uniqueItems": True},
    )
    payload = EnumField(
        endpoints.PayloadForm, load_default=endpoints.PayloadForm.FULL, about="full: with position and legal moves"
    )


class WebhookChange(WebhookRequest):
    enabled = StrictBoolean(required=True)


class LogQuery(StrictSchema):
    limit = page_limit(10, endpoints.MAX_ATTEMPTS_LOGGED)


class Webhook(Answer):
    id: str
    url: str
    kinds: Annotated[Sequence[str], Meta(description="What it is told of")]
    payload: Annotated[str, one_of(endpoints.PayloadForm)]
    enabled: bool
    disabled_reason: Annotated[str | None, Meta(description="Why nothing is sent; null while it is enabled")]
    public_key: Annotated[str, Meta(description="Verifies the v1a signatures: whpk_ and an Ed25519 key in base 64")]
    created_at: Instant
    succeeded_at: Annotated[Instant | None, Meta(description="When the receiver last took a webhook")]
    failing_since: Annotated[Instant | None, Meta(description="Since when every attempt has failed; null: none has")]
    held_until: Annotated[
        Instant | None, Meta(description="Nothing is sent before, since the receiver has asked for that, or takes none")
    ]


class NewWebhook(Webhook):
    secret: Annotated[str, Meta(description="Verifies the v1 signatures; shown this once and never again")]


class NewSecret(Answer):
    secret: Annotated[str, Meta(description="Shown this once and never again")]
    public_key: str
    old_valid_until: Annotated[Instant, Meta(description="Until then webhooks are signed with the old keys, too")]


class WebhookList(Answer):
    items: Sequence[Webhook]


class DeliveryAttempt(Answer):
    """A webhook that was sent, and its outcome."""

    webhook_id: Annotated[str, Meta(description="The same in every attempt; that of the notice, but for tests")]
    type: str
    match: str | None
    at: Instant
    took_ms: Annotated[int, Meta(description="Milliseconds until the answer was complete")]
    url: str
    headers: Mapping[str, str]
    body: str
    status: Annotated[int | None, Meta(description="null: there was no answer")]
    answer: Annotated[str, Meta(description="The beginning of its body")]
    delivered: bool
    outcome: Annotated[str, Meta(description="What followed, as a sentence")]


class DeliveryLog(Answer):
    items: Sequence[DeliveryAttempt]


class Queued(Answer):
    webhook_id: Annotated[str, Meta(description="By which the attempt is found among the deliveries")]


@blueprint.get("/me/webhooks")
@endpoint(answer=WebhookList, signed_in=True)
def list_webhooks() -> WebhookList:
    """List the caller's webhooks

    Oldest first, without their secrets.
    """
    return WebhookList(items=[_represent(target) for target in services().endpoints.of(require_person().id)])


@blueprint.post("/me/webhooks")
@endpoint(201, answer=NewWebhook, body=WebhookRequest, signed_in=True, session_only=True, problems=[409])
def create_webhook(sent: Mapping[str, Any]) -> NewWebhook:
    """Create a webhook

    Notices of these kinds are posted to the address. The secret is shown once, in this answer. Only a session can.
    """
    person = require_person()
    if person.kind == "guest":
        raise Problem("sign-up-required", "Guests have no webhooks: sign up first.")
    _check_url(sent["url"])
    spend("webhook_addresses", person.id)
    created = endpoints.Endpoint(
        id="w" + random_letters(10),
        url=sent["url"],
        kinds=tuple(sent["kinds"]),
        payload=sent["payload"],
        created_at=services().now(),
        keys=(fresh_keys(),),
    )
    try:
        services().endpoints.add(person.id, created)
    except LimitReachedError as error:
        detail = f"You have {endpoints.MAX_ENDPOINTS_PER_PERSON} webhooks, and cannot have more: delete one first."
        raise Problem("too-many-webhooks", detail) from error
    return NewWebhook(**asdict(_represent(created)), secret=created.keys[0].secret)


@blueprint.get("/me/webhooks/<webhook>")
@endpoint(answer=Webhook, signed_in=True, problems=[404])
def show_webhook(webhook: str) -> Webhook:
    """Show a webhook

    And whether its receiver answers.
    """
    return _represent(_find(require_person(), webhook))


@blueprint.put("/me/webhooks/<webhook>")
@endpoint(answer=Webhook, body=WebhookChange, signed_in=True, session_only=True, problems=[404])
def change_webhook(sent: Mapping[str, Any], webhook: str) -> Webhook:
    """Change a webhook

    One that was switched off after failures is switched on again by `enabled`. Only a session can.
    """
    _check_url(sent["url"])
    person = require_person()
    target = _find(person, webhook)
    if target.url != sent["url"] or (target.disabled is not None and sent["enabled"]):
        # Its failures are forgotten, so that it is called at any time again.
        spend("webhook_addresses", person.id)

    def change(target: endpoints.Endpoint) -> endpoints.Endpoint:
        changed = replace(target, url=sent["url"], kinds=tuple(sent["kinds"]), payload=sent["payload"])
        if sent["enabled"]:
            return changed if target.disabled is None and target.url == changed.url else changed.enabled()
        return replace(changed, disabled=target.disabled or endpoints.DISABLED_BY_OWNER)

    changed = services().endpoints.change(person.id, webhook, change)
    if changed is None:
        raise _no_such_webhook()
    return _represent(changed)


@blueprint.delete("/me/webhooks/<webhook>")
@endpoint(204, signed_in=True, session_only=True, problems=[404])
def delete_webhook(webhook: str) -> None:
    """Delete a webhook

    Its deliveries are deleted with it. Only a session can.
    """
    if not services().endpoints.remove(require_person().id, webhook):
        raise _no_such_webhook()


@blueprint.post("/me/webhooks/<webhook>/secrets")
@endpoint(201, answer=NewSecret, body=EmptyBody, signed_in=True, session_only=True, problems=[404])
def rotate_secret(_: object, webhook: str) -> NewSecret:
    """Replace the keys of a webhook

    For a day the old ones sign beside the new. Only a session can.
    """
    now, fresh = services().now(), fresh_keys()
    changed = services().endpoints.change(
        require_person().id, webhook, lambda target: target.with_fresh_keys(fresh, now)
    )
    if changed is None:
        raise _no_such_webhook()
    until = rfc3339(now + endpoints.OLD_KEYS_VALID_MS)
    return NewSecret(secret=fresh.secret, public_key=public_key_of(fresh), old_valid_until=until)


@blueprint.post("/me/webhooks/<webhook>/tests")
@endpoint(202, answer=Queued, body=EmptyBody, signed_in=True, problems=[404])
def send_test_webhook(_: object, webhook: str) -> Queued:
    """Send a test webhook

    Of the type test. A moment later its outcome is among the deliveries.
    """
    person = require_person()
    return _queue_test(person, _find(person, webhook))


@blueprint.get("/me/webhooks/<webhook>/deliveries")
@endpoint(answer=DeliveryLog, query=LogQuery, signed_in=True, problems=[404])
def list_deliveries(query: Mapping[str, int], webhook: str) -> DeliveryLog:
    """List the deliveries of a webhook

    The last attempts, the latest first, with the request and the answer of each.
    """
    person = require_person()
    receiver = _find(person, webhook)
    logged = services().endpoints.attempts(person.id, receiver.id, query["limit"])
    return DeliveryLog(items=list(map(DeliveryAttempt.of, logged)))


@blueprint.post("/me/webhooks/<webhook>/deliveries/<delivery>/attempts")
@endpoint(202, answer=Queued, body=EmptyBody, signed_in=True, problems=[404])
def resend_delivery(_: object, webhook: str, delivery: str) -> Queued:
    """Send a webhook again

    Under the same webhook-id. A test is sent as another one.
    """
    person = require_person()
    receiver = _find(person, webhook)
    if _was_test(person, receiver, delivery):
        return _queue_test(person, receiver)
    spend("sends", person.id)
    if not services().ledger.send_again(person.id, delivery, NoticeChannel.WEBHOOK, receiver.id, services().now()):
        raise Problem("no-such-delivery", "Your ledger has no notice with this id any more.")
    return Queued(webhook_id=delivery)


def _queue_test(person: Person, endpoint: endpoints.Endpoint) -> Queued:
    id = "t" + random_letters(10)
    queue_test(person.id, NoticeChannel.WEBHOOK, endpoint.id, id)
    return Queued(webhook_id=id)


def _was_test(person: Person, endpoint: endpoints.Endpoint, delivery: str) -> bool:
    attempts = services().endpoints.attempts(person.id, endpoint.id)
    return any(attempt.webhook_id == delivery and attempt.type == "test" for attempt in attempts)


def _find(person: Person, webhook: str) -> endpoints.Endpoint:
    receiver = services().endpoints.find(person.id, webhook)
    if receiver is None:
        raise _no_such_webhook()
    return receiver


def _no_such_webhook() -> Problem:
    return Problem("no-such-webhook", "You have no webhook with this id.")


def _check_url(url: str) -> None:
    try:
        services().egress_rules.check_url(url)
    except EgressRefusedError as error:
        raise Problem("invalid-webhook-address", str(error), {"url": [str(error)]}) from error


def _represent(target: endpoints.Endpoint) -> Webhook:
    return Webhook.of(
        target,
        enabled=target.disabled is None,
        disabled_reason=target.disabled,
        public_key=public_key_of(target.keys[0]),
    )
