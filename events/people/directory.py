"""The directory: people who can be found by name, and when they were here last. Nobody who opts out is in it."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Lock
from typing import Any

from events.people.person import Person
from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.errors import StoreUnavailableError
from events.runtime.keys import PeopleKeys
from events.runtime.transactions import transact

DAY_MS = 24 * 3600 * 1000
MAX_REMEMBERED = 10_000
"""People whom a process remembers as recorded today."""


def entry_of(person: Person) -> str:
    """Return the entry of a person, by which the directory is sorted: the name in small letters, and the id."""
    return f"{person.name.lower()} {person.id}"


class Directory:
    """The directory of an installation."""

    def __init__(self, client: StoreClient, prefix: str, now: Callable[[], int]) -> None:
        self._client = client
        self._keys = PeopleKeys(prefix)
        self._now = now
        self._recorded: OrderedDict[Person, int] = OrderedDict()
        self._lock = Lock()

    def record(self, person: Person) -> None:
        """Record that ``person`` is here today; not for guests, and not while the store takes no writes."""
        today = self._now() // DAY_MS * DAY_MS
        if person.kind == "guest":
            return
        with self._lock:
            if self._recorded.get(person) == today:
                return
            self._recorded[person] = today
            while len(self._recorded) > MAX_REMEMBERED:
                self._recorded.popitem(last=False)

        def change(pipeline: StorePipeline) -> None:
            name, unlisted = pipeline.hmget(self._keys.account(person.id), "name", "unlisted")
            pipeline.multi()
            if name == person.name.encode() and not unlisted:
                pipeline.zadd(self._keys.directory, {entry_of(person): 0})
                pipeline.zadd(self._keys.seen, {person.id: today})

        with suppress(StoreUnavailableError):  # tomorrow is soon enough
            transact(self._client, [self._keys.account(person.id)], change)

    def is_listed(self, person: str) -> bool:
        """Tell whether a person can be found in the directory."""
        return not self._client.hexists(self._keys.account(person), "unlisted")

    def set_listed(self, person: Person, wanted: bool) -> None:
        """List a person in the directory, or take them out with their last day here."""
        account = self._keys.account(person.id)

        def change(pipeline: StorePipeline) -> None:
            is_there = pipeline.exists(account)
            pipeline.multi()
            if is_there and wanted:
                pipeline.hdel(account, "unlisted")
            elif is_there:
                pipeline.hset(account, "unlisted", 1)
                pipeline.zrem(self._keys.directory, entry_of(person))
                pipeline.zrem(self._keys.seen, person.id)

        transact(self._client, [account], change)
        with self._lock:
            self._recorded.pop(person, None)

    def entries(self, beginning: str, after: str | None, limit: int) -> list[str]:
        """Return up to ``limit`` entries of names with this beginning, in any case, those that follow ``after``."""
        first = f"[{beginning.lower()}" if after is None else f"({after}"
        entries: Any = self._client.zrangebylex(self._keys.directory, first, f"[{beginning.lower()}\x7f", 0, limit)
        return [entry.decode() for entry in entries]

    def seen(self, people: Sequence[str]) -> dict[str, int]:
        """Return the beginning of the day (UTC) on which each of ``people`` in the directory was here last."""
        days: Any = self._client.zmscore(self._keys.seen, list(people)) if people else []
        return {person: int(day) for person, day in zip(people, days, strict=True) if day is not None}
