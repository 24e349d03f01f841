"""What every event store promises."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from events.store.contract import (
    EMPTY,
    GENESIS,
    NO_CONDITIONAL_MOVES,
    Appended,
    EventStore,
    Head,
    Request,
    RequestMismatchError,
    StaleConditionalMovesError,
    StaleVersionError,
    VersionTag,
)
from events.store.envelope import Draft, canonical_bytes, chain_digest
from tests.support.drafts import draft, drafts, grown, request


def everything(store: EventStore) -> list[object]:
    shards = range(store.shards)
    names = [name for shard in shards for name in store.streams(shard)]
    return [
        [store.open(name, None) for name in names],
        [store.feed(shard) for shard in shards],
        store.due(10**15, 10**6),
    ]


def test_a_stream_that_nobody_wrote_is_empty(store: EventStore) -> None:
    assert store.head("m") == EMPTY
    assert store.read("m") == []
    assert store.open("m", None, request("key")) == ([], EMPTY, None, None, NO_CONDITIONAL_MOVES)


def test_what_was_appended_is_read_back_in_order(store: EventStore) -> None:
    first = store.append("m", EMPTY, [draft(1, move="a1")], request(1))
    second = store.append("m", first.head, [draft(2, move="ä → 😀"), draft(3, scores=(1.0, 0.5))], request(2))
    read = store.read("m")
    assert read == first.events + second.events
    assert [(event.version, event.at, event.actor) for event in read] == [
        (1, 1_700_000_000_001, "alice"),
        (2, 1_700_000_000_002, "alice"),
        (3, 1_700_000_000_003, "alice"),
    ]
    assert [event.data for event in read] == [{"move": "a1"}, {"move": "ä → 😀"}, {"scores": [1, 0.5]}]


def test_orders_are_kept_only_for_the_revision_and_the_version_that_they_were_made_for(store: EventStore) -> None:
    earlier, present = (appended.head for appended in grown(store, "m", [1, 1]))
    store.save_conditional_moves("m", 1, "one", 0, present)
    for revision, head in ((0, present), (1, earlier), (1, Head(2, earlier.digest)), (2, present)):
        with pytest.raises(StaleConditionalMovesError):
            store.save_conditional_moves("m", 1, "another", revision, head)
    assert store.open("m").conditional_moves == (1, {1: "one"})
    store.save_conditional_moves("m", 0, "zero", 1, present)
    store.save_conditional_moves("m", 1, None, 2, present)
    assert store.open("m").conditional_moves == (3, {0: "zero"})


def test_each_event_is_chained_to_the_one_before(store: EventStore) -> None:
    grown(store, "m", [1, 2])
    digest = GENESIS
    for number, event in enumerate(store.read("m"), 1):
        digest = chain_digest(digest, canonical_bytes(event.draft, "m", number))
        assert event.id == digest.hex()
    assert store.head("m") == Head(3, digest)


def test_reading_begins_after_a_version_and_ends_at_a_limit(store: EventStore) -> None:
    grown(store, "m", [5])
    assert [event.version for event in store.read("m", after=2)] == [3, 4, 5]
    assert [event.version for event in store.read("m", after=2, limit=2)] == [3, 4]
    assert store.read("m", after=5) == []
    assert store.read("m", after=9) == []


def test_events_are_read_on_from_one_that_is_known(store: EventStore) -> None:
    first, second, third = grown(store, "m", [1, 2, 2])
    assert store.read_on("m", EMPTY.tag) == store.read("m")
    assert store.read_on("m", first.head.tag, limit=1) == second.events[:1]
    assert store.read_on("m", second.head.tag) == third.events
    assert store.read_on("m", third.head.tag) == []


def test_events_are_not_read_on_from_one_of_another_history(store: EventStore) -> None:
    _, head = (appended.head for appended in grown(store, "m", [1, 1]))
    for known in (VersionTag(0, head.tag.digest), VersionTag(1, head.tag.digest), VersionTag(3, head.tag.digest)):
        with pytest.raises(StaleVersionError) as refusal:
            store.read_on("m", known)
        assert (refusal.value.expected, refusal.value.current) == (known, head.tag)


def test_opening_gives_later_events_the_head_and_what_is_remembered(store: EventStore) -> None:
    first, second = grown(store, "m", [2, 1])
    opened = store.open("m", 2, request("0+2"))
    assert opened.events == second.events
    assert opened.head == second.head
    assert opened.recorded_request == (1, 2)
    assert store.open("m", 3, request("unknown")) == ([], second.head, None, None, NO_CONDITIONAL_MOVES)
    assert store.open("m").events == first.events + second.events


def test_an_append_after_another_version_is_refused_with_the_current_one(store: EventStore) -> None:
    first, second = grown(store, "m", [1, 1])
    before = everything(store)
    for expected in (EMPTY, first.head, Head(3, second.head.digest)):
        with pytest.raises(StaleVersionError) as refusal:
            store.append("m", expected, drafts(1), request("late"))
        assert (refusal.value.expected, refusal.value.current) == (expected.tag, second.head.tag)
    assert everything(store) == before


def test_an_append_after_another_history_of_the_same_length_is_refused(store: EventStore) -> None:
    (first,) = grown(store, "m", [1])
    before = everything(store)
    with pytest.raises(StaleVersionError) as refusal:
        store.append("m", Head(1, bytes(range(32))), drafts(1), request("late"))
    assert refusal.value.current == first.head.tag
    assert everything(store) == before


def test_a_repeated_request_returns_the_first_answer_and_writes_nothing(store: EventStore) -> None:
    first = store.append("m", EMPTY, drafts(2), request("key"))
    before = everything(store)
    assert store.append("m", EMPTY, drafts(2), request("key")) == (first.events, first.head, True)
    assert everything(store) == before


def test_a_repeated_request_returns_the_first_answer_when_the_stream_has_moved_on(store: EventStore) -> None:
    first = store.append("m", EMPTY, drafts(2), request("key"))
    second = store.append("m", first.head, drafts(1), request("next"))
    assert store.append("m", second.head, [draft(77)], request("key")) == (first.events, first.head, True)
    assert store.head("m") == second.head


def test_a_request_key_with_another_content_is_refused(store: EventStore) -> None:
    first = store.append("m", EMPTY, drafts(1), Request("key", "one"))
    before = everything(store)
    with pytest.raises(RequestMismatchError, match="'key'"):
        store.append("m", first.head, drafts(1), Request("key", "other"))
    with pytest.raises(RequestMismatchError, match="'key'"):
        store.open("m", None, Request("key", "other"))
    assert everything(store) == before


def test_request_keys_of_two_streams_are_independent(store: EventStore) -> None:
    store.append("m", EMPTY, drafts(1), Request("key", "one"))
    assert not store.append("n", EMPTY, drafts(1), Request("key", "other")).repeated


def test_request_keys_cannot_be_taken_for_anything_else(store: EventStore) -> None:
    head = EMPTY
    for key in ("v", "d", "r", "1:2:3", "", "ä\n", "k" * 500):
        assert store.open("m", None, Request(key, "a:b")).recorded_request is None
        assert store.open("m", None).recorded_request is None
        head = store.append("m", head, drafts(1), Request(key, "a:b")).head
        assert store.open("m", None, Request(key, "a:b")).recorded_request == (head.version, head.version)


@pytest.mark.parametrize(
    "bad", [draft(1, move=float("nan")), draft(1, seed=2**60), draft(1, what=b"bytes"), draft(1, text="\ud800")]
)
def test_events_are_appended_all_or_none(store: EventStore, bad: Draft) -> None:
    before = everything(store)
    with pytest.raises((ValueError, TypeError)):
        store.append("m", EMPTY, [draft(1), bad], request(1))
    with pytest.raises(ValueError, match="nothing to append"):
        store.append("m", EMPTY, [], request(1))
    assert everything(store) == before


def test_the_feed_announces_every_event_of_a_shard_once_in_order(make_store: Callable[[int], EventStore]) -> None:
    store = make_store(1)
    for stream, sizes in (("m", [1, 2]), ("n", [3]), ("m", [1])):
        grown(store, stream, sizes)
    announced = [("m", 1), ("m", 2), ("m", 3), ("n", 1), ("n", 2), ("n", 3), ("m", 4)]
    assert store.feed(0) == [(number, *place) for number, place in enumerate(announced, 1)]
    assert store.feed(0, after=2, limit=2) == [(3, "m", 3), (4, "n", 1)]
    assert store.feed(0, after=7) == []


def test_each_shard_announces_its_own_streams(store: EventStore) -> None:
    names = [f"match-{number}" for number in range(40)]
    for name in names:
        grown(store, name, [1])
    for shard in range(store.shards):
        own = [name for name in names if store.shard_of(name) == shard]
        assert own
        assert list(store.streams(shard)) == own
        assert store.feed(shard) == [(number, name, 1) for number, name in enumerate(own, 1)]
    assert list(store.all_streams()) == sorted(names, key=store.shard_of)


def test_a_stream_belongs_to_the_same_shard_for_ever(make_store: Callable[[int], EventStore]) -> None:
    store = make_store(16)
    assert [store.shard_of(name) for name in ("a", "c", "match-2", "Zürich")] == [10, 2, 6, 5]


def test_streams_are_listed_once_in_the_order_of_their_first_events(make_store: Callable[[int], EventStore]) -> None:
    store = make_store(1)
    for name in ("c", "a", "b", "a"):
        grown(store, name, [1])
    assert list(store.streams(0)) == ["c", "a", "b"]


def test_a_deadline_is_replaced_or_removed_by_the_next_append(make_store: Callable[[int], EventStore]) -> None:
    store = make_store(1)
    head = store.append("m", EMPTY, drafts(1), request(1), deadline=500).head
    store.append("n", EMPTY, drafts(1), request(1), deadline=400)
    assert store.due(399) == []
    assert store.due(400) == [("n", 400)]
    assert store.due(900) == [("n", 400), ("m", 500)]
    assert store.due(900, limit=1) == [("n", 400)]
    head = store.append("m", head, drafts(1), request(2), deadline=300).head
    assert store.due(900) == [("m", 300), ("n", 400)]
    store.append("m", head, drafts(1), request(3))
    assert store.due(900) == [("n", 400)]


def test_a_repeated_request_leaves_the_deadline_alone(make_store: Callable[[int], EventStore]) -> None:
    store = make_store(1)
    store.append("m", EMPTY, drafts(1), request(1), deadline=500)
    store.append("m", EMPTY, drafts(1), request(1), deadline=900)
    assert store.due(1000) == [("m", 500)]


def test_a_snapshot_spares_the_events_before_it(store: EventStore) -> None:
    (appended,) = grown(store, "m", [3])
    store.save_snapshot("m", 2, {"position": "…", "moves": ["a", "b"], "score": 0.5})
    opened = store.open("m", None)
    assert opened.snapshot == {"position": "…", "moves": ["a", "b"], "score": 0.5}
    assert opened.events == appended.events[2:]
    assert store.open("m", 0) == (appended.events, appended.head, None, None, NO_CONDITIONAL_MOVES)


def test_a_newer_snapshot_is_not_replaced_by_an_older_one(store: EventStore) -> None:
    grown(store, "m", [3])
    store.save_snapshot("m", 2, {"at": 2})
    store.save_snapshot("m", 1, {"at": 1})
    assert store.open("m", None).snapshot == {"at": 2}
    store.save_snapshot("m", 3, {"at": 3})
    assert store.open("m", None).snapshot == {"at": 3}


def test_of_fifty_writers_on_one_version_exactly_one_wins(store: EventStore) -> None:
    head = grown(store, "m", [1])[-1].head
    barrier = Barrier(50)

    def write(number: int) -> int:
        barrier.wait()
        try:
            store.append("m", head, drafts(2), request(f"writer {number}"))
        except StaleVersionError as refusal:
            return refusal.current.version
        return 0

    with ThreadPoolExecutor(50) as pool:
        assert sorted(pool.map(write, range(50))) == [0] + [3] * 49
    assert [event.version for event in store.read("m")] == [1, 2, 3]


def test_of_twenty_senders_of_one_request_all_get_the_same_answer(store: EventStore) -> None:
    barrier = Barrier(20)

    def write(_: int) -> Appended:
        barrier.wait()
        return store.append("m", EMPTY, drafts(2), request("same"))

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(write, range(20)))
    assert [answer[:2] for answer in answers] == [answers[0][:2]] * 20
    assert sum(not answer[2] for answer in answers) == 1


def test_writers_that_try_again_fill_a_stream_without_gaps_or_doubles(store: EventStore) -> None:
    def write(number: int) -> None:
        while True:
            try:
                store.append("m", store.head("m"), [draft(1, writer=number)], request(number))
            except StaleVersionError:
                continue
            return

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(40)))
    events = store.read("m")
    assert [event.version for event in events] == list(range(1, 41))
    assert sorted(event.data["writer"] for event in events) == list(range(40))
    assert [(entry.stream, entry.version) for entry in store.feed(store.shard_of("m"))] == [
        ("m", version) for version in range(1, 41)
    ]
