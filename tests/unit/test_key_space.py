"""The key space of Redis: stored keys stay as they are."""

import re
from collections.abc import Iterator
from inspect import signature

from events.runtime import keys, notice_keys
from tests.support.tables import table

KEYS: list[str] = table(__file__, "keys")


NO_KEYS = ("shard_of", "patterns", "of", "rating_keys", "parse_model", "parse_entry")
"""The methods of the key space that return no key."""


def every_key() -> set[str]:
    """Return each key of the key space, with the names of its arguments in capitals and 7 for every number."""
    kinds = [kind for module in (keys, notice_keys) for name, kind in vars(module).items() if name.endswith("Keys")]
    return {key for kind in kinds for key in _keys_of(kind)}


def _keys_of(kind: type) -> Iterator[str]:
    arguments = list(map(_argument, list(signature(kind).parameters)[1:]))
    places = kind("rk:", *(("n07", "outbox") if kind is keys.WorkListKeys else arguments))
    for name, key in vars(places).items():
        if not name.startswith("_") and name not in ("prefix", "base") and (isinstance(key, str) or callable(key)):
            yield key if isinstance(key, str) else key("ID")
    for name, method in vars(kind).items():
        if not name.startswith("_") and name not in ("shard_of", "patterns", "of", "rating_keys", "parse_entry"):
            yield method(places, *map(_argument, list(signature(method).parameters)[1:]))


def _argument(name: str) -> str | int:
    return 7 if name in ("shard", "shards", "generation", "day", "level", "block") else name.upper()


def test_stored_keys_stay_as_they_are() -> None:
    assert sorted(every_key()) == sorted(KEYS)


def test_the_first_generation_of_read_models_has_the_keys_from_before_there_were_generations() -> None:
    places = keys.ReadModelKeys("rk:", 7)
    assert places.summary("m", 0) == f"rk:{{s{places.shard_of('m'):02d}}}:rm:m:m"
    assert places.listed(3, "open", 0) == "rk:{s03}:rm:l:open"


def test_the_first_generation_of_ratings_has_the_keys_from_before_there_were_generations() -> None:
    ratings = keys.RatingKeys("rk:", 0)
    assert ratings.rated == "rk:{ratings}:matches"
    assert ratings.pools == "rk:{ratings}:pools"
    assert ratings.timeline("bashni-2", "p") == "rk:{ratings}:bashni-2:player:p"
    assert ratings.day("bashni-2", 3) == "rk:{ratings}:bashni-2:day:3"
    assert ratings.leaderboard("bashni-2") == "rk:{ratings}:bashni-2:leaderboard"


def test_a_key_begins_with_the_prefix_and_has_one_hash_tag_at_most() -> None:
    assert [key for key in every_key() if not re.fullmatch(r"rk:[^{}]*(\{[^{}]+\})?[^{}]*", key)] == []


def test_a_stream_belongs_to_the_same_shard_on_every_machine() -> None:
    assert [keys.shard_of(name, 16) for name in ("m", "m1", "abcdefghij")] == [1, 1, 4]
