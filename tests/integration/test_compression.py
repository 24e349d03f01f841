"""Responses are compressed as the client prefers; what they say, and the version tags beside it, stays the same."""

import gzip
from collections.abc import Callable

import brotli
import pytest
from flask import Flask
from werkzeug.test import TestResponse

from api.http.compression import MAX_BYTES, _compress
from api.pages.static_files import CONTENTS, VERSION
from tests.support.callers import Caller, started
from tests.support.tables import table

DECODED: dict[str | None, Callable[[bytes], bytes]] = {"br": brotli.decompress, "gzip": gzip.decompress, None: bytes}
BROWSER = "gzip, deflate, br, zstd"
STYLE = f"/static/{VERSION}/style.css"


def coding(answer: TestResponse) -> str | None:
    return answer.headers.get("Content-Encoding")


@pytest.mark.parametrize(("accepted", "expected"), table(__file__, "an answer comes in the coding that the client"))
@pytest.mark.parametrize("path", ["/help", STYLE, "/openapi.json"])
def test_answers_are_coded_as_clients_prefer(stranger: Caller, path: str, accepted: str, expected: str | None) -> None:
    plain = stranger.client.get(path, headers={"Accept": "text/html"})
    answer = stranger.client.get(path, headers={"Accept": "text/html", "Accept-Encoding": accepted})
    assert (answer.status_code, coding(answer)) == (200, expected)
    assert DECODED[expected](answer.data) == plain.data
    assert coding(plain) is None
    assert answer.content_length == len(answer.data)
    assert expected is None or len(answer.data) < len(plain.data) / 2
    for each in (plain, answer):
        assert "Accept-Encoding" in each.headers["Vary"]


def test_the_version_tag_of_a_compressed_answer_can_be_sent_back(anna: Caller, boris: Caller) -> None:
    match_id = started(anna, boris)
    for path in ("", "/legal-moves"):
        plain = anna.get(f"/matches/{match_id}{path}")
        answer = anna.get(f"/matches/{match_id}{path}", Accept_Encoding=BROWSER)
        assert coding(answer) == "br"
        assert answer.headers["ETag"] == plain.headers["ETag"] == f'"{plain.json["version_tag"]}"'
        unchanged = anna.get(
            f"/matches/{match_id}{path}", Accept_Encoding=BROWSER, If_None_Match=answer.headers["ETag"]
        )
        assert (unchanged.status_code, unchanged.data, coding(unchanged)) == (304, b"", None)
        assert unchanged.headers["ETag"] == plain.headers["ETag"]
    tag = answer.headers["ETag"]
    assert anna.move(match_id, "c3-d4", If_Match=tag, Accept_Encoding=BROWSER).status_code == 201
    assert anna.get(f"/matches/{match_id}", Accept_Encoding=BROWSER, If_None_Match=tag).status_code == 200


def test_a_problem_is_compressed_and_a_short_answer_is_not(stranger: Caller) -> None:
    problem = stranger.post("/players", {"name": "x" * 400, "password": "", "more": 1}, Accept_Encoding=BROWSER)
    assert (problem.status_code, coding(problem)) == (422, "br")
    assert b"errors" in brotli.decompress(problem.data)
    short = stranger.client.get("/healthz", headers={"Accept-Encoding": BROWSER})
    assert (short.status_code, coding(short)) == (200, None)


def test_a_head_request_tells_the_length_of_what_get_returns(stranger: Caller) -> None:
    for path in ("/help", STYLE):
        found = [
            stranger.client.open(path, method=method, headers={"Accept-Encoding": "br"}) for method in ("GET", "HEAD")
        ]
        assert [(each.status_code, coding(each)) for each in found] == [(200, "br")] * 2
        assert [len(each.data) for each in found] == [found[0].content_length, 0]
        assert found[1].content_length == found[0].content_length


def test_every_file_of_the_pages_is_the_same_in_every_coding(stranger: Caller) -> None:
    for name, plain in CONTENTS.items():
        for accepted in ("br", "gzip", "identity"):
            answer = stranger.client.get(f"/static/{VERSION}/{name}", headers={"Accept-Encoding": accepted})
            assert DECODED[coding(answer)](answer.data) == plain, name
            assert answer.headers["Cache-Control"] == "max-age=31536000, immutable"
            assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_what_is_compressed_already_and_what_is_long_stays_as_it_is(app: Flask) -> None:
    """A download that is a stream, too, for it may be endless."""
    with app.test_request_context(headers={"Accept-Encoding": BROWSER}):
        for body, headers in (
            (b"a" * (MAX_BYTES + 1), {}),
            (b"a" * 1000, {"Content-Encoding": "gzip"}),
            (iter([b"a" * 1000]), {}),
        ):
            response = app.response_class(body, mimetype="text/plain", headers=headers)
            assert _compress(response).headers.get("Content-Encoding") == headers.get("Content-Encoding")
        image = app.response_class(b"a" * 1000, mimetype="image/png")
        assert "Content-Encoding" not in _compress(image).headers
