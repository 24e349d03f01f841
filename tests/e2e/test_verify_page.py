"""The page that verifies bundles in the browser, on the site and as one file, without a request to any server."""

import json
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from domain.game import AnyGame
from domain.games import GAMES
from events.proof.bundle import make_bundle
from events.proof.public_keys import key_set
from events.proof.receipts import make_receipt, write_receipt
from events.store.contract import Head
from tests.e2e.visitors import Visitor
from tests.support.bundles import KEY, SIGNED_AT, bundle_of as finished_bundle, envelopes, keys, resigned
from tests.support.long_games import events_of

RESIGNED = finished_bundle(resigned(), logged=5)
KEYS = json.dumps(key_set(keys().values())).encode()
PLIES = 3


def named(name: str, content: bytes) -> Any:
    """Return a file as a browser gets it from its user."""
    return {"name": name, "mimeType": "application/json", "buffer": content}


def add(page: Page, *files: Any) -> None:
    """Give the page files, and wait for the verdict."""
    page.locator("#files").set_input_files(list(files))
    expect(page.locator("#verdict-title")).not_to_be_empty()


def bundle_of(game: AnyGame, setup: str) -> bytes:
    """Return a bundle, with positions, of a match that goes on after PLIES plies."""
    players = [f"player-{seat}" for seat in range(len(game.setups[setup].seat_names))]
    played = envelopes(events_of(game, setup, PLIES, players, SIGNED_AT - 1000))
    return make_bundle("m", played, KEY, SIGNED_AT, None, positions=True)


def steps(page: Page) -> dict[str, str]:
    shown = page.locator("#steps li").evaluate_all(
        "items => items.map((each) => [each.dataset.stepName, each.className])"
    )
    return dict(shown)


def test_a_bundle_is_verified_without_a_request_to_any_server(visit: Callable[..., Visitor]) -> None:
    page = visit().page
    page.goto("/verify", wait_until="networkidle")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    add(page, named("resigned.json", RESIGNED), named("keys.json", KEYS))
    assert steps(page) == {
        "well-formed": "proved", "chain": "proved", "signature": "proved", "checkpoint": "proved", "rules": "unchecked",
    }  # fmt: skip
    expect(page.locator("#verdict-title")).to_have_text("The record is whole, and the server has signed it")
    assert asked == []


def test_a_forged_bundle_is_refused_with_the_event_that_was_changed(visit: Callable[..., Visitor]) -> None:
    page = visit().page
    page.goto("/verify")
    forged = RESIGNED.replace(b"c3-d4", b"c3-b4")
    add(page, named("forged.json", forged), named("keys.json", KEYS))
    assert steps(page)["chain"] == "fault"
    expect(page.locator("#verdict-title")).to_contain_text("event 4, move submitted c3-b4")


def test_a_bundle_of_another_server_is_no_forgery_but_not_proved_without_its_keys(
    visit: Callable[..., Visitor],
) -> None:
    page = visit().page
    page.goto("/verify")
    add(page, named("resigned.json", RESIGNED))
    assert steps(page) == {
        "well-formed": "proved", "chain": "proved", "signature": "unproved", "checkpoint": "unproved",
        "rules": "unchecked",
    }  # fmt: skip
    expect(page.locator("#steps")).to_contain_text("Its key is not among those that came with this page")


def test_the_page_kept_as_one_file_verifies_and_replays_without_a_server(
    visit: Callable[..., Visitor], tmp_path: Path
) -> None:
    visitor = visit()
    kept = tmp_path / "rookery-verify.html"
    kept.write_bytes(visitor.context.request.get("/verify/rookery-verify.html").body())
    page = visitor.page
    page.goto(kept.as_uri())
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    add(page, named("resigned.json", RESIGNED), named("keys.json", KEYS))
    assert steps(page)["checkpoint"] == "proved"
    assert asked == []


def test_the_recorded_positions_of_every_game_are_shown_step_by_step(visit: Callable[..., Visitor]) -> None:
    page = visit().page
    page.goto("/verify")
    for game in GAMES.values():
        setup = next(iter(game.setups))
        packed = bundle_of(game, setup)
        page.locator("#files").set_input_files([named(f"{game.id}.json", packed), named("keys.json", KEYS)])
        expect(page.locator("#summary")).to_contain_text(game.title)
        expect(page.locator("#shown")).to_contain_text(f"Position {PLIES + 1} of {PLIES + 1}")
        shown = json.loads(packed)["facts"]["positions"]
        expect(page.locator("#notation")).to_have_text(shown[-1]["position"])
        pieces = game.scene(game.parse_position(shown[-1]["position"])).columns
        expect(page.locator("#board use")).to_have_count(sum(map(len, pieces.values())))
        page.get_by_role("button", name="First").click()
        expect(page.locator("#notation")).to_have_text(shown[0]["position"])
        page.keyboard.press("ArrowRight")
        expect(page.locator("#notation")).to_have_text(shown[1]["position"])
        expect(page.get_by_role("img", name=f"Position 2 of {PLIES + 1}")).to_be_visible()


def test_a_receipt_is_proved_by_its_bundle_and_a_contradicting_one_in_a_mail_shows_two_stories(
    visit: Callable[..., Visitor],
) -> None:
    page = visit().page
    page.goto("/verify")
    packed = bundle_of(GAMES["bashni"], "start")
    events = json.loads(packed)["events"]
    true, false = (
        write_receipt(make_receipt("m", Head(4, bytes.fromhex(events[place]["digest"])), "0" * 16, KEY, SIGNED_AT))
        for place in (3, 2)
    )
    keys = named("keys.json", KEYS)
    add(page, named("bundle.json", packed), keys, named("true.json", true))
    assert steps(page)["receipts"] == "proved"
    expect(page.locator("#verdict-title")).to_have_text("The record is whole, and the server has signed it")
    quoted = "> " + "\n> ".join(textwrap.wrap(false.decode(), 60))
    page.evaluate(
        """(text) => {
          const clipboardData = new DataTransfer();
          clipboardData.setData("text/plain", text);
          dispatchEvent(new ClipboardEvent("paste", {clipboardData}));
        }""",
        quoted,
    )
    expect(page.locator("#verdict-title")).to_have_text("The server has told two stories, and signed both")


def test_files_can_be_dropped_and_what_is_no_bundle_is_named_so(visit: Callable[..., Visitor]) -> None:
    page = visit().page
    page.goto("/verify")
    transfer = page.evaluate_handle(
        """() => {
          const transfer = new DataTransfer();
          transfer.items.add(new File(["no such thing"], "notes.txt"));
          return transfer;
        }"""
    )
    page.dispatch_event("#drop", "drop", {"dataTransfer": transfer})
    expect(page.locator("#read")).to_contain_text("notes.txt · not recognised: it is not valid JSON")
