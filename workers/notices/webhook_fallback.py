"""What is told by mail when a webhook fails."""

from events.installation import Installation
from events.notices.endpoints import Endpoint
from events.notices.kinds import DeliveryState, NoticeChannel, Timing
from events.notices.letters import letter_dispatch
from events.notices.notice import Notice
from events.notices.outbox import Dispatch, Letter, Purpose
from events.notices.policy import NEEDS_ANSWER

TOLD = (DeliveryState.SENT, DeliveryState.WAITING)


class Fallback:
    """Tells people by mail what their webhooks did not take."""

    def __init__(self, installation: Installation) -> None:
        self._parts = installation

    def tell_by_mail(self, notice: Notice | None, now: int) -> str:
        """Have ``notice`` sent by mail once, if it needs an answer whatever is set; return that as a sentence."""
        if notice is None or any(
            each.channel == NoticeChannel.MAIL and each.state in TOLD for each in notice.deliveries
        ):
            return ""
        is_unwanted = self._parts.preferences.read(notice.player).mail[notice.kind] == Timing.NEVER
        needs_answer = notice.kind in NEEDS_ANSWER
        if is_unwanted and not needs_answer:
            return ""
        if self._address(notice.player) is None:
            return " It cannot be sent by mail instead."
        # Crash-safe: the id is that of the notice by mail. Added before, sent or not, it is not added again.
        added = self._parts.outbox.add(
            Dispatch(
                id=f"{notice.id}:{NoticeChannel.MAIL}:",
                player=notice.player,
                channel=NoticeChannel.MAIL,
                purpose=Purpose.NOTICE,
                notices=(notice.id,),
                due=now,
                first_at=now,
                requested=is_unwanted,
            )
        )
        return " It is sent by mail instead." if added else " It was handed over to be sent by mail before."

    def tell_of_disabled(self, player: str, endpoint: Endpoint, now: int) -> None:
        """Write once to ``player`` that ``endpoint`` was switched off, and why."""
        address = self._address(player)
        if address is None:
            return
        page_url = self._parts.settings.page_url.rstrip("/")
        text = (
            f"Your webhook {endpoint.url} was switched off. {endpoint.disabled}\n\n"
            "No more webhooks are sent there until you switch it on again:\n"
            f"{page_url}/settings/webhooks/{endpoint.id}\n"
        )
        letter = Letter(to=address, subject="Your webhook was switched off", text=text)
        id = f"webhook-off:{endpoint.id}:{endpoint.failing_since}"
        self._parts.outbox.add(letter_dispatch(id, player, letter, now))

    def _address(self, player: str) -> str | None:
        found = self._parts.addresses.read(player)
        return found.address if found.reachable and self._parts.settings.mail is not None else None
