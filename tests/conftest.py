"""Fixtures that all tests may ask for: one real server per test process, empty at the start of each test."""

from collections.abc import Iterator

import pytest
from redis import Redis

from events import connection
from tests.support.server import RealServer


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    """Return the server of this test process."""
    server = RealServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.close()


@pytest.fixture
def server(shared_server: RealServer) -> RealServer:
    """Return the server of this test process, emptied."""
    with shared_server.client() as client:
        client.flushall()
        client.script_flush()
        client.config_set("maxmemory", 0)
    return shared_server


@pytest.fixture
def redis(server: RealServer) -> Iterator[Redis]:
    """Return a client of the emptied server."""
    with server.client() as client:
        yield client


@pytest.fixture(autouse=True)
def clients_are_closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close what a test has connected: the program's own clients live as long as their process."""
    made: list[Redis] = []
    connect = connection._client

    def remembered(url: str, answer_seconds: float) -> Redis:
        made.append(connect(url, answer_seconds))
        return made[-1]

    monkeypatch.setattr(connection, "_client", remembered)
    yield
    for client in made:
        client.close()
