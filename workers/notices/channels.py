"""The channels of this installation: which sender serves each."""

from collections.abc import Mapping

from events.installation import Installation
from events.notices.notice import DeliveryState, NoticeChannel
from events.notices.outbox import Dispatch
from events.runtime.egress import Egress
from workers.notices.mail_sender import MailSender
from workers.notices.push_sender import PushSender
from workers.notices.senders import Outcome, Sender
from workers.notices.webhook_sender import WebhookSender


class MissingSender:
    """Stands for a channel that this installation cannot send through."""

    def __init__(self, channel: NoticeChannel) -> None:
        self._channel = channel

    def send(self, dispatch: Dispatch, now: int) -> Outcome:  # noqa: ARG002 - it sends nothing
        """Return that nothing can be sent."""
        return Outcome(DeliveryState.FAILED, f"This server cannot send through the channel {self._channel}.")


def make_senders(installation: Installation) -> Mapping[NoticeChannel, Sender]:
    """Return the sender of each channel; making them does not connect."""
    egress = Egress(installation.settings.egress_allowed)
    senders: dict[NoticeChannel, Sender] = {channel: MissingSender(channel) for channel in NoticeChannel}
    senders[NoticeChannel.PUSH] = PushSender(installation, egress)
    senders[NoticeChannel.WEBHOOK] = WebhookSender(installation, egress)
    if installation.settings.mail is not None:
        senders[NoticeChannel.MAIL] = MailSender(installation, installation.settings.mail)
    return senders
