"""What is said of the API: examples that are like real answers, a page for people, an explanation of each problem."""

import re
from html import unescape
from urllib.parse import urljoin, urlsplit

import jsonschema_rs
from flask import Flask

from api.http.problems import KINDS
from tests.support.callers import Caller
from tests.support.first_move import make_first_move, read_first_move

CHANGING = frozenset({"POST", "PUT"})
"""Methods of operations that change something and have a body to show; DELETE has none."""


def test_every_operation_that_changes_something_has_an_example_that_its_schema_allows(app: Flask) -> None:
    document = Caller(app).client.get("/openapi.json").json
    refusal = document["components"]["responses"]["CONFLICT"]["content"]["application/problem+json"]["example"]
    assert (refusal["code"], refusal["type"]) == ("stale-version", "/problems/stale-version")
    missing, shown = [], 0
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if method == "parameters":
                continue
            contents = [operation.get("requestBody", {}).get("content", {}).get("application/json")]
            contents += [
                answer.get("content", {}).get("application/json") for answer in operation["responses"].values()
            ]
            contents = [content for content in contents if content]
            for content in contents:
                if "example" in content:
                    shown += 1
                    schema = {**content["schema"], "components": document["components"]}
                    jsonschema_rs.validate(schema, content["example"])
                elif method.upper() in CHANGING:
                    missing.append(f"{method.upper()} {path}")
    assert missing == []
    assert shown > 150


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
    page = stranger.client.get("/problems").text
    for code, explained in KINDS.items():
        told = stranger.client.get(f"/problems/{code}").json
        assert told == {"type": f"/problems/{code}", **explained._asdict()}
        assert f'id="{code}"' in page
        assert explained.explanation.endswith(".")
    refused = stranger.get("/me")
    kind = urljoin(f"http://localhost{refused.request.path}", refused.json["type"])
    led = stranger.client.get(urlsplit(kind).path, headers={"Accept": "text/html"})
    assert (led.status_code, led.headers["Location"]) == (303, "/problems#not-signed-in")
    assert stranger.client.get("/problems/nothing").status_code == 404


VARYING = re.compile(
    r"\d{4}-\d\d-\d\dT[\d:.]+Z|\b\d+-[0-9a-f]{16}\b|\b[0-9a-f]{16,}\b|\b[pmt][a-z2-7]{16}\b|rookery_[\w-]{43}|[\w-]{43}(?=\")"
    r"|(?<=signed_at\": )\d+"
)
"""Ids, instants, digests and secrets, which are others in every run."""


def test_the_way_to_the_first_move_is_documented_as_it_goes(app: Flask) -> None:
    def comparable(text: str) -> str:
        return VARYING.sub("*", " ".join(text.split()))

    made = "\n".join(exchange.written() for exchange in make_first_move(app))
    assert comparable(read_first_move()) == comparable(made), "python -m tests.support.first_move writes it again"
