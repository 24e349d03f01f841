"""Instants and version tags as callers write them, and nothing that only looks like them."""

import pytest

from api.http.schemas import read_instant
from api.live.stream_hub import WAKE, Batch, StreamMessage
from events.store.contract import EMPTY, Head, VersionTag
from tests.support.tables import table


@pytest.mark.parametrize(("text", "instant"), table(__file__, "an instant is read to the millisecond"))
def test_an_instant_is_read_to_the_millisecond(text: str, instant: int) -> None:
    assert read_instant(text) == instant


@pytest.mark.parametrize("text", table(__file__, "what is no instant is none"))
def test_what_is_no_instant_is_none(text: str) -> None:
    assert read_instant(text) is None


def tag(version: int, history: int = 0) -> VersionTag:
    return Head(version, bytes([version, history] * 16)).tag


def batch(after: VersionTag, *tags: VersionTag) -> Batch:
    """Return the events that follow ``after``, as they are handed to watchers."""
    return Batch(after, [StreamMessage(each, str(each)) for each in tags])


def test_a_tag_is_read_as_it_was_written() -> None:
    written = str(Head(6, bytes(range(32))).tag)
    assert written == "6-0001020304050607"
    assert VersionTag.parse(written) == Head(6, bytes(range(32))).tag
    assert VersionTag.parse(str(EMPTY.tag)) == EMPTY.tag


@pytest.mark.parametrize(
    "text", ["", "6", "6-", "-0001020304050607", "6-000102030405060", "6-00010203040506070", "6-000102030405060A"]
)
def test_what_is_no_tag_is_not_read(text: str) -> None:
    assert VersionTag.parse(text) is None


def test_a_batch_is_told_to_who_has_seen_the_event_before_it() -> None:
    events = batch(tag(3), tag(4), tag(5))
    assert events.following(tag(3)) == events.messages


def test_who_has_seen_some_of_a_batch_is_told_the_rest_without_asking_the_store() -> None:
    events = batch(tag(3), tag(4), tag(5))
    assert events.following(tag(4)) == events.messages[1:]
    assert events.following(tag(5)) == []


@pytest.mark.parametrize("seen", [tag(2), tag(6), tag(3, history=1), tag(4, history=1)])
def test_only_the_store_knows_what_follows_an_event_that_a_batch_does_not_continue(seen: VersionTag) -> None:
    assert batch(tag(3), tag(4), tag(5)).following(seen) is None


def test_a_waking_batch_sends_everybody_to_the_store() -> None:
    assert WAKE.following(tag(3)) is None
