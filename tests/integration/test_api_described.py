"""What is said of the API: examples that are like real answers, a page for people, an explanation of each problem."""

import re
from html import unescape
from typing import Any
from urllib.parse import urljoin, urlsplit

from flask import Flask

from api.http.problem_explanations import EXPLANATIONS
from api.http.problems import KINDS
from tests.support.callers import Caller
from tests.support.examples import taken


def shape(content: Any) -> Any:
    """Return of what kind each part of ``content`` is; of the items of a list, each kind once."""
    if isinstance(content, dict):
        return {name: shape(inner) for name, inner in content.items()}
    if isinstance(content, list):
        found: list[Any] = []
        found += [shape(each) for each in content if shape(each) not in found]
        return found[:1]
    return type(content)


def test_the_examples_of_the_document_are_like_what_is_answered(app: Flask) -> None:
    document = Caller(app).client.get("/openapi.json").json
    assert document["servers"] == [{"url": "/", "description": "This server"}]
    described = {
        f"{method.upper()} {path}": operation
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if method != "parameters"
    }
    refusal = document["components"]["responses"]["CONFLICT"]["content"]["application/problem+json"]["example"]
    assert (refusal["code"], refusal["type"]) == ("stale-version", "/problems/stale-version")
    fresh = taken(app)
    assert len(fresh) > 15
    for name, each in fresh.items():
        operation = described[name]
        answered = operation["responses"][str(each["status"])]["content"]["application/json"]
        hint = f"{name}: if answers have changed, python -m tests.support.examples makes the examples again"
        assert shape(answered["example"]) == shape(each["answer"]), hint
        if "request" in each:
            assert operation["requestBody"]["content"]["application/json"]["example"] == each["request"], name
    shown = {name for name, each in described.items() if "example" in str(each["responses"]).split("'headers'")[-1]}
    assert set(fresh) <= shown


def test_a_page_for_people_tells_of_every_operation(stranger: Caller) -> None:
    page = unescape(stranger.client.get("/docs/api").text)
    for path, operations in stranger.client.get("/openapi.json").json["paths"].items():
        for method, operation in operations.items():
            if method != "parameters":
                assert f"{method.upper()} {path}</h3>" in page
                assert operation["summary"] in page
    assert '"move": "c3-d4"' in page, "an example of a body"
    ids = re.findall(' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall('href="#([^"]+)"', page)) <= set(ids)
    assert 'href="/docs/api">API</a>' in stranger.client.get("/help").text, "the footer leads there"


def test_every_kind_of_problem_is_explained_where_its_type_leads(stranger: Caller) -> None:
    assert EXPLANATIONS.keys() == KINDS.keys()
    page = stranger.client.get("/problems").text
    for code, (status, title) in KINDS.items():
        told = stranger.client.get(f"/problems/{code}").json
        assert (told["status"], told["title"], told["explanation"]) == (status, title, EXPLANATIONS[code])
        assert f'id="{code}"' in page
        assert EXPLANATIONS[code].endswith(".")
    refused = stranger.get("/me")
    kind = urljoin(f"http://localhost{refused.request.path}", refused.json["type"])
    led = stranger.client.get(urlsplit(kind).path, headers={"Accept": "text/html"})
    assert (led.status_code, led.headers["Location"]) == (303, "/problems#not-signed-in")
    assert stranger.client.get("/problems/nothing").status_code == 404
