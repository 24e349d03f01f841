"""The implementations that the contract suites run against."""

from collections.abc import Callable

import pytest

from events.store.contract import EventStore
from events.store.redis import RedisStore
from tests.support.memory_store import MemoryStore
from tests.support.server import RealServer


@pytest.fixture(params=["memory", "redis"])
def make_store(request: pytest.FixtureRequest) -> Callable[[int], EventStore]:
    """Return a function that makes an empty store of each kind with a number of shards."""
    if request.param == "memory":
        return MemoryStore
    server: RealServer = request.getfixturevalue("server")
    return lambda shards: RedisStore(server.client(), shards=shards)


@pytest.fixture
def store(make_store: Callable[[int], EventStore]) -> EventStore:
    """Return an empty store of each kind with four shards."""
    return make_store(4)
