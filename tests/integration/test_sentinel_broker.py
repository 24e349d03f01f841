"""Tasks over a broker that sentinels watch."""

import pytest

from events.runtime.settings import next_database
from tests.support.broker_work import check_tasks_over
from tests.support.server import RealServer
from tests.support.stepped_installation import SteppedInstallation


def test_every_worker_does_its_tasks_over_a_broker_under_sentinel(
    server: RealServer, sentinel_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.relay.SWEEP_INTERVAL_S", 0.2)
    shop = SteppedInstallation(server.url)
    shop.parts.settings = settings = shop.settings._replace(broker_url=next_database(sentinel_url))
    check_tasks_over(shop, settings)
