"""The pages of players use the words that the glossary gives them, and none of those that these replace."""

import re
from html import unescape
from pathlib import Path

from flask import Flask

from tests.support.callers import Caller, opponent, started

GLOSSARY = Path("docs/glossary.md").read_text()
_, _, _table = GLOSSARY.partition("## Words of the pages")
ROWS = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", _table.partition("\n## ")[0], re.MULTILINE)[1:]
AVOIDED = re.compile(rf"\b(?:{'|'.join(word for _, words in ROWS for word in words.split(', '))})\b", re.IGNORECASE)
UNREAD = re.compile(r"<(script|style|svg)\b.*?</\1>|<code.*?</code>", re.DOTALL)
SPOKEN = re.compile(r'\b(?:aria-label|title|placeholder|alt|data-ask|data-consequence|data-yes)="([^"]*)"')


def words_of(page: str) -> str:
    """Return the text of a page, with the labels and questions in its attributes."""
    page = UNREAD.sub(" ", page)
    return unescape(" ".join([re.sub(r"<[^>]*>", " ", page), *SPOKEN.findall(page)]))


def test_pages_of_players_keep_to_the_words_of_the_glossary(app: Flask, anna: Caller, boris: Caller) -> None:
    assert len(ROWS) > 5
    person, machine = started(anna, boris), anna.create({"kind": "me"}, opponent(3))
    anna.move(person)
    over = started(anna, boris)
    anna.post(f"/matches/{over}/resignation")
    cancelled = anna.create({"kind": "me"}, {"kind": "open"})
    anna.post(f"/matches/{cancelled}/abortion")
    matches = [f"/matches/{match}{page}" for match in (person, machine, over) for page in ("", "/record", "/case")]
    paths = (
        "/", "/help", "/lobby", "/leaderboards", "/players/anna", "/players/opponent-3", "/matches", "/matches/new",
        "/matches?view=finished", "/games/bashni", "/settings", "/settings/notices", "/notices",
        f"/matches/{cancelled}", *matches,
    )  # fmt: skip
    pages = {path: anna.client.get(path, follow_redirects=True) for path in paths}
    assert {path: page.status_code for path, page in pages.items() if page.status_code != 200} == {}
    found = {path: AVOIDED.findall(words_of(page.text)) for path, page in pages.items()}
    assert {path: words for path, words in found.items() if words} == {}


def test_the_words_for_what_they_avoid_are_found_where_they_stand() -> None:
    assert AVOIDED.findall(words_of('<p>The <b>plies</b></p><a title="Case file">x</a><code>ply</code>')) == [
        "plies", "Case file"
    ]  # fmt: skip
