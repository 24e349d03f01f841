"""What people are told, and mail from them, on a cluster: the tests of one server, on another store."""

import pytest

from events.runtime.connections import StoreClient, connect
from tests.integration.test_endpoints import *  # noqa: F403
from tests.integration.test_ledger import *  # noqa: F403
from tests.integration.test_mail_inbox import *  # noqa: F403
from tests.integration.test_notice_delivery import (  # noqa: F401 - run here
    test_faults_lose_nothing,
    test_what_cannot_be_sent_is_tried_again_and_given_up_after_days,
)
from tests.support.post_office import PostOffice


@pytest.fixture
def redis(cluster_url: str) -> StoreClient:
    return connect(cluster_url)


@pytest.fixture
def office(cluster_url: str) -> PostOffice:
    office = PostOffice(cluster_url)
    office.enrol("alice", "bob")
    return office
