"""The way of a bot to its first move, as docs/bots.md shows it; ``python -m tests.support.first_move`` writes it there.

Every request is made and every answer is real; ids, instants and secrets are those of one run.
"""

import json
import re
import tempfile
from pathlib import Path
from textwrap import wrap
from typing import Any, NamedTuple

from flask import Flask

from api.services import EXTENSION
from tests.support.callers import Caller, app_on
from tests.support.projected import project
from tests.support.server import RealServer

DOCUMENT = Path(__file__).parents[2] / "docs" / "bots.md"
SECTION = re.compile(r"(?<=<!-- first move: begin -->\n).*(?=<!-- first move: end -->)", re.DOTALL)
WIDTH = 120


class Exchange(NamedTuple):
    """A request with its answer, and the sentence that introduces them."""

    sentence: str
    method: str
    path: str
    headers: dict[str, str]
    body: Any
    status: int
    answer: Any

    def written(self) -> str:
        sent = [f"{self.method} {self.path}", *(f"{name}: {value}" for name, value in self.headers.items())]
        if self.body is not None:
            sent.append(json.dumps(self.body))
        request = "\n".join(sent)
        return f"{self.sentence}\n\n```\n{request}\n\n{self.status}\n{_folded(self.answer)}\n```\n"


def make_first_move(app: Flask) -> list[Exchange]:
    """Return the exchanges from signing up to the first move."""
    caller, exchanges = Caller(app), list[Exchange]()

    def exchange(sentence: str, method: str, path: str, body: Any = None, **headers: str) -> Any:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = caller.client.open(f"/api/v1{path}", method=method, json=body, headers=named)
        assert answer.status_code < 300, answer.text
        exchanges.append(
            Exchange(sentence, method, f"/api/v1{path}", named, body, answer.status_code, answer.get_json())
        )
        return answer.get_json()

    exchange(
        "1. **An account.** Keep the cookie of the answer for the next request.",
        *("POST", "/players", {"name": "ada-plays", "password": "correct horse battery"}),
    )
    made = exchange("2. **A token**, which replaces the cookie from then on.", "POST", "/me/tokens", {"label": "bot"})
    authorization = f"Bearer {made['secret']}"
    caller.client.delete_cookie("rookery_session")
    seats = [{"kind": "me"}, {"kind": "opponent", "level": 1}]
    match_id = exchange(
        "3. **A match** against the weakest opponent. The seats are in turn order: the bot moves first.",
        *("POST", "/matches", {"game": "bashni", "seats": seats}),
        Authorization=authorization,
    )["id"]
    project(app.extensions[EXTENSION])
    exchange(
        "4. **Your turn?** `owed` says what awaits the bot: `move`, `draw-answer`, `takeback-answer` or `invitation`.",
        *("GET", "/me/pending"),
        Authorization=authorization,
    )
    legal = exchange("5. **The legal moves.**", "GET", f"/matches/{match_id}/legal-moves", Authorization=authorization)
    exchange(
        "6. **The move**, on this position only and once, however often the request is repeated.",
        *("POST", f"/matches/{match_id}/moves", {"move": legal["legal_moves"][0]}), Authorization=authorization,
        If_Match=f'"{legal["version_tag"]}"', Idempotency_Key="first-move",
    )  # fmt: skip
    return exchanges


def read_first_move() -> str:
    section = SECTION.search(DOCUMENT.read_text())
    assert section is not None, "docs/bots.md has no section for the first move"
    return section[0]


def _folded(answer: Any) -> str:
    """Return ``answer`` as JSON with a member a line, each folded where it is long."""
    lines = [f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in answer.items()]
    folded = ["\n   ".join(wrap(line, WIDTH - 4, break_long_words=False, break_on_hyphens=False)) for line in lines]
    return "{" + ",\n ".join(folded) + "}"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        server = RealServer(Path(directory))
        written = "\n".join(each.written() for each in make_first_move(app_on(server.url)))
        server.close()
    DOCUMENT.write_text(SECTION.sub(lambda _: f"\n{written}\n", DOCUMENT.read_text()))
