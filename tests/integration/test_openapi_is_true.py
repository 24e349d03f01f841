"""The served OpenAPI document against the behaviour: requests that it allows, and requests that it forbids."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, cast

import pytest
import schemathesis
from flask import Flask
from hypothesis import HealthCheck, settings
from schemathesis.checks import load_all_checks
from schemathesis.config import SchemathesisConfig
from schemathesis.pytest.lazy import get_all_tests

from events.runtime.connections import StoreClient
from tests.support.callers import ME, OPEN, Caller, app_on, opponent, started
from tests.support.draws import draws_all
from tests.support.dumps import CopiedKey, copied, write_copy

EXAMPLES = 5 if draws_all() else 2
CONFIG = {
    "seed": 20,
    # It tries the limits of every field and every combination of what is missing: most of all cases.
    "phases": {"coverage": {"enabled": draws_all()}},
    "generation": {"deterministic": True, "max-examples": EXAMPLES, "mode": "all"},
    "checks": {
        # 412: whatever the document says of If-Match, the generator writes bare numbers too.
        "positive_data_acceptance": {
            "expected-statuses": ["2xx", "304", "307", "401", "403", "404", "409", "412", "422"]
        },
        # 413: a list of too many items may be too large a request before it is looked at.
        "negative_data_rejection": {
            "expected-statuses": ["400", "401", "403", "404", "405", "409", "412", "413", "415", "422"]
        },
    },
}
SECRET = "the-one-token-of-the-tests"
REFUSED_BY_MEANING = {
    "unknown-game", "unknown-setup", "unknown-ruleset", "unknown-player", "invalid-seats", "guests-play-unrated",
    "guests-play-weaker-opponents",
    "illegal-move", "malformed-move", "malformed-position", "idempotency-key-reused", "wrong-password",
    "invalid-terms", "invalid-lines", "invalid-gift", "invalid-calendar", "vacation-in-the-past", "vacation-too-far",
    "vacation-too-short", "not-recomputable", "not-blockable", "invalid-quiet-hours", "invalid-subscription",
    "invalid-link", "invalid-webhook-address",
}  # fmt: skip
"""Kinds of 422 that no schema can foresee."""

NOT_STATED = (
    ["must have at most 3 decimals"],
    ["this password is too common: choose another"],
    ["a password has at least 4 different characters, spaces not counted"],
)
"""What is said of a field for reasons that no schema can state: multipleOf 0.001 is wrong for binary fractions, and
Hypothesis draws words that stand in the modules of the product, among them the common passwords."""


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
            "match": [match, waiting],
            "player": ["anna", boris.id, "opponent-4"],
            "other": ["boris", "opponent-1"],
            "game": ["bashni", "towers"],
            "pool": ["bashni-2"],
            "square": ["a1", "c3"],
        }


apps: list[Flask] = []
worlds: list[World] = []


def latest_app(environ: Any, start_response: Any) -> Any:
    """Pass a request on to the app of the test that runs."""
    environ.pop("HTTP_ACCEPT_ENCODING", None)  # schemathesis reads what an app answers as it is
    return apps[-1](environ, start_response)


# To be read the document needs no store: nothing is connected before a test has its own app.
apps.append(app_on("redis://127.0.0.1:1/0"))
load_all_checks()
document = schemathesis.openapi.from_wsgi("/openapi.json", latest_app, config=SchemathesisConfig.from_dict(CONFIG))


@pytest.fixture(scope="module")
def copies() -> list[tuple[World, list[CopiedKey]]]:
    """Return the world of the first test, with the keys of its server before anything was asked; nothing at first."""
    return []


@pytest.fixture
def world(
    app: Flask, redis: StoreClient, copies: list[tuple[World, list[CopiedKey]]], monkeypatch: pytest.MonkeyPatch
) -> Iterator[World]:
    """Return a world on the server of the test, for which the document speaks."""
    # Its examples sign the same person in again and again, with wrong passwords.
    monkeypatch.setattr("api.services.MAX_FREE_ATTEMPTS", 1000)
    apps.append(app)
    if copies:
        write_copy(redis, copies[0][1])
    else:
        made = World(app, monkeypatch)
        copies.append((made, copied(redis)))
    worlds.append(copies[0][0])
    yield worlds[-1]
    worlds.pop()
    apps.pop()


@document.auth()
class Anna:
    """Requests that are to be signed in are anna's."""

    def get(self, case: Any, context: Any) -> str:
        return f"Bearer rookery_{SECRET}"

    def set(self, case: Any, header: str, context: Any) -> None:
        case.headers["Authorization"] = header


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Any) -> None:
    """Name things that exist in three of four requests that the document allows."""
    if case.meta is not None and case.meta.generation.mode.is_positive:
        for name, known in worlds[0].known.items():
            given = (case.path_parameters or {}).get(name)
            if isinstance(given, str) and len(given) % 4:
                case.path_parameters[name] = known[len(given) % len(known)]


@schemathesis.check
def refused_by_meaning_only(ctx: Any, response: Any, case: Any) -> None:
    """What the document allows is refused with 401 or 422 only for reasons that no document can state."""
    if response.status_code in (401, 422) and case.meta and case.meta.generation.mode.is_positive:
        problem = response.json()
        # Whatever the document says of If-Match, the generator writes entity tags of its own.
        errors = {field for field, messages in problem.get("errors", {}).items() if messages not in NOT_STATED}
        stated = errors - {"cursor", "ply", "name", "If-Match"} or not problem.get("errors")
        foreseen = problem["code"] in REFUSED_BY_MEANING or not stated
        assert foreseen, f"{problem} for {case.as_curl_command()}"


@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
def try_case(case: Any) -> None:
    """Make the request of a case and compare the answer with the document."""
    assert case.call_and_validate() is not None


@cache
def operation_trials() -> dict[str, Callable[[], None]]:
    """Return a function for every operation that tries its cases.

    Cases are generated when the first test runs, and not, as by ``document.parametrize()``, in every process that
    collects tests.
    """
    made: Any = get_all_tests(schema=document, test_func=try_case, settings=None, given_kwargs=None)
    return {operation.label: test for operation, test in (result.ok() for result in made)}


@pytest.mark.hypothesis
@pytest.mark.parametrize("operation", [found.ok().label for found in cast(Any, document.get_all_operations())])
def test_the_api_behaves_as_its_document_says(operation: str, world: World) -> None:
    operation_trials()[operation]()


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
