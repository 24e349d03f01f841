"""Long work about a match: asked for in a request, done by a worker, its result read by later requests."""

from io import BytesIO
from typing import Any

import pytest
from PIL import Image, ImageSequence

from api.services import EXTENSION, Services
from domain.errors import StepBudget
from domain.games import GAMES
from events.matches.jobs import RECOMPUTATION
from events.proof.documents import write_document
from events.proof.public_keys import key_set, read_key_set
from events.proof.verification import verify
from events.runtime.work_list import Claim
from tests.support.callers import ME, UNLIMITED, Caller, app_on, opponent, settings_for, started
from tests.support.jobs import do_next_job
from tests.support.matches import T0
from tests.support.rulesets import register, variant
from tests.support.server import RealServer
from workers.claims import MAX_ATTEMPTS, do_due
from workers.composition import make_opponents
from workers.tasks import TaskContext


def against_opponent(anna: Caller, services: Services) -> tuple[str, int]:
    """Return a match of anna that an opponent has answered in, and the version of the answer."""
    match_id = anna.create(ME, opponent(1))
    anna.move(match_id)
    written = make_opponents(services).answer(match_id)
    assert written is not None
    return match_id, written.version


def work(services: Services, match_id: str) -> str:
    """Do the job of the match, as a worker does; return its kind."""
    of, kind = do_next_job(services)
    assert of == match_id
    return kind


@pytest.fixture
def long_match(anna: Caller, boris: Caller, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a finished match that counts as too long for a request."""
    match_id = started(anna, boris)
    anna.move(match_id)
    boris.post(f"/matches/{match_id}/resignation")
    for place in ("api.resources.proofs", "api.operations.jobs"):
        monkeypatch.setattr(f"{place}.MAX_EVENTS_AT_ONCE", 3)
    return match_id


def test_answers_are_jobs(anna: Caller, stranger: Caller, services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    match_id, version = against_opponent(anna, services)
    path = f"/matches/{match_id}/recomputations"
    with monkeypatch.context() as patched:
        patched.setattr("domain.match.opponents.choose", None)
        assert stranger.get(f"{path}/{version}").json == {"version": version, "state": "none", "differs": None}
        asked = stranger.post(path, {"version": version})
        assert (asked.status_code, asked.json["state"]) == (202, "asked")
        assert "A worker is computing this again." in stranger.client.get(f"/matches/{match_id}/record").text
    assert work(services, match_id) == "recomputation"
    assert stranger.get(f"{path}/{version}").json == {"version": version, "state": "finished", "differs": None}
    page = stranger.client.get(f"/matches/{match_id}/record")
    assert "Computed again: it is what is recorded." in page.text
    assert "Refresh" not in page.headers


def test_the_former_address_of_the_record_leads_to_it(anna: Caller, services: Services) -> None:
    match_id, version = against_opponent(anna, services)
    former = anna.client.get(f"/matches/{match_id}/replay?from=2")
    assert (former.status_code, former.headers["Location"]) == (308, f"/matches/{match_id}/record?from=2")
    asked = anna.client.post(f"/matches/{match_id}/replay", data={"version": str(version)}, follow_redirects=True)
    assert "A worker is computing this again." in asked.text
    assert "<h1>Game record</h1>" in asked.text


def test_what_was_computed_again_is_not_computed_once_more(anna: Caller, services: Services) -> None:
    match_id, version = against_opponent(anna, services)
    anna.post(f"/matches/{match_id}/recomputations", {"version": version})
    work(services, match_id)
    again = anna.post(f"/matches/{match_id}/recomputations", {"version": version})
    assert (again.status_code, again.json["state"]) == (202, "finished")
    assert services.jobs.pending(match_id) is None


def test_the_page_asks_for_a_recomputation_with_a_form(anna: Caller, services: Services) -> None:
    match_id, version = against_opponent(anna, services)
    assert f'name="version" value="{version}"' in anna.client.get(f"/matches/{match_id}/record").text
    asked = anna.client.post(f"/matches/{match_id}/record", data={"version": str(version)})
    assert (asked.status_code, asked.headers["Location"]) == (303, f"/matches/{match_id}/record?from=1#v{version}")
    assert services.jobs.pending(match_id)[:2] == ("recomputation", version)
    assert anna.client.get(f"/matches/{match_id}/record").headers["Refresh"] == "3"
    assert anna.client.get(f"/matches/{match_id}/record?recompute={version}").status_code == 200


def test_a_match_has_one_job_at_a_time(anna: Caller, services: Services) -> None:
    match_id, version = against_opponent(anna, services)
    assert anna.post(f"/matches/{match_id}/bundle").json == {"state": "asked"}
    assert anna.post(f"/matches/{match_id}/bundle").json == {"state": "asked"}
    refused = anna.post(f"/matches/{match_id}/recomputations", {"version": version})
    assert (refused.status_code, refused.json["code"]) == (409, "job-running")
    work(services, match_id)
    assert anna.post(f"/matches/{match_id}/recomputations", {"version": version}).status_code == 202


@pytest.mark.parametrize("version", [1, 3, 99])
def test_only_answers_of_opponents_can_be_computed_again(anna: Caller, services: Services, version: int) -> None:
    match_id, _ = against_opponent(anna, services)
    refused = anna.post(f"/matches/{match_id}/recomputations", {"version": version})
    assert (refused.status_code, refused.json["code"]) == (422, "not-recomputable")


def test_jobs_are_limited_per_person(server: RealServer) -> None:
    app = app_on(server.url, UNLIMITED._replace(jobs="50/hour"))
    anna = Caller(app).sign_up("anna")
    matches = [anna.create(ME, opponent(1)) for _ in range(3)]
    assert [anna.post(f"/matches/{match_id}/bundle").status_code for match_id in matches] == [202, 202, 429]


def test_workers_bundle_long_matches(anna: Caller, stranger: Caller, services: Services, long_match: str) -> None:
    path = f"/matches/{long_match}/bundle"
    refused = stranger.get(path)
    assert (refused.status_code, refused.json["code"]) == (409, "not-ready")
    assert stranger.post(path).json == {"state": "asked"}
    assert work(services, long_match) == "bundle"
    assert stranger.post(path).json == {"state": "finished"}
    keys = read_key_set(write_document(key_set(services.keys.public())))
    assert all(step.proved or step.name == "checkpoint" for step in verify(stranger.get(path).data, keys))


def test_a_long_record_is_shown_before_it_is_replayed(stranger: Caller, services: Services, long_match: str) -> None:
    page = f"/matches/{long_match}/record"
    before = stranger.client.get(page).text
    assert "A worker replays them and makes" in before
    assert "Player resigned" in before
    assert "each is what the rules give" not in before
    assert stranger.client.post(page).status_code == 303
    assert "A worker is busy with this match" in stranger.client.get(page).text
    work(services, long_match)
    after = stranger.client.get(page).text
    assert "All 6 events were replayed, and the rules confirm each of them. Proof of the result: event" in after


def test_a_match_whose_end_takes_long_to_tell_is_left_to_a_worker(
    anna: Caller, boris: Caller, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    match_id = started(anna, boris)
    anna.move(match_id)

    def too_much(_: Any, __: Any, budget: StepBudget) -> None:
        StepBudget(0).spend()

    register(monkeypatch, variant(GAMES["bashni"], bounded_outcome=too_much))
    assert anna.get(f"/matches/{match_id}/bundle").json["code"] == "not-ready"
    assert "A worker replays them" in anna.client.get(f"/matches/{match_id}/record").text
    anna.post(f"/matches/{match_id}/bundle")
    work(services, match_id)
    assert anna.get(f"/matches/{match_id}/bundle").status_code == 200


def test_a_bundle_is_made_once(anna: Caller, boris: Caller, stranger: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    match_id = started(anna, boris)
    anna.move(match_id)
    running = stranger.get(f"/matches/{match_id}/bundle").data
    boris.post(f"/matches/{match_id}/resignation")
    finished = stranger.get(f"/matches/{match_id}/bundle").data
    assert finished != running
    monkeypatch.setattr("api.resources.proofs.make_content", None)
    assert [boris.get(f"/matches/{match_id}/bundle").data for _ in range(2)] == [finished] * 2


def test_a_bundle_is_made_again_for_another_key_or_history(anna: Caller, boris: Caller, services: Services) -> None:
    match_id = started(anna, boris)
    anna.post(f"/matches/{match_id}/abortion")
    first = anna.get(f"/matches/{match_id}/bundle").json
    services.keys.rotate()
    second = anna.get(f"/matches/{match_id}/bundle").json
    assert first["signature"]["key"] != second["signature"]["key"]
    assert first["events"] == second["events"]


def test_long_work_counts_by_its_nodes_and_guests_count_by_their_address(server: RealServer) -> None:
    app = app_on(server.url, UNLIMITED._replace(jobs="2000/hour"))
    services: Services = app.extensions[EXTENSION]
    anna = Caller(app).sign_up("anna")
    asked = [against_opponent(anna, services) for _ in range(14)]

    def ask(caller: Caller) -> int:
        match_id, version = asked.pop()
        return caller.post(f"/matches/{match_id}/recomputations", {"version": version}).status_code

    assert [ask(Caller(app).play_as_guest()) for _ in range(5)] == [202] * 4 + [429]
    assert ask(Caller(app)) == 429
    assert ask(anna) == 202
    owners = {claim.owner for claim in iter(services.jobs.work.claim, None)}
    assert len(owners) == 2
    assert not any("127.0.0.1" in owner for owner in owners), "an address is stored as a digest only"


def test_a_job_that_fails_is_tried_again_and_forgotten_in_the_end(services: Services) -> None:
    tried: list[str] = []

    def fail(claim: Claim) -> None:
        tried.append(claim.id)
        raise ZeroDivisionError

    jobs = services.jobs
    jobs.request("m", RECOMPUTATION, 4, requester="anna", cost=1)
    assert not jobs.request("m", RECOMPUTATION, 5, requester="anna", cost=1)
    for _ in range(MAX_ATTEMPTS):
        # The instant at which it is to be tried again has come.
        do_due(jobs.work, [""], fail, lambda: None, lambda: T0)
    assert tried == ["m"] * MAX_ATTEMPTS
    assert jobs.pending("m") is None
    assert jobs.request("m", RECOMPUTATION, 5, requester="anna", cost=1)


def test_a_worker_makes_the_archive_that_was_asked_for(server: RealServer, services: Services, anna: Caller) -> None:
    assert anna.post("/me/archive").status_code == 202
    context = TaskContext(settings_for(server.url))
    assert do_next_job(context) == (anna.id, "archive")
    assert services.jobs.pending(anna.id) is None
    assert services.jobs.archive(anna.id) == anna.get("/me/archive").data


def test_moves_are_animated_by_a_worker_and_the_picture_is_kept(
    anna: Caller, boris: Caller, stranger: Caller, services: Services
) -> None:
    match_id = started(anna, boris)
    anna.move(match_id)
    path, stretch = f"/matches/{match_id}/animations", {"first": 0, "last": 1}
    assert stranger.post(path, {"first": 0, "last": 2}).json["title"] == "There is no such move"
    refused = stranger.post(path, {"first": 1, "last": 1}).json
    assert refused["errors"] == {"last": ["must be 1 to 120 plies after the first board"]}
    asked = stranger.post(path, stretch)
    assert (asked.status_code, asked.json) == (202, {"state": "asked", "url": None})
    assert stranger.post(path, stretch).json["state"] == "asked"
    assert work(services, match_id) == "animation"
    made = stranger.post(path, stretch).json
    assert made["state"] == "finished"
    picture = stranger.client.get(made["url"])
    assert picture.content_type == "image/gif"
    with Image.open(BytesIO(picture.data)) as moving:
        assert len(list(ImageSequence.Iterator(moving))) == 2
    for query in ("first=0&last=1", "first=x&last=1", made["url"].partition("?")[2].replace("last=1", "last=9")):
        assert stranger.client.get(f"/matches/{match_id}/moves.gif?{query}").status_code == 404
