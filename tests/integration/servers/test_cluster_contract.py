"""What every event store promises, and what a person leaves in a whole life, on a cluster of three servers.

The tests are those of one server: only the store is another one.
"""

from collections.abc import Callable

import pytest

from events.runtime.connections import connect
from events.store.contract import EventStore
from events.store.redis import RedisStore
from tests.contract.test_event_store import *  # noqa: F403 - every promise
from tests.integration.test_a_whole_life import (  # noqa: F401 - run here
    Life,
    test_after_an_erasure_the_store_knows_an_opaque_id_and_no_name_zone_or_word,
    test_whatever_is_kept_about_a_person_is_in_the_archive,
)


@pytest.fixture
def make_store(cluster_url: str) -> Callable[[int], EventStore]:
    """Return a function that makes a store on the emptied cluster with a number of shards."""
    return lambda shards: RedisStore(connect(cluster_url), shards=shards)


@pytest.fixture
def store(make_store: Callable[[int], EventStore]) -> EventStore:
    return make_store(4)


@pytest.fixture
def life(cluster_url: str) -> Life:
    return Life(cluster_url)
