"""The key space of Redis: stored keys stay as they are."""

import re
from collections.abc import Iterator
from inspect import signature

from events.runtime import keys, notice_keys

KEYS = """
rk:chat:{MATCH_ID}
rk:chat:{MATCH_ID}:DIGEST
rk:chat:{MATCH_ID}:hidden
rk:chat:{MATCH_ID}:open
rk:chat:{MATCH_ID}:reports
rk:chats
rk:chats-of:AUTHOR
rk:limits
rk:made:{SUBJECT}:KIND:BASIS
rk:postmaster
rk:relays
rk:reported-chats
rk:reports-of:REPORTER
rk:rookery
rk:ticket:DIGEST
rk:unacked
rk:unacked-index
rk:unacked-mutex
rk:{administration}:head
rk:{administration}:log
rk:{administration}:once
rk:{administration}:roles
rk:{archive}:dictionaries
rk:{archive}:packs
rk:{archive}:tables
rk:{archive}:unused
rk:{cases}:MATCH_ID
rk:{cases}:by:AUTHOR
rk:{cases}:unconfirmed
rk:{fleet}:job:JOB
rk:{fleet}:jobs
rk:{fleet}:results:JOB
rk:{fleet}:running
rk:{fleet}:slices:JOB
rk:{fleet}:workers
rk:{incidents}:all
rk:{incidents}:match:MATCH_ID
rk:{n07}:decided:PLAYER
rk:{n07}:dropped:PLAYER
rk:{n07}:feeds:PLAYER
rk:{n07}:finished:PLAYER
rk:{n07}:ledger:PLAYER
rk:{n07}:mail-contents:PLAYER
rk:{n07}:mail-holders:DIGEST
rk:{n07}:mail-order:PLAYER
rk:{n07}:mail-refusals:PLAYER:MATCH_ID
rk:{n07}:mail:PLAYER
rk:{n07}:mails:PLAYER
rk:{n07}:notice:PLAYER:NOTICE
rk:{n07}:outbox:LANE:charge
rk:{n07}:outbox:LANE:charges
rk:{n07}:outbox:LANE:due
rk:{n07}:outbox:LANE:of:OWNER
rk:{n07}:outbox:LANE:owners
rk:{n07}:outbox:entry:ID
rk:{n07}:outbox:lanes
rk:{n07}:outcomes
rk:{n07}:preferences:PLAYER
rk:{n07}:presence:PLAYER
rk:{n07}:push:PLAYER
rk:{n07}:webhook-log:PLAYER:ENDPOINT
rk:{n07}:webhooks:PLAYER
rk:{people}:acts:
rk:{people}:acts:PERSON
rk:{people}:attempts:DIGEST:count
rk:{people}:attempts:DIGEST:wait
rk:{people}:blocks:PERSON
rk:{people}:bot-places:BOT
rk:{people}:bots
rk:{people}:bytes-kept:PERSON
rk:{people}:diary:
rk:{people}:diary:PLAYER
rk:{people}:erased
rk:{people}:explorations:PERSON
rk:{people}:lines:PERSON
rk:{people}:look:SKELETON
rk:{people}:name:name
rk:{people}:notes:PERSON
rk:{people}:person:
rk:{people}:person:PERSON
rk:{people}:player-key-nonce:PERSON
rk:{people}:player-keys:PERSON
rk:{people}:rewrite
rk:{people}:session:DIGEST
rk:{people}:signed-in:PERSON
rk:{people}:suspended:
rk:{people}:suspended:PERSON
rk:{people}:token:DIGEST
rk:{people}:tokens:PERSON
rk:{proof}:key-horizon
rk:{proof}:log:checkpoints
rk:{proof}:log:hour
rk:{proof}:log:latest
rk:{proof}:log:leaves
rk:{proof}:log:logged
rk:{proof}:log:nodes
rk:{proof}:log:nodes:7:7
rk:{proof}:log:note
rk:{proof}:log:origin
rk:{proof}:log:others
rk:{proof}:log:size
rk:{proof}:log:tiles
rk:{proof}:log:timestamps
rk:{proof}:private-key
rk:{proof}:public-keys
rk:{proof}:witnesses
rk:{push}:private-key
rk:{ratings}:
rk:{ratings}:7:
rk:{ratings}:7:POOL:day:7
rk:{ratings}:7:POOL:leaderboard
rk:{ratings}:7:POOL:player:PLAYER
rk:{ratings}:7:POOL:ranked
rk:{ratings}:7:matches
rk:{ratings}:7:pools
rk:{ratings}:7:revision
rk:{ratings}:7:unsettled
rk:{ratings}:generation
rk:{ratings}:late:7
rk:{s02}:rm:7:m:MATCH_ID
rk:{s07}:archive-round
rk:{s07}:archived-streams
rk:{s07}:archived:7
rk:{s07}:deadlines
rk:{s07}:feed
rk:{s07}:m:MATCH_ID:e
rk:{s07}:m:MATCH_ID:h
rk:{s07}:m:MATCH_ID:o
rk:{s07}:m:MATCH_ID:s
rk:{s07}:parked
rk:{s07}:read-models
rk:{s07}:rm:
rk:{s07}:rm:7:
rk:{s07}:rm:7:l:NAME
rk:{s07}:sequence
rk:{s07}:streams
rk:{time}:flag-lateness
rk:{time}:heartbeat
rk:{time}:offsets
rk:{time}:outages
rk:{time}:provisional
rk:{time}:uncredited
"""


NO_KEYS = ("shard_of", "patterns", "of", "rating_keys", "parse_model", "parse_entry")
"""The methods of the key space that return no key."""


def every_key() -> set[str]:
    """Return each key of the key space, with the names of its arguments in capitals and 7 for every number."""
    kinds = (*vars(keys).values(), *vars(notice_keys).values())
    return {key for kind in kinds if isinstance(kind, type) for key in _keys_of(kind)}


def _keys_of(kind: type) -> Iterator[str]:
    arguments = list(map(_argument, list(signature(kind).parameters)[1:]))
    places = kind("rk:", *(("n07", "outbox") if kind is keys.WorkListKeys else arguments))
    for name, key in vars(places).items():
        if isinstance(key, str) and not name.startswith("_") and name not in ("prefix", "base"):
            yield key
    for name, method in vars(kind).items():
        if not name.startswith("_") and name not in ("shard_of", "patterns", "of", "rating_keys", "parse_entry"):
            yield method(places, *map(_argument, list(signature(method).parameters)[1:]))


def _argument(name: str) -> str | int:
    return 7 if name in ("shard", "shards", "generation", "day", "level", "block") else name.upper()


def test_stored_keys_stay_as_they_are() -> None:
    assert sorted(every_key()) == sorted(KEYS.split())


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
