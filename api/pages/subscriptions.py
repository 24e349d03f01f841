"""The sections of the settings page about push notices."""

from collections.abc import Sequence
from typing import NamedTuple

from api.services import services
from events.notices.subscriptions import Subscription
from events.push.sender_key import subject_of


class PushSection(NamedTuple):
    """Whether this server sends push notices, and the browsers that get them or have got them lately."""

    offered: bool
    subscriptions: Sequence[Subscription]


def push_section(player: str) -> PushSection:
    """Return what the settings page shows ``player`` about push notices."""
    settings = services().settings
    return PushSection(subject_of(settings.contact, settings.page_url) is not None, services().subscriptions.of(player))
