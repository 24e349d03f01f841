"""The store judged from outside: the recorder suite that ships with the ``eventsourcing`` library."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from eventsourcing.persistence import IntegrityError, StoredEvent, Tracking
from eventsourcing.tests import persistence as suite

from tests.support.recorder import (
    SingleShardStore,
    StoreAggregateRecorder,
    StoreApplicationRecorder,
    StoreProcessRecorder,
)
from tests.support.server import RealServer


class OnRealServer:
    """Gives every test of the suite an empty store with one shard."""

    store: SingleShardStore

    @pytest.fixture(autouse=True)
    def _on_real_server(self, server: RealServer) -> Iterator[None]:
        with server.client() as client:
            self.store = SingleShardStore(client, shards=1)
            yield


class TestAggregateRecorder(OnRealServer, suite.AggregateRecorderTestCase):
    def create_recorder(self) -> StoreAggregateRecorder:
        return StoreAggregateRecorder(self.store)


class TestApplicationRecorder(OnRealServer, suite.ApplicationRecorderTestCase[StoreApplicationRecorder]):
    def create_recorder(self) -> StoreApplicationRecorder:
        return StoreApplicationRecorder(self.store)

    def test_insert_subscribe(self) -> None:
        self.optional_test_insert_subscribe()


class TestTrackingRecorder(OnRealServer, suite.TrackingRecorderTestCase):
    def create_recorder(self) -> StoreProcessRecorder:
        return StoreProcessRecorder(self.store)


class TestProcessRecorder(OnRealServer, suite.ProcessRecorderTestCase):
    def create_recorder(self) -> StoreProcessRecorder:
        return StoreProcessRecorder(self.store)


class TestNonInterleavingNotificationIDs(OnRealServer, suite.NonInterleavingNotificationIDsBaseCase):
    def create_recorder(self) -> StoreApplicationRecorder:
        return StoreApplicationRecorder(self.store)


def test_several_aggregates_and_a_tracking_record_are_written_all_or_none(server: RealServer) -> None:
    with server.client() as client:
        recorder = StoreProcessRecorder(SingleShardStore(client, shards=1))
        one, other = uuid4(), uuid4()
        first = [StoredEvent(one, 1, "t", b"\x00\xff"), StoredEvent(other, 1, "t", b"")]
        assert recorder.insert_events(first, tracking=Tracking("upstream", 1)) == [1, 2]
        later = [StoredEvent(one, 2, "t", b""), StoredEvent(other, 1, "t", b"")]
        with pytest.raises(IntegrityError):
            recorder.insert_events(later, tracking=Tracking("upstream", 2))
        with pytest.raises(IntegrityError):
            recorder.insert_events([StoredEvent(one, 2, "t", b"")], tracking=Tracking("upstream", 1))
        assert recorder.select_events(one) == first[:1]
        assert (recorder.max_tracking_id("upstream"), recorder.max_notification_id()) == (1, 2)
