"""Reviews: requested when a match is over, never before; the same bytes whoever computes them, whatever is killed."""

from typing import Any

import pytest
from flask import Flask

from api.services import Services
from domain.match.commands import Resign
from events.matches import reviews
from events.matches.fleet_jobs import JobState
from events.matches.jobs import Job
from events.matches.reviews import REVIEW, ReviewState, digest_of, query_of
from events.store.converter import unpack
from tests.support.callers import ME, OPEN, UNLIMITED, Caller, app_on
from tests.support.fleet import run_here, slice_worker
from tests.support.projected import project
from tests.support.server import RealServer
from tests.support.stepped_installation import SteppedInstallation
from workers.evaluations import Evaluations
from workers.fleet import review
from workers.fleet.work import FleetJobFailedError

NODES = 300


@pytest.fixture(autouse=True)
def few_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let reviews search little."""
    monkeypatch.setattr(reviews, "NODES", NODES)
    monkeypatch.setattr(review, "NODES", NODES)


def finished(shop: SteppedInstallation, plies: int = 10) -> str:
    match = shop.start("alice", "bob")
    shop.play(match, plies, seed=3)
    shop.do(match, Resign(player="bob"), "bob")
    return match


def request(shop: SteppedInstallation, match: str) -> reviews.ReviewQuery:
    query = query_of(shop.matches.load(match))
    shop.parts.reviews.request(query)
    return query


def review_of(shop: SteppedInstallation, match: str) -> bytes:
    """Have the match reviewed; return the document."""
    query = request(shop, match)
    run_here(shop.parts, REVIEW, query._asdict())
    document = shop.parts.reviews.stored(query)
    assert document is not None
    return document


def test_a_review_has_the_same_bytes_after_every_kill(shop: SteppedInstallation) -> None:
    match = finished(shop)
    undisturbed = review_of(shop, match)
    query = query_of(shop.matches.load(match))
    shop.client.delete(shop.parts.jobs._keys.result(match, REVIEW, query.basis))
    jobs = shop.parts.fleet_jobs
    jobs.work.lease_ms = 0
    request(shop, match)
    job = next(each for each in jobs.running() if each.kind == REVIEW)
    while job.state == JobState.RUNNING:
        assert jobs.claim(job) is not None  # by a worker that is killed
        claimed = jobs.claim(job)
        assert claimed is not None
        slice_worker(shop.parts).do_slice(claimed)
        job = jobs.job(job.id) or job
    assert shop.parts.reviews.stored(query) == undisturbed


def test_a_review_of_a_match_that_goes_on_again_is_given_up(shop: SteppedInstallation) -> None:
    match = shop.start("alice", "bob")
    shop.play(match, 2)
    query = query_of(shop.matches.load(match))
    with pytest.raises(FleetJobFailedError, match="has changed since its review was requested"):
        run_here(shop.parts, REVIEW, query._asdict())


def test_a_review_is_shown_with_its_digest_and_as_text(app: Flask, anna: Caller, services: Services) -> None:
    boris = Caller(app).sign_up("boris")
    match = played(anna, boris)
    asked = anna.post(f"/matches/{match}/review")
    assert (asked.status_code, asked.json) == (202, {"state": "asked", "digest": None, "review": None})
    query = query_of(services.matches.load(match))
    run_here(services, REVIEW, query._asdict())
    shown = Caller(app).get(f"/matches/{match}/review").json
    document = services.reviews.stored(query)
    assert document is not None
    assert (shown["state"], shown["digest"]) == (ReviewState.FINISHED, digest_of(document))
    found = shown["review"]
    assert [len(points) for points in found["expected"]] == [2] * 7
    assert found["expected"][-1] == [1.0, 0.0]
    assert [move["ply"] for move in found["moves"]] == [1, 2, 3, 4, 5, 6]
    assert [seat["accuracy"] for seat in found["seats"]] == [None, None]
    assert "White: no accuracy" in found["text"]
    assert all((move["label"] is None and not move["only"]) or move["words"] for move in found["moves"])


def played(anna: Caller, boris: Caller, *, over: bool = True) -> str:
    """Return a match of six plies that boris has resigned, unless it is to go on."""
    match = anna.create(ME, OPEN)
    assert boris.post(f"/matches/{match}/joins").status_code == 201
    for ply in range(6):
        player = (anna, boris)[ply % 2]
        moves = player.get(f"/matches/{match}/legal-moves").json["legal_moves"]
        assert player.post(f"/matches/{match}/moves", {"move": moves[0]}).status_code == 201
    if over:
        assert boris.post(f"/matches/{match}/resignation").status_code == 201
    return match


def test_the_engine_is_never_asked_about_a_match_that_goes_on(app: Flask, anna: Caller) -> None:
    match = played(anna, Caller(app).sign_up("boris"), over=False)
    for answer in (anna.post(f"/matches/{match}/review"), anna.get(f"/matches/{match}/review")):
        assert (answer.status_code, answer.json["code"]) == (409, "match-not-over")
        assert answer.json["detail"] == "The engine is asked about a match once it is over, never before."
    assert "Review by the engine" not in anna.client.get(f"/matches/{match}").text


def test_a_person_has_few_reviews_a_day(server: RealServer) -> None:
    app = app_on(server.url, UNLIMITED._replace(own_reviews="1/day", other_reviews="1/day"))
    anna, boris, clara = (Caller(app).sign_up(name) for name in ("anna", "boris", "clara"))
    matches = [played(anna, boris) for _ in range(2)]
    assert [anna.post(f"/matches/{match}/review").status_code for match in (matches[0], *matches)] == [202, 202, 429]
    assert clara.post(f"/matches/{matches[0]}/review").status_code == 202, "it is being made anyway"
    assert clara.post(f"/matches/{matches[1]}/review").status_code == 202


def test_nobody_reviews_without_being_signed_in(app: Flask, anna: Caller) -> None:
    match = played(anna, Caller(app).sign_up("boris"))
    assert Caller(app).post(f"/matches/{match}/review").status_code == 401
    assert "Review by the engine" in anna.client.get(f"/matches/{match}").text


def evaluated(services: Services, caller: Caller, match: str, line: list[str]) -> Any:
    """Return what the engine says about the position after ``line`` from the start, when a worker has searched."""
    sent = {"ply": 0, "line": line}
    asked = caller.post(f"/matches/{match}/evaluations", sent)
    assert (asked.status_code, asked.json["state"]) == (202, "asked")
    claim = services.jobs.work.claim()
    assert claim is not None
    Evaluations(services.jobs, services.matches, services.readmodels).do(match, unpack(Job, claim.content))
    services.jobs.work.finish(claim)
    return caller.post(f"/matches/{match}/evaluations", sent)


def test_the_engine_is_asked_about_positions_beside_a_finished_match(
    app: Flask, anna: Caller, services: Services
) -> None:
    match = played(anna, Caller(app).sign_up("boris"))
    found = evaluated(services, anna, match, ["c3-d4", "b6-a5", "a3-b4"]).json
    assert (found["state"], found["best"][0]) == ("finished", "a5xc3xe5")
    assert sum(found["expected"]) == pytest.approx(1.0)


def test_the_engine_is_not_asked_about_a_position_of_an_own_match_that_goes_on(
    app: Flask, anna: Caller, services: Services
) -> None:
    boris, clara = (Caller(app).sign_up(name) for name in ("boris", "clara"))
    over, running = played(anna, boris), anna.create(ME, OPEN)
    assert boris.post(f"/matches/{running}/joins").status_code == 201
    anna.move(running, "c3-d4")
    project(services)
    refused = evaluated(services, boris, over, ["c3-d4"])
    assert (refused.status_code, refused.json["code"]) == (409, "own-match-goes-on")
    assert evaluated(services, boris, over, ["c3-b4"]).status_code == 202
    assert evaluated(services, clara, over, ["c3-d4"]).status_code == 202
    early = boris.post(f"/matches/{running}/evaluations", {"line": []})
    assert (early.status_code, early.json["code"]) == (409, "match-not-over")
