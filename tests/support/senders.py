"""Senders that remember what they were given, in place of those that reach the world."""

from collections.abc import Callable

from events.notices.notice import DeliveryState, NoticeChannel
from events.notices.outbox import Dispatch
from workers.notices.senders import Outcome

ACCEPTED = Outcome(DeliveryState.SENT, "Accepted.")


class CollectingSender:
    """Remembers in ``sent`` what it was given, and answers as ``answer`` says."""

    def __init__(self, answer: Callable[[Dispatch], Outcome] = lambda _: ACCEPTED) -> None:
        self.sent: list[Dispatch] = []
        self.answer = answer

    def send(self, dispatch: Dispatch, now: int) -> Outcome:
        """Remember ``dispatch``."""
        outcome = self.answer(dispatch)
        if outcome.state == DeliveryState.SENT:
            self.sent.append(dispatch)
        return outcome


def collecting_senders() -> dict[NoticeChannel, CollectingSender]:
    return {channel: CollectingSender() for channel in NoticeChannel}
