"""What notices can be sent to: the mail address, the browsers and the webhooks of a person."""

from collections.abc import Mapping
from typing import NamedTuple

from api.services import services
from events.notices.notice import NoticeChannel


class Target(NamedTuple):
    """Something that notices can be sent to: the ``words`` by which its owner knows it, and whether it works now."""

    words: str
    works: bool


def targets_of(player: str) -> Mapping[tuple[NoticeChannel, str], Target]:
    """Return what notices to ``player`` can be sent to, by channel and target as in a delivery."""
    targets = {}
    address = services().addresses.read(player)
    if address.address is not None:
        # Not the address itself: a token, which may have leaked, does not tell it.
        targets[NoticeChannel.MAIL, ""] = Target("your mail address", address.reachable)
    for subscription in services().subscriptions.of(player):
        targets[NoticeChannel.PUSH, subscription.id] = Target(subscription.label, not subscription.ended)
    for endpoint in services().endpoints.of(player):
        targets[NoticeChannel.WEBHOOK, endpoint.id] = Target(endpoint.url, endpoint.disabled is None)
    return targets
