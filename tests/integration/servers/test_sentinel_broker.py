"""Tasks over a broker that sentinels watch."""

from functools import partial

import pytest

from events.runtime.settings import next_database
from tests.support.broker_work import check_tasks_over
from tests.support.pauses import check_messages
from tests.support.server import RealServer
from tests.support.stepped_installation import SteppedInstallation
from tests.support.watched_servers import Watched


def test_workers_work_over_sentinels(server: RealServer, sentinel_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workers.relay.SWEEP_INTERVAL_S", 0.2)
    shop = SteppedInstallation(server.url)
    shop.parts.settings = settings = shop.settings._replace(broker_url=next_database(sentinel_url))
    check_tasks_over(shop, settings)


def test_late_replies_of_a_broker_that_hung_answer_no_other_command(server: RealServer, watched: Watched) -> None:
    settings = SteppedInstallation(server.url).settings._replace(broker_url=next_database(watched.url))
    primary = watched.primary()
    with watched.patient_sentinels():
        check_messages(settings, partial(watched.pause, primary), partial(watched.resume, primary))
