"""When the store is away, loses a reply or was started again: refusals that invite to ask again, and recovery."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask

from api.services import EXTENSION, Services
from events.operations.figures import MAX_ANSWER_MS
from events.runtime.connections import StoreClient
from events.runtime.logs import configure
from events.runtime.queues import ConsumerGroup
from events.store.feed import FeedGroup
from tests.support.callers import Caller, app_on, settings_for, started
from tests.support.full_disk import full_log
from tests.support.proxy import LossyProxy
from tests.support.server import RealServer


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[RealServer]:
    server = RealServer(tmp_path)
    yield server
    server.close()


def test_without_its_store_the_api_asks_to_come_again_and_recovers_by_itself(own_server: RealServer) -> None:
    app = app_on(own_server.url)
    anna, boris = Caller(app).sign_up("anna"), Caller(app).sign_up("boris")
    match_id = started(anna, boris)
    move = anna.legal_move(match_id)
    own_server.kill()
    attempts = [
        anna.move(match_id, move, Idempotency_Key="k1"),
        anna.get(f"/matches/{match_id}"),
        anna.get("/me"),
        anna.get("/matches"),
        Caller(app).post("/guests"),
        Caller(app).post("/sessions", {"name": "anna", "password": "the secret of anna"}),
    ]
    for refused in attempts:
        assert (refused.status_code, refused.json["code"]) == (503, "store-unavailable")
        assert int(refused.headers["Retry-After"]) > 0
    assert anna.client.get("/healthz").status_code == 200
    assert anna.client.get("/readyz").status_code == 503
    assert "rookery_store_up 0.0" in anna.client.get("/metrics").text
    own_server.start()
    assert anna.move(match_id, move, Idempotency_Key="k1").status_code == 201
    assert anna.get(f"/matches/{match_id}").json["moves"] == [move]
    assert anna.client.get("/readyz").json["status"] == "ready"


def test_players_are_refused_in_good_order_while_the_disk_of_the_log_is_full(redis: StoreClient, anna: Caller) -> None:
    redis.config_set("maxmemory", 1)
    with full_log():
        refused = Caller(anna.client.application).post("/guests")
    assert (refused.status_code, refused.json["code"]) == (503, "store-full")


def test_lines_of_the_relays_that_make_no_progress_are_named_and_measured(services: Services, app: Flask) -> None:
    client = app.test_client()
    services.liveness.report("one", {"ticker": 0.0, "projections": 0.0})
    assert client.get("/readyz").json["impaired"] == {}
    assert 'rookery_relay_line_age_seconds{line="ticker"} ' in client.get("/metrics").text
    services.liveness.report("another", {"ticker": 20.0, "projections": 1.0})
    assert client.get("/readyz").json["impaired"].keys() == {"relay"}
    assert "ticker for 2" in client.get("/readyz").json["impaired"]["relay"]


def test_reports_of_the_supervisor_are_named_while_the_store_is_away(own_server: RealServer, tmp_path: Path) -> None:
    app, report = app_on(own_server.url), tmp_path / "impaired.json"
    services: Services = app.extensions[EXTENSION]
    services.settings = services.settings._replace(impairments_file=report)
    client = app.test_client()
    assert "cannot be read" in client.get("/readyz").json["impaired"]["supervisor"]
    report.write_text(json.dumps({"server": "was killed by SIGKILL"}))
    assert client.get("/readyz").json["impaired"] == {"server": "was killed by SIGKILL"}
    own_server.kill()
    refused = client.get("/readyz")
    assert (refused.status_code, refused.json["impaired"]) == (503, {"server": "was killed by SIGKILL"})


def test_matches_waiting_for_opponents_counted(services: Services, app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("events.operations.figures.MAX_AGE_S", -1.0)
    client, keys = app.test_client(), services.readmodels.keys
    assert "rookery_late_opponents 0.0" in client.get("/metrics").text
    services.store.client.zadd(keys.listed(3, "awaiting:opponent-2", 0), {"m1": services.now() - MAX_ANSWER_MS - 1})
    services.store.client.zadd(keys.listed(3, "awaiting:opponent-2", 0), {"m2": services.now()})
    assert "rookery_late_opponents 1.0" in client.get("/metrics").text


def test_an_app_may_start_before_its_store(own_server: RealServer) -> None:
    own_server.kill()
    app = app_on(own_server.url)
    assert Caller(app).get("/matches").status_code == 503
    own_server.start()
    assert Caller(app).get("/matches").status_code == 200


def test_a_move_whose_reply_was_lost_on_the_way_from_the_store_is_played_once(server: RealServer, app: Flask) -> None:
    anna, boris = Caller(app).sign_up("anna"), Caller(app).sign_up("boris")
    match_id, token = started(anna, boris), anna.token()
    move = anna.legal_move(match_id)
    proxy = LossyProxy(server.port)
    try:
        through_proxy = Caller(app_on(proxy.url))
        assert through_proxy.get(f"/matches/{match_id}", Authorization=token).status_code == 200
        proxy.lose_reply_to(b":feed")
        answer = through_proxy.move(match_id, move, Authorization=token)
        assert proxy.lost.is_set()
    finally:
        proxy.close()
    assert answer.status_code == 201
    assert anna.get(f"/matches/{match_id}").json["moves"] == [move]


def test_a_full_store_refuses_moves_until_emptied(app: Flask, redis: StoreClient, anna: Caller, boris: Caller) -> None:
    match_id = started(anna, boris)
    move = anna.legal_move(match_id)
    redis.config_set("maxmemory", 1)
    refused = anna.move(match_id, move)
    assert (refused.status_code, refused.json["code"]) == (503, "store-full")
    for path in (f"/matches/{match_id}", f"/matches/{match_id}/events", "/matches", "/me"):
        assert anna.get(path).status_code == 200, path
    redis.config_set("maxmemory", 0)
    assert anna.move(match_id, move).status_code == 201


def test_a_store_that_was_installed_otherwise_is_not_ready(server: RealServer, redis: StoreClient) -> None:
    app = app_on(server.url)
    assert Caller(app).client.get("/readyz").json["shards"] == 16
    redis.hset("rk:rookery", "format", "99")
    refused = Caller(app).client.get("/readyz")
    assert (refused.status_code, refused.json["status"]) == (503, "wrong-installation")


def test_metrics_tell_requests_latency_and_lag(app: Flask, redis: StoreClient, anna: Caller, boris: Caller) -> None:
    services: Services = app.extensions[EXTENSION]
    FeedGroup(redis, settings_for("").prefix, services.store.shards, ConsumerGroup.PROJECTIONS, "a-relay").ensure()
    match = started(anna, boris)
    assert anna.move(match).status_code == 201
    assert boris.move(match, "nonsense").status_code == 422
    told = anna.client.get("/metrics").text
    assert 'rookery_requests_total{endpoint="commands.submit_move",method="POST",status="201"}' in told
    assert 'rookery_problems_total{code="malformed-move"}' in told
    assert "rookery_store_up 1.0" in told
    assert "rookery_store_latency_seconds " in told
    assert 'rookery_feed_lag{group="projections"} 4.0' in told


def test_the_log_is_json_lines_without_secrets(
    server: RealServer,
    redis: StoreClient,
    anna: Caller,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    token = anna.token()

    def broken(*_: object) -> None:
        raise RuntimeError("out of order")

    configure()  # here, where standard error is the one that is read below
    monkeypatch.setattr("events.matches.matches.Matches.load", broken)
    assert anna.get("/matches/m", Authorization=token).status_code == 500
    redis.config_set("maxmemory", 1)
    assert Caller(anna.client.application).post("/guests").status_code == 503
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    assert [(line["event"], line["level"]) for line in lines] == [
        ("internal-error", "error"),
        ("store-full", "warning"),
    ]
    assert "out of order" in lines[0]["exception"]
    assert token.removeprefix("Bearer ") not in json.dumps(lines)
