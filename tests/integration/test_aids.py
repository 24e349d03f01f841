"""Aids as a term: agreed in matches, seeks and tournaments, said at the board, proved in bundles by both verifiers."""

import re
from base64 import b64decode

import pytest

from api.services import Services
from domain.match import commands
from domain.match.enums import Aids
from domain.match.terms import STANDARD, in_words
from events.proof.bundle import make_bundle
from tests.support.bundles import KEY, SIGNED_AT, envelopes
from tests.support.callers import Caller, started
from tests.support.matches import started as playing
from tests.support.second_verifier import second_verdicts
from tests.support.verdicts import given, verdict

THREE_DAYS = {"control": "days-per-move", "bank": 3 * 86_400}
SEEK = {"games": ["bashni/start"], "seats": 2}


@pytest.mark.parametrize("aids", [None, *Aids])
def test_aids_are_a_term_of_a_match_that_its_page_says_at_the_board(
    anna: Caller, boris: Caller, aids: Aids | None
) -> None:
    match = started(anna, boris, terms={**THREE_DAYS, "aids": aids})
    terms = anna.get(f"/matches/{match}").json["terms"]
    assert terms["aids"] == aids
    sentences = in_words(STANDARD._replace(aids=aids))[len(in_words(STANDARD)) :]
    assert len(sentences) == (aids is not None)
    page = boris.client.get(f"/matches/{match}").text
    assert re.findall('<p id="aids"[^>]*>(.*?)</p>', page) == list(sentences)
    event = anna.get(f"/matches/{match}/events").json["items"][0]
    assert ("aids" in event["data"]["terms"]) == (aids is not None), "a match without the term is stored as before"


def test_other_aids_are_refused_with_their_place(anna: Caller) -> None:
    refused = anna.post(
        "/matches",
        {"game": "bashni", "seats": [{"kind": "me"}, {"kind": "open"}], "terms": {**THREE_DAYS, "aids": "x"}},
    )
    assert (refused.status_code, list(refused.json["errors"])) == (422, ["terms.aids"])


def test_a_rematch_has_the_same_aids(anna: Caller, boris: Caller) -> None:
    match = started(anna, boris, terms={**THREE_DAYS, "aids": "none"})
    anna.post(f"/matches/{match}/resignation")
    assert anna.post(f"/matches/{match}/rematches").json["terms"]["aids"] == "none"


def test_seeks_meet_where_their_aids_are_the_same_and_their_match_has_them(
    anna: Caller, boris: Caller, services: Services
) -> None:
    ids = [
        who.post("/seeks", {**SEEK, "aids": aids}).json["id"]
        for who, aids in ((anna, "books"), (anna, "anything"), (boris, None), (boris, "books"))
    ]
    for _ in range(4):
        for id in ids:
            services.seeks.follow(id)
    seeks = [anna.get(f"/seeks/{id}").json["seek"] for id in ids]
    assert [seek["status"] for seek in seeks] == ["answered", "open", "open", "answered"]
    (match,) = seeks[0]["matches"]
    assert anna.get(f"/matches/{match}").json["terms"]["aids"] == "books"
    text = re.sub(r"\s+", " ", boris.client.get(f"/seeks/{ids[1]}").text)
    assert "any aids" in text
    assert "aids=books" in boris.client.get(f"/seeks/{ids[0]}").text


def test_both_verifiers_prove_a_match_with_aids(anna: Caller) -> None:
    match = playing(STANDARD._replace(aids=Aids.NONE))
    match.move("alice", "c3-d4")
    match.move("bob", "b6-a5")
    match.do(commands.Resign(player="bob"))
    asked = given(make_bundle("m", envelopes(match.events), KEY, SIGNED_AT, None))
    assert b'"aids":"none"' in b64decode(asked["bundle"])
    found = verdict(asked)
    assert second_verdicts([asked]) == [found]
    assert found["fault"] is None
