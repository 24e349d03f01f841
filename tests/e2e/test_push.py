"""Push notices in a real browser: the service worker shows them, and the settings page switches them on and off."""

import json
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, Worker, expect

from tests.e2e.visitors import SCRIPTS, Visitor
from tests.support.eventually import eventually
from tests.support.push_service import Browser

MESSAGE = {
    "web_push": 8030,
    "notification": {"title": "Your turn", "body": "It is your turn.", "tag": "m1", "navigate": "/matches/m1"},
}
REGISTER = """async () => {
  await navigator.serviceWorker.register("/service-worker.js");
  return (await navigator.serviceWorker.ready).scope;
}"""
RECORD = """() => {
  self.shown = [];
  self.went = [];
  self.registration.showNotification = async (title, options) => self.shown.push({title, ...options});
  self.clients.openWindow = async (url) => self.went.push(`open ${url}`);
  WindowClient.prototype.focus = async function focus() { self.went.push(`focus ${this.url}`); };
}"""
"""The headless shell of Chromium shows no notifications, and only a person may open windows."""

CLICK = """async (navigate) => {
  const event = new Event("notificationclick");
  event.notification = {close: () => {}, data: {navigate}};
  const done = new Promise((resolve) => { event.waitUntil = resolve; });
  self.dispatchEvent(event);
  await (await done);
  return self.went.at(-1);
}"""
WITHOUT_PUSH_SERVICE = (SCRIPTS / "without-push-service.js").read_text()
"""The browser's side of push services, which Chromium would look for outside."""


def deliver(visitor: Visitor, payload: str) -> None:
    """Let the browser receive a push message."""
    session = visitor.context.new_cdp_session(visitor.page)
    found: list[Any] = []
    session.on("ServiceWorker.workerRegistrationUpdated", lambda event: found.extend(event["registrations"]))
    session.send("ServiceWorker.enable")
    eventually(lambda: visitor.page.evaluate("1") and found, "the list of service workers")
    message = {"origin": visitor.installation.url, "registrationId": found[-1]["registrationId"], "data": payload}
    session.send("ServiceWorker.deliverPushMessage", message)
    session.detach()


def shown(worker: Worker) -> list[dict[str, Any]]:
    notifications: list[dict[str, Any]] = worker.evaluate("self.shown")
    return notifications


def test_the_service_worker_shows_what_is_pushed_and_opens_its_page(visit: Callable[..., Visitor]) -> None:
    visitor = visit(permissions=["notifications"])
    visitor.page.goto("/help")
    assert visitor.page.evaluate(REGISTER) == f"{visitor.installation.url}/"
    (worker,) = visitor.context.service_workers
    worker.evaluate(RECORD)
    deliver(visitor, json.dumps(MESSAGE))
    deliver(visitor, "not JSON")
    eventually(lambda: len(shown(worker)) == 2, "the notifications")
    first, second = shown(worker)
    assert (first["title"], first["body"], first["tag"]) == ("Your turn", "It is your turn.", "m1")
    assert (first["renotify"], first["data"]) == (True, {"navigate": "/matches/m1"})
    assert (second["title"], second["renotify"], second["data"]) == ("Rookery", False, {"navigate": "/"})
    url = visitor.installation.url
    assert worker.evaluate(CLICK, "/matches/m1") == f"open {url}/matches/m1"
    assert worker.evaluate(CLICK, f"{url}/help#time") == f"focus {url}/help"
    assert worker.evaluate(CLICK, "https://evil.example/") == f"focus {url}/help"


def faked(visit: Callable[..., Visitor], endpoints: list[str]) -> Visitor:
    """Return a visitor whose browser subscribes to push services at ``endpoints``, one after the other."""
    visitor = visit(permissions=["notifications"])
    visitor.page.expose_function("makeSubscription", lambda: Browser(endpoints.pop(0)).subscription)
    visitor.page.add_init_script(WITHOUT_PUSH_SERVICE)
    return visitor.be_guest()


def listed(visitor: Visitor) -> list[str]:
    return [each["id"] for each in visitor.call("GET", "/me/push-subscriptions")["items"]]


def settings(page: Page) -> Page:
    page.goto("/settings/notices")
    return page


def test_notices_are_switched_on_and_off_and_go_on_after_the_browser_has_lost_them(
    visit: Callable[..., Visitor],
) -> None:
    visitor = faked(visit, [f"https://web.push.apple.com/{number}" for number in range(3)])
    page = settings(visitor.page)
    assert visitor.context.service_workers == []  # before the person wants notices
    page.get_by_role("button", name="Show notices in this browser").click()
    expect(page.get_by_text("This browser gets your notices.")).to_be_visible()
    expect(page.get_by_text("(this browser)")).to_be_visible()
    expect(page.get_by_text("No notice has been sent yet.")).to_be_visible()
    eventually(lambda: page.evaluate("sessionStorage.getItem('push')"), "what the page does after it was loaded")
    first = listed(visitor)

    # Browsers drop subscriptions silently: the next visit makes another.
    page.evaluate("localStorage.removeItem('fake'); sessionStorage.clear()")
    settings(page)
    eventually(lambda: page.evaluate("sessionStorage.getItem('push')"), "the next visit")
    second = listed(visitor)
    assert len(first) == len(second) == 1
    assert first != second

    # What was removed elsewhere is not made again.
    visitor.call("DELETE", f"/me/push-subscriptions/{second[0]}")
    page.evaluate("sessionStorage.clear()")
    settings(page)
    eventually(lambda: page.evaluate("localStorage.getItem('push') === null"), "the end of the subscription")
    assert listed(visitor) == []

    page.get_by_role("button", name="Show notices in this browser").click()
    expect(page.get_by_text("This browser gets your notices.")).to_be_visible()
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_role("button", name="Show notices in this browser")).to_be_visible()
    assert page.evaluate("[localStorage.getItem('push'), localStorage.getItem('fake')]") == [None, None]
    assert listed(visitor) == []


def test_the_address_of_feeds_is_shown_once(visit: Callable[..., Visitor]) -> None:
    visitor = visit().be_guest()
    page = settings(visitor.page)
    page.get_by_role("button", name="Make an address").click()
    address = page.locator("#feed-address code").first.inner_text()
    assert address.endswith("/deadlines.ics")
    settings(page)
    expect(page.get_by_text("Your address was made just now.")).to_be_visible()
    page.get_by_role("button", name="Revoke it").click()
    expect(page.get_by_role("button", name="Make an address")).to_be_visible()
