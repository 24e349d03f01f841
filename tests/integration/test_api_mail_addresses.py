"""Mail addresses over the API: asked for, confirmed by a link, changed, paused, stopped; passwords; last mails."""

import io
import json
import zipfile
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import pytest
from flask import Flask

from api.access.limits import Limits
from api.services import EXTENSION, Services
from events.notify.addresses import HARD_SCORE, wants, with_bounce
from events.notify.inbox import ReceivedMail, Verdict
from events.notify.letters import LetterKind
from events.notify.mail.tokens import PlayerToken, TokenKind, write_token
from events.notify.mail_links import CONFIRMATION_MS, PASSWORD_RESET_MS, LinkPurpose, reset_subject, write_link
from events.notify.outbox import Dispatch
from tests.support.callers import REQUEST_ID, Caller, app_on
from tests.support.server import RealServer

ADDRESS = "anna@players.test"
PASSWORD = "the secret of anna"


class World:
    """Anna with a session, and what the links in her mail would be."""

    def __init__(self, app: Flask) -> None:
        self.app = app
        self.services: Services = app.extensions[EXTENSION]
        self.anna = Caller(app).sign_up("anna")

    def ask(self, address: str = ADDRESS) -> Any:
        return self.anna.put("/me/mail-address", {"address": address, "password": PASSWORD})

    def link(self, address: str, age_ms: int = 0) -> str:
        secret = self.services.addresses.secret(self.anna.id)
        expires = self.services.now() + CONFIRMATION_MS - age_ms
        return write_link(LinkPurpose.CONFIRMATION, self.anna.id, address, expires, secret)

    def confirm(self, address: str = ADDRESS) -> Any:
        return Caller(self.app).post("/mail-confirmations", {"token": self.link(address)})

    def reset_link(self, age_ms: int = 0) -> str:
        secret = self.services.addresses.secret(self.anna.id)
        expires = self.services.now() + PASSWORD_RESET_MS - age_ms
        mark, address = self.services.people.password_mark(self.anna.id), self.seen()["address"]
        return write_link(LinkPurpose.PASSWORD_RESET, self.anna.id, reset_subject(mark, address), expires, secret)

    def letters(self) -> list[Dispatch]:
        return self.services.outbox.of(self.anna.id)

    def seen(self) -> dict[str, Any]:
        stored: dict[str, Any] = self.anna.get("/me/mail-address").json
        return stored


@pytest.fixture
def world(app: Flask) -> World:
    return World(app)


def test_an_address_is_asked_for_confirmed_and_shown(world: World) -> None:
    assert world.seen()["address"] is None
    assert (world.ask().json["wanted"], world.seen()["address"]) == (ADDRESS, None)
    assert [(each.letter.kind, each.letter.to) for each in world.letters()] == [(LetterKind.CONFIRMATION, ADDRESS)]
    confirmed = world.confirm()
    assert (confirmed.status_code, confirmed.json) == (201, {"player": "anna", "address": ADDRESS})
    assert (world.seen()["address"], world.seen()["wanted"]) == (ADDRESS, None)


def test_the_former_address_stays_until_the_new_one_is_confirmed_and_is_told_then(world: World) -> None:
    world.ask()
    world.confirm()
    world.ask("anna@new.test")
    assert (world.seen()["address"], world.seen()["wanted"]) == (ADDRESS, "anna@new.test")
    world.confirm("anna@new.test")
    assert world.seen()["address"] == "anna@new.test"
    assert (LetterKind.ADDRESS_CHANGED, ADDRESS) in [(each.letter.kind, each.letter.to) for each in world.letters()]


def test_links_that_are_used_old_of_others_or_made_up_confirm_nothing(world: World) -> None:
    world.ask()
    forged = write_link(LinkPurpose.CONFIRMATION, world.anna.id, ADDRESS, world.services.now() + 9000, b"")
    other = world.link("other@players.test")
    old = world.link(ADDRESS, CONFIRMATION_MS + 1000)
    reset = world.reset_link()
    for token in (forged, other, old, reset, "nonsense", f"{world.link(ADDRESS)}x"):
        refused = Caller(world.app).post("/mail-confirmations", {"token": token})
        assert (refused.status_code, refused.json["code"]) == (422, "invalid-link"), token
    assert world.seen()["address"] is None
    good = world.link(ADDRESS)
    assert Caller(world.app).post("/mail-confirmations", {"token": good}).status_code == 201
    assert Caller(world.app).post("/mail-confirmations", {"token": good}).json["code"] == "invalid-link"


def test_links_that_are_made_up_do_not_tell_whose_mail_is_sent(world: World) -> None:
    world.ask()
    world.services.addresses.secret(world.anna.id)
    boris, visitor = Caller(world.app).sign_up("boris"), Caller(world.app)
    told = []
    for player in (world.anna.id, boris.id, "p" + "a" * 16):
        token = f"{player}.ffffffff.{'a' * 24}"
        confirmed = visitor.post("/mail-confirmations", {"token": token}, **REQUEST_ID)
        reset = visitor.put("/password-resets", {"token": token, "password": "another secret"}, **REQUEST_ID)
        pages = [
            visitor.client.get(f"/{page}/{token}", headers=REQUEST_ID) for page in ("mail/confirm", "password-reset")
        ]
        told.append((confirmed.text, reset.text, *(page.text.replace(token, "") for page in pages)))
    assert told == told[:1] * 3


def test_only_the_owner_with_the_password_and_a_session_sets_an_address(world: World) -> None:
    refused = world.anna.put("/me/mail-address", {"address": ADDRESS, "password": "wrong secret"})
    assert refused.json["errors"] == {"password": ["is not your password"]}
    assert world.anna.put("/me/mail-address", {"address": "anna@", "password": PASSWORD}).json["errors"] == {
        "address": ["a mail address is like anna@example.org"]
    }
    own = world.anna.put("/me/mail-address", {"address": "r-abc@mail.rookery.test", "password": PASSWORD})
    assert own.status_code == 422
    guest = Caller(world.app).play_as_guest()
    assert guest.put("/me/mail-address", {"address": ADDRESS, "password": PASSWORD}).json["code"] == "sign-up-required"
    assert guest.post("/me/mail-address/confirmations").json["code"] == "guests-get-no-mail"
    assert world.letters() == []


def test_where_no_mail_is_sent_none_is_promised(world: World) -> None:
    world.services.settings = world.services.settings._replace(mail=None)
    assert world.ask().json["code"] == "mail-not-sent"
    assert Caller(world.app).post("/password-resets", {"name": "anna"}).json["code"] == "mail-not-sent"
    assert world.seen()["mail_is_sent"] is False


def test_mails_to_confirm_are_limited_by_account_and_by_address(server: RealServer) -> None:
    app = app_on(server.url, Limits(confirmations="2/hour"))
    world = World(app)
    boris = Caller(app).sign_up("boris")
    world.ask()
    assert world.anna.post("/me/mail-address/confirmations", {}).status_code == 202
    assert world.anna.post("/me/mail-address/confirmations", {}).status_code == 429
    refused = boris.put("/me/mail-address", {"address": ADDRESS.upper(), "password": "the secret of boris"})
    assert refused.status_code == 429


def test_who_may_write_pauses_and_the_secret_are_the_owners_to_set(world: World) -> None:
    world.ask()
    world.confirm()
    addresses, anna = world.services.addresses, world.anna
    strict = anna.put("/me/mail-address/who-may-write", {"who_may_write": "token-from-and-dmarc"})
    assert strict.json["who_may_write"] == "token-from-and-dmarc"
    addresses.change(anna.id, lambda stored: with_bounce(stored, "one", HARD_SCORE, "550 no", 5))
    addresses.change(anna.id, lambda stored: with_bounce(stored, "two", HARD_SCORE, "550 no", 5))
    assert world.seen()["paused"]["cause"] == "bounces"
    assert anna.post("/me/mail-address/resumption", {}).json["paused"] is None
    before = addresses.secret(anna.id)
    assert anna.post("/me/mail-address/secrets", {}).status_code == 204
    assert addresses.secret(anna.id) != before
    assert anna.delete("/me/mail-address").status_code == 204
    assert world.seen()["address"] is None


def test_one_click_stops_mail_without_a_session_and_a_look_at_the_link_does_not(world: World) -> None:
    world.ask()
    world.confirm()
    secret = world.services.addresses.secret(world.anna.id)
    token = write_token(PlayerToken(kind=TokenKind.UNSUBSCRIBE, player=world.anna.id), secret)
    client = world.app.test_client()
    looked = client.get(f"/api/v1/mail-refusals/{token}")
    assert (looked.status_code, looked.headers["Location"]) == (307, f"/mail/stop/{token}")
    assert world.seen()["paused"] is None
    for _ in range(2):
        clicked = client.post(f"/api/v1/mail-refusals/{token}", data={"List-Unsubscribe": "One-Click"})
        assert clicked.status_code == 204
    assert world.seen()["paused"]["cause"] == "stopped"


def test_only_the_link_that_stops_mail_stops_it(world: World) -> None:
    world.ask()
    world.confirm()
    secret = world.services.addresses.secret(world.anna.id)
    bounce = write_token(PlayerToken(kind=TokenKind.BOUNCE, player=world.anna.id), secret)
    forged = write_token(PlayerToken(kind=TokenKind.UNSUBSCRIBE, player=world.anna.id), bytes(20))
    for token in (bounce, forged, "abc"):
        assert Caller(world.app).post(f"/mail-refusals/{token}").json["code"] == "invalid-link"
    assert world.seen()["paused"] is None


def test_a_new_password_is_promised_alike_whether_there_is_an_account_or_not(world: World) -> None:
    Caller(world.app).post("/password-resets", {"name": "the first, which loads the scripts"})
    commands = []
    for asked in ("anna", "nobody-at-all", ADDRESS, "x@y"):
        before = int(world.services.client.info("commandstats")["cmdstat_evalsha"]["calls"])
        answer = Caller(world.app).post("/password-resets", {"name": asked})
        after = int(world.services.client.info("commandstats")["cmdstat_evalsha"]["calls"])
        commands.append((answer.status_code, answer.json, after - before))
    assert commands == commands[:1] * 4


def test_a_link_changes_the_password_once_and_ends_all_sessions(world: World) -> None:
    link = world.reset_link()
    visitor = Caller(world.app)
    short = visitor.put("/password-resets", {"token": link, "password": "password1"})
    assert short.json["errors"]["password"][0].startswith("this password is too common")
    assert visitor.put("/password-resets", {"token": link, "password": "another secret"}).status_code == 204
    assert world.anna.get("/me").status_code == 401
    again = visitor.put("/password-resets", {"token": link, "password": "a third secret"})
    assert again.json["code"] == "invalid-link"
    assert visitor.post("/sessions", {"name": "anna", "password": "another secret"}).status_code == 201


def test_old_links_and_those_from_before_a_change_of_password_change_nothing(world: World) -> None:
    visitor, old, earlier = Caller(world.app), world.reset_link(PASSWORD_RESET_MS + 1000), world.reset_link()
    world.anna.put("/me/password", {"current": PASSWORD, "password": "changed by hand"})
    for link in (old, earlier, f"pnobodynobodynob.{'f' * 8}.{'a' * 24}"):
        refused = visitor.put("/password-resets", {"token": link, "password": "another secret"})
        assert (refused.status_code, refused.json["code"]) == (422, "invalid-link")
    assert visitor.post("/sessions", {"name": "anna", "password": "changed by hand"}).status_code == 201


def test_a_link_that_a_former_address_got_changes_no_password(world: World) -> None:
    world.ask()
    world.confirm()
    link = world.reset_link()
    world.ask("another@players.test")
    world.confirm("another@players.test")
    refused = Caller(world.app).put("/password-resets", {"token": link, "password": "another secret"})
    assert (refused.status_code, refused.json["code"]) == (422, "invalid-link")


def test_new_passwords_are_limited_by_name(server: RealServer) -> None:
    visitor = Caller(app_on(server.url, Limits(resets="1/hour")))
    assert visitor.post("/password-resets", {"name": "Anna"}).status_code == 202
    assert visitor.post("/password-resets", {"name": " anna"}).status_code == 429


def test_new_passwords_are_limited_by_mail_address_however_it_is_spelled(server: RealServer) -> None:
    visitor = Caller(app_on(server.url, Limits(resets="1/hour")))
    spellings = [
        "anna@bücher.example",
        "Anna@BÜCHER.example",
        "anna@xn--bcher-kva.example",
        "anna@bu\u0308cher\u3002example",
    ]
    asked = [visitor.post("/password-resets", {"name": spelling}).status_code for spelling in spellings]
    assert asked == [202, 429, 429, 429]


def test_the_archive_has_the_address_and_an_erasure_leaves_nothing_of_it(world: World) -> None:
    world.ask()
    world.confirm()
    world.ask("anna@new.test")
    secret = world.services.addresses.secret(world.anna.id)
    with ZipFile(BytesIO(world.anna.get("/me/archive").data)) as archive:
        stored = json.loads(archive.read("mail.json"))
        assert (stored["address"], stored["wanted"]) == (ADDRESS, "anna@new.test")
        assert not [name for name in archive.namelist() if secret.hex() in archive.read(name).decode()]
    assert world.anna.post("/me/erasure", {"name": "anna"}).status_code == 200
    assert world.letters() == []
    assert not [key for key in world.services.client.scan_iter() if b"mail" in key and b"limits" not in key]


AT = 1_700_000_000_000


def test_the_last_mails_are_shown_with_their_verdicts(anna: Caller, boris: Caller, services: Services) -> None:
    assert anna.get("/me/incoming-mail").json == {"items": []}
    for number in range(12):
        mail = ReceivedMail(
            digest=str(number), player=anna.id, recipient="r-secret", return_path="anna@home.example",
            sender="anna@home.example", subject=f"Re: {number}", size=100, at=AT + number * 1000,
        )  # fmt: skip
        services.inbox.add(mail, b"")
    taken = [services.inbox.take() for _ in range(12)][-1]
    assert taken is not None
    services.inbox.finish(taken, Verdict.READ, "1 move was played.", answered=True)
    shown = anna.get("/me/incoming-mail")
    assert [item["subject"] for item in shown.json["items"]] == [f"Re: {number}" for number in range(11, 1, -1)]
    assert shown.json["items"][0] == {
        "at": "2023-11-14T22:13:31.000Z", "sender": "anna@home.example", "subject": "Re: 11", "bytes": 100,
        "verdict": "read", "reason": "1 move was played.", "answered": True,
    }  # fmt: skip
    assert shown.json["items"][1]["verdict"] == "waiting"
    assert "r-secret" not in shown.text
    assert boris.get("/me/incoming-mail").json == {"items": []}


def test_incoming_mail_is_in_the_archive_and_is_erased(anna: Caller, services: Services) -> None:
    mail = ReceivedMail(
        digest="1", player=anna.id, recipient="r-x", return_path="", sender="a@x.example", subject="Re", size=1, at=AT
    )
    services.inbox.add(mail, b"")
    with zipfile.ZipFile(io.BytesIO(anna.client.get("/api/v1/me/archive").data)) as archive:
        assert json.loads(archive.read("incoming-mail.json"))[0]["sender"] == "a@x.example"
    assert anna.post("/me/erasure", {"name": "anna"}).status_code == 200
    assert services.inbox.recent(anna.id, 10) == []
    assert services.inbox.take() is None


AS_BROWSERS = {"Accept": "text/html"}


def links(anna: Caller, services: Services, age_ms: int = 0) -> dict[str, str]:
    """Return the paths that mails to Anna name, ``age_ms`` later than the links were made."""
    now = services.now()
    services.addresses.change(anna.id, lambda stored: wants(stored, ADDRESS, now))
    secret = services.addresses.secret(anna.id)
    expires = now + PASSWORD_RESET_MS - age_ms
    subject = reset_subject(services.people.password_mark(anna.id), services.addresses.read(anna.id).address)
    stop = write_token(PlayerToken(kind=TokenKind.UNSUBSCRIBE, player=anna.id), secret)
    return {
        "confirm": f"/mail/confirm/{write_link(LinkPurpose.CONFIRMATION, anna.id, ADDRESS, expires, secret)}",
        "reset": f"/password-reset/{write_link(LinkPurpose.PASSWORD_RESET, anna.id, subject, expires, secret)}",
        "stop": f"/mail/stop/{stop}",
    }


def test_opening_a_link_of_a_mail_changes_nothing(anna: Caller, stranger: Caller, services: Services) -> None:
    paths = links(anna, services)
    before = services.addresses.read(anna.id)
    pages = {name: stranger.client.get(path, headers=AS_BROWSERS) for name, path in paths.items()}
    assert {name: page.status_code for name, page in pages.items()} == dict.fromkeys(paths, 200)
    for name, words in {
        "confirm": f"Shall {ADDRESS} be the mail address of the account anna?",
        "reset": "For the account <b>anna</b>",
        "stop": "Shall no more notices about the matches of anna be sent by mail?",
    }.items():
        assert words in pages[name].text
        assert '<button class="primary">' in pages[name].text
        assert pages[name].headers.getlist("Referrer-Policy") == ["strict-origin"], "logs would have the link"
    assert services.addresses.read(anna.id) == before


@pytest.mark.parametrize("path", ["/mail/confirm/x", "/mail/stop/x", "/password-reset/x"])
def test_a_link_that_is_incomplete_is_explained_on_a_page(path: str, stranger: Caller) -> None:
    page = stranger.client.get(path, headers=AS_BROWSERS)
    assert page.status_code == 422
    assert "This link is not complete" in page.text


def test_links_expired_or_of_an_old_secret_are_explained(anna: Caller, stranger: Caller, services: Services) -> None:
    expired = links(anna, services, age_ms=PASSWORD_RESET_MS)
    for name in ("confirm", "reset"):
        assert "This link has expired" in stranger.client.get(expired[name], headers=AS_BROWSERS).text
    services.addresses.make_old_mail_worthless(anna.id)
    for path in expired.values():
        assert stranger.client.get(path, headers=AS_BROWSERS).status_code == 422


def test_a_forgotten_password_has_a_form_or_a_reason_why_no_mail_is_sent(stranger: Caller, services: Services) -> None:
    assert "/password-reset" in stranger.client.get("/sign-in").text
    assert "Name or mail address" in stranger.client.get("/password-reset").text
    services.settings = services.settings._replace(mail=None)
    assert "This server sends no mail" in stranger.client.get("/password-reset").text


def test_an_address_given_at_sign_up_is_sent_a_link_and_a_bad_one_keeps_the_name_free(world: World) -> None:
    asked = {"name": "bertha", "password": PASSWORD, "mail_address": "nowhere"}
    refused = Caller(world.app).post("/players", asked)
    assert (refused.status_code, [*refused.json["errors"]]) == (422, ["mail_address"])
    bertha = Caller(world.app)
    assert bertha.post("/players", {**asked, "mail_address": "bertha@players.test"}).status_code == 201
    assert bertha.get("/me/mail-address").json["wanted"] == "bertha@players.test"
    assert len(world.services.outbox.of(bertha.get("/me").json["id"])) == 1
    assert 'name="mail_address"' in Caller(world.app).client.get("/sign-up").text
