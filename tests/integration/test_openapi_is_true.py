"""The served OpenAPI document against the behaviour: requests that it allows, and requests that it forbids."""

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from flask import Flask

from events.runtime.connections import StoreClient
from tests.support.callers import ME, OPEN, Caller, app_on, opponent, started
from tests.support.draws import sampled
from tests.support.dumps import CopiedKey, copied, write_copy

SECRET = "the-one-token-of-the-tests"
METHODS = ("get", "put", "post", "patch", "delete")


def operations() -> list[str]:
    """Return the operations of the document, as schemathesis calls them; to be read the document needs no store."""
    document: Any = app_on("redis://127.0.0.1:1/0").test_client().get("/openapi.json").json
    return [
        f"{method.upper()} {path}" for path, item in document["paths"].items() for method in METHODS if method in item
    ]


class World:
    """Somebody signed in, and ids that exist, so that requests reach what lies behind the first refusal."""

    def __init__(self, app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
        anna, boris = Caller(app).sign_up("anna"), Caller(app).sign_up("boris")
        with monkeypatch.context() as patched:
            patched.setattr("secrets.token_urlsafe", lambda _: SECRET)
            anna.post("/me/tokens", {"label": "for the document"})
        match = started(anna, boris)
        waiting = boris.create(ME, OPEN)
        anna.create(ME, opponent(1))
        self.known = {
            "match": [match, waiting], "player": ["anna", boris.id, "opponent-4"], "other": ["boris", "opponent-1"],
            "game": ["bashni", "towers"], "pool": ["bashni-2"], "square": ["a1", "c3"],
        }  # fmt: skip


@pytest.fixture(scope="module")
def copies() -> list[tuple[World, list[CopiedKey]]]:
    """Return the world of the first test, with the keys of its server before anything was asked; nothing at first."""
    return []


@pytest.fixture
def trials(
    app: Flask, redis: StoreClient, copies: list[tuple[World, list[CopiedKey]]], monkeypatch: pytest.MonkeyPatch
) -> Iterator[dict[str, Any]]:
    # Its examples sign the same person in again and again, with wrong passwords.
    monkeypatch.setattr("api.services.MAX_FREE_ATTEMPTS", 1000)
    if copies:
        write_copy(redis, copies[0][1])
    else:
        made = World(app, monkeypatch)
        copies.append((made, copied(redis)))
    # Imported when it is needed: every test process collects this file.
    document_trials = import_module("tests.support.document_trials")
    document_trials.tried.append(document_trials.Tried(app, SECRET, copies[0][0].known))
    yield document_trials.operation_trials()
    document_trials.tried.pop()


@sampled("operation", operations())
def test_the_api_behaves_as_its_document_says(operation: str, trials: dict[str, Any]) -> None:
    trials[operation]()


def test_every_operation_is_tried(trials: dict[str, Any]) -> None:
    assert trials.keys() == set(operations())


def test_the_document_is_openapi_3_1_and_names_every_route(app: Flask, stranger: Caller) -> None:
    document = stranger.client.get("/openapi.json").json
    assert document["openapi"] == "3.1.0"
    routes = {re.sub(r"<(?:\w+:)?(\w+?)(?:_id)?>", r"{\1}", rule.rule) for rule in app.url_map.iter_rules()}
    assert set(document["paths"]) == {route for route in routes if route.startswith(("/api/", "/.well-known/"))}


def test_every_operation_says_how_it_refuses(stranger: Caller) -> None:
    document = stranger.client.get("/openapi.json").json
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if method == "parameters":
                continue
            refusals = {status for status in operation["responses"] if status >= "400"}
            assert {"429", "503"} <= refusals, (method, path)
            assert operation["summary"], (method, path)
    refusal = document["components"]["responses"]["TOO_MANY_REQUESTS"]["content"]
    assert list(refusal) == ["application/problem+json"]
