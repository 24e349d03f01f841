"""What a hostile caller tries: addresses that lead elsewhere, numbers without end, more than anybody needs."""

import pytest
from flask import Flask

from api.services import EXTENSION
from tests.support.callers import Caller, started


@pytest.mark.parametrize(
    "target",
    [
        "//evil.example",
        "/\\evil.example",
        "/\t/evil.example",
        "/\t\\evil.example",
        "/\n/evil.example",
        "/lobby\r\nSet-Cookie: a=b",
        "https://evil.example",
        "javascript:alert(1)",
        " /lobby",
        "lobby",
    ],
)
def test_signing_in_leads_nobody_to_another_site(anna: Caller, stranger: Caller, target: str) -> None:
    led = anna.client.get("/sign-in", query_string={"next": target})
    assert (led.status_code, led.headers["Location"]) == (302, "/matches")
    assert 'data-next="/matches"' in stranger.client.get("/sign-up", query_string={"next": target}).text


@pytest.mark.parametrize("target", ["/lobby", "/matches/m?ply=3", "/players/anna?view=active&cursor=x"])
def test_signing_in_leads_back_to_where_one_came_from(anna: Caller, target: str) -> None:
    assert anna.client.get("/sign-in", query_string={"next": target}).headers["Location"] == target


def test_a_score_beyond_all_numbers_is_refused_at_its_place(app: Flask, anna: Caller, boris: Caller) -> None:
    judge = Caller(app).sign_up("judge")
    app.extensions[EXTENSION].administration.grant(judge.id, "arbiter", "console")
    match = started(anna, boris)
    body = {"ruling": "decide", "reason": "Agreed.", "rule": "12", "scores": [10**400, 0]}
    refused = judge.post(f"/matches/{match}/rulings", body)
    assert (refused.status_code, refused.json["errors"]) == (422, {"scores.0": ["is too large a number"]})
