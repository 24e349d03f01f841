"""The laws of the work list on a cluster of three servers. The tests are those of one server."""

from collections.abc import Iterator

import pytest

from events.runtime.connections import StoreClient, connect
from tests.contract.test_work_list import *  # noqa: F403 - every law


@pytest.fixture
def redis(cluster_url: str) -> Iterator[StoreClient]:
    client = connect(cluster_url)
    yield client
    client.close()
