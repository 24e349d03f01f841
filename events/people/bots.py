"""Bots: accounts that a program plays for, what they declare to take on, and the places that new matches take."""

import json
from collections.abc import Callable, Collection, Iterable
from enum import IntEnum
from typing import Any, Literal, NamedTuple

from events.people.capacity import Capacity
from events.people.person import Person, UnknownPersonError, pack_person
from events.runtime.connections import StoreClient
from events.runtime.keys import PeopleKeys
from events.runtime.scripts import load_script
from events.store.converter import read_value, write_value

MAX_PLACE_AGE_MS = 10 * 60 * 1000
"""For how long a new match counts before the read models have it: a relay that is behind by more lets a bot exceed."""


class Place(IntEnum):
    """What came of a match that asked for a place of a bot."""

    REFUSED = 0
    HELD_BEFORE = 1
    TAKEN = 2


class Bot(NamedTuple):
    """An account that a program plays for, and what it takes on."""

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
        self._set_capacity = load_script(client, __package__, "set_capacity")
        self._take_place = load_script(client, __package__, "take_place")

    def declare(self, person: Person, capacity: Capacity) -> Person:
        """Return ``person`` as a bot with this capacity. Raises UnknownPersonError for a guest and when it is gone."""
        return self._become(person, "bot", json.dumps(write_value(capacity), separators=(",", ":")))

    def retire(self, person: Person) -> Person:
        """Return ``person`` as an ordinary account without a capacity. Raises UnknownPersonError when it is gone."""
        return self._become(person, "person", "")

    def _become(self, person: Person, kind: Literal["bot", "person"], capacity: str) -> Person:
        changed = person._replace(kind=kind)
        keys = [
            self._keys.account(person.id),
            self._keys.sessions(person.id),
            self._keys.tokens(person.id),
            self._keys.bots,
        ]
        # Crash-safe: one script; account, sessions and tokens are of the same kind before it and after it.
        if not self._set_capacity(keys=keys, args=[person.id, kind, capacity, pack_person(changed)]):
            raise UnknownPersonError(person.id)
        return changed

    def among(self, ids: Iterable[str]) -> dict[str, Bot]:
        """Return the bots among the accounts ``ids``, in one round trip."""
        wanted = list(dict.fromkeys(ids))
        if not wanted:
            return {}
        with self._client.pipeline(transaction=False) as pipeline:
            for id in wanted:
                pipeline.hmget(self._keys.account(id), "name", "capacity")
                pipeline.exists(self._keys.suspension(id))
            found = pipeline.execute()
        return {
            id: Bot(id, name.decode(), read_value(Capacity, json.loads(stored)), bool(suspended))
            for id, (name, stored), suspended in zip(wanted, found[::2], found[1::2], strict=True)
            if stored
        }

    def listed(self, after: str, limit: int) -> list[str]:
        """Return up to ``limit`` ids of bots in ASCII order, those that follow the id ``after``."""
        found: Any = self._client.zrangebylex(self._keys.bots, f"({after}" if after else "-", "+", 0, limit)
        return [id.decode() for id in found]

    def places(self, bot: str) -> list[str]:
        """Return the new matches that have taken a place of ``bot`` and may not be in the read models yet."""
        found: Any = self._client.zrange(self._keys.bot_places(bot), 0, -1)
        return [match_id.decode() for match_id in found]

    def take_place(
        self, bot: str, match_id: str, concurrent: int, *, projected: Collection[str], playing: Collection[str]
    ) -> Place:
        """Let ``match_id`` take a place of ``bot``, or of a person, unless ``concurrent`` others have one.

        ``projected`` are those of ``places`` that the read models had before ``playing`` was read. Crash-safe: counted
        and taken in one script. A place whose match is never created is free again after MAX_PLACE_AGE_MS.
        """
        now = self._now()
        taken = self._take_place(
            keys=[self._keys.bot_places(bot)],
            args=[match_id, concurrent, now, MAX_PLACE_AGE_MS, len(projected), *projected, *playing],
        )
        return Place(taken)

    def free_place(self, bot: str, match_id: str) -> None:
        """Give the place back of a match that was not created or joined after all."""
        self._client.zrem(self._keys.bot_places(bot), match_id)
