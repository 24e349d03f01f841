"""A cluster, a primary under sentinels and a whole installation, one of each per test process."""

from collections.abc import Iterator

import pytest

from deploy.local.installation import LocalInstallation
from tests.support.three_masters import ThreeMasters
from tests.support.watched_servers import Watched


@pytest.fixture(scope="session")
def shared_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ThreeMasters]:
    """Return the cluster of this test process; tests in files named test_cluster... start no second one."""
    with ThreeMasters(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture
def cluster(shared_cluster: ThreeMasters) -> ThreeMasters:
    """Return the cluster of this test process, complete and emptied."""
    shared_cluster.empty()
    return shared_cluster


@pytest.fixture
def cluster_url(cluster: ThreeMasters) -> str:
    return cluster.url


@pytest.fixture(scope="session")
def shared_watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """Return the primary under sentinels of this test process; files named test_sentinel... start no second one."""
    with Watched(tmp_path_factory.mktemp("watched")) as watched:
        yield watched


@pytest.fixture
def watched(shared_watched: Watched) -> Watched:
    """Return the primary with its replicas and sentinels, complete and emptied."""
    shared_watched.empty()
    return shared_watched


@pytest.fixture
def sentinel_url(watched: Watched) -> str:
    return watched.url


@pytest.fixture(scope="session")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalInstallation]:
    """Return a running installation; the files that ask for it go to one worker (``tests.conftest.TOGETHER``)."""
    with LocalInstallation(tmp_path_factory.mktemp("installation")) as installation:
        yield installation
