"""Submitting a move over HTTP (authorised, counted, checked for legality, appended) beside a bare Flask POST.

Both apps run under the product's gunicorn settings and serve the same clients in turns: separate processes with one
persistent connection each, which send prepared requests and read no more of a response than they must. The processor
time that the server's processes spend per request is shown too, which other work does not affect.

A second table has the ratios of earlier commits, measured on one machine: what a change costs is seen beside them.
"""

import contextlib
import multiprocessing
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from multiprocessing.synchronize import Barrier
from pathlib import Path

from flask import Flask, Response, jsonify, request

from api.access.limits import Limits, RateLimits, install
from api.app import create_app
from api.services import EXTENSION
from deploy.local.environment import ROOT
from deploy.local.ports import Ports
from deploy.local.programs import GUNICORN
from domain.games import GAMES
from events.matches.matches import Matches
from events.people.accounts import People
from events.people.passwords import HASHER, Passwords
from events.runtime.settings import Settings, next_database
from events.runtime.wall_clock import now_ms
from events.store.redis import RedisStore
from tests.bench.measure import Rates, Table, verdict
from tests.bench.played import random_game, start_match
from tests.support.server import RealServer

TURNS = 7
CLIENTS = 4
MATCHES = 8
"""Matches that one client plays per turn."""

PLIES = 40
TARGET = 0.35
AIM = 0.5
APPS = ("bare", "product")
EARLIER = {"7435d04": (0.333, 3.80), "d4bdd19": (0.217, 4.20)}
"""By commit: requests a second and processor time, each divided by that of the bare POST in the same run."""

UNLIMITED = "1000000000/minute"


def tables() -> Iterator[Table]:
    with tempfile.TemporaryDirectory() as directory, contextlib.ExitStack() as stack:
        server = RealServer(Path(directory))
        stack.callback(server.close)
        environment = {
            **os.environ,
            "REDIS_URL": server.url,
            "BROKER_URL": next_database(server.url),
            "PYTHONPATH": str(ROOT),
        }
        ports = {app: Ports.free().api for app in APPS}
        leaders = {app: stack.enter_context(serve(app, ports[app], environment)) for app in APPS}
        with server.client() as client:
            requests = Submissions(RedisStore(client))
            measured: dict[str, list[tuple[float, float]]] = {app: [] for app in APPS}
            for turn in range(-1, TURNS):  # the first one warms up and is not counted
                for app in APPS:
                    found = measure_submissions(app, ports[app], leaders[app], requests)
                    if turn >= 0:
                        measured[app].append(found)
    rates = {app: Rates(tuple(rate for rate, _ in turns)) for app, turns in measured.items()}
    costs = {app: Rates(tuple(cost for _, cost in turns)) for app, turns in measured.items()}
    ratio = rates["product"].over(rates["bare"])
    table = Table(
        f"Submitting a move over HTTP, {CLIENTS} clients", "", "per second", "x", "target", "aim", "us processor", "x"
    )
    table.add("bare Flask POST", rates["bare"].typical, "1", "", "", costs["bare"].typical * 1e6, "1")
    table.add(
        "submitted move",
        *(rates["product"].typical, ratio, verdict(ratio, TARGET), verdict(ratio, AIM)),
        *(costs["product"].typical * 1e6, costs["product"].over(costs["bare"])),
    )
    yield table
    history = Table("The same at earlier commits", "commit", "per second x", "us processor x")
    for commit, earlier in EARLIER.items():
        history.add(commit, *earlier)
    history.add("this checkout", ratio, costs["product"].over(costs["bare"]))
    yield history


def product() -> Flask:
    """Return the product with limits that are counted as usual but never reached."""
    app = create_app(Settings.from_environment())
    services = app.extensions[EXTENSION]
    rates = Limits(*[UNLIMITED] * len(Limits._fields))
    install(app, RateLimits(services.store.client, services.prefix, rates))
    return app


def bare() -> Flask:
    """Return an app that reads a JSON body and answers with one of the size of the answer to a move."""
    app = Flask("bare")

    @app.post("/api/v1/matches/<match_id>/moves")
    def moves(match_id: str) -> tuple[Response, int]:
        content = {"seat": 0, "ply": 1, **request.get_json()}
        envelope = {"id": "0" * 64, "version": 3, "type": "move-submitted", "at": "2026-01-01T00:00:00.000Z"}
        event = {**envelope, "actor": match_id, "data": content}
        return jsonify({"match": match_id, "version": 3, "events": [event]}), 201

    return app


class Submissions:
    """Creates matches and the bytes of the requests that play them."""

    def __init__(self, store: RedisStore) -> None:
        self._matches = Matches(store, now_ms)
        people = People(store.client, "rk:", now_ms, Passwords(HASHER))
        persons = [people.guest() for _ in range(2)]
        self._players = (persons[0].id, persons[1].id)
        self._tokens = [people.tokens.create(person, "bench")[1] for person in persons]
        self._moves = random_game(GAMES["bashni"], "start", PLIES)

    def of_a_client(self) -> list[bytes]:
        found = []
        for _ in range(MATCHES):
            match = start_match(self._matches, "bashni", "start", self._players)
            found += [self._request(match, ply, move) for ply, move in enumerate(self._moves)]
        return found

    def _request(self, match_id: str, ply: int, move: str) -> bytes:
        body = b'{"move":"%s"}' % move.encode()
        head = (
            f"POST /api/v1/matches/{match_id}/moves HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {self._tokens[ply % 2]}\r\nIdempotency-Key: {ply}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body


@contextlib.contextmanager
def serve(app: str, port: int, environment: dict[str, str]) -> Iterator[int]:
    command = [
        sys.executable, "-m", "gunicorn", "--config", str(GUNICORN), "--chdir", str(ROOT), "--log-level", "error",
    ]  # fmt: skip
    with subprocess.Popen(
        [*command, "--bind", f"127.0.0.1:{port}", f"tests.bench.submission:{app}()"],
        env=environment,
        start_new_session=True,
    ) as process:
        try:
            _connection(port).close()
            yield process.pid
        finally:
            process.terminate()


def measure_submissions(app: str, port: int, leader: int, requests: Submissions) -> tuple[float, float]:
    barrier = multiprocessing.Barrier(CLIENTS + 1)
    work = [requests.of_a_client() for _ in range(CLIENTS)]
    clients = [multiprocessing.Process(target=_send, args=(port, each, barrier)) for each in work]
    for client in clients:
        client.start()
    barrier.wait()
    start, spent = time.perf_counter(), _processor_seconds(leader)
    barrier.wait()
    taken, spent = time.perf_counter() - start, _processor_seconds(leader) - spent
    for client in clients:
        client.join()
    if any(client.exitcode for client in clients):
        raise RuntimeError(f"{app} did not answer every request with 201")
    sent = sum(map(len, work))
    return sent / taken, spent / sent


def _send(port: int, requests: list[bytes], barrier: Barrier) -> None:
    connection = _connection(port)
    barrier.wait()
    try:
        for request in requests:
            connection.sendall(request)
            answer = connection.recv(65536)
            while not _is_complete(answer):
                answer += connection.recv(65536)
            if not answer.startswith(b"HTTP/1.1 201"):
                print(answer.decode(errors="replace"), file=sys.stderr)
                raise SystemExit(1)
    finally:
        barrier.wait()


def _is_complete(answer: bytes) -> bool:
    head, separator, body = answer.partition(b"\r\n\r\n")
    if not separator:
        return not answer
    length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
    return len(body) >= int(length)


def _connection(port: int) -> socket.socket:
    deadline = time.monotonic() + 20
    while True:
        try:
            connection = socket.create_connection(("127.0.0.1", port), timeout=20)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection


def _processor_seconds(leader: int) -> float:
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[2]) == leader:
                ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")
