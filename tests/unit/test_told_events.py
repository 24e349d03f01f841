"""What a process remembers of events, and which of them it concludes to be lost."""

import pytest

from events.store.contract import GENESIS, Head
from events.store.envelope import Draft, Envelope, seal
from events.store.told import MAX_TOLD_PER_STREAM, Claim, ToldEvents, lost_of


def events(count: int, word: str = "first") -> list[Envelope]:
    """Return ``count`` events of the match m; another ``word`` makes another history."""
    drafts = [Draft("noted", 1, at, "alice", {"word": word}) for at in range(count)]
    return [sealed.envelope for sealed in seal(drafts, "m", 0, GENESIS)]


def head(history: list[Envelope]) -> Head:
    """Return the head of a stream that consists of ``history``."""
    return Head(history[-1].version, history[-1].digest)


FIRST, SECOND = events(6), events(6, "second")


def test_a_stream_that_has_what_was_told_and_more_contradicts_nothing() -> None:
    told = ToldEvents()
    assert told.note("m", FIRST[:4], request="r")
    assert told.note("m", [], head(FIRST[:4]))
    assert told.note("m", FIRST[2:], head(FIRST))
    assert told.note("another", [], Head(0, GENESIS))


@pytest.mark.parametrize(
    ("read", "at"),
    [((), head(FIRST[:3])), ((), head(SECOND[:4])), (SECOND[3:5], head(SECOND[:5])), (SECOND[3:5], None)],
)
def test_an_earlier_end_and_another_event_contradict_what_was_told(read: list[Envelope], at: Head | None) -> None:
    told = ToldEvents()
    told.note("m", FIRST[:4])
    assert not told.note("m", read, at)
    assert told.claims("m") == claims(*FIRST[:4], request="")


def test_another_event_of_a_version_is_told_only_when_the_first_one_is_forgotten() -> None:
    told = ToldEvents()
    told.note("m", FIRST[:2], request="r")
    assert not told.note("m", SECOND[:2])
    assert told.last("m") == (2, Claim(FIRST[1].id[:16], "r"))
    told.forget("m", [1, 2])
    assert (told.last("m"), told.streams()) == (None, [])
    assert told.note("m", [], head(SECOND[:2]))
    assert told.claims("m") == {2: Claim(SECOND[1].id[:16])}


def test_the_streams_used_last_and_their_last_events_are_remembered() -> None:
    told = ToldEvents(max_events=10)
    for name in ("a", "b", "a", "c"):
        told.note(name, FIRST[:4])
    assert told.streams() == ["a", "c"]
    long = ToldEvents()
    for event in events(MAX_TOLD_PER_STREAM + 1):
        long.note("m", [event])
    assert len(long.claims("m")) <= MAX_TOLD_PER_STREAM
    assert long.last("m") is not None
    assert max(long.claims("m")) == MAX_TOLD_PER_STREAM + 1


def claims(*history: Envelope, request: str = "r{}") -> dict[int, Claim]:
    """Return the claims that events were told, each written by a request of its own."""
    return {event.version: Claim(event.id[:16], request.format(event.version)) for event in history}


def digests(*history: Envelope) -> dict[int, str]:
    """Return the digests of events by version."""
    return {event.version: event.id[:16] for event in history}


def test_nothing_is_lost_while_every_event_that_was_told_is_there() -> None:
    assert lost_of("m", claims(*FIRST[:4]), head(FIRST), digests(*FIRST[:4])) == []


def test_an_event_of_which_only_the_version_is_known_is_there_when_any_is() -> None:
    assert lost_of("m", {1: Claim("")}, head(FIRST), digests(FIRST[0])) == []
    assert [event.version for event in lost_of("m", {1: Claim("")}, Head(0, bytes(32)), {})] == [1]


def test_events_after_the_end_of_a_stream_are_lost() -> None:
    lost = lost_of("m", claims(*FIRST[1:5]), head(FIRST[:3]), digests(*FIRST[1:3]))
    assert [(event.version, event.request) for event in lost] == [(4, "r4"), (5, "r5")]


def test_events_in_whose_place_there_are_others_are_lost_with_all_that_follow() -> None:
    lost = lost_of("m", claims(FIRST[1], FIRST[3], FIRST[5]), head(SECOND), digests(FIRST[1], SECOND[3], SECOND[5]))
    assert [(event.version, event.digest) for event in lost] == [
        (4, FIRST[3].id[:16]),
        (5, ""),
        (6, FIRST[5].id[:16]),
    ]


def test_events_that_were_not_told_one_by_one_are_lost_where_the_stream_ends_before_them() -> None:
    lost = lost_of("m", claims(FIRST[5]), head(FIRST[:3]), {})
    assert [event.version for event in lost] == [4, 5, 6]
