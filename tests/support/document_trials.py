"""Requests that the served OpenAPI document allows, and requests that it forbids, made up by schemathesis.

Its import takes longer than that of all tests together: only the process that tries requests has it.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import schemathesis
from flask import Flask
from hypothesis import HealthCheck, settings
from schemathesis.checks import load_all_checks
from schemathesis.config import SchemathesisConfig
from schemathesis.pytest.lazy import get_all_tests

from events.pictures.animation import MAX_ANIMATED_PLIES
from tests.support.callers import app_on
from tests.support.draws import draws_all

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
REFUSED_BY_MEANING = {
    "unknown-game", "unknown-setup", "unknown-ruleset", "unknown-player", "invalid-seats", "guests-play-unrated",
    "guests-play-weaker-opponents",
    "illegal-move", "malformed-move", "malformed-position", "idempotency-key-reused", "wrong-password",
    "invalid-terms", "invalid-seek", "invalid-lines", "invalid-gift", "invalid-calendar",
    "vacation-in-the-past", "vacation-too-far", "vacation-too-short",
    "not-recomputable", "not-blockable", "not-followable", "no-such-ply",
    "invalid-quiet-hours", "invalid-subscription",
    "invalid-link", "invalid-webhook-address",
}  # fmt: skip
"""Kinds of 422 that no schema can foresee."""

NOT_STATED = (
    ["must have at most 3 decimals"],
    [f"must be 1 to {MAX_ANIMATED_PLIES} plies after the first board"],
    ["this password is too common: choose another"],
    ["a mail address is like anna@example.org"],
    ["a password has at least 4 different characters, spaces not counted"],
)
"""What is said of a field for reasons that no schema can state: multipleOf 0.001 is wrong for binary fractions, and
Hypothesis draws words that stand in the modules of the product, among them the common passwords."""


class Tried(NamedTuple):
    """An app that is tried: the token of who asks, and names that exist there, by the parameter that they are for."""

    app: Flask
    token: str
    known: dict[str, list[str]]


# To be read the document needs no store: nothing is connected before a test has its own app.
tried = [Tried(app_on("redis://127.0.0.1:1/0"), "", {})]
"""The last one is that of the test that runs."""


def latest_app(environ: Any, start_response: Any) -> Any:
    environ.pop("HTTP_ACCEPT_ENCODING", None)  # schemathesis reads what an app answers as it is
    return tried[-1].app(environ, start_response)


load_all_checks()
document = schemathesis.openapi.from_wsgi("/openapi.json", latest_app, config=SchemathesisConfig.from_dict(CONFIG))


@document.auth()
class Token:
    def get(self, case: Any, context: Any) -> str:
        return f"Bearer rookery_{tried[-1].token}"

    def set(self, case: Any, header: str, context: Any) -> None:
        case.headers["Authorization"] = header


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Any) -> None:
    """Name things that exist in three of four requests that the document allows."""
    if case.meta is not None and case.meta.generation.mode.is_positive:
        for name, known in tried[-1].known.items():
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
