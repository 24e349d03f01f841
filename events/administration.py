"""Roles, and the log of what those who have them do: append-only, chained by hash like a match.

An act is logged before it is done. So nothing administrative happens unlogged whatever is killed when; an entry whose
act was refused, or never came to be, stays as what was attempted. What became of it stands in the match itself.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from redis import Redis
from redis.exceptions import WatchError

from events.envelope import Draft, canonical, chained, seal, unpack
from events.store import GENESIS, DamagedStream

ARBITER = "arbiter"
OPERATOR = "operator"
ROLES = (ARBITER, OPERATOR)
"""Besides being a player, which everybody is."""

STREAM = "administration"
"""The name under which entries are hashed: no match has it."""

CONSOLE = "console"
"""Who acts on the command line of the machine itself."""

ATTEMPTS = 50


class Act(NamedTuple):
    """An entry of the log: its number from 1, what was done, when (milliseconds since 1970 UTC), by whom, and to what.

    ``id`` is its chain digest in hexadecimal.
    """

    number: int
    id: str
    act: str
    at: int
    actor: str
    facts: Mapping[str, Any]


class Administration:
    """Roles and log of one installation. Safe to share between threads. Methods raise redis-py's errors."""

    def __init__(self, client: Redis, prefix: str, now: Callable[[], int]) -> None:
        self._client: Any = client
        self._log = f"{prefix}{{administration}}:log"
        self._roles = f"{prefix}{{administration}}:roles"
        self._now = now

    def roles_of(self, person: str) -> frozenset[str]:
        """Return the roles of the person with this id."""
        stored = self._client.hget(self._roles, person)
        return frozenset(stored.decode().split(",")) if stored else frozenset()

    def holders(self) -> dict[str, frozenset[str]]:
        """Return all who have roles, by id."""
        stored = self._client.hgetall(self._roles)
        return {person.decode(): frozenset(roles.decode().split(",")) for person, roles in stored.items()}

    def grant(self, person: str, role: str, actor: str) -> None:
        """Give the person a role and log it, both or neither. Raises ValueError for a role that there is not."""
        self._change(person, role, actor, granted=True)

    def revoke(self, person: str, role: str, actor: str) -> None:
        """Take a role from the person and log it, both or neither. Raises ValueError for a role that there is not."""
        self._change(person, role, actor, granted=False)

    def record(self, act: str, actor: str, facts: Mapping[str, Any]) -> Act:
        """Append to the log that ``actor`` does ``act``; ``facts`` are JSON values."""
        return self._append(act, actor, facts, lambda _: None)

    def acts(self, after: int = 0, limit: int = 100) -> list[Act]:
        """Return entries with numbers above ``after``, in order."""
        entries = self._client.xrange(self._log, f"{after + 1}-0", "+", limit)
        return [_act(*_numbered(entry)) for entry in entries]

    def verify(self) -> int:
        """Return how many entries the log has after its chain was computed again; raises DamagedStream."""
        digest, number = GENESIS, 0
        while page := self._client.xrange(self._log, f"{number + 1}-0", "+", 1000):
            for entry in page:
                place, fields = _numbered(entry)
                number += 1
                if place != number:
                    raise DamagedStream(STREAM, number, "the entry is missing")
                try:
                    envelope = unpack(fields[b"b"], STREAM, number, fields[b"h"])
                    digest = chained(digest, canonical(envelope.draft, STREAM, number))
                except (ValueError, KeyError) as error:
                    raise DamagedStream(STREAM, number, f"the entry cannot be read ({error})") from error
                if digest != envelope.digest:
                    raise DamagedStream(STREAM, number, "its content, its digest or an entry before it was changed")
        return number

    def _change(self, person: str, role: str, actor: str, granted: bool) -> None:
        if role not in ROLES:
            raise ValueError(f"there is no role {role!r}, only {', '.join(ROLES)}")
        roles = self.roles_of(person)
        changed = roles | {role} if granted else roles - {role}

        def write(pipeline: Any) -> None:
            if changed:
                pipeline.hset(self._roles, person, ",".join(sorted(changed)))
            else:
                pipeline.hdel(self._roles, person)

        act = "role-granted" if granted else "role-revoked"
        self._append(act, actor, {"person": person, "role": role}, write)

    def _append(self, act: str, actor: str, facts: Mapping[str, Any], together: Callable[[Any], None]) -> Act:
        with self._client.pipeline(transaction=True) as pipeline:
            for attempt in range(1, ATTEMPTS + 1):
                try:
                    pipeline.watch(self._log, self._roles)
                    last = pipeline.xrevrange(self._log, "+", "-", 1)
                    number, digest = 0, GENESIS
                    if last:
                        number, fields = _numbered(last[0])
                        digest = fields[b"h"]
                    (sealed,) = seal([Draft(act, 1, self._now(), actor, facts)], STREAM, number, digest)
                    pipeline.multi()
                    pipeline.xadd(self._log, {"b": sealed.packed, "h": sealed.digest}, id=f"{number + 1}-0")
                    together(pipeline)
                    pipeline.execute()
                except WatchError:
                    if attempt == ATTEMPTS:
                        raise
                else:
                    return _act(number + 1, {b"b": sealed.packed, b"h": sealed.digest})
        raise AssertionError("unreachable: the last attempt returns or raises")


def _numbered(entry: Any) -> tuple[int, dict[bytes, bytes]]:
    entry_id, fields = entry
    return int(entry_id.partition(b"-")[0]), fields


def _act(number: int, fields: Mapping[bytes, bytes]) -> Act:
    envelope = unpack(fields[b"b"], STREAM, number, fields[b"h"])
    return Act(number, envelope.id, envelope.type, envelope.at, envelope.actor, envelope.data)
