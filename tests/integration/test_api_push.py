"""Push subscriptions and the address of feeds through the API."""

import io
import json
import re
import zipfile

import pytest
from flask import Flask

from api.resources.push import browser_label
from api.services import Services
from events.notify.notice import NoticeChannel
from events.notify.outbox import Purpose
from events.notify.push.encryption import from_base64url, read_point, to_base64url
from events.notify.push.services import UNKNOWN_SERVICE
from events.notify.subscriptions import MAX_SUBSCRIPTIONS
from tests.support.callers import UNLIMITED, Answer, Caller, app_on
from tests.support.push_service import Browser
from tests.support.server import RealServer
from tests.support.tables import table

APPLE = "https://web.push.apple.com/abc"
FIREFOX = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0"


def subscribed(caller: Caller, endpoint: str = APPLE, **more: object) -> Answer:
    return caller.post("/me/push-subscriptions", {**Browser(endpoint).subscription, **more})


class TestSubscribing:
    def test_a_browser_that_subscribes_is_listed_until_it_is_removed(self, anna: Caller, boris: Caller) -> None:
        assert anna.get("/me/push-subscriptions").json == {"items": [], "most": MAX_SUBSCRIPTIONS}
        made = anna.post("/me/push-subscriptions", Browser(APPLE).subscription, User_Agent=FIREFOX)
        assert made.status_code == 201, made.text
        assert (made.json["label"], made.json["service"], made.json["ended"]) == ("Firefox on Windows", "Apple", "")
        assert anna.get("/me/push-subscriptions").json["items"] == [made.json]
        path = f"/me/push-subscriptions/{made.json['id']}"
        assert boris.delete(path).json["code"] == "no-such-subscription"
        assert anna.delete(path).status_code == 204
        assert anna.delete(path).json["code"] == "no-such-subscription"
        assert anna.get("/me/push-subscriptions").json["items"] == []

    def test_no_answer_has_what_messages_are_encrypted_with_or_where_they_go(self, anna: Caller) -> None:
        browser = Browser(APPLE)
        made = anna.post("/me/push-subscriptions", browser.subscription)
        listed = anna.get("/me/push-subscriptions").text
        for secret in (APPLE, to_base64url(browser.point), to_base64url(browser.secret), "session"):
            assert secret not in made.text + listed

    def test_the_same_browser_is_the_same_subscription(self, anna: Caller) -> None:
        first, again = subscribed(anna), subscribed(anna, label="My phone")
        assert (again.json["id"], again.json["label"]) == (first.json["id"], "My phone")
        moved = subscribed(anna, APPLE + "d", replaces=first.json["id"])
        assert [each["id"] for each in anna.get("/me/push-subscriptions").json["items"]] == [moved.json["id"]]

    def test_there_are_ten_at_most(self, anna: Caller) -> None:
        for number in range(MAX_SUBSCRIPTIONS):
            assert subscribed(anna, f"{APPLE}{number}").status_code == 201
        refused = subscribed(anna, f"{APPLE}more")
        assert (refused.status_code, refused.json["code"]) == (409, "too-many-subscriptions")

    @pytest.mark.parametrize(
        ("endpoint", "reason"),
        [
            ("https://evil.example/abc", UNKNOWN_SERVICE),
            ("http://127.0.0.1:6379/abc", UNKNOWN_SERVICE),
            ("https://fcm.googleapis.com", "must be a URL with a path, without a user name and a fragment"),
        ],
    )
    def test_an_endpoint_elsewhere_is_refused(self, anna: Caller, endpoint: str, reason: str) -> None:
        refused = subscribed(anna, endpoint)
        assert (refused.status_code, refused.json["code"]) == (422, "invalid-subscription")
        assert refused.json["errors"] == {"endpoint": [reason]}
        assert anna.get("/me/push-subscriptions").json["items"] == []

    @pytest.mark.parametrize(("keys", "code", "field"), table(__file__, "keys that are none are refused"))
    def test_keys_that_are_none_are_refused(self, anna: Caller, keys: dict[str, str], code: str, field: str) -> None:
        refused = anna.post("/me/push-subscriptions", {"endpoint": APPLE, "keys": keys})
        assert (refused.status_code, refused.json["code"]) == (422, code)
        assert list(refused.json["errors"]) == [field]

    def test_the_key_for_subscribing_is_a_point_and_stays(self, stranger: Caller) -> None:
        first, again = (stranger.get("/push-key").json["key"] for _ in range(2))
        assert first == again
        assert read_point(from_base64url(first))

    def test_without_contact_and_public_address_push_is_not_offered(self, server: RealServer) -> None:
        app = app_on(server.url)
        services: Services = app.extensions["rookery"]
        services.settings = services.settings._replace(contact=None)
        anna = Caller(app).sign_up("anna")
        for refused in (anna.get("/push-key"), subscribed(anna)):
            assert (refused.status_code, refused.json["code"]) == (404, "push-not-offered")

    @pytest.mark.parametrize(("agent", "label"), table(__file__, "a browser is named as its owner would"))
    def test_a_browser_is_named_as_its_owner_would(self, agent: str, label: str) -> None:
        assert browser_label(agent) == label


class TestPages:
    def test_the_service_worker_may_serve_all_pages_and_is_never_outdated(self, stranger: Caller) -> None:
        served = stranger.client.get("/service-worker.js")
        assert served.headers["Content-Type"].startswith("text/javascript")
        assert served.headers["Cache-Control"] == "no-cache"
        assert b"showNotification" in served.data

    def test_the_pages_can_be_added_to_a_home_screen(self, stranger: Caller) -> None:
        served = stranger.client.get("/manifest.webmanifest")
        assert served.headers["Content-Type"] == "application/manifest+json"
        assert (served.json["display"], served.json["start_url"]) == ("standalone", "/")
        assert stranger.client.get(served.json["icons"][0]["src"]).status_code == 200

    def test_pages_tell_sign_ins_apart_without_a_word_about_the_session(self, anna: Caller) -> None:
        def visit() -> str:
            (found,) = re.findall('data-visit="([^"]*)"', anna.client.get("/help").text)
            return str(found)

        first = visit()
        assert re.fullmatch("[0-9a-f]{8}", first)
        assert visit() == first
        anna.post("/sessions", {"name": "anna", "password": "the secret of anna"})
        assert visit() != first

    def test_the_settings_say_how_each_browser_is_doing(self, anna: Caller, services: Services) -> None:
        ids = [subscribed(anna, f"{APPLE}{number}", label=f"Browser {number}").json["id"] for number in range(4)]
        record = services.subscriptions.record
        record(anna.id, ids[1], "Apple has taken it.", services.now() - 1, delivered=True)
        services.subscriptions.record(
            anna.id, ids[2], "Apple answered with status 500.", services.now(), delivered=False
        )
        services.subscriptions.end(anna.id, ids[3], "Apple says that this browser wants no more.", services.now())
        page = " ".join(re.sub("<[^>]+>", "", anna.client.get("/settings/notices").text).split())
        assert "Browser 0 (this browser) No notice has been sent yet." in page
        assert "Browser 1 (this browser) Last notice delivered just now." in page
        assert "Apple answered with status 500. That was just now; no notice was ever delivered." in page
        assert "Apple says that this browser wants no more. That was just now; it gets no more notices." in page


class TestTestNotices:
    def test_a_test_is_put_into_the_outbox(self, anna: Caller, services: Services) -> None:
        id = subscribed(anna).json["id"]
        assert anna.post(f"/me/push-subscriptions/{id}/tests").status_code == 202
        dispatch = services.outbox.take()
        assert (dispatch.player, dispatch.channel, dispatch.target) == (anna.id, NoticeChannel.PUSH, id)
        assert (dispatch.purpose, dispatch.notices) == (Purpose.TEST, ())

    def test_there_is_none_for_a_browser_that_gets_no_more_notices(self, anna: Caller, services: Services) -> None:
        id = subscribed(anna).json["id"]
        services.subscriptions.end(anna.id, id, "The browser has unsubscribed.", services.now())
        refused = anna.post(f"/me/push-subscriptions/{id}/tests")
        assert (refused.status_code, refused.json["code"]) == (409, "subscription-ended")
        assert refused.json["detail"].endswith("The browser has unsubscribed.")
        (listed,) = anna.get("/me/push-subscriptions").json["items"]
        assert (listed["ended"], listed["service"]) == ("The browser has unsubscribed.", "")

    def test_they_are_limited(self, server: RealServer) -> None:
        app = app_on(server.url, UNLIMITED._replace(test_notices="2/hour"))
        anna = Caller(app).sign_up("anna")
        id = subscribed(anna).json["id"]
        statuses = [anna.post(f"/me/push-subscriptions/{id}/tests").status_code for _ in range(3)]
        assert statuses == [202, 202, 429]


class TestTheAddressOfFeeds:
    def test_it_is_shown_once_and_can_be_replaced_and_revoked(self, anna: Caller, services: Services) -> None:
        assert anna.get("/me/feed-address").json == {"created_at": None}
        made = anna.post("/me/feed-address").json
        secret = made["deadlines"].removeprefix("http://localhost/feeds/").removesuffix("/deadlines.ics")
        assert services.feed_addresses.owner(secret) == anna.id
        assert made["matches"] == f"http://localhost/feeds/{secret}/matches.atom"
        assert made["match"] == f"http://localhost/feeds/{secret}/matches/{{match}}.atom"
        assert anna.get("/me/feed-address").json == {"created_at": made["created_at"]}
        assert anna.post("/me/feed-address").json["deadlines"] != made["deadlines"]
        assert services.feed_addresses.owner(secret) is None
        assert anna.delete("/me/feed-address").status_code == 204
        assert anna.delete("/me/feed-address").json["code"] == "no-feed-address"


def test_the_archive_has_the_browsers_without_their_secrets_and_an_erasure_takes_all(app: Flask, anna: Caller) -> None:
    services: Services = app.extensions["rookery"]
    browser = Browser(APPLE)
    anna.post("/me/push-subscriptions", browser.subscription)
    anna.post("/me/feed-address")
    with zipfile.ZipFile(io.BytesIO(anna.client.get("/api/v1/me/archive").data)) as archive:
        person = archive.read("person.json").decode()
    assert json.loads(person)["push_subscriptions"][0]["endpoint"] == APPLE
    assert json.loads(person)["feed_address"]["created_at"] > 0
    assert to_base64url(browser.secret) not in person
    assert anna.post("/me/erasure", {"name": "anna"}).status_code == 200
    assert services.subscriptions.of(anna.id) == []
    assert services.feed_addresses.of(anna.id) is None
