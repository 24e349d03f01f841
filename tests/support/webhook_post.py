"""An installation whose webhooks are sent step by step, and answers of their receivers."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from api.services import EXTENSION, Services
from events.notify.endpoints import SentWebhook
from events.notify.notice import Notice, NoticeChannel, NoticeDelivery, NoticeKind
from events.notify.outbox import SLOW_WEBHOOKS, Dispatch, Purpose
from events.runtime.settings import MailSettings
from tests.support.callers import Caller, app_on
from tests.support.looks import look_at_match
from tests.support.receivers import LOOPBACK, Received, Receiver, Reply, answering
from tests.support.watch import Watch
from workers.composition import make_deliveries, make_observer, make_senders

EVERYTHING = [str(kind) for kind in NoticeKind]


class Post:
    """An installation whose notices are decided and sent step by step, and two people in it."""

    def __init__(self, url: str, watch: Watch | None) -> None:
        self.app = app_on(url, now=watch)
        self.watch = watch
        self.services: Services = self.app.extensions[EXTENSION]
        mail = MailSettings("smtp+plain://127.0.0.1:1", "rookery.example")
        self.services.settings = self.services.settings._replace(egress_allowed=LOOPBACK, mail=mail)
        self.anna, self.boris = (Caller(self.app).sign_up(name) for name in ("anna", "boris"))
        self.observer = make_observer(self.services)
        self.deliveries = make_deliveries(self.services, make_senders(self.services))

    def webhook(self, caller: Caller, receiver: Receiver, **more: Any) -> Any:
        """Return a new webhook of ``caller`` to ``receiver``, told of everything."""
        made = caller.post("/me/webhooks", {"url": receiver.url, "kinds": EVERYTHING, **more})
        assert made.status_code == 201, made.text
        return made.json

    def give_mail(self, caller: Caller) -> None:
        """Give ``caller`` a confirmed mail address."""
        address = f"{caller.name}@mail.example"
        self.services.addresses.change(caller.id, lambda known: replace(known, address=address, confirmed_at=1))

    def tell(self, match: str) -> None:
        """Decide about all that has happened in ``match``, and send what is due."""
        version = self.services.matches.load(match).state.version
        look_at_match(self.observer, match, set(range(1, version + 1)))
        self.send()

    def send(self) -> int:
        """Send what is due through webhooks; mails stay where they are."""
        sent = 0
        while (dispatch := self.services.outbox.take([NoticeChannel.WEBHOOK, SLOW_WEBHOOKS])) is not None:
            endpoint = self.services.endpoints.find(dispatch.player, dispatch.target)
            self.deliveries.deliver(dispatch)
            # The first webhook to a receiver goes on to the lane of those that are not known to be quick.
            sent += dispatch.lane == SLOW_WEBHOOKS or endpoint is None or endpoint.is_quick
        return sent

    def wait_for(self, caller: Caller) -> int:
        """Let the time pass until the next dispatch through a webhook is due; return how long that is, and send it."""
        due = self.delivery(caller, NoticeKind.TURN).due
        waited = due - self.watch.now
        self.watch.now = due
        assert self.send() == 1
        return waited

    def notices(self, caller: Caller, kind: NoticeKind) -> list[Notice]:
        """Return the ledger of ``caller``, the latest first."""
        return [each for each in self.services.ledger.page(caller.id).notices if each.kind == kind]

    def delivery(self, caller: Caller, kind: NoticeKind) -> NoticeDelivery:
        """Return the delivery of the latest notice of ``kind`` by webhook."""
        notice = self.notices(caller, kind)[0]
        return next(each for each in notice.deliveries if each.channel == NoticeChannel.WEBHOOK)

    def mails(self, caller: Caller, purpose: Purpose) -> list[Dispatch]:
        """Return what is to be sent to ``caller`` by mail."""
        waiting = self.services.outbox.of(caller.id)
        return [each for each in waiting if (each.channel, each.purpose) == (NoticeChannel.MAIL, purpose)]

    def logged(self, caller: Caller, webhook: Any) -> list[SentWebhook]:
        return self.services.endpoints.attempts(caller.id, webhook["id"])

    def moves(self, match: str) -> tuple[str, ...]:
        return tuple(self.services.matches.load(match).state.play.moves)


def plays_first(received: Received) -> Reply:
    return answering(move=received.data["legal_moves"][0], version=received.data["version"])


def only(kind: str, reply: Callable[[Received], Reply]) -> Callable[[Received], Reply]:
    """Answer webhooks of the type ``kind`` alone by ``reply``."""
    return lambda received: reply(received) if received.type == kind else Reply()
