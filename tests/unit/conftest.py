"""What unit tests of several files ask for."""

from collections.abc import Iterator

import pytest

from tests.support.matches import T0
from tests.support.timekept import MemoryInstallation


@pytest.fixture
def installation() -> Iterator[MemoryInstallation]:
    """Return an installation whose heart has begun to beat."""
    installation = MemoryInstallation()
    installation.heartbeat.beat(T0, 0)
    yield installation
    installation.timekeeper.follow_changes(installation.now)
    assert installation.availability.pending() == []
    for match in installation.names:
        # Whatever a test did: what was settled once is settled.
        installation.settle(match)
        assert installation.settle(match) == []
