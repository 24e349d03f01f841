"""The page that verifies bundles in the browser, on the site and as one file, without a request to any server."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from tests.e2e.visitors import Visitor

BUNDLES = Path(__file__).parents[1] / "bundles"
KEYS = BUNDLES / "keys.json"


def named(name: str, content: bytes) -> Any:
    """Return a file as a browser gets it from its user."""
    return {"name": name, "mimeType": "application/json", "buffer": content}


def add(page: Page, *files: Any) -> None:
    """Give the page files, and wait for the verdict."""
    page.locator("#files").set_input_files(list(files))
    expect(page.locator("#verdict-title")).not_to_be_empty()


def steps(page: Page) -> dict[str, str]:
    """Return the state of each step that the page shows."""
    shown = page.locator("#steps li").evaluate_all(
        "items => items.map((each) => [each.dataset.stepName, each.className])"
    )
    return dict(shown)


def test_a_bundle_is_verified_without_a_request_to_any_server(visit: Callable[..., Visitor]) -> None:
    page = visit().page
    page.goto("/verify", wait_until="networkidle")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    add(page, named("resigned.json", (BUNDLES / "resigned.json").read_bytes()), named("keys.json", KEYS.read_bytes()))
    assert steps(page) == {
        "well-formed": "proved",
        "chain": "proved",
        "signature": "proved",
        "checkpoint": "proved",
        "rules": "unchecked",
    }
    expect(page.locator("#verdict-title")).to_have_text("The record is whole, and the server has signed it")
    assert asked == []


def test_a_forged_bundle_is_refused_with_the_event_that_was_changed(visit: Callable[..., Visitor]) -> None:
    page = visit().page
    page.goto("/verify")
    forged = (BUNDLES / "resigned.json").read_bytes().replace(b"c3-d4", b"c3-b4")
    add(page, named("forged.json", forged), named("keys.json", KEYS.read_bytes()))
    assert steps(page)["chain"] == "fault"
    expect(page.locator("#verdict-title")).to_contain_text("event 4, move submitted c3-b4")


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
    add(page, named("resigned.json", (BUNDLES / "resigned.json").read_bytes()), named("keys.json", KEYS.read_bytes()))
    assert steps(page)["checkpoint"] == "proved"
    assert asked == []
