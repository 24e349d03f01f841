"""The targets of notices: the mail address, the browsers and the webhooks of a person."""

from collections.abc import Mapping
from typing import NamedTuple

from api.access.limits import spend
from api.services import services
from events.notify.notice import NoticeChannel
from events.notify.outbox import Dispatch, Purpose
from events.notify.push.sender_key import subject_of


class NoticeTarget(NamedTuple):
    """Something that notices can be sent to: the ``words`` by which its owner knows it, and whether it works now."""

    words: str
    works: bool


def targets_of(player: str) -> Mapping[tuple[NoticeChannel, str], NoticeTarget]:
    """Return the targets of notices to ``player``, by channel and target as in a delivery."""
    targets = {}
    address = services().addresses.read(player)
    if address.address is not None:
        # Not the address itself: a token, which may have leaked, does not tell it.
        targets[NoticeChannel.MAIL, ""] = NoticeTarget("your mail address", address.reachable)
    for subscription in services().subscriptions.of(player):
        targets[NoticeChannel.PUSH, subscription.id] = NoticeTarget(subscription.label, not subscription.ended)
    for endpoint in services().endpoints.of(player):
        targets[NoticeChannel.WEBHOOK, endpoint.id] = NoticeTarget(endpoint.url, endpoint.disabled is None)
    return targets


class NoticeWays(NamedTuple):
    """How a person can have notices sent: by mail, and to browsers."""

    mail: bool
    push: bool


def ways_for(kind: str) -> NoticeWays:
    """Return the ways that this installation offers to an account of ``kind``: guests get no mail."""
    settings = services().settings
    has_push = subject_of(settings.contact, settings.page_url) is not None
    return NoticeWays(settings.mail is not None and kind != "guest", has_push)


def queue_test(player: str, channel: NoticeChannel, target: str, id: str) -> None:
    """Have a test sent to a target of ``player``; raises the problem too-many-requests."""
    spend("test_notices", player)
    now = services().now()
    services().outbox.add(
        Dispatch(
            id=id,
            player=player,
            channel=channel,
            target=target,
            purpose=Purpose.TEST,
            due=now,
            first_at=now,
            requested=True,
        )
    )
