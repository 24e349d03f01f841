"""What sends: one sender for each channel, chosen here."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from events.installation import Installation
from events.notices.kinds import DeliveryState, NoticeChannel
from events.notices.outbox import Dispatch


class Outcome(NamedTuple):
    """What became of a dispatch; ``reason`` is a sentence for the player.

    With WAITING it is tried again at ``due`` (milliseconds since 1970 UTC; None: after a delay that grows).
    """

    state: DeliveryState
    reason: str
    due: int | None = None


class Sender(Protocol):
    """Sends what goes through one channel."""

    def send(self, dispatch: Dispatch, now: int) -> Outcome:
        """Send ``dispatch`` and return what became of it.

        What may pass (a server that is down) is an Outcome of WAITING; only errors of the store are raised.
        """


class MissingSender:
    """Stands for a channel that this installation cannot send through."""

    def __init__(self, channel: NoticeChannel) -> None:
        self._channel = channel

    def send(self, dispatch: Dispatch, now: int) -> Outcome:  # noqa: ARG002 - it sends nothing
        """Return that nothing can be sent."""
        return Outcome(DeliveryState.FAILED, f"This server cannot send through the channel {self._channel}.")


def make_senders(installation: Installation) -> Mapping[NoticeChannel, Sender]:  # noqa: ARG001 - none needs it yet
    """Return the sender of each channel; making them does not connect."""
    return {channel: MissingSender(channel) for channel in NoticeChannel}
