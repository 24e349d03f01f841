"""The ledger of notices, its settings and the reports of what is in view, over the API and as pages."""

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from api.access.limits import Limits
from api.pages.notice_settings import CHANNELS, KINDS, PAYLOADS, STATES, TIMINGS, VERDICTS, WRITERS
from api.services import Services
from events.notify.addresses import stopped, wants
from events.notify.endpoints import PayloadForm, SentWebhook
from events.notify.inbox import ReceivedMail, Verdict
from events.notify.notice import (
    DeliveryState,
    Notice,
    NoticeChannel,
    NoticeDelivery,
    NoticeKind,
    Timing,
    WhoMayWrite,
    notice_id,
)
from events.notify.subscriptions import Subscription
from tests.support.callers import Caller, app_on
from tests.support.projected import project
from tests.support.server import RealServer
from tests.support.tables import table

Decide = Callable[..., Notice]


@pytest.fixture
def decide(services: Services) -> Decide:
    """Return a function that writes a notice to the ledger of a player, and returns it."""
    instants = count(services.now())

    def write(player: str, fact: str, *deliveries: NoticeDelivery, match: str | None = "mtold", **more: Any) -> Notice:
        now = next(instants)
        facts = {"kind": NoticeKind.TURN, "version": 3, "summary": "It is your turn.", "reason": "You want it at once."}
        notice = Notice(
            **{
                "id": notice_id(fact, player),
                "player": player,
                "fact": fact,
                "match": match,
                "at": now,
                **facts,
                **more,
            },
            decided_at=now,
            deliveries=deliveries,
        )
        assert services.ledger.decide(notice)
        return notice

    return write


def sent_to(target: str, at: int, **more: Any) -> NoticeDelivery:
    """Return a delivery by push message that was made at an instant."""
    delivery = NoticeDelivery(
        channel=NoticeChannel.PUSH, target=target, state=DeliveryState.SENT, reason="It was accepted.", at=at
    )
    return replace(delivery, **more)


def attempt(at: int) -> SentWebhook:
    """Return an attempt of a webhook that failed at an instant."""
    return SentWebhook(
        webhook_id="n", type="match.turn", match=None, at=at, took_ms=5, url="https://bot.example.com/x", headers={},
        body="{}", status=500, answer="<oops>", delivered=False, outcome="It is tried again in 5 seconds.",
    )  # fmt: skip


def browser(services: Services, player: str, **more: Any) -> Subscription:
    made = Subscription("b1", "https://push.example/1", "point", "secret", "Firefox on Linux", "s", services.now())
    return services.subscriptions.save(player, made._replace(**more))


def test_the_ledger_lists_reasons_by_page(anna: Caller, boris: Caller, services: Services, decide: Decide) -> None:
    now = services.now()
    for number in range(5):
        decide(anna.id, f"fact {number}", match="mother" if number == 1 else "mtold")
    last = decide(anna.id, "fact 5", sent_to("b1", now))
    listed = anna.get("/me/notices").json
    assert [item["id"] for item in listed["items"]] == [
        notice_id(f"fact {number}", anna.id) for number in range(5, -1, -1)
    ]
    assert (listed["next"], listed["dropped"]) == (None, 0)
    told = anna.get(f"/me/notices/{last.id}").json
    assert told == listed["items"][0]
    assert (told["kind"], told["reason"], told["version"]) == ("turn", "You want it at once.", 3)
    assert [(each["channel"], each["target"], each["state"], each["due"]) for each in told["deliveries"]] == [
        ("push", "b1", "sent", None)
    ]
    first = anna.get("/me/notices?limit=4").json
    rest = anna.get(f"/me/notices?limit=4&cursor={first['next']}").json
    assert (first["items"] + rest["items"], rest["next"]) == (listed["items"], None)
    assert len(anna.get("/me/notices?match=mtold").json["items"]) == 5
    assert boris.get(f"/me/notices/{last.id}").json["code"] == "no-such-notice"
    assert boris.get("/me/notices").json["items"] == []


def test_a_notice_is_sent_again_through_what_its_player_has_and_no_more_often_than_allowed(
    anna: Caller, services: Services, decide: Decide, server: RealServer
) -> None:
    notice = decide(anna.id, "fact", sent_to("b1", services.now()))
    again = f"/me/notices/{notice.id}/deliveries"
    for wanted in ({"channel": "push", "target": "b1"}, {"channel": "mail"}, {"channel": "webhook", "target": "w"}):
        refused = anna.post(again, wanted)
        assert (refused.status_code, refused.json["code"]) == (409, "no-such-target")
    assert anna.post("/me/notices/none/deliveries", {"channel": "mail"}).json["code"] == "no-such-notice"
    browser(services, anna.id)
    answer = anna.post(again, {"channel": "push", "target": "b1"})
    assert answer.status_code == 202
    assert [(each["state"], each["reason"]) for each in answer.json["deliveries"]] == [
        ("waiting", "You asked for it to be sent again.")
    ]
    assert services.outbox.next_due() is not None
    services.subscriptions.end(anna.id, "b1", "You signed out there.", services.now())
    assert "because Firefox on Linux is paused" in anna.post(again, {"channel": "push", "target": "b1"}).json["detail"]

    browser(services, anna.id)
    impatient = Caller(app_on(server.url, Limits(sends="1/hour")))
    impatient.post("/sessions", {"name": "anna", "password": "the secret of anna"})
    answers = [impatient.post(again, {"channel": "push", "target": "b1"}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [202, 429]


def test_erasing_the_ledger_keeps_what_waits(anna: Caller, services: Services, decide: Decide) -> None:
    now = services.now()
    old = decide(anna.id, "old", sent_to("b1", now))
    due = sent_to("b1", now, state=DeliveryState.WAITING, due=now + 1000)
    waiting = decide(anna.id, "waiting", due)
    assert anna.delete("/me/notices").json == {"erased": 1}
    assert [item["id"] for item in anna.get("/me/notices").json["items"]] == [waiting.id]
    assert not services.ledger.decide(old)


def test_settings_of_notices_are_changed_as_a_whole_with_the_kinds_that_are_named(anna: Caller) -> None:
    before = anna.get("/me/notice-settings").json
    assert set(before["mail"]) == set(before["push"]) == set(NoticeKind)
    wanted = {
        "mail": {"turn": "digest", "chat": "never"}, "push": {"turn": "never"}, "digest_hour": 19,
        "quiet": {"since": 23, "until": 6}, "remind_before_h": 6, "chat_text": True,
    }  # fmt: skip
    assert (before["quiet"], before["chat_text"]) == ({"since": 22, "until": 7}, False)
    answer = anna.put("/me/notice-settings", wanted)
    assert answer.status_code == 200, answer.text
    expected = {**before, **wanted, "mail": before["mail"] | wanted["mail"], "push": before["push"] | wanted["push"]}
    assert answer.json == anna.get("/me/notice-settings").json == expected
    assert anna.put("/me/notice-settings", {**wanted, "quiet": None}).json["quiet"] is None


@pytest.mark.parametrize(("wrong", "field"), table(__file__, "senseless settings are refused with their place"))
def test_senseless_settings_are_refused_with_their_place(wrong: dict[str, Any], field: str, anna: Caller) -> None:
    before = anna.get("/me/notice-settings").json
    refused = anna.put("/me/notice-settings", before | wrong)
    assert (refused.status_code, list(refused.json["errors"])) == (422, [field])
    assert anna.get("/me/notice-settings").json == before


def test_a_match_is_in_view_from_one_report_to_the_next(anna: Caller, services: Services) -> None:
    def seen() -> bool:
        return services.presence.watching(anna.id, "mseen", services.now())

    views = []
    for visible in (True, False, True):
        assert anna.put("/me/presence", {"match": "mseen", "visible": visible}).status_code == 204
        views.append(seen())
    assert views == [True, False, True]
    assert not services.presence.watching(anna.id, "mother", services.now())


def test_the_page_of_notices_explains_what_when_and_why(anna: Caller, services: Services, decide: Decide) -> None:
    now = services.now()
    browser(services, anna.id)
    assert "There are no notices yet" in anna.client.get("/notices").text
    decide(
        anna.id,
        "fact",
        sent_to(
            "b1", now, state=DeliveryState.WAITING, reason="The push service is down.", due=now + 60_000, attempts=2
        ),
        sent_to("gone", now, state=DeliveryState.FAILED, reason="The browser is gone."),
        summary="Bashni against <boris>: your turn.",
    )
    page = anna.client.get("/notices").text
    for words in (
        *(
            "Bashni against &lt;boris&gt;: your turn.",
            "You want it at once.",
            "Firefox on Linux",
            "a target that is gone",
        ),
        *("Next attempt:", "2 attempts so far.", "The push service is down.", "Send now", "/matches/mtold"),
    ):
        assert words in page
    assert page.count("data-again") == 1, "nothing is sent to what is gone"
    assert "You were told nothing about" in anna.client.get("/notices?match=mother").text
    assert anna.client.get("/notices?cursor=unknown").status_code == 404


def test_the_page_of_settings_shows_what_is_set(anna: Caller) -> None:
    assert "Nothing is sent to you yet" in anna.client.get("/settings/notices").text
    settings = {**anna.get("/me/notice-settings").json, "quiet": {"since": 21, "until": 6}, "remind_before_h": 5}
    settings["mail"]["turn"] = "digest"
    assert anna.put("/me/notice-settings", settings).status_code == 200
    page = anna.client.get("/settings/notices").text
    for name, shown in {
        "mail.turn": "Digest",
        "push.turn": "At once",
        "quiet_since": "21:00",
        "quiet_until": "06:00",
        "remind_before_h": "5 hours before",
    }.items():
        found = re.search(rf'<select [^>]*name="{re.escape(name)}".*?</select>', page, re.DOTALL)
        assert found is not None
        assert f" selected>{shown}<" in found[0]


def test_a_digest_is_suggested_to_those_who_play_ten_matches(anna: Caller, services: Services) -> None:
    for number in (9, 10):
        while len(services.readmodels.active(anna.id)) < number:
            anna.create({"kind": "me"}, {"kind": "open"})
            project(services)
        assert ("You play 10 matches" in anna.client.get("/settings/notices").text) is (number == 10)


def test_the_page_of_settings_tells_why_mail_is_paused(anna: Caller, boris: Caller, services: Services) -> None:
    now, addresses = services.now(), services.addresses
    addresses.change(anna.id, lambda stored: wants(stored, "anna@players.test", now))
    assert "Follow its link" in anna.client.get("/settings/notices").text
    addresses.confirm(anna.id, "anna@players.test", now)
    addresses.change(anna.id, lambda stored: stopped(stored, now))
    mail = ReceivedMail(
        digest="d", player=anna.id, recipient="r", return_path="", sender="<x>@y", subject="<b>", size=1, at=now
    )
    services.inbox.add(mail, b"")
    taken = services.inbox.take()
    assert taken is not None
    services.inbox.finish(taken, Verdict.NOT_ALLOWED, "It came from another address.", answered=False)
    webhook = anna.post("/me/webhooks", {"url": "https://bot.example.com/x", "kinds": ["turn"]}).json
    services.endpoints.log(anna.id, webhook["id"], attempt(now))
    page = anna.client.get("/settings/notices").text
    for words in (
        *("You stopped notices by mail", "Send them again", "It came from another address.", "&lt;b&gt;"),
        *("https://bot.example.com/x", "Nothing was sent yet"),
    ):
        assert words in page
    assert webhook["secret"] not in page
    token = boris.client.get("/settings/notices", headers={"Authorization": anna.token()})
    assert (token.status_code, "anna@players.test" in token.text) == (403, False)

    path = f"/settings/webhooks/{webhook['id']}"
    log = anna.client.get(path).text
    for words in ("It is tried again in 5 seconds.", "status 500", "&lt;oops&gt;", webhook["public_key"]):
        assert words in log
    assert webhook["secret"] not in log
    assert boris.client.get(path).status_code == 404


def test_pages_have_words_for_everything_that_a_notice_may_say() -> None:
    assert (set(KINDS), set(CHANNELS)) == (set(NoticeKind), set(NoticeChannel))
    assert (set(TIMINGS), set(STATES)) == (set(Timing), set(DeliveryState))
    assert (set(WRITERS), set(VERDICTS), set(PAYLOADS)) == (set(WhoMayWrite), set(Verdict), set(PayloadForm))
