"""Bots: accounts that a program plays for, their declared capacity, and the places that new matches take."""

import json
from collections.abc import Callable, Collection, Iterable
from enum import IntEnum
from typing import Any, NamedTuple

from events.people.capacity import Capacity
from events.people.person import Person, UnknownPersonError
from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.keys import PeopleKeys
from events.runtime.transactions import transact
from events.store.converter import read_value, write_value

MAX_PLACE_AGE_MS = 10 * 60 * 1000
"""For how long a new match counts before the read models have it: a relay that is behind by more lets a bot exceed."""


class BotPlace(IntEnum):
    """The outcome of a match that asked for a place of a bot."""

    REFUSED = 0
    HELD_BEFORE = 1
    TAKEN = 2


class Bot(NamedTuple):
    """An account that a program plays for, and its capacity."""

    id: str
    name: str
    capacity: Capacity
    suspended: bool


class Bots:
    """The bots of one installation."""

    def __init__(self, client: StoreClient, prefix: str, now: Callable[[], int]) -> None:
        self._client = client
        self._keys = PeopleKeys(prefix)
        self._now = now

    def declare(self, person: Person, capacity: Capacity) -> Person:
        """Return ``person`` as a bot with this capacity. Raises UnknownPersonError for a guest and when it is gone."""
        stored = json.dumps(write_value(capacity), separators=(",", ":"))
        return self._become(person._replace(kind="bot"), stored)

    def retire(self, person: Person) -> Person:
        """Return ``person`` as an ordinary account without a capacity. Raises UnknownPersonError when it is gone."""
        return self._become(person._replace(kind="person"), None)

    def _become(self, person: Person, capacity: str | None) -> Person:
        account = self._keys.account(person.id)

        def change(pipeline: StorePipeline) -> None:
            kind, erasing = pipeline.hmget(account, "kind", "erasing")
            if kind in (None, b"guest") or erasing:
                raise UnknownPersonError(person.id)
            pipeline.multi()
            pipeline.hset(account, "kind", person.kind)
            if capacity is None:
                pipeline.hdel(account, "capacity")
                pipeline.zrem(self._keys.bots, person.id)
            else:
                pipeline.hset(account, "capacity", capacity)
                pipeline.zadd(self._keys.bots, {person.id: 0})

        transact(self._client, [account], change)
        return person

    def among(self, ids: Iterable[str]) -> dict[str, Bot]:
        """Return the bots among the accounts ``ids``, in one round trip."""
        wanted = list(dict.fromkeys(ids))
        if not wanted:
            return {}
        with self._client.pipeline(transaction=False) as pipeline:
            for id in wanted:
                pipeline.hmget(self._keys.account(id), "name", "capacity")
                pipeline.exists(self._keys.suspension(id))
            replies = pipeline.execute()
        return {
            id: Bot(id, name.decode(), read_value(Capacity, json.loads(stored)), bool(suspended))
            for id, (name, stored), suspended in zip(wanted, replies[::2], replies[1::2], strict=True)
            if stored
        }

    def listed(self, after: str, limit: int) -> list[str]:
        """Return up to ``limit`` ids of bots in ASCII order, those that follow the id ``after``."""
        names: Any = self._client.zrangebylex(self._keys.bots, f"({after}" if after else "-", "+", 0, limit)
        return [id.decode() for id in names]

    def places(self, bot: str) -> list[str]:
        """Return the new matches that have taken a place of ``bot`` and may not be in the read models yet."""
        match_ids: Any = self._client.zrange(self._keys.bot_places(bot), 0, -1)
        return [match_id.decode() for match_id in match_ids]

    def take_place(
        self, bot: str, match_id: str, concurrent: int, *, projected: Collection[str], playing: Collection[str]
    ) -> BotPlace:
        """Let ``match_id`` take a place of ``bot``, or of a person, unless ``concurrent`` others have one.

        ``projected`` are those of ``places`` that the read models had before ``playing`` was read. Crash-safe: counted
        and taken in one step. A place whose match is never created is free again after MAX_PLACE_AGE_MS.
        """
        places, now = self._keys.bot_places(bot), self._now()

        def change(pipeline: StorePipeline) -> BotPlace:
            taken = pipeline.zrange(places, f"({now - MAX_PLACE_AGE_MS}", "+inf", byscore=True)
            held = {place.decode() for place in taken} - set(projected)
            if len((held | set(playing)) - {match_id}) >= concurrent:
                return BotPlace.REFUSED
            pipeline.multi()
            pipeline.zremrangebyscore(places, "-inf", now - MAX_PLACE_AGE_MS)
            if projected:
                pipeline.zrem(places, *projected)
            pipeline.zadd(places, {match_id: now})
            return BotPlace.HELD_BEFORE if match_id in held else BotPlace.TAKEN

        return transact(self._client, [places], change)

    def free_place(self, bot: str, match_id: str) -> None:
        """Give the place back of a match that was not created or joined after all."""
        self._client.zrem(self._keys.bot_places(bot), match_id)
