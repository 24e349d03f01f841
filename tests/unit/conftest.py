"""What unit tests of several files ask for."""

from collections.abc import Iterator

import pytest

from tests.support.matches import T0
from tests.support.timekept import House


@pytest.fixture
def house() -> Iterator[House]:
    """Return a house whose heart has begun to beat."""
    house = House()
    house.heartbeat.beat(T0, 0)
    yield house
    for mark in house.availability.pending():
        house.timekeeper.follow(mark, house.now)
    assert house.availability.pending() == []
    for match in house.names:
        # Whatever a test did: what was settled once is settled.
        house.settle(match)
        assert house.settle(match) == []
