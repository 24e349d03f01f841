"""Bots: accounts that a program plays for, and their declared capacity."""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from events.people.capacity import Capacity
from events.people.person import Person, UnknownPersonError
from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.keys import PeopleKeys
from events.runtime.transactions import transact
from events.store.converter import read_value, write_value


class Bot(NamedTuple):
    """An account that a program plays for, and its capacity."""

    id: str
    name: str
    capacity: Capacity
    suspended: bool


class Bots:
    """The bots of one installation."""

    def __init__(self, client: StoreClient, prefix: str) -> None:
        self._client = client
        self._keys = PeopleKeys(prefix)

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
