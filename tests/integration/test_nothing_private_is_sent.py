"""What goes out by mail, webhook and push, and stands in feeds and ledgers, has nothing that is not its reader's."""

from collections.abc import Iterator
from dataclasses import replace

from flask import Flask

from api.services import Services
from events.mail.messages import Site
from events.notices.notice import NoticeChannel, NoticeKind, Timing
from events.runtime.egress import Egress
from tests.support.callers import Caller, started
from tests.support.projected import project
from tests.support.push_service import Browser
from workers.notices.decide import Decider
from workers.notices.mail_composer import MailComposer, Unsendable
from workers.notices.push_sender import PushSender
from workers.notices.webhook_sender import WebhookSender

CHAT, NOTE, STATEMENT, REPLY = "kilimanjaro", "okapi", "zanzibar", "h2-g3"
SITE = Site(domain="mail.rookery.test", page_url="https://rookery.test")


def reachable(services: Services, caller: Caller) -> None:
    """Let ``caller`` be told of everything at once through all channels."""
    services.addresses.change(
        caller.id, lambda known: replace(known, address=f"{caller.name}@secret.example", confirmed_at=1)
    )
    at_once = dict.fromkeys(NoticeKind, Timing.AT_ONCE)
    services.preferences.change(caller.id, lambda known: replace(known, mail=at_once, push=at_once))
    hook = {"url": "https://hooks.example/", "kinds": [str(kind) for kind in NoticeKind]}
    assert caller.post("/me/webhooks", hook).status_code == 201
    browser = Browser(f"https://web.push.apple.com/{caller.name}")
    assert caller.post("/me/push-subscriptions", browser.subscription).status_code == 201


def outgoing(services: Services, caller: Caller) -> Iterator[tuple[str, str]]:
    """Yield what is sent to ``caller``, with its channel, and what the programs of the caller read."""
    ledger, made = caller.get("/me/notices").text, caller.post("/me/feed-address").json
    at_home, services.settings = services.settings, services.settings._replace(page_url=SITE.page_url)
    composer, push = MailComposer(services, SITE), PushSender(services, Egress())
    webhooks = WebhookSender(services, Egress())
    for dispatch in services.outbox.of(caller.id):
        if dispatch.channel == NoticeChannel.MAIL:
            mail = composer.compose(dispatch, services.now())
            assert not isinstance(mail, Unsendable)
            texts = [part.get_content() for part in mail.message.walk() if part.get_content_maintype() == "text"]
            yield "mail", "\n".join([*map(str, mail.message.values()), *texts])
        elif dispatch.channel == NoticeChannel.PUSH:
            pushed = push._message(dispatch, services.now())
            assert pushed is not None
            yield "push", pushed.content.decode()
        else:
            (endpoint,) = services.endpoints.of(caller.id)
            message = webhooks._message(dispatch, endpoint)
            assert message is not None
            yield "webhook", message.body.decode()
    yield "ledger", ledger
    for name in ("deadlines", "matches"):
        yield name, caller.client.get(made[name][made[name].index("/feeds/") :], headers={"Host": "rookery.test"}).text
    services.settings = at_home


def test_nothing_private_goes_out_through_any_channel(app: Flask, services: Services) -> None:
    anna, boris, clara = (Caller(app).sign_up(name) for name in ("annekathrin", "borislav", "clarabella"))
    for caller in (anna, boris, clara):
        reachable(services, caller)
    match_id = started(anna, boris, private=True)
    assert boris.post(f"/matches/{match_id}/chat", {"text": CHAT}).status_code == 201
    assert anna.move(match_id, "c3-d4").status_code == 201
    lines = [{"move": "h6-g5", "next": [{"move": "g3-h4", "next": [{"move": "b6-a5", "next": [{"move": REPLY}]}]}]}]
    assert anna.put(f"/matches/{match_id}/lines", {"lines": lines}).status_code == 200
    assert anna.put(f"/matches/{match_id}/notes", {"text": NOTE}).status_code == 200
    dispute = {"ply": 0, "ground": "conduct", "statement": STATEMENT}
    assert boris.post(f"/matches/{match_id}/disputes", dispute).status_code == 201
    services.blocks.put(boris.id, anna.id, "block")
    project(services)
    decider = Decider(services)
    decider.look_at_match(match_id, set(range(1, services.store.head(match_id).version + 1)))
    services.checks.work.discard(match_id)
    services.checks.mark_chat(match_id, 0, 0)
    decider.look_at_check(services.checks.take())

    for reader, others in ((anna, (boris, clara)), (boris, (anna, clara)), (clara, (anna, boris))):
        found = list(outgoing(services, reader))
        channels = {channel for channel, _ in found}
        assert {"mail", "push", "webhook"} <= channels or reader is clara
        private = [CHAT, NOTE, STATEMENT, REPLY, *(f"{other.name}@secret.example" for other in others)]
        private += {anna: [], boris: ["annekathrin"], clara: [match_id, "annekathrin", "borislav"]}[reader]
        leaked = {(channel, word) for channel, text in found for word in private if word in text}
        assert leaked == set(), reader.name
