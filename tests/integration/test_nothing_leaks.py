"""What a player lays down, notes, tries out and says is seen by nobody else and sent to nobody."""

import io
import zipfile
from collections.abc import Iterator
from dataclasses import replace

import pytest
from flask import Flask
from werkzeug.routing import Rule
from werkzeug.test import TestResponse

from api.live.stream_hub import message_of
from api.services import EXTENSION, Services
from events.matches.matches import CachedSummaries, Matches
from events.matches.readmodels.projector import Projector
from events.notify.mail.messages import Site
from events.notify.notice import NoticeChannel, NoticeKind, Timing
from events.runtime.connections import StoreClient
from events.runtime.egress import Egress
from tests.support.callers import API, Caller, started
from tests.support.looks import look_at_match
from tests.support.projected import project
from tests.support.push_service import Browser
from tests.support.stored import stored
from workers.composition import make_mail_composer, make_observer, make_push_sender, make_webhook_sender
from workers.notices.mail_composer import Unsendable

NOTE, WORD = "kilimanjaro", "okapi"
FIRST_REPLY, SECOND_REPLY = "g3-h4", "h2-g3"
"""Replies that are not legal where they are laid down, so that no list of legal moves names them."""

LATER = [{"move": "b6-a5", "next": [{"move": SECOND_REPLY}]}]
LINES = [{"move": "h6-g5", "next": [{"move": FIRST_REPLY, "next": LATER}]}]

STATIC = ("/static/", "/games/<game_id>/rules", "/openapi.json", "/docs/api")
"""Files, rules and the description of the API: the same whatever is played, with moves of their own as examples."""


def addresses(app: Flask, match_id: str) -> Iterator[str]:
    """Yield every address of ``app`` that can be looked at, with the names of what there is."""
    names = {
        "match": match_id, "player": "anna", "other": "boris", "game": "bashni", "pool": "bashni-2",
        "code": "chat-closed",
    }  # fmt: skip
    names |= {"match_id": match_id, "game_id": "bashni", "seek": "seek-none", "seek_id": "seek-none"}
    rule: Rule
    for rule in app.url_map.iter_rules():
        if rule.methods and "GET" in rule.methods and not rule.rule.startswith(STATIC):
            values = {name: names.get(name, "1") for name in rule.arguments}
            yield app.url_map.bind("").build(rule.endpoint, values)


def outputs(app: Flask, match_id: str, others: list[Caller]) -> Iterator[tuple[str, str]]:
    """Yield every address as each of ``others`` sees it, and what acting on the match tells them."""
    for address in addresses(app, match_id):
        for other in others:
            yield f"{address} for {other.name}", told(other.client.get(address))
    for other in others:
        for act, body in (
            ("moves", {"move": "castle"}),
            ("compositions", {"kind": "multi", "parts": []}),
            ("joins", {}),
        ):
            yield f"{act} of {other.name}", other.post(f"/matches/{match_id}/{act}", body).text


def told(answer: TestResponse) -> str:
    """Return what an answer says, all files of it when it is an archive."""
    if answer.mimetype != "application/zip":
        return answer.get_data().decode(errors="replace")  # pictures are no text
    with zipfile.ZipFile(io.BytesIO(answer.data)) as files:
        return "".join(files.read(name).decode() for name in files.namelist())


class Scenario:
    """An installation with a match, searched for what nobody but its author may see."""

    def __init__(self, app: Flask, redis: StoreClient, capfd: pytest.CaptureFixture[str]) -> None:
        self.services: Services = app.extensions[EXTENSION]
        self.anna, self.boris, self.clara = (Caller(app).sign_up(name) for name in ("anna", "boris", "clara"))
        self.match = started(self.anna, self.boris)
        self._app, self._redis, self._capfd = app, redis, capfd

    def outputs(self) -> dict[str, str]:
        """Return all outputs, but for anna's own."""
        fresh = Matches(self.services.store, self.services.now)
        summaries = CachedSummaries(fresh, self.services.store)
        Projector(self.services.store.client, self.services.readmodels.keys, summaries).project([self.match])
        seen = dict(outputs(self._app, self.match, [self.boris, self.clara, Caller(self._app)]))
        seen["stream"] = "".join(message_of(envelope).text for envelope in self.services.store.read(self.match))
        seen["log"] = "".join(self._capfd.readouterr())
        assert len(seen) > 100
        assert "move-submitted" in seen["stream"]
        return seen

    def keys_with(self, *secrets: str) -> set[str]:
        """Return the keys of the store, without its prefix, that hold any of ``secrets``."""
        found = dict(stored(self._redis))
        assert any(self.match.encode() in content for content in found.values())
        prefix = self.services.store.prefix
        return {
            key.removeprefix(prefix)
            for key, content in found.items()
            if any(secret.encode() in content for secret in secrets)
        }

    @property
    def orders(self) -> str:
        """The key of what is laid down in the match, without the prefix."""
        return f"{{s{self.services.store.shard_of(self.match):02d}}}:m:{self.match}:o"


def places_of(seen: dict[str, str], *secrets: str) -> set[str]:
    """Return the outputs that any of ``secrets`` is in."""
    return {where for where, text in seen.items() if any(secret in text for secret in secrets)}


def test_nothing_private_leaves_its_authors_hands(
    capfd: pytest.CaptureFixture[str], redis: StoreClient, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("events.matches.matches.SNAPSHOT_EVERY", 1)
    scenario = Scenario(app, redis, capfd)
    match_id, anna, boris = scenario.match, scenario.anna, scenario.boris
    assert anna.move(match_id, "c3-d4").status_code == 201
    assert anna.put(f"/matches/{match_id}/lines", {"lines": LINES, "forced": True}).status_code == 200
    assert anna.put(f"/matches/{match_id}/notes", {"text": NOTE}).status_code == 200
    assert anna.put(f"/matches/{match_id}/exploration", {"ply": 1, "tree": LINES}).status_code == 200
    assert anna.post(f"/matches/{match_id}/chat", {"text": WORD}).status_code == 201
    notebooks = [f"{{people}}:{kind}:{anna.id}" for kind in ("notes", "explorations")]

    seen = scenario.outputs()
    assert places_of(seen, FIRST_REPLY, SECOND_REPLY, NOTE) == set()
    assert scenario.keys_with(FIRST_REPLY, SECOND_REPLY, NOTE) == {scenario.orders, *notebooks}
    assert places_of(seen, WORD) == {f"{API}/matches/{match_id}/chat for boris"}
    assert scenario.keys_with(WORD) == {f"chat:{{{match_id}}}"}

    fired, again = (boris.move(match_id, "h6-g5", Idempotency_Key="k") for _ in range(2))
    assert FIRST_REPLY in fired.text
    assert again.json == fired.json
    assert SECOND_REPLY not in again.text
    assert places_of(scenario.outputs(), SECOND_REPLY, NOTE) == set()
    assert scenario.keys_with(SECOND_REPLY) == {scenario.orders, notebooks[1]}
    assert redis.exists(f"{scenario.services.store.prefix}{scenario.orders.removesuffix('o')}s"), (
        "a snapshot was searched too"
    )


CHAT, STATEMENT, REPLY = WORD, "zanzibar", "h2-g3"
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
    composer, push = make_mail_composer(services, SITE), make_push_sender(services, Egress())
    webhooks = make_webhook_sender(services, Egress())
    for dispatch in services.outbox.of(caller.id):
        if dispatch.channel == NoticeChannel.MAIL:
            mail = composer.compose(dispatch, services.now())
            assert not isinstance(mail, Unsendable)
            texts = [part.get_content() for part in mail.message.walk() if part.get_content_maintype() == "text"]
            yield "mail", "\n".join([*map(str, mail.message.values()), *texts])
        elif dispatch.channel == NoticeChannel.PUSH:
            pushed = push.composer.compose(dispatch, services.now())
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
    observer = make_observer(services)
    look_at_match(observer, match_id, set(range(1, services.store.head(match_id).version + 1)))
    services.checks.work.discard(match_id)
    services.checks.mark_chat(match_id, 0, 0)
    observer.look_at_check(services.checks.take())

    for reader, others in ((anna, (boris, clara)), (boris, (anna, clara)), (clara, (anna, boris))):
        found = list(outgoing(services, reader))
        channels = {channel for channel, _ in found}
        assert {"mail", "push", "webhook"} <= channels or reader is clara
        private = [CHAT, NOTE, STATEMENT, REPLY, *(f"{other.name}@secret.example" for other in others)]
        private += {anna: [], boris: ["annekathrin"], clara: [match_id, "annekathrin", "borislav"]}[reader]
        leaked = {(channel, word) for channel, text in found for word in private if word in text}
        assert leaked == set(), reader.name
