"""The live stream as its own process, under its own gunicorn worker: resuming, privacy, faults, limits."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from types import SimpleNamespace
from typing import Any

import pytest

from api.access.auth import COOKIE
from api.access.limits import RateLimits, install
from api.live.stream import create_stream_app
from api.live.stream_hub import Batch, Hub, StreamMessage
from api.services import EXTENSION
from events.runtime.keys import ChatKeys
from events.store.contract import EMPTY
from tests.support.callers import ME, UNLIMITED, Caller, app_on, invited, settings_for, started
from tests.support.drafts import grown
from tests.support.eventually import DEADLINE_S, eventually
from tests.support.memory_store import MemoryStore
from tests.support.server import RealServer
from tests.support.streams import StreamProcess, Watching, seen
from tests.support.tables import table


@pytest.fixture(autouse=True)
def _ended_hubs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the threads of live streams in this process end with their test."""
    hubs = list[Hub]()

    def make(*args: Any) -> Hub:
        hubs.append(Hub(*args))
        return hubs[-1]

    monkeypatch.setattr("api.live.stream.Hub", make)
    yield
    for hub in hubs:
        hub.close()


@pytest.fixture(scope="module")
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    server = RealServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.close()


@pytest.fixture(scope="module")
def stream(own_server: RealServer) -> Iterator[StreamProcess]:
    process = StreamProcess(own_server.url)
    yield process
    process.close()


@pytest.fixture
def players(own_server: RealServer) -> tuple[Caller, Caller]:
    app = app_on(own_server.url)
    return Caller(app).play_as_guest(), Caller(app).play_as_guest()


def test_a_watcher_hears_what_was_and_what_happens(stream: StreamProcess, players: tuple[Caller, Caller]) -> None:
    white, black = players
    match = started(white, black)
    with Watching(stream.port, match) as watching:
        assert watching.answer.status == 200
        assert watching.answer.headers["Content-Type"] == "text/event-stream; charset=utf-8"
        assert [watching.next().event for _ in range(3)] == ["match-created", "player-joined", "match-started"]
        made = white.move(match).json["events"]
        told = watching.next()
        assert (told.id, told.event, [told.data]) == (f"4-{made[0]['id'][:16]}", "move-submitted", made)
        black.move(match)
        assert watching.version() == 5


def test_who_comes_back_hears_only_what_was_missed(stream: StreamProcess, players: tuple[Caller, Caller]) -> None:
    white, black = players
    match = started(white, black)
    third = seen(white, match)
    white.move(match)
    for again in ({"Last_Event_ID": third}, {"query": f"?after={third}"}):
        with Watching(stream.port, match, **again) as watching:
            assert watching.version() == 4
    with Watching(stream.port, match, f"?after={third}", Last_Event_ID=seen(white, match)) as watching:
        black.move(match)
        assert watching.version() == 5, "what the browser has seen counts more than the address"


def test_many_watchers_of_one_match_hear_the_same(stream: StreamProcess, players: tuple[Caller, Caller]) -> None:
    white, black = players
    match, other = started(white, black), started(white, black)
    watchers = [Watching(stream.port, match, f"?after={seen(white, match)}") for _ in range(20)]
    white.move(other)
    moves = [white.move(match).json["events"][0], black.move(match).json["events"][0]]
    for watching in watchers:
        with watching:
            assert [watching.next().data for _ in moves] == moves


def test_a_watcher_lives_through_a_restart_of_the_server(
    own_server: RealServer, stream: StreamProcess, players: tuple[Caller, Caller]
) -> None:
    white, black = players
    match = started(white, black)
    with Watching(stream.port, match, f"?after={seen(white, match)}") as watching:
        white.move(match)
        assert watching.version() == 4
        own_server.stop()
        own_server.start()
        assert black.move(match).status_code == 201
        assert watching.version() == 5
        own_server.kill()
        with Watching(stream.port, match) as refused:
            assert refused.answer.status == 503
            assert int(refused.answer.headers["Retry-After"]) > 0
        own_server.start()
        assert white.move(match).status_code == 201
        assert watching.version() == 6


def test_a_private_match_is_told_to_insiders_only(stream: StreamProcess, players: tuple[Caller, Caller]) -> None:
    white, black = players
    match_id = white.create(ME, invited(black.name), private=True)
    cookie = black.client.get_cookie(COOKIE)
    assert cookie is not None
    for headers in ({"Cookie": f"{COOKIE}={cookie.value}"}, {"Authorization": white.token()}):
        with Watching(stream.port, match_id, **headers) as watching:
            told = watching.next()
            assert told.event == "match-created"
            assert "seed" not in told.data["data"]
    for headers in ({}, {"Authorization": Caller(black.client.application).play_as_guest().token()}):
        with Watching(stream.port, match_id, **headers) as refused:
            assert refused.answer.status == 404
            assert json.loads(refused.answer.read())["code"] == "no-such-match"


def test_players_hear_at_once_that_something_was_said_and_spectators_do_not(
    own_server: RealServer, stream: StreamProcess, players: tuple[Caller, Caller]
) -> None:
    white, black = players
    match_id = started(white, black)
    client = own_server.client()
    with Watching(stream.port, match_id):
        eventually(lambda: client.pubsub_numsub(ChatKeys("rk:").channel)[0][1] == 1, "the subscription to all chats")
    spectator = Caller(white.client.application).play_as_guest()
    with (
        Watching(stream.port, match_id, f"?after={seen(white, match_id)}", Authorization=black.token()) as playing,
        Watching(stream.port, match_id, f"?after={seen(white, match_id)}", Authorization=spectator.token()) as watching,
    ):
        first = white.move(match_id).json["events"]
        assert [playing.next().data, watching.next().data] == first * 2
        white.post(f"/matches/{match_id}/chat", {"text": "good luck"})
        assert playing.news() == ("chat", {})
        second = black.move(match_id).json["events"]
        assert [playing.next().data, watching.next().data] == second * 2


def test_who_watches_a_finished_match_hears_of_a_rematch(stream: StreamProcess, players: tuple[Caller, Caller]) -> None:
    white, black = players
    match_id = started(white, black)
    white.post(f"/matches/{match_id}/resignation")
    with Watching(stream.port, match_id, f"?after={seen(white, match_id)}") as watching:
        rematch = black.post(f"/matches/{match_id}/rematches").json["id"]
        assert watching.news() == ("rematch", {})
        white.post(f"/matches/{rematch}/joins")
        assert watching.news() == ("rematch", {})


@pytest.mark.parametrize(("origin", "allowed"), table(__file__, "pages of the same host may read with their cookie"))
def test_own_pages_may_read(stream: StreamProcess, players: tuple[Caller, Caller], origin: str, allowed: bool) -> None:
    match = started(*players)
    with Watching(stream.port, match, Origin=origin, Accept_Encoding="gzip, br") as watching:
        headers = watching.answer.headers
        assert headers.get("Content-Encoding") is None, "what is compressed may be held back"
        assert headers.get("Access-Control-Allow-Origin") == (origin if allowed else None)
        assert headers.get("Access-Control-Allow-Credentials") == ("true" if allowed else None)
        assert "Origin" in ", ".join(headers.get_all("Vary", []))


@pytest.mark.parametrize("after", ["-1", "x", "1.5", "9" * 16, "3", "3-", "3-xyz", f"3-{'A' * 16}"])
def test_a_place_that_is_no_version_tag_is_refused(server: RealServer, after: str) -> None:
    visitor = create_stream_app(settings_for(server.url)).test_client()
    for query, headers in ((f"?after={after}", {}), ("", {"Last-Event-ID": after})):
        refused = visitor.get(f"/api/v1/matches/m/stream{query}", headers=headers)
        assert (refused.status_code, refused.json["code"]) == (422, "invalid-fields")
        assert "must be 0 or an id of this stream" in refused.json["detail"]


def test_a_process_at_its_limit_sends_watchers_away(server: RealServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.live.stream_hub.MAX_STREAMS", 2)
    app = app_on(server.url)
    match_id = started(Caller(app).play_as_guest(), Caller(app).play_as_guest())
    visitor = create_stream_app(settings_for(server.url)).test_client()
    path = f"/api/v1/matches/{match_id}/stream"
    first, second = visitor.get(path), visitor.get(path)
    refused = visitor.get(path)
    assert (refused.status_code, refused.json["code"]) == (503, "too-many-streams")
    assert int(refused.headers["Retry-After"]) > 0
    first.close()
    third = visitor.get(path)
    assert third.status_code == 200
    second.close()
    third.close()


def test_one_address_leaves_room_for_others(server: RealServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.live.stream_hub.MAX_STREAMS_PER_ADDRESS", 2)
    app = app_on(server.url)
    match_id = started(Caller(app).play_as_guest(), Caller(app).play_as_guest())
    visitor = create_stream_app(settings_for(server.url)).test_client()
    path = f"/api/v1/matches/{match_id}/stream"
    first, second = visitor.get(path), visitor.get(path)
    refused = visitor.get(path)
    assert (refused.status_code, refused.json["code"]) == (503, "too-many-streams")
    assert "Your network address has 2 live streams open" in refused.json["detail"]
    elsewhere = visitor.get(path, environ_base={"REMOTE_ADDR": "192.0.2.1"})
    assert elsewhere.status_code == 200
    first.close()
    third = visitor.get(path)
    assert third.status_code == 200
    for answer in (second, elsewhere, third):
        answer.close()


@pytest.mark.parametrize(("leave", "private"), [("sign out", False), ("revoke", False), ("be erased", True)])
def test_streams_end_soon(server: RealServer, monkeypatch: pytest.MonkeyPatch, leave: str, private: bool) -> None:
    monkeypatch.setattr("api.live.stream_hub.HEARTBEAT_S", 0.01)
    app = app_on(server.url)
    anna, boris = Caller(app).sign_up("anna"), Caller(app).sign_up("boris")
    match_id = started(anna, boris, private=private)
    made = anna.post("/me/tokens", {"label": "for a test"}).json
    cookie = anna.client.get_cookie(COOKIE)
    assert cookie is not None
    shown = {"Authorization": f"Bearer {made['secret']}"} if leave == "revoke" else {}
    visitor = create_stream_app(settings_for(server.url)).test_client()
    if not shown:
        visitor.set_cookie(COOKIE, cookie.value)
    watching = visitor.get(f"/api/v1/matches/{match_id}/stream?after={seen(anna, match_id)}", headers=shown)
    messages = watching.iter_encoded()
    assert b": still here\n\n" in messages
    gone = {
        "sign out": lambda: anna.delete("/sessions/current"),
        "revoke": lambda: anna.delete(f"/me/tokens/{made['id']}"),
        "be erased": lambda: anna.post("/me/erasure", {"name": "anna"}),
    }[leave]()
    assert gone.status_code in (200, 204)
    assert set(messages) <= {b": still here\n\n", b"event: chat\ndata: {}\n\n"}, "it ends, and nothing was told"
    watching.close()


def test_a_stream_counts_for_the_events_that_it_begins_with(
    server: RealServer, anna: Caller, boris: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.live.stream.EVENTS_PER_READ", 1)
    match_id = started(anna, boris)
    app = create_stream_app(settings_for(server.url))
    limits = RateLimits(app.extensions[EXTENSION].store.client, "rk:", UNLIMITED._replace(reads="3/minute"))
    install(app, limits)
    visitor = app.test_client()
    path = f"/api/v1/matches/{match_id}/stream"
    with visitor.get(f"{path}?after={seen(anna, match_id)}") as watching:
        assert watching.status_code == 200
    refused = visitor.get(path)
    assert (refused.status_code, refused.json and refused.json["code"]) == (429, "too-many-requests")
    assert int(refused.headers["Retry-After"]) > 0


def test_a_watcher_who_is_too_slow_is_cut_off() -> None:
    nobody = lambda: pytest.fail("nobody reads here")  # noqa: E731
    hub = Hub(MemoryStore(), nobody, nobody)
    hub._reader = object()  # type: ignore[assignment]
    watcher = hub.enter("m")
    while not watcher.cut_off:
        hub._deliver(watcher, Batch(EMPTY.tag, [StreamMessage(None, "id: 1\n\n")]))
    told = list(hub.messages("m", EMPTY.tag, watcher, lambda: True))
    assert told == ["retry: 2000\n\n"], "the rest comes from the store when the watcher is back"


def test_hundreds_of_simultaneous_watchers_are_served(stream: StreamProcess, players: tuple[Caller, Caller]) -> None:
    match_id = started(*players)
    request = f"GET /api/v1/matches/{match_id}/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
    with ExitStack() as stack:
        crowd = [stack.enter_context(socket.create_connection(("127.0.0.1", stream.port))) for _ in range(400)]
        for connection in crowd:
            connection.settimeout(DEADLINE_S)
            connection.sendall(request)
        for connection in crowd:
            heard = b""
            while b"event: match-started" not in heard:
                piece = connection.recv(65536)
                assert piece, f"the stream ended with {heard!r}"
                heard += piece
                assert heard.startswith(b"HTTP/1.1 200 ")


def test_a_connection_that_does_not_ask_in_time_is_closed(own_server: RealServer) -> None:
    stream = StreamProcess(own_server.url, keepalive_s=1)
    with closing(stream), socket.create_connection(("127.0.0.1", stream.port), timeout=DEADLINE_S) as silent:
        silent.sendall(b"GET /api/v1/matches/m/stream HTTP/1.1\r\n")
        assert silent.recv(1000) == b""


def test_watchers_do_not_hold_up_the_end_of_the_process(own_server: RealServer, players: tuple[Caller, Caller]) -> None:
    stream, match = StreamProcess(own_server.url, grace_s=3600), started(*players)
    with closing(stream), Watching(stream.port, match) as watching:
        assert watching.answer.status == 200
        stream.process.terminate()
        assert stream.process.wait(DEADLINE_S) == 0


def test_who_reads_a_long_match_from_its_start_lets_others_have_their_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody = lambda: pytest.fail("nobody reads here")  # noqa: E731
    store, turns, found = MemoryStore(), list[int](), list[StreamMessage]()
    grown(store, "m", [120])
    reader = threading.get_ident()

    def sleep(seconds: float) -> None:
        if threading.get_ident() == reader:  # hubs of other tests have threads that sleep, too
            turns.append(len(found))
        else:
            time.sleep(seconds)

    monkeypatch.setattr("api.live.stream_hub.time", SimpleNamespace(sleep=sleep, monotonic=time.monotonic))
    for message in Hub(store, nobody, nobody)._stored("m", EMPTY.tag):
        found.append(message)
    assert [message.tag.version for message in found if message.tag] == list(range(1, 121))
    assert turns == [50, 100]
