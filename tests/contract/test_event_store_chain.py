"""The chain finds what was altered, and where."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from domain.match.commands import JoinMatch
from events.runtime.connections import StoreClient
from events.store.chain import Verified, verify
from events.store.codec import draft_of
from events.store.contract import EMPTY, DamagedStreamError, EventStore, Head
from events.store.envelope import Draft
from events.store.redis import RedisStore
from tests.support.chains import verify_all
from tests.support.drafts import request
from tests.support.matches import PlayedMatch


def keep_match(store: EventStore, name: str, moves: tuple[str, ...] = ("c3-d4", "b6-a5")) -> Head:
    """Play the beginning of a match, append its events to the stream ``name`` and return the head."""
    match = PlayedMatch()
    match.do(JoinMatch(player="bob"))
    for number, move in enumerate(moves):
        match.move(("alice", "bob")[number % 2], move)
    head = EMPTY
    for number, event in enumerate(match.events):
        head = store.append(name, head, [draft_of(event, "alice")], request(number)).head
    return head


def rewrite(redis: Any, key: str, change: Callable[[int, Any], Any]) -> None:
    """Write the stream at ``key`` anew with ``change`` made to each entry, as a forger with access could."""
    entries = redis.xrange(key)
    redis.delete(key)
    for number, (entry_id, fields) in enumerate(entries, 1):
        redis.xadd(key, change(number, fields), entry_id)


def events_key(store: RedisStore, name: str) -> str:
    return f"rk:{{s{store.shard_of(name):02d}}}:m:{name}:e"


@pytest.fixture
def kept(redis: StoreClient) -> RedisStore:
    """Return a store with a match of five events in the stream m."""
    store = RedisStore(redis)
    keep_match(store, "m")
    return store


def test_a_sound_stream_is_verified_up_to_its_head(store: EventStore) -> None:
    head = keep_match(store, "m")
    assert verify(store, "m") == Verified("m", head, store.read("m")[-1].at)
    assert head.version == 5


def test_a_stream_that_does_not_exist_has_the_empty_head(store: EventStore) -> None:
    assert verify(store, "nothing") == Verified("nothing", EMPTY)


def test_all_sound_streams_are_verified_with_progress(store: EventStore) -> None:
    heads = {f"m{number}": keep_match(store, f"m{number}") for number in range(6)}
    seen: list[Verified | DamagedStreamError] = []
    assert verify_all(store, seen.append) == []
    assert {verdict.stream: verdict.head for verdict in seen if isinstance(verdict, Verified)} == heads


def test_any_flipped_byte_of_an_event_is_found_at_its_version(kept: RedisStore, redis: StoreClient) -> None:
    key = events_key(kept, "m")
    original: Any = redis.xrange(key)
    for place in range(len(original[3][1][b"b"])):

        def flip(number: int, fields: dict[bytes, bytes], place: int = place) -> dict[bytes, bytes]:
            if number != 4:
                return fields
            packed = bytearray(fields[b"b"])
            packed[place] ^= 1
            return fields | {b"b": bytes(packed)}

        rewrite(redis, key, flip)
        with pytest.raises(DamagedStreamError) as damage:
            verify(kept, "m")
        assert (damage.value.stream, damage.value.version) == ("m", 4)
        redis.delete(key)
        for entry_id, fields in original:
            redis.xadd(key, fields, entry_id)
    assert verify(kept, "m").head == kept.head("m")


def test_a_flipped_byte_of_a_digest_is_found(kept: RedisStore, redis: StoreClient) -> None:
    rewrite(redis, events_key(kept, "m"), lambda n, f: f | {b"h": f[b"h"][:-1] + b"?"} if n == 2 else f)
    with pytest.raises(DamagedStreamError, match="version 2: its content, its digest"):
        verify(kept, "m")


def test_events_that_changed_places_are_found(kept: RedisStore, redis: StoreClient) -> None:
    entries = [fields for _, fields in redis.xrange(events_key(kept, "m"))]
    rewrite(redis, events_key(kept, "m"), lambda n, f: {3: entries[3], 4: entries[2]}.get(n, f))
    with pytest.raises(DamagedStreamError, match="version 3"):
        verify(kept, "m")


def test_a_forged_event_with_a_fitting_digest_is_found_at_the_next(kept: RedisStore, redis: StoreClient) -> None:
    other = RedisStore(redis, prefix="forger:")
    keep_match(other, "m", ("c3-b4", "b6-a5"))
    forged = dict(enumerate((fields for _, fields in redis.xrange(f"forger:{events_key(other, 'm')[3:]}")), 1))
    rewrite(redis, events_key(kept, "m"), lambda n, f: forged[4] if n == 4 else f)
    with pytest.raises(DamagedStreamError, match="version 5"):
        verify(kept, "m")
    rewrite(redis, events_key(kept, "m"), lambda n, _: forged[n])
    with pytest.raises(DamagedStreamError, match="version 5: the head is not that of the last event"):
        verify(kept, "m")


def test_a_lost_event_is_found(kept: RedisStore, redis: StoreClient) -> None:
    redis.xdel(events_key(kept, "m"), "2-0")
    with pytest.raises(DamagedStreamError, match="version 2: the entry is missing"):
        verify(kept, "m")


def test_a_lost_end_is_found_by_the_head(kept: RedisStore, redis: StoreClient) -> None:
    redis.xdel(events_key(kept, "m"), "5-0")
    with pytest.raises(DamagedStreamError, match="version 5: the last event is missing"):
        verify(kept, "m")


def test_a_stream_that_is_gone_is_found_by_its_shard(kept: RedisStore, redis: StoreClient) -> None:
    redis.delete(events_key(kept, "m"), events_key(kept, "m")[:-1] + "h")
    (damage,) = verify_all(kept)
    assert (damage.stream, damage.version) == ("m", 1)
    assert "has no events" in damage.reason


def test_an_event_that_cannot_be_decoded_is_damage(store: EventStore) -> None:
    head = keep_match(store, "m")
    store.append("m", head, [Draft("match-paused", 1, 5, "alice", {})], request("later"))
    with pytest.raises(DamagedStreamError, match=r"version 6: it cannot be decoded .*no such type"):
        verify(store, "m")


def test_content_without_a_canonical_form_is_damage(kept: RedisStore, redis: StoreClient) -> None:
    def enlarge(number: int, fields: dict[bytes, bytes]) -> dict[bytes, bytes]:
        packed = json.loads(fields[b"b"])
        return (
            fields | {b"b": json.dumps([*packed[:4], packed[4] | {"ply": 2**60}]).encode()} if number == 4 else fields
        )

    rewrite(redis, events_key(kept, "m"), enlarge)
    with pytest.raises(DamagedStreamError, match="version 4: it has no canonical form"):
        verify(kept, "m")


def test_damage_in_one_stream_keeps_no_other_from_being_verified(kept: RedisStore, redis: StoreClient) -> None:
    for number in range(4):
        keep_match(kept, f"m{number}")
    for name in ("m", "m2"):
        redis.xdel(events_key(kept, name), "3-0")
    seen: list[Verified | DamagedStreamError] = []
    damaged = verify_all(kept, seen.append)
    assert sorted(damage.stream for damage in damaged) == ["m", "m2"]
    assert len(seen) == 5
