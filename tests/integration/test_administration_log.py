"""The log of administration says what happened and what was refused, and anybody who may read it can check it."""

import hashlib
from typing import Any

import pytest
from click.testing import CliRunner, Result
from flask import Flask

from api.services import Services
from deploy.cli import main
from events.people.administration import Administration
from events.runtime.wall_clock import now_ms
from events.store.contract import tag_of
from events.store.feed import FeedGroup
from tests.integration.test_api_cases import REASON, dispute
from tests.support.callers import Caller, started
from tests.support.stepped_installation import drain
from workers.consumers import Consumer
from workers.effects import DeliveryReader, log_acts, match_by_match


@pytest.fixture
def arbiter(app: Flask, services: Services) -> Caller:
    caller = Caller(app).sign_up("carla")
    services.administration.grant(caller.id, "arbiter", "console")
    return caller


@pytest.fixture
def match_id(anna: Caller, boris: Caller) -> str:
    """Return a match of anna and boris in which two plies were played and boris disputes something."""
    match = started(anna, boris)
    anna.move(match)
    boris.move(match)
    dispute(boris, match)
    return match


def run(services: Services, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> Result:
    """Run a command of ``rookery people`` on the installation of the app."""
    monkeypatch.setenv("REDIS_URL", services.settings.redis_url)
    monkeypatch.setenv("ROOKERY_PREFIX", services.settings.prefix)
    return CliRunner().invoke(main, ["people", *arguments])


def test_refusals_and_events_are_logged(arbiter: Caller, services: Services, match_id: str) -> None:
    wanted = {"ruling": "take-back", "ply": 9}
    refused = arbiter.post(f"/matches/{match_id}/rulings", {**wanted, **REASON})
    assert refused.status_code == 422
    condition = {"If-Match": f'"{tag_of(services.store.read(match_id)[0])}"'}
    stale = arbiter.post(f"/matches/{match_id}/freezing", {"frozen": False}, **condition)
    assert stale.status_code == 409
    key = {"Idempotency-Key": "once"}
    for _ in range(2):
        ruled = arbiter.post(f"/matches/{match_id}/rulings", {"ruling": "let-stand", **REASON}, **key)
        assert ruled.status_code == 201
    (made,) = (event for event in services.store.read(match_id) if event.type == "ruling-made")
    acts = [(act.act, dict(act.facts)) for act in services.administration.acts() if "match" in act.facts]
    assert acts == [
        ("refused", {**wanted, "act": "ruling-made", "code": refused.json["code"], "match": match_id}),
        ("refused", {"act": "match-unfrozen", "code": "stale-version", "match": match_id}),
        (
            "ruling-made",
            {"match": match_id, "version": made.version, "digest": made.id, "ruling": "let-stand", "appeal": False},
        ),
    ]  # fmt: skip
    assert not any(word in str(acts) for word in REASON.values())


def test_a_ruling_after_which_the_process_was_killed_is_logged_by_a_relay_and_once_only(
    arbiter: Caller, services: Services, match_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    body = {"ruling": "let-stand", **REASON}
    with monkeypatch.context() as patched:
        patched.setattr(Administration, "record_event", killed)
        with pytest.raises(KeyboardInterrupt):
            arbiter.post(f"/matches/{match_id}/rulings", body)
    (made,) = (event for event in services.store.read(match_id) if event.type == "ruling-made")
    assert [act.act for act in services.administration.acts()] == ["role-granted"]
    settings = services.settings
    read = DeliveryReader(services.store, services.matches, services.availability).read
    for name in ("one", "two"):
        group = FeedGroup(services.store.client, settings.prefix, services.store.shards, name, "a-relay")
        log = log_acts(services.administration, services.flag_lateness, services.now)
        drain(Consumer(group, match_by_match(group, read, [log]), now_ms))
    acts = services.administration.acts()
    assert [(act.act, act.actor, act.facts.get("digest")) for act in acts] == [
        ("role-granted", "console", None),
        ("ruling-made", arbiter.id, made.id),
    ]


def test_a_role_that_is_held_already_is_not_granted_again(services: Services, arbiter: Caller) -> None:
    services.administration.grant(arbiter.id, "arbiter", "console")
    services.administration.revoke(arbiter.id, "operator", "console")
    assert services.administration.verify() == 1


def test_who_may_read_the_log_can_compute_its_chain_again(
    arbiter: Caller, services: Services, match_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert arbiter.post(f"/matches/{match_id}/rulings", {"ruling": "annul", **REASON}).status_code == 201
    checkpoint = services.checkpoints.sign(services.now())
    following, items = 0, []
    while following is not None:
        page = arbiter.get(f"/administration/log?after={following}&limit=2").json
        items += page["items"]
        following = page["next"]
    digest, chain = bytes(32), []
    for item in items:
        digest = hashlib.sha256(digest + item["canonical"].encode()).digest()
        assert item["id"] == digest.hex()
        chain.append(digest.hex())
    assert checkpoint.administration is not None
    assert checkpoint.administration.digest == chain[checkpoint.administration.number - 1]
    shown = arbiter.get(f"/checkpoints/{checkpoint.day}").json
    assert shown["administration"] == checkpoint.administration._asdict()
    printed = run(services, monkeypatch, "log", "--canonical").stdout.splitlines()
    assert printed == [f"{item['id']} {item['canonical']}" for item in items]


def test_the_console_prints_the_log_and_what_was_changed_in_it(
    arbiter: Caller, services: Services, match_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert arbiter.post(f"/matches/{match_id}/freezing", {"frozen": False}).status_code == 201
    printed = run(services, monkeypatch, "log")
    lines = printed.stdout.splitlines()
    assert printed.exit_code == 0
    assert [line.split("  ")[0] for line in lines] == ["1", "2"]
    assert "  role-granted by console  " in lines[0]
    assert f"  match-unfrozen by carla ({arbiter.id})  " in lines[1]
    assert f'"match":"{match_id}"' in lines[1]
    assert run(services, monkeypatch, "log", "--after", "1").stdout.splitlines() == lines[1:]
    store: Any = services.store.client
    log = f"{services.settings.prefix}{{administration}}:log"
    ((_, fields), *_) = store.xrange(log)
    store.xdel(log, "2-0")
    store.xadd(log, {**fields, b"b": fields[b"b"].replace(b"role", b"rule")}, id="3-0")
    printed = run(services, monkeypatch, "log")
    assert printed.exit_code == 1
    assert "DAMAGED entry 3: the entries 2 to 2 are missing" in printed.output
    assert "DAMAGED the log ends with entry 3, which its recorded head does not match" in printed.output
