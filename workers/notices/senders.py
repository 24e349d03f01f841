"""The senders: one for each channel, chosen in ``workers.composition``."""

from typing import NamedTuple, Protocol

from events.notify.notice import DeliveryState
from events.notify.outbox import Dispatch


class SendOutcome(NamedTuple):
    """The outcome of a dispatch; ``reason`` is a sentence for the player.

    With WAITING it is tried again at ``due`` (None: after a growing delay) in ``lane`` (empty: the same); ``tried``
    tells whether it counts as an attempt.
    """

    state: DeliveryState
    reason: str
    due: int | None = None
    tried: bool = True
    lane: str = ""


class Sender(Protocol):
    """Sends the dispatches of one channel."""

    def send(self, dispatch: Dispatch, now: int) -> SendOutcome:
        """Send ``dispatch``; a failure that may pass (no server) is WAITING, only errors of the store are raised."""
