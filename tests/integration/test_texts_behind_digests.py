"""Reasons and statements live beside the events, behind digests: kept, compared wherever they are shown, erased."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from flask import Flask

from api.services import Services
from deploy.cli import main
from events.people.statements import UNNAMED_AFTER_MS
from events.proof.bundle import read_bundle
from events.runtime.errors import StoreUnavailableError
from tests.support.callers import Caller, app_on, started
from tests.support.chains import verify_all
from tests.support.projected import project
from tests.support.server import RealServer
from tests.support.watch import Watch

REASON, RULE, WHY = "Boris Badenov was away.", "Scenario rule 7", "The first version is at fault."
RULING = {"ruling": "let-stand", "reason": REASON, "rule": RULE}
SAID = "He moved twice, that Boris."


@pytest.fixture
def match_id(anna: Caller, boris: Caller) -> str:
    """Return a match with an open case."""
    match_id = started(anna, boris)
    anna.move(match_id)
    boris.move(match_id)
    raised = anna.post(f"/matches/{match_id}/disputes", {"ply": 2, "ground": "conduct", "statement": SAID})
    assert raised.status_code == 201, raised.text
    return match_id


@pytest.fixture
def arbiter(app: Flask, services: Services) -> Caller:
    caller = Caller(app).sign_up("carla")
    services.administration.grant(caller.id, "arbiter", "console")
    return caller


def case_of(caller: Caller, match_id: str) -> dict[str, Any]:
    """Return the case of a match as ``caller`` reads it."""
    (case,) = caller.get(f"/matches/{match_id}/disputes").json["disputes"]
    return dict(case)


def faults(services: Services, match_id: str) -> list[tuple[int, str]]:
    """Return the versions and members that the comparison with the digests finds fault with."""
    found = services.statements.faults(match_id, services.store.read(match_id), services.people.persons)
    return [(fault.version, fault.member) for fault in found]


def rule_and_propose(arbiter: Caller, match_id: str) -> None:
    assert arbiter.post(f"/matches/{match_id}/rulings", RULING).status_code == 201
    proposal = {"ruleset": 2, "reason": WHY}
    assert arbiter.post(f"/matches/{match_id}/ruleset-proposals", proposal).status_code == 201


def test_reasons_are_read_by_all_who_see_the_match_and_stand_in_no_event_or_bundle(
    anna: Caller, stranger: Caller, arbiter: Caller, services: Services, match_id: str
) -> None:
    rule_and_propose(arbiter, match_id)
    (ruling,) = case_of(stranger, match_id)["rulings"]
    assert (ruling["reason"], ruling["rule"]) == (REASON, RULE)
    made = next(event for event in services.store.read(match_id) if event.type == "ruling-made")
    for member in ("reason", "rule"):
        kept = ruling["digests"][member]
        assert kept["fault"] is None
        assert kept["sha256"] == sha256((kept["salt"] + ruling[member]).encode()).hexdigest() == made.data[member]
    assert stranger.get(f"/matches/{match_id}/disputes").json["proposal"]["reason"] == WHY
    for page in ("case", "record"):
        shown = stranger.client.get(f"/matches/{match_id}/{page}").text
        assert all(text in shown for text in (REASON, RULE, WHY))
    bundle = stranger.get(f"/matches/{match_id}/bundle").data
    assert read_bundle(bundle).head.version == made.version + 1
    exported = bundle.decode() + stranger.get(f"/matches/{match_id}/events").text
    assert not any(text in exported for text in (REASON, RULE, WHY))
    assert faults(services, match_id) == []


def test_reasons_are_gone_with_their_author_and_every_chain_is_whole(
    anna: Caller, stranger: Caller, arbiter: Caller, services: Services, match_id: str
) -> None:
    rule_and_propose(arbiter, match_id)
    project(services)
    assert arbiter.post("/me/erasure", {"name": "carla"}).status_code == 200
    (ruling,) = case_of(anna, match_id)["rulings"]
    assert (ruling["reason"], ruling["rule"], ruling["digests"]["reason"]["salt"]) == (None, None, None)
    assert ruling["digests"]["reason"]["fault"] is None
    for page in ("case", "record"):
        shown = anna.client.get(f"/matches/{match_id}/{page}").text
        assert "erased with its author" in shown
        assert not any(text in shown for text in (REASON, RULE, WHY))
    assert verify_all(services.store) == []
    assert faults(services, match_id) == []


@pytest.mark.parametrize("damage", ["changed", "missing"])
def test_a_text_that_is_not_the_one_that_was_said_is_not_shown_as_true(
    anna: Caller, arbiter: Caller, services: Services, match_id: str, damage: str
) -> None:
    rule_and_propose(arbiter, match_id)
    client: Any = services.store.client
    key = f"{services.settings.prefix}{{cases}}:{match_id}"
    for field, kept in client.hgetall(key).items():
        if damage == "missing":
            client.hdel(key, field)
        else:
            client.hset(key, field, kept.replace(b"Boris", b"Anna!").replace(b"first", b"third").replace(b"7", b"8"))
    case = case_of(anna, match_id)
    words = {"changed": "not the one whose digest was recorded", "missing": "missing"}[damage]
    (statement,), (ruling,) = case["statements"], case["rulings"]
    assert (statement["text"], ruling["reason"], ruling["rule"]) == (None, None, None)
    for fault in (statement["fault"], ruling["digests"]["reason"]["fault"], ruling["digests"]["rule"]["fault"]):
        assert words in fault
    proposal = anna.get(f"/matches/{match_id}/disputes").json["proposal"]
    assert proposal["reason"] is None
    assert words in proposal["digests"]["reason"]["fault"]
    page = anna.client.get(f"/matches/{match_id}/case").text
    assert page.count(words) == 4
    assert anna.client.get(f"/matches/{match_id}/record").text.count(words) == 3
    assert "Anna!" not in page
    versions = {event.type: event.version for event in services.store.read(match_id)}
    assert faults(services, match_id) == [
        (versions["dispute-raised"], "statement"),
        (versions["ruling-made"], "reason"),
        (versions["ruling-made"], "rule"),
        (versions["ruleset-proposed"], "reason"),
    ]


@pytest.mark.parametrize("field", ["reason", "rule"])
def test_a_blank_reason_is_no_reason(arbiter: Caller, match_id: str, field: str) -> None:
    refused = arbiter.post(f"/matches/{match_id}/rulings", {**RULING, field: " \n "})
    assert (refused.status_code, refused.json["errors"]) == (422, {field: ["must not be blank"]})


def test_a_ruling_killed_before_its_append_leaves_no_text(server: RealServer, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Watch()
    app = app_on(server.url, now=watch)
    services: Services = app.extensions["rookery"]
    anna, boris, carla = (Caller(app).sign_up(name) for name in ("anna", "boris", "carla"))
    services.administration.grant(carla.id, "arbiter", "console")
    match_id = started(anna, boris)
    assert (
        anna.post(f"/matches/{match_id}/disputes", {"ply": 0, "ground": "clock", "statement": SAID}).status_code == 201
    )

    def killed(*_: object, **__: object) -> None:
        raise StoreUnavailableError("killed")

    with monkeypatch.context() as patched:
        patched.setattr(services.store, "append", killed)
        assert carla.post(f"/matches/{match_id}/rulings", RULING).status_code == 503
    assert REASON in [said.text for said in services.statements.of_match(match_id).values()]
    assert REASON not in anna.client.get(f"/matches/{match_id}/case").text
    assert services.statements.discard_unnamed(services.store.read) == 0
    watch.advance(UNNAMED_AFTER_MS + 1)
    assert services.statements.discard_unnamed(services.store.read) == 2
    assert [said.text for said in services.statements.of_match(match_id).values()] == [SAID]
    assert carla.post(f"/matches/{match_id}/rulings", RULING).status_code == 201
    watch.advance(UNNAMED_AFTER_MS + 1)
    assert services.statements.discard_unnamed(services.store.read) == 0
    assert faults(services, match_id) == []


def test_a_repeated_ruling_is_recognised_although_its_texts_have_salts(arbiter: Caller, match_id: str) -> None:
    key = {"Idempotency-Key": "once"}
    first = arbiter.post(f"/matches/{match_id}/rulings", RULING, **key)
    again = arbiter.post(f"/matches/{match_id}/rulings", RULING, **key)
    assert (first.status_code, again.status_code, again.json) == (201, 201, first.json)
    other = arbiter.post(f"/matches/{match_id}/rulings", {**RULING, "reason": "Another."}, **key)
    assert other.status_code in (409, 422)


def test_nothing_left_confirms_a_guess(anna: Caller, services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    # What is remembered of a request outlives its text: equal texts must not leave equal traces.
    remembered: list[str] = []
    append = services.store.append

    def noted(*arguments: Any, **options: Any) -> Any:
        remembered.append(arguments[3].fingerprint)
        return append(*arguments, **options)

    match_id = anna.create({"kind": "me"}, {"kind": "opponent", "level": 1})
    monkeypatch.setattr(services.store, "append", noted)
    body = {"ply": 0, "ground": "conduct", "statement": SAID}
    assert anna.post(f"/matches/{match_id}/disputes", body).status_code == 201
    parts = (b"POST", f"/api/v1/matches/{match_id}/disputes".encode(), json.dumps(body, separators=(",", ":")).encode())
    (fingerprint,) = remembered
    sorted_body = json.dumps(body, separators=(",", ":"), sort_keys=True).encode()
    assert fingerprint not in {sha256(b"\n".join((*parts[:2], text))).hexdigest() for text in (parts[2], sorted_body)}


def test_the_replay_on_the_command_line_shows_texts_of_the_store_and_digests_of_a_bundle(
    arbiter: Caller,
    stranger: Caller,
    services: Services,
    match_id: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("REDIS_URL", services.settings.redis_url)
    monkeypatch.setenv("ROOKERY_PREFIX", services.settings.prefix)

    def replayed(source: object) -> str:
        run = CliRunner().invoke(main, ["audit", "replay", str(source)])
        assert run.exit_code == 0, run.output
        return run.output

    rule_and_propose(arbiter, match_id)
    file = tmp_path / "match.json"
    file.write_bytes(stranger.get(f"/matches/{match_id}/bundle").data)
    from_store, from_file = replayed(match_id), replayed(file)
    assert f"reason: {REASON}" in from_store
    assert f"statement: {SAID}" in from_store
    assert not any(text in from_file for text in (REASON, SAID))
    client: Any = services.store.client
    key = f"{services.settings.prefix}{{cases}}:{match_id}"
    for field, kept in client.hgetall(key).items():
        client.hset(key, field, kept.replace(b"Boris", b"Anna!"))
    damaged = replayed(match_id)
    assert "statement: NOT SHOWN: the stored text is not the one whose digest was recorded" in damaged
    assert "Anna!" not in damaged
    project(services)
    assert arbiter.post("/me/erasure", {"name": "carla"}).status_code == 200
    assert "reason: erased with its author" in replayed(match_id)
