"""Push notices: the browsers of the caller that get them, and the key that browsers subscribe with."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from flask import Blueprint, request
from marshmallow import fields
from msgspec import Meta

from api.access.auth import credential_key, require_person
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer, Instant
from api.http.problems import Problem
from api.http.schemas import EmptyBody, StrictSchema, StrictString, pattern
from api.operations.notice_targets import queue_test
from api.services import services
from events.notify import subscriptions as stored
from events.notify.notice import NoticeChannel
from events.notify.push.encryption import InvalidKeyError, encoded_point, from_base64url, read_point, to_base64url
from events.notify.push.sender_key import subject_of
from events.notify.push.services import MAX_ENDPOINT_LENGTH, InvalidEndpointError, check_endpoint, service_name
from events.notify.subscriptions import MAX_LABEL_LENGTH, MAX_SUBSCRIPTIONS, subscription_id
from events.runtime.errors import LimitReachedError

blueprint = Blueprint("push", __name__, url_prefix=PREFIX)

POINT_PATTERN = "B[A-Za-z0-9_-]{86}=?"
SECRET_PATTERN = "[A-Za-z0-9_-]{22}(==)?"  # noqa: S105 - the shape of one
ID_PATTERN = "[a-z2-7]{24}"

_BROWSERS = (
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("Edg/", "Edge"),
    ("EdgA/", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
_DEVICES = (
    ("iPhone", "an iPhone"),
    ("iPad", "an iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Macintosh", "a Mac"),
    ("CrOS", "a Chromebook"),
    ("Linux", "Linux"),
)
"""Parts of User-Agent, the more telling first, and their meaning."""


class SubscriptionKeys(StrictSchema):
    p256dh = StrictString(
        required=True,
        validate=pattern(POINT_PATTERN, "must be an uncompressed point, 65 bytes in base64url"),
        about="The public key of the browser",
    )
    auth = StrictString(
        required=True,
        validate=pattern(SECRET_PATTERN, "must be 16 bytes in base64url"),
        about="The secret of the browser",
    )


class SubscriptionRequest(StrictSchema):
    endpoint = StrictString(
        1,
        MAX_ENDPOINT_LENGTH,
        required=True,
        about="The address at the push service, as PushSubscription.toJSON() has it",
    )
    keys = fields.Nested(SubscriptionKeys, required=True)
    label = StrictString(
        1, MAX_LABEL_LENGTH, load_default=None, about="Browser and device in words; if left out, what User-Agent says"
    )
    replaces = StrictString(
        load_default=None,
        validate=pattern(ID_PATTERN, "must be the id of a subscription"),
        about="The id of the subscription that this browser had before",
    )


class PushKey(Answer):
    key: Annotated[str, Meta(description="An uncompressed point of P-256 in base64url: applicationServerKey")]


class PushSubscription(Answer):
    id: str
    label: str
    service: Annotated[str, Meta(description="Whose push service it is; empty once the subscription has ended")]
    created_at: Instant
    delivered_at: Annotated[Instant | None, Meta(description="When a push service last accepted a notice for it")]
    answer: Annotated[str, Meta(description="What became of the last notice, as a sentence; empty before the first")]
    answered_at: Instant | None
    ended: Annotated[str, Meta(description="Why it has ended, as a sentence; empty while it has not")]


class PushSubscriptionList(Answer):
    items: Annotated[Sequence[PushSubscription], Meta(description="Oldest first; ended ones for 30 days")]
    most: Annotated[int, Meta(description="How many a person can have")]


@blueprint.get("/push-key")
@endpoint(answer=PushKey, problems=[404])
def show_push_key() -> PushKey:
    """Show the key for push messages

    The public key with which browsers subscribe (RFC 8292). 404 where the server sends no push messages.
    """
    _refuse_unless_offered()
    return PushKey(key=to_base64url(encoded_point(services().push_key.read().public_key())))


@blueprint.get("/me/push-subscriptions")
@endpoint(answer=PushSubscriptionList, signed_in=True)
def list_subscriptions() -> PushSubscriptionList:
    """List the browsers with push messages

    With the outcome of the last delivery to each.
    """
    subscriptions = services().subscriptions.of(require_person().id)
    return PushSubscriptionList(
        items=[_represent(subscription) for subscription in subscriptions], most=MAX_SUBSCRIPTIONS
    )


@blueprint.post("/me/push-subscriptions")
@endpoint(
    201, answer=PushSubscription, body=SubscriptionRequest, signed_in=True, session_only=True, problems=[404, 409]
)
def subscribe(sent: Mapping[str, Any]) -> PushSubscription:
    """Subscribe a browser to push messages

    For as long as the caller is signed in there. Only a session can.
    """
    _refuse_unless_offered()
    target, keys = sent["endpoint"], sent["keys"]
    try:
        check_endpoint(target, services().settings.egress_allowed)
    except InvalidEndpointError as error:
        raise Problem("invalid-subscription", f"The endpoint {error}.", {"endpoint": [str(error)]}) from error
    try:
        read_point(from_base64url(keys["p256dh"]))
    except InvalidKeyError as error:
        raise Problem("invalid-subscription", f"The key p256dh {error}.", {"keys.p256dh": [str(error)]}) from error
    subscription = stored.Subscription(
        id=subscription_id(target),
        endpoint=target,
        point=keys["p256dh"],
        secret=keys["auth"],
        label=sent["label"] or browser_label(request.headers.get("User-Agent", "")),
        session=credential_key(),
        created_at=services().now(),
    )
    try:
        return _represent(services().subscriptions.save(require_person().id, subscription, sent["replaces"]))
    except LimitReachedError as error:
        raise Problem("too-many-subscriptions", f"{error}.") from error


@blueprint.delete("/me/push-subscriptions/<subscription>")
@endpoint(204, signed_in=True, session_only=True, problems=[404])
def unsubscribe(subscription: str) -> None:
    """Unsubscribe a browser

    It gets no more push messages and is forgotten.
    """
    if not services().subscriptions.remove(require_person().id, subscription):
        raise _no_such_subscription()


@blueprint.post("/me/push-subscriptions/<subscription>/tests")
@endpoint(202, body=EmptyBody, signed_in=True, problems=[404, 409])
def send_test_push(_: Mapping[str, Any], subscription: str) -> None:
    """Send a test message to a browser

    The list of subscriptions then shows its outcome.
    """
    person, now = require_person(), services().now()
    browser = services().subscriptions.find(person.id, subscription)
    if browser is None:
        raise _no_such_subscription()
    if browser.ended:
        raise Problem("subscription-ended", f"This browser gets no more notices. {browser.ended}")
    queue_test(person.id, NoticeChannel.PUSH, subscription, f"test:{subscription}:{now}")


def _refuse_unless_offered() -> None:
    """Raise the problem push-not-offered where push services could not tell who sends."""
    if subject_of(services().settings.contact, services().settings.page_url) is None:
        raise Problem(
            "push-not-offered",
            "This server sends no push notices: its operator has named neither a contact nor a public address.",
        )


def _no_such_subscription() -> Problem:
    return Problem("no-such-subscription", "You have no push subscription with this id.")


def browser_label(agent: str) -> str:
    """Return the browser and the device of a User-Agent header in words: Firefox on Windows."""
    browser = next((name for mark, name in _BROWSERS if mark in agent), "A browser")
    device = next((name for mark, name in _DEVICES if mark in agent), "")
    return f"{browser} on {device}" if device else browser


def _represent(subscription: stored.Subscription) -> PushSubscription:
    return PushSubscription.of(subscription, service=service_name(subscription.endpoint))
