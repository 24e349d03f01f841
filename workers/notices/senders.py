"""What a sender is: one for each channel, chosen in ``workers.notices.channels``."""

from typing import NamedTuple, Protocol

from events.notices.kinds import DeliveryState
from events.notices.outbox import Dispatch


class Outcome(NamedTuple):
    """What became of a dispatch; ``reason`` is a sentence for the player.

    With WAITING it is tried again at ``due`` (milliseconds since 1970 UTC; None: after a delay that grows). ``tried``
    tells whether this counts as an attempt; ``lane`` is that in which it waits then, empty for the same.
    """

    state: DeliveryState
    reason: str
    due: int | None = None
    tried: bool = True
    lane: str = ""


class Sender(Protocol):
    """Sends what goes through one channel."""

    def send(self, dispatch: Dispatch, now: int) -> Outcome:
        """Send ``dispatch`` and return what became of it.

        What may pass (a server that is down) is an Outcome of WAITING; only errors of the store are raised.
        """
