"""The service worker of the pages: its kill switch, and the site beside a broken one."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from flask import Flask
from playwright.sync_api import Browser, Error, Page, expect

from api.pages import static_files
from api.services import EXTENSION, Services
from tests.e2e.visitors import DESK, PHONE, Visitor
from tests.support.callers import app_on
from tests.support.eventually import eventually
from tests.support.served_app import served
from tests.support.server import RealServer

KEPT = "caches.keys().then((names) => names.length)"
WORKERS = "navigator.serviceWorker.getRegistrations().then((found) => found.length)"
BROKEN = b"self.addEventListener('install', () => self.skipWaiting());\n\
self.addEventListener('activate', (event) => event.waitUntil(clients.claim()));\n\
self.addEventListener('fetch', (event) => event.respondWith(Promise.reject(new Error('broken'))));"


class OwnSite(NamedTuple):
    """A site of this test, whose operator can change the settings."""

    url: str
    app: Flask

    def switch_worker(self, on: bool) -> None:
        services: Services = self.app.extensions[EXTENSION]
        services.settings = services.settings._replace(page_worker=on)


@pytest.fixture
def site(server: RealServer) -> Iterator[OwnSite]:
    app = app_on(server.url)
    with served(app) as url:
        services: Services = app.extensions[EXTENSION]
        services.settings = services.settings._replace(stream_url=url)
        yield OwnSite(url, app)


@pytest.fixture
def arrive(site: OwnSite, browser: Browser) -> Iterator[Callable[..., Page]]:
    """Return a function that opens the settings of a person who has just signed up."""
    visitors = []

    def sign_up(**options: Any) -> Page:
        visitors.append(Visitor(browser, site, **options).sign_up())
        visitors[-1].page.goto("/settings")
        return visitors[-1].page

    yield sign_up
    for visitor in visitors:
        visitor.close()


@pytest.mark.parametrize("options", [{"viewport": PHONE, "has_touch": True}, {"viewport": DESK}], ids=["phone", "desk"])
def test_the_kill_switch_removes_the_worker_and_all_that_is_kept(
    options: dict[str, Any], site: OwnSite, arrive: Callable[..., Page]
) -> None:
    page = arrive(**options)
    page.get_by_label("Keep the matches that await me").check()
    expect(page.get_by_text("They are kept on this device.")).to_be_visible()
    assert page.evaluate(WORKERS) == 1
    assert page.evaluate(KEPT) == 1
    site.switch_worker(on=False)
    page.goto("/settings")
    eventually(lambda: page.evaluate(WORKERS) == 0, "no worker in the browser")
    page.reload()
    expect(page.get_by_label("Keep the matches that await me")).to_have_count(0)
    eventually(lambda: page.evaluate(KEPT) == 0, "nothing kept")
    assert page.evaluate("localStorage['kept-for']") is None
    assert page.evaluate("navigator.serviceWorker.controller") is None
    page.get_by_role("link", name="Lobby").click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    site.switch_worker(on=True)
    page.goto("/settings")
    expect(page.get_by_label("Keep the matches that await me")).not_to_be_checked()


def test_a_worker_that_cannot_be_read_leaves_the_site_as_it_is(
    arrive: Callable[..., Page], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(static_files.CONTENTS, "service-worker.js", b"this is no script")
    page = arrive()
    page.get_by_label("Keep the matches that await me").click()
    expect(page.get_by_text("This browser keeps nothing.")).to_be_visible()
    page.goto("/lobby")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert page.evaluate(WORKERS) == 0


def test_a_worker_that_fails_at_every_request_is_replaced_once_it_is_switched_off(
    site: OwnSite, arrive: Callable[..., Page], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(static_files.CONTENTS, "service-worker.js", BROKEN)
    page = arrive()
    page.get_by_label("Keep the matches that await me").click()
    page.evaluate("navigator.serviceWorker.ready.then(() => null)")
    site.switch_worker(on=False)
    # Chromium looks for another worker some time after a navigation, and puts it off with each further one.
    other = page.context.new_page()
    with pytest.raises(Error):
        other.goto("/lobby")
    eventually(lambda: page.evaluate(WORKERS) == 0, "no worker in the browser")
    other.goto("/lobby")
    expect(other.get_by_role("heading", level=1)).to_be_visible()
