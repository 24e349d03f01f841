"""The pages that links in mail lead to: to open one changes nothing, and an invalid link is told in words."""

import pytest

from api.services import Services
from events.mail.tokens import PlayerToken, TokenKind, write_token
from events.notices.addresses import wants
from events.notices.mail_links import PASSWORD_RESET_MS, LinkPurpose, reset_subject, write_link
from tests.support.callers import Caller

AS_BROWSERS = {"Accept": "text/html"}
ADDRESS = "anna@players.test"


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
