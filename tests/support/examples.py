"""The examples of the OpenAPI document; ``python -m tests.support.examples`` takes them from requests of tests.

An example is the first request that an operation has answered with success in the tests of the API, in the order of
their files. So each is a real request with its real answer, and an operation that no test calls has none.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api.http.openapi import EXAMPLES, document_path

ROOT = Path(__file__).parents[2]
MAX_EXAMPLE_CHARACTERS = 4000
"""A longer answer explains nothing, and everybody loads it with the document."""

FILES = ("api_*", "webhook*", "push*", "jobs", "player_keys", "reviews", "who_may_what")
"""The tests that are run, by the names of their files in tests/integration."""

_SECRET = re.compile(r"(?<=rookery_)[\w-]{20,}|(?<=whsec_)[\w+/=-]{20,}|(?<=/)[\w-]{40,}$")


class Recorder:
    """A plugin of pytest that keeps the first example of each operation and writes them all at the end."""

    def __init__(self) -> None:
        self.examples: dict[str, dict[str, Any]] = {}
        self._open = FlaskClient.open

    @pytest.hookimpl
    def pytest_sessionstart(self) -> None:
        recorder = self

        def open_and_record(client: FlaskClient, *args: Any, **options: Any) -> TestResponse:
            answer = recorder._open(client, *args, **options)
            recorder.record(client.application, answer, options.get("json"))
            return answer

        FlaskClient.open = open_and_record  # type: ignore[assignment]

    @pytest.hookimpl
    def pytest_sessionfinish(self) -> None:
        """Write the examples in the order of their operations."""
        EXAMPLES.write_text(json.dumps(dict(sorted(self.examples.items())), ensure_ascii=False, indent=1) + "\n")

    def record(self, app: Flask, answer: TestResponse, sent: Any) -> None:
        """Keep a request with its answer, if it is the first that its operation has answered with success."""
        if not 200 <= answer.status_code < 300:
            return
        operation = _operation(app, answer.request.method, answer.request.path)
        body = answer.get_json(silent=True)
        example = {**({} if sent is None else {"request": sent}), "status": answer.status_code}
        example |= {} if body is None else {"answer": body}
        text = json.dumps(example, ensure_ascii=False)
        if operation and len(text) <= MAX_EXAMPLE_CHARACTERS and len(example) > 1:
            self.examples.setdefault(operation, json.loads(_SECRET.sub(lambda secret: "x" * len(secret[0]), text)))


def _operation(app: Flask, method: str, path: str) -> str | None:
    """Return method and path of the operation that a request is for, None where the document describes none."""
    rule, _ = app.url_map.bind("localhost").match(path, method=method, return_rule=True)
    return f"{method} {document_path(rule)}" if hasattr(app.view_functions[rule.endpoint], "endpoint") else None


def main() -> int:
    files = [str(path) for name in FILES for path in sorted((ROOT / "tests" / "integration").glob(f"test_{name}.py"))]
    compared = "--deselect=tests/integration/test_api_described.py"  # it judges the examples of before
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", __spec__.name, compared, *files]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


recorder = Recorder()
pytest_sessionstart = recorder.pytest_sessionstart
pytest_sessionfinish = recorder.pytest_sessionfinish

if __name__ == "__main__":
    raise SystemExit(main())
