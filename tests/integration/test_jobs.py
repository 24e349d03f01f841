"""Long work about a match: asked for in a request, done by a worker, its result read by later requests."""

from typing import Any

import pytest

from api.services import Services
from domain.game import StepBudget
from domain.games import GAMES
from events.proof.documents import write_document
from events.proof.public_keys import key_set, read_key_set
from events.proof.verification import verify
from events.service.jobs import BUNDLE, JOB_TTL_S, Job, Jobs
from tests.support.callers import ME, UNLIMITED, Caller, app_on, opponent, started
from tests.support.rulesets import register, variant
from tests.support.server import RealServer
from workers.jobs import ENQUEUE_AGAIN_MS, JobRound, do_job
from workers.opponents import answer


def against_opponent(anna: Caller, services: Services) -> tuple[str, int]:
    """Return a match of anna that an opponent has answered in, and the version of the answer."""
    match_id = anna.create(ME, opponent(1))
    anna.move(match_id)
    written = answer(services, match_id)
    assert written is not None
    return match_id, written.version


def work(services: Services, match_id: str) -> str | None:
    """Do the job of the match, as a worker does."""
    return do_job(services.personal_data, match_id)


@pytest.fixture
def long_match(anna: Caller, boris: Caller, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a finished match that counts as too long for a request."""
    match_id = started(anna, boris)
    anna.move(match_id)
    boris.post(f"/matches/{match_id}/resignation")
    for place in ("api.resources.proofs", "api.pages.record_page"):
        monkeypatch.setattr(f"{place}.MAX_EVENTS_AT_ONCE", 3)
    return match_id


def test_an_answer_is_computed_again_by_a_worker_and_never_in_a_request(
    anna: Caller, stranger: Caller, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    assert "<h1>Record</h1>" in asked.text


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
    app = app_on(server.url, UNLIMITED._replace(jobs="2/hour"))
    anna = Caller(app).sign_up("anna")
    matches = [anna.create(ME, opponent(1)) for _ in range(3)]
    assert [anna.post(f"/matches/{match_id}/bundle").status_code for match_id in matches] == [202, 202, 429]


def test_the_bundle_of_a_long_match_is_made_by_a_worker(
    anna: Caller, stranger: Caller, services: Services, long_match: str
) -> None:
    path = f"/matches/{long_match}/bundle"
    refused = stranger.get(path)
    assert (refused.status_code, refused.json["code"]) == (409, "not-ready")
    assert stranger.post(path).json == {"state": "asked"}
    assert work(services, long_match) == "bundle"
    assert stranger.post(path).json == {"state": "finished"}
    keys = read_key_set(write_document(key_set(services.keys.public())))
    assert all(step.proved or step.name == "checkpoint" for step in verify(stranger.get(path).data, keys))


def test_the_record_of_a_long_match_shows_what_is_recorded_until_a_worker_has_replayed_it(
    stranger: Caller, services: Services, long_match: str
) -> None:
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


def test_the_bundle_of_a_finished_match_is_made_once(
    anna: Caller, boris: Caller, stranger: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    match_id = started(anna, boris)
    anna.move(match_id)
    running = stranger.get(f"/matches/{match_id}/bundle").data
    boris.post(f"/matches/{match_id}/resignation")
    finished = stranger.get(f"/matches/{match_id}/bundle").data
    assert finished != running
    monkeypatch.setattr("api.resources.proofs.make_content", None)
    assert [boris.get(f"/matches/{match_id}/bundle").data for _ in range(2)] == [finished] * 2


def test_a_bundle_is_made_again_for_another_key_and_another_history(
    anna: Caller, boris: Caller, services: Services
) -> None:
    match_id = started(anna, boris)
    anna.post(f"/matches/{match_id}/abortion")
    first = anna.get(f"/matches/{match_id}/bundle").json
    services.keys.rotate()
    second = anna.get(f"/matches/{match_id}/bundle").json
    assert first["signature"]["key"] != second["signature"]["key"]
    assert first["events"] == second["events"]


def test_waiting_jobs_are_enqueued_and_again_after_a_minute(services: Services) -> None:
    now, asked = [1_000_000], list[str]()
    go = JobRound(services.jobs, asked.append, lambda: now[0])
    services.jobs.request("m1", "bundle")
    services.jobs.request("m2", "bundle")
    assert (go(), go(), asked) == (2, 0, ["m1", "m2"])
    services.jobs.finish("m1")
    now[0] += ENQUEUE_AGAIN_MS
    assert (go(), asked) == (1, ["m1", "m2", "m2"])


def test_a_job_that_was_given_up_may_be_asked_for_again(services: Services) -> None:
    services.jobs.request("m1", "bundle")
    key = f"{services.settings.prefix}job:{{m1}}"
    assert 0 < services.store.client.ttl(key) <= JOB_TTL_S
    services.store.client.delete(key)
    assert services.jobs.waiting(10) == []
    assert services.jobs.request("m1", "recomputation", 4)
    assert services.jobs.pending("m1") == Job("recomputation", 4, services.jobs.pending("m1").requested_at)


def test_a_job_that_fails_is_forgotten(anna: Caller, services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    match_id = anna.create(ME, opponent(1))
    anna.post(f"/matches/{match_id}/bundle")
    monkeypatch.setattr("workers.jobs.make_contents", None)
    with pytest.raises(TypeError):
        work(services, match_id)
    assert services.jobs.pending(match_id) is None


def test_a_job_that_is_asked_for_while_another_is_given_up_is_not_lost(services: Services) -> None:
    class Slow(Jobs):
        """Looks for jobs, and is overtaken by a request."""

        overtaken = False

        def pending(self, subject: str) -> Job | None:
            found = super().pending(subject)
            if not self.overtaken:
                self.overtaken = True
                assert services.jobs.request(subject, BUNDLE)
            return found

    services.jobs.request("m", BUNDLE)
    services.store.client.delete("rk:job:{m}")
    Slow(services.store.client, "rk:", services.now).waiting(10)
    assert [match for match, _ in services.jobs.waiting(10)] == ["m"]
