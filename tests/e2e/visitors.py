"""People with their own browser contexts, and the Chromium that they share."""

import os
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from playwright import sync_api

from events.runtime.settings import Settings
from tests.support.programs import find_program

SCRIPTS = Path(__file__).parent / "scripts"
"""Functions that tests run in pages."""

CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""The headless shell comes first, if installed: it needs a quarter less processor time."""

FLAGS = (
    *("--no-sandbox", "--headless=new", "--disable-gpu", "--disable-background-networking", "--disable-sync"),
    *("--disable-component-update", "--no-first-run"),
    # All pages are of one site: a process for each frame and a spare one at every turn protect nobody here.
    "--disable-site-isolation-trials",
    "--renderer-process-limit=2",
    # No page lives long enough to gain from code that is optimized much.
    "--js-flags=--no-opt --no-maglev",
)
PATIENCE_MS = 15_000
"""How long a browser waits for an expected element; it continues as soon as that appears."""

WINDOW: sync_api.ViewportSize = {"width": 1280, "height": 720}
"""The default window of a visitor."""

PHONE: sync_api.ViewportSize = {"width": 380, "height": 800}
DESK: sync_api.ViewportSize = {"width": 1366, "height": 768}
OVERFLOW = "() => document.documentElement.scrollWidth - innerWidth"
"""A script that returns by how many pixels a page is wider than the window."""

EMPTY_PAGE = "/healthz"
"""A page of the installation without scripts; for another site the browser would start a new process."""

_EXPECTED = re.compile(r"status of (4\d\d|503)|net::ERR_")


@contextmanager
def chromium() -> Iterator[sync_api.Browser]:
    """Run the Chromium of this machine; raises FileNotFoundError, which says how to install it, if there is none."""
    path = find_program(CHROMIUM, "chromium")
    sync_api.expect.set_options(timeout=PATIENCE_MS)
    with sync_api.sync_playwright() as playwright:
        # It makes a socket in the directory for temporary files, whose path must be short.
        environment: dict[str, Any] = {name: value for name, value in os.environ.items() if name != "TMPDIR"}
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS), env=environment)
        yield browser
        browser.close()


class Site(Protocol):
    @property
    def url(self) -> str:
        """The address of the home page, without a slash at the end."""


class SharedInstallation(NamedTuple):
    """A running installation, as processes know it that have not started it."""

    url: str
    settings: Settings


class Visitor:
    """A person with a browser. Errors that the browser reports (failed scripts, policy violations) are recorded.

    A profile and its first page cost a browser more than most tests do with them, so that ``leave`` makes a newcomer of
    a visitor. It cannot take back what a test installs into the browser for good, such as a clock: such a test has a
    visitor with options of its own.
    """

    def __init__(self, browser: sync_api.Browser, installation: Site, **options: Any) -> None:
        self.installation = installation
        # Otherwise the board fades at every move, and the processor paints each frame of it.
        self.context: sync_api.BrowserContext = browser.new_context(
            base_url=installation.url, reduced_motion="reduce", **options
        )
        self.context.set_default_timeout(PATIENCE_MS)
        self.page: sync_api.Page = self.context.new_page()
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.complaints: list[str] = []
        self.name = ""

    def _hear(self, message: sync_api.ConsoleMessage) -> None:
        if message.type == "error" and not _EXPECTED.search(message.text):
            self.complaints.append(message.text)

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Call the API with the visitor's cookie; return the answer's JSON. A refusal is an AssertionError."""
        answer = self.context.request.fetch(
            f"/api/v1{path}", method=method, data=body, headers={"Origin": self.installation.url, **headers}
        )
        assert answer.ok, answer.text()
        return answer.json() if answer.body() else None

    def sign_up(self, name: str = "") -> "Visitor":
        """Become a person with this name, or one that nobody has."""
        self.name = name or f"visitor-{secrets.token_hex(4)}"
        self.call("POST", "/players", {"name": self.name, "password": "a tower of words"})
        return self

    def sign_in(self, name: str) -> "Visitor":
        """Become the person of this name who has signed up in another browser."""
        self.name = name
        self.call("POST", "/sessions", {"name": name, "password": "a tower of words"})
        return self

    def be_guest(self) -> "Visitor":
        """Become a guest, whose name the server makes; quicker than signing up."""
        self.name = self.call("POST", "/guests", {})["name"]
        return self

    def create(self, game: str, setup: str, seats: list[dict[str, Any]], **more: Any) -> str:
        wanted = {"game": game, "setup": setup, "seats": seats, "rated": False, "private": False, **more}
        match: str = self.call("POST", "/matches", wanted)["id"]
        return match

    def play_bashni(self, black: "Visitor") -> str:
        """Create a match of Bashni that ``black`` has joined and return its id; one plays White oneself."""
        match_id = self.create("bashni", "start", [{"kind": "me"}, {"kind": "player", "name": black.name}])
        black.call("POST", f"/matches/{match_id}/joins", {})
        return match_id

    def move(self, match_id: str, *moves: str) -> None:
        for move in moves:
            self.call("POST", f"/matches/{match_id}/moves", {"move": move})

    def open(self, match_id: str, query: str = "") -> sync_api.Page:
        """Show the page of a match and wait until its scripts have done their first work."""
        self.page.goto(f"/matches/{match_id}{query}")
        self.page.locator("#board .square[tabindex='0']").wait_for(state="attached")
        return self.page

    def square(self, name: str) -> sync_api.Locator:
        return self.page.locator(f"#board .square[data-square='{name}']")

    def submit(self, *squares: str) -> None:
        """Play a move with the mouse, square by square, and confirm it."""
        self.page.locator(f"#board .square.can-begin[data-square='{squares[0]}']").click()
        for name in squares[1:]:
            self.page.locator(f"#board .square.is-target[data-square='{name}']").click()
        self.page.locator("#submit").click()

    def leave(self) -> list[str]:
        """Leave routes, page, what was stored and who one was behind; return what the browser complained of."""
        self.context.unroute_all()
        self.page.unroute_all()
        self.page.set_viewport_size(WINDOW)
        self.page.emulate_media(color_scheme="light")
        if self.page.url not in ("about:blank", f"{self.installation.url}{EMPTY_PAGE}"):
            self.page.goto(EMPTY_PAGE)
            self.page.evaluate("localStorage.clear(); sessionStorage.clear()")
            self.page.mouse.move(0, 0)
        self.context.clear_cookies()
        complaints, self.complaints, self.name = self.complaints, [], ""
        return complaints

    def close(self) -> None:
        self.context.close()


def four(visit: Callable[..., Visitor], setup: str, **options: Any) -> tuple[Visitor, list[Visitor], str]:
    """Return four people and their match of Fourplay; the first, whose browser has ``options``, is Red."""
    red, *others = visit(**options).be_guest(), visit().be_guest(), visit().be_guest(), visit().be_guest()
    seats = [{"kind": "me"}, *({"kind": "player", "name": each.name} for each in others)]
    match_id = red.create("fourplay", setup, seats)
    for each in others:
        each.call("POST", f"/matches/{match_id}/joins", {})
    return red, others, match_id
