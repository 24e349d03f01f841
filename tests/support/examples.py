"""Requests and answers of the main operations, as they go: ``python -m tests.support.examples`` keeps some as examples.

Those that are kept are part of the OpenAPI document; a test compares their shape with that of fresh ones.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

from flask import Flask

from api.http.openapi import EXAMPLES
from api.services import EXTENSION
from tests.support.callers import API, Caller, app_on
from tests.support.projected import project
from tests.support.server import RealServer


class Recording(Caller):
    """A caller whose requests are recorded with their answers, by the name of the operation."""

    def __init__(self, app: Flask, taken: dict[str, dict[str, Any]]) -> None:
        super().__init__(app)
        self._taken = taken

    def take(self, method: str, operation: str, body: Any = None, **values: str) -> Any:
        """Make a request, record it and return what is answered."""
        answer = self.client.open(API + operation.format(**values), method=method, json=body)
        assert answer.status_code < 300, answer.text
        sent = {} if body is None else {"request": body}
        self._taken[f"{method} {API}{operation}"] = {**sent, "status": answer.status_code, "answer": answer.json}
        return answer.json


def taken(app: Flask) -> dict[str, dict[str, Any]]:
    """Return request, status and answer of each main operation."""
    found: dict[str, dict[str, Any]] = {}
    ada, ben = Recording(app, found), Recording(app, {})
    ben.play_as_guest()
    ada.take("POST", "/guests", {})
    ada.take("POST", "/players", {"name": "ada", "password": "correct horse battery"})
    ada.take("GET", "/me")
    ada.take("POST", "/me/tokens", {"label": "my bot"})
    ada.take("GET", "/games/{game}", game="bashni")
    ada.take("GET", "/terms")
    seats = [{"kind": "me"}, {"kind": "open"}]
    match = ada.take("POST", "/matches", {"game": "bashni", "seats": seats})["id"]
    ben.take("POST", "/matches/{match}/joins", {}, match=match)
    found |= {f"POST {API}/matches/{{match}}/joins": ben._taken[f"POST {API}/matches/{{match}}/joins"]}
    project(app.extensions[EXTENSION])
    for operation in ("/me/pending", "/me/queue", "/me/matches", "/matches"):
        ada.take("GET", operation)
    ada.take("GET", "/matches/{match}/legal-moves", match=match)
    ada.take("POST", "/matches/{match}/moves", {"move": "c3-d4"}, match=match)
    ada.take("POST", "/matches/{match}/draw-offers", {}, match=match)
    ada.take("POST", "/matches/{match}/chat", {"text": "Good luck!"}, match=match)
    for operation in ("/matches/{match}", "/matches/{match}/events", "/matches/{match}/chat"):
        ada.take("GET", operation, match=match)
    ada.take("POST", "/matches/{match}/positions", {"line": ["b6-a5"]}, match=match)
    ada.take("POST", "/matches/{match}/resignation", {}, match=match)
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        server = RealServer(Path(directory))
        examples = taken(app_on(server.url))
        server.close()
    examples[f"POST {API}/me/tokens"]["answer"]["secret"] = "rookery_" + "x" * 43
    EXAMPLES.write_text(json.dumps(examples, ensure_ascii=False, indent=1) + "\n")
