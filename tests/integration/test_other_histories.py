"""While a failover goes on: events read from one server, read models and acknowledgements written to another."""

import pytest

from domain.match.commands import SubmitMove
from domain.match.state import Seat
from events.readmodels.projector import EventSummaries, Failures, Projector
from events.readmodels.summary import Projected
from events.runtime.connections import StorePipeline
from events.runtime.errors import WriteContentionError
from events.store.contract import Head
from tests.support.stepped_installation import SteppedInstallation


def across(read: SteppedInstallation, written: SteppedInstallation) -> Projector:
    """Return a projector that reads events from one server and writes read models to another."""
    return Projector(written.client, written.keys, EventSummaries(read.store))


def test_no_summary_of_a_match_elsewhere_is_written(shop: SteppedInstallation, other: SteppedInstallation) -> None:
    match = shop.start("alice", "bob")
    committed: list[Failures] = []

    def on_commit(_: StorePipeline, failures: Failures) -> None:
        committed.append(failures)

    with pytest.raises(WriteContentionError):
        across(shop, other).project([match], on_commit=on_commit)
    assert (other.dump(), committed) == ({}, []), "neither written nor acknowledged"
    across(shop, shop).project([match], on_commit=on_commit)
    assert shop.readmodels.summary(match)
    assert committed == [{}]


def test_a_match_that_differs_elsewhere_is_unwritten(shop: SteppedInstallation, other: SteppedInstallation) -> None:
    match = shop.start("alice", "bob")
    assert other.start("alice", "bob") == match
    across(shop, other).project([match])
    before = other.dump()
    assert before, "as long as both have the same events it does not matter where they are read"
    shop.do(match, SubmitMove(player="alice", move="c3-d4"))
    other.do(match, SubmitMove(player="alice", move="g3-h4"))
    for read, written in ((shop, other), (other, shop)):
        with pytest.raises(WriteContentionError):
            across(read, written).project([match])
    assert other.dump() == before


def test_a_summary_is_not_deleted_from_elsewhere(shop: SteppedInstallation, other: SteppedInstallation) -> None:
    match = shop.start("alice", "bob")
    shop.project_all()
    with pytest.raises(WriteContentionError):
        across(other, shop).project([match])
    assert shop.readmodels.summary(match)


def test_a_match_that_has_gone_on_while_it_was_read_is_read_again(shop: SteppedInstallation) -> None:
    match = shop.start("alice", "bob")
    reads: list[str] = []

    class GoingOn(EventSummaries):
        """Reads a match and lets it go on before it is written, once."""

        def read(self, match_id: str, version: int, head: Head | None) -> Projected | None:
            if not reads:
                shop.do(match, SubmitMove(player="alice", move="c3-d4"))
            reads.append(match_id)
            return super().read(match_id, version, head)

    Projector(shop.client, shop.keys, GoingOn(shop.store)).project([match])
    summary = shop.readmodels.summary(match)
    assert summary is not None
    assert (summary.version, reads) == (shop.store.head(match).version, [match, match])


def test_an_entry_that_differs_elsewhere_is_kept(shop: SteppedInstallation, other: SteppedInstallation) -> None:
    for each in (shop, other):
        each.start("alice", "bob", match="m")
    shop.do("m", SubmitMove(player="alice", move="c3-d4"))
    other.create(Seat.taken("alice"), Seat.open(), match="n")
    assert other.store.shard_of("m") == other.store.shard_of("n")
    given, held = shop.group("opponents").read(), other.group("opponents")
    assert [entry.entry_id for entry in held.read()] == [entry.entry_id for entry in given]
    with other.client.pipeline(transaction=False) as pipeline:
        held.acknowledge(pipeline, given)
        pipeline.execute()
    assert [(entry.stream, entry.version) for entry in held.claim(0)] == [("n", 1)]
