"""Walk the path of a newcomer in every game: ``python -m tests.e2e.newcomer_screenshots DIRECTORY`` for the pictures.

The path leads from the page of the game over its strategy and first steps, sign-up, a match against the computer, which
says why it moved so, and a free seat in the lobby to the mail about the answer, and back to the match; on a phone and
on a desk. In Fourplay it sets up an army as well, in Four Towers it composes a move. It fails where it ends before.
"""

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, ViewportSize, expect

from deploy.local.installation import LocalInstallation
from domain.games import GAMES
from tests.e2e.notice_screenshots import html_of
from tests.e2e.png import shrunk
from tests.e2e.visitors import DESK, OVERFLOW, PHONE, Visitor, chromium
from tests.support.eventually import eventually
from tests.support.mailbox import Mailbox, open_mailbox

WINDOWS: dict[str, ViewportSize] = {"phone": PHONE, "desk": DESK}
LINK = re.compile(r"http://127\.0\.0\.1:[^\s\"<>]+")


def zone_at_noon() -> str:
    """Return a time zone in which it is noon, so that no mail waits for the end of the quiet hours."""
    return f"Etc/GMT{datetime.now(UTC).hour - 12:+d}"


class Newcomer:
    """A newcomer to one game, who looks at pages in one window; each look is a picture in ``target``."""

    def __init__(self, browser: Browser, site: LocalInstallation, game_id: str, window: str, target: Path) -> None:
        self._game, self._browser = GAMES[game_id], browser
        self._target, self._name, self._looks = target, f"{game_id}-{window}", 0
        is_phone = window == "phone"
        self.visitor = Visitor(
            browser, site, viewport=WINDOWS[window], has_touch=is_phone, is_mobile=is_phone, timezone_id=zone_at_noon()
        )
        self.page = self.visitor.page

    def look(self, what: str) -> None:
        """Keep what is in the window."""
        self.page.wait_for_load_state("networkidle" if "match" not in what else "load")
        assert self.page.evaluate(OVERFLOW) <= 0, f"{self._name}: {what} is wider than the window"
        self._keep(self.page, what)

    def _keep(self, page: Page, what: str) -> None:
        self._looks += 1
        (self._target / f"{self._name}-{self._looks:02}-{what}.png").write_bytes(shrunk(page.screenshot()))

    def learn(self) -> None:
        """Read the page of the game and its strategy, and solve the first figure of its first steps."""
        self.page.goto(f"/games/{self._game.id}")
        self.look("game")
        self.page.get_by_role("link", name="Strategy").click()
        self.look("strategy")
        self.page.get_by_role("button", name=re.compile("^Try it")).first.click()
        expect(self.page.locator(".playable [data-part=goal]")).not_to_be_empty()
        self.look("strategy-figure")
        self.page.goto(f"/games/{self._game.id}")
        self.page.get_by_role("link", name="First steps").click()
        self.look("first-steps")
        self.page.locator("[data-ticked] a").first.click()
        step = json.loads(self.page.locator("#first-figure").text_content() or "")["steps"][0]
        move = next(iter(step["refused"] or step["accepted"]))
        squares = next(
            [start, *hint["path"]] for start, hints in step["hints"].items() for hint in hints if hint["move"] == move
        )
        for square in squares:
            self.page.locator(f".playable .square:is(.can-begin, .is-target)[data-square='{square}']").click()
        if len(squares) == 1:
            self.page.locator(".playable [data-part=options] button").first.click()
        expect(self.page.locator(".playable [data-part=said]")).not_to_be_empty()
        self.look("lesson")

    def sign_up(self) -> None:
        """Become a person with a mail address."""
        self.page.goto(f"/sign-up?next=/matches/new%3Fgame={self._game.id}")
        self.page.get_by_label("Name").fill(self._name)
        self.page.get_by_label("Password").fill("a tower of words")
        self.page.get_by_label("Mail address").fill(f"{self._name}@example.org")
        self.look("sign-up")
        self.page.locator("main").get_by_role("button", name="Sign up").click()
        self.page.wait_for_url(re.compile(r"^[^?]*/matches/new"))
        self.visitor.name = self._name

    def play_the_computer(self) -> None:
        """Begin the match that is proposed, touch a piece, and make a move."""
        self.look("new-match")
        self.page.get_by_role("button", name="Begin").click()
        self.page.wait_for_url("**/matches/m*")
        self._touch()
        self.look("match-piece")
        self._move()
        expect(self.page.locator("#standing")).to_contain_text("Your move", timeout=60_000)
        expect(self.page.locator("#standing .told")).to_be_visible()
        self.look("match-answered")
        self.page.get_by_text("Why did it do that?").click()
        reasons = self.page.locator("#why .reasons")
        expect(reasons).to_contain_text(":")
        reasons.scroll_into_view_if_needed()
        self.look("match-why")

    def play_a_person(self, host: Visitor, mailbox: Mailbox) -> None:
        """Take a free seat in the lobby, move, and come back by the mail about the answer."""
        match_id = self._offer(host)
        self.page.goto(f"/lobby?game={self._game.id}")
        self.look("lobby")
        self.page.locator("li", has=self.page.locator(f"a[href='/matches/{match_id}']")).get_by_role("button").click()
        self.page.wait_for_url("**/matches/m*")
        self._move()
        expect(self.page.locator("#standing .told")).to_contain_text("by mail")
        self.look("match-told")
        self.page.goto(self._link_in(self._mail(mailbox, "/mail/confirm/"), "/mail/confirm/"))
        self.page.locator("main").get_by_role("button").click()
        self.look("mail-confirmed")
        self.page.goto("/")
        host.move(match_id, host.call("GET", f"/matches/{match_id}/legal-moves")["legal_moves"][0])
        mail = self._mail(mailbox, match_id)
        letter = self._browser.new_page(viewport=self.page.viewport_size)
        letter.set_content(html_of(mail))
        self._keep(letter, "mail")
        letter.close()
        self.page.goto(self._link_in(mail, match_id))
        expect(self.page.locator("#standing")).to_contain_text("Your move")
        self.look("match-return")
        self.page.goto("/notices")
        self.look("notices")

    def set_up_an_army(self) -> None:
        """Begin a match with a draft against the computer, take the ready-made army and place nothing more."""
        seats: list[dict[str, Any]] = [{"kind": "me"}, *[{"kind": "opponent", "level": 1}] * 3]
        self.visitor.open(self.visitor.create(self._game.id, "draft", seats))
        self.look("match-draft")
        self.page.get_by_role("button", name="Ready-made army").click()
        expect(self.page.locator("[data-draft-act=submit]")).to_be_enabled()
        self.look("match-army")
        self.page.locator("[data-draft-act=submit]").click()
        expect(self.page.locator("#draft section")).to_have_count(0)
        expect(self.page.locator("#standing")).to_contain_text("Your move", timeout=60_000)
        self.look("match-drafted")

    def compose_a_move(self, host: Visitor) -> None:
        """Bring a dragon to a tower, and begin to compose the series of moves that it makes possible."""
        match_id = self.visitor.create(
            self._game.id, "standard", [{"kind": "me"}, {"kind": "player", "name": host.name}]
        )
        host.call("POST", f"/matches/{match_id}/joins", {})
        for player, move in zip([self.visitor, host] * 2, ["h2-i4", "k8-k7", "f2-g4", "j8-j7"], strict=True):
            player.move(match_id, move)
        self.visitor.open(match_id)
        self.page.locator("#compositions button").first.click()
        expect(self.page.locator("#composing")).to_be_visible()
        self.look("match-composing")

    def _offer(self, host: Visitor) -> str:
        """Return an open match of ``host``, in which a newcomer has the first move."""
        setup = next(iter(self._game.setups.values()))
        others: list[dict[str, Any]] = [{"kind": "opponent", "level": 1}] * (len(setup.seat_names) - 2)
        match_id = host.create(self._game.id, setup.name, [{"kind": "open"}, {"kind": "me"}, *others])
        eventually(lambda: match_id in str(host.call("GET", "/matches?view=open")), "the match in the lobby")
        return match_id

    def _touch(self) -> None:
        piece = self.page.locator("#board .can-begin").first
        piece.wait_for(state="attached")
        piece.click()
        expect(self.page.locator("#piece a")).to_be_visible()

    def _move(self) -> None:
        """Play the first move of a piece whose path leads over squares."""
        match_id = re.split("[/?]", self.page.url)[4]
        hints = self.visitor.call("GET", f"/matches/{match_id}/legal-moves")["hints"]
        start, hint = next((start, hint) for start, hints in hints.items() for hint in hints if hint["path"])
        self.page.keyboard.press("Escape")
        self.visitor.submit(start, *hint["path"])

    def _mail(self, mailbox: Mailbox, about: str) -> Any:
        """Return the mail to the newcomer that names ``about``, as soon as there is one."""

        def arrived() -> Any:
            to = [each.message for each in mailbox.received if f"{self._name}@example.org" in str(each.message["To"])]
            return next((mail for mail in to if about in str(mail)), None)

        return eventually(arrived, f"a mail about {about}")

    def _link_in(self, mail: Any, part: str = "") -> str:
        text: str = mail.get_body(("plain",)).get_content()
        return str(next(link for link in LINK.findall(text) if part in link))


def walk(
    browser: Browser, target: Path, games: Iterable[str] = tuple(GAMES), windows: Iterable[str] = tuple(WINDOWS)
) -> None:
    """Walk the paths of ``games`` in ``windows`` and write the pictures to ``target``."""
    target.mkdir(parents=True, exist_ok=True)
    with open_mailbox() as mailbox, tempfile.TemporaryDirectory() as var:
        os.environ |= {"ROOKERY_SMTP_URL": mailbox.url, "ROOKERY_MAIL_DOMAIN": "mail.example.org"}
        with LocalInstallation(Path(var) / "var") as installation:
            host = Visitor(browser, installation).sign_up("Bert")
            for game_id, window in product(games, windows):
                newcomer = Newcomer(browser, installation, game_id, window, target)
                newcomer.learn()
                newcomer.sign_up()
                newcomer.play_the_computer()
                newcomer.play_a_person(host, mailbox)
                if game_id == "fourplay":
                    newcomer.set_up_an_army()
                if game_id == "four-towers":
                    newcomer.compose_a_move(host)
                assert newcomer.visitor.complaints == []
                newcomer.visitor.close()


if __name__ == "__main__":
    with chromium() as opened:
        walk(opened, Path(sys.argv[1]), *(argument.split(",") for argument in sys.argv[2:]))
