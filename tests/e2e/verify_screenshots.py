"""Take the pictures of the page that verifies: ``python -m tests.e2e.verify_screenshots [DIRECTORY]``.

A seeded match, its bundle with a checkpoint and a receipt; the same bundle with one move changed.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, ViewportSize, expect

from domain.match.commands import Resign
from events.proof.bundle import make_bundle
from events.proof.public_keys import key_set
from events.proof.receipts import make_receipt, write_receipt
from events.store.contract import Head
from tests.e2e.png import shrunk
from tests.e2e.screenshots import line, tall_columns
from tests.e2e.visitors import chromium
from tests.support.bundles import KEY, SIGNED_AT, envelopes, included
from tests.support.callers import app_on
from tests.support.matches import started
from tests.support.served_app import served
from tests.support.server import RealServer

DESKTOP: ViewportSize = {"width": 1200, "height": 860}
PHONE: ViewportSize = {"width": 380, "height": 800}
LEAVES = 128
CHANGED_PLY = 10


def files() -> tuple[list[Any], list[Any]]:
    """Return what is given to the page: the bundle, keys and a receipt; the forged bundle and keys."""
    moves = line("bashni", "start", range(24, 40), tall_columns)
    match = started()
    for number, move in enumerate(moves):
        match.move(("alice", "bob")[number % 2], move)
    match.do(Resign(player="bob"))
    stored = envelopes(match.events)
    signed_at = max(SIGNED_AT, match.now)
    packed = make_bundle("m", stored, KEY, signed_at, included(stored[-1], LEAVES), positions=True)
    receipt = make_receipt("m", Head(20, bytes.fromhex(stored[19].id)), "0123456789abcdef", KEY, SIGNED_AT)
    keys = _file("rookery-keys.json", json.dumps(key_set([KEY.public])).encode())
    played, other = (f'"move":"{move}","ply":{CHANGED_PLY}'.encode() for move in (moves[CHANGED_PLY - 1], "h6-g5"))
    forged = packed.replace(played, other)
    return (
        [_file("rookery-m.json", packed), keys, _file("receipt-20.json", write_receipt(receipt))],
        [_file("rookery-m.json", forged), keys],
    )


def take(target: Path) -> None:
    """Write the pictures to ``target``."""
    target.mkdir(parents=True, exist_ok=True)
    good, forged = files()
    with tempfile.TemporaryDirectory() as directory:
        server = RealServer(Path(directory))
        with served(app_on(server.url)) as url, chromium() as browser:
            page = browser.new_page(viewport=DESKTOP)
            _take_one(page, url, good, target / "verify.png")
            _take_one(page, url, forged, target / "verify-forged.png")
            page.set_viewport_size(PHONE)
            page.emulate_media(color_scheme="dark")
            _take_one(page, url, good, target / "phone-verify.png")
        server.close()


def _take_one(page: Page, url: str, given: list[Any], target: Path) -> None:
    page.goto(f"{url}/verify")
    page.locator("#files").set_input_files(given)
    expect(page.locator("#verdict-title")).not_to_be_empty()
    target.write_bytes(shrunk(page.screenshot(full_page=True)))


def _file(name: str, content: bytes) -> Any:
    return {"name": name, "mimeType": "application/json", "buffer": content}


if __name__ == "__main__":
    take(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/screenshots"))
