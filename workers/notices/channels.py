"""The channels of this installation: which sender serves each."""

from collections.abc import Mapping

from events.installation import Installation
from events.notify.notice import NoticeChannel
from events.runtime.egress import Egress
from workers.notices.mail_sender import MailSender
from workers.notices.push_sender import PushSender
from workers.notices.senders import Sender
from workers.notices.webhook_sender import WebhookSender


def make_senders(installation: Installation) -> Mapping[NoticeChannel, Sender]:
    """Return the sender of each channel that this installation has; making them does not connect."""
    egress = Egress(installation.settings.egress_allowed)
    senders: dict[NoticeChannel, Sender] = {
        NoticeChannel.PUSH: PushSender(installation, egress),
        NoticeChannel.WEBHOOK: WebhookSender(installation, egress),
    }
    if installation.settings.mail is not None:
        senders[NoticeChannel.MAIL] = MailSender(installation, installation.settings.mail)
    return senders
