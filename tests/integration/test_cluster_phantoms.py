"""Read models that no events back, on a cluster: the tests of one server, on another store."""

import pytest

from tests.integration.test_phantoms import (  # noqa: F401 - run here
    test_members_of_lists_that_no_summary_backs_are_removed,
)
from tests.support.stepped_installation import SteppedInstallation


@pytest.fixture
def shop(cluster_url: str) -> SteppedInstallation:
    """Return an installation on the emptied cluster."""
    return SteppedInstallation(cluster_url)
