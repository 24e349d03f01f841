"""Roles, and the log of administrative acts: append-only, chained by hash like a match, its head in every checkpoint.

Crash-safe: a change of roles is logged in the same atomic step. An arbiter's act in a match is an event; the entry that
names it is appended right after, or by a relay that finds it missing in the feed.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from domain.match import state
from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.keys import AdministrationKeys
from events.runtime.reads import Read, read_alone
from events.runtime.transactions import transact
from events.store.contract import GENESIS, DamagedStreamError, Head
from events.store.envelope import Draft, Envelope, canonical_bytes, chain_digest, seal, unpack

ARBITER = "arbiter"
OPERATOR = "operator"
ROLES = (ARBITER, OPERATOR)
STREAM = "administration"
"""The stream name under which entries are hashed; no match has it."""

CONSOLE = state.CONSOLE
SERVER = "server"
"""The actor of automatic acts of the server."""

SCHEMA = 1
REFUSED = "refused"
ENTRIES_PER_PAGE = 1000

ACTS: Mapping[str, str] = {
    "dispute-raised": "case-opened",
    "match-frozen": "match-frozen",
    "match-unfrozen": "match-unfrozen",
    "ruling-made": "ruling-made",
    "case-reopened": "case-reopened",
    "ruleset-proposed": "ruleset-proposed",
}
"""The acts of arbiters and operators in a match, by the type of their event."""

LOGGED_MEMBERS = ("ply", "ground", "ruling", "appeal", "sole_arbiter", "operator", "ruleset")
"""The members of such an event that the log repeats: nothing that must be erasable."""


class AdministrativeAct(NamedTuple):
    """An entry of the log. ``id`` is its chain digest: SHA-256 of the one before it and of ``canonical_bytes``."""

    number: int
    id: str
    act: str
    at: int
    actor: str
    facts: Mapping[str, Any]
    schema: int = SCHEMA

    @property
    def canonical(self) -> str:
        """The canonical JSON (RFC 8785) that is hashed."""
        draft = Draft(self.act, self.schema, self.at, self.actor, self.facts)
        return canonical_bytes(draft, STREAM, self.number).decode()


class AdministrationEntry(NamedTuple):
    """An entry as stored, with its digest; ``act`` is None if unreadable, ``fault`` says why it was not appended so."""

    number: int
    digest: bytes
    act: AdministrativeAct | None
    fault: str | None = None


class Administration:
    """Roles and log of an installation."""

    def __init__(self, client: StoreClient, prefix: str, now: Callable[[], int]) -> None:
        self._client = client
        self._keys = AdministrationKeys(prefix)
        self._now = now

    def roles_of(self, person: str) -> frozenset[str]:
        """Return the roles of the person with this id."""
        return read_alone(self._client, self.read_of_roles(person))

    def read_of_roles(self, person: str) -> Read[frozenset[str]]:
        """Return the read of the roles of the person with this id."""
        return Read(lambda pipeline: pipeline.hget(self._keys.roles, person), lambda replies: _roles(replies[0]))

    def holders(self) -> dict[str, frozenset[str]]:
        """Return the roles of all who have any, by id."""
        stored = self._client.hgetall(self._keys.roles)
        return {person.decode(): _roles(roles) for person, roles in stored.items()}

    def grant(self, person: str, role: str, actor: str) -> None:
        """Grant a role and log it in one step. Raises ValueError for an unknown role."""
        self._change(person, role, actor, granted=True)

    def revoke(self, person: str, role: str, actor: str) -> None:
        """Revoke a role and log it in one step. Raises ValueError for an unknown role."""
        self._change(person, role, actor, granted=False)

    def record(self, act: str, actor: str, facts: Mapping[str, Any], once: str = "") -> AdministrativeAct | None:
        """Append an act with ``facts`` (JSON); None when ``once`` names an act that was logged before."""
        return self._append(act, actor, facts, once)

    def record_event(self, event: Envelope) -> AdministrativeAct | None:
        """Append the act of an arbiter behind ``event``; None when it is no such act, or logged already.

        Crash-safe: the event is the truth. Killed before this is done, a relay does it again, and only once.
        """
        if not is_administrative(event):
            return None
        facts = {name: event.data[name] for name in LOGGED_MEMBERS if name in event.data}
        facts |= {"match": event.stream, "version": event.version, "digest": event.id}
        return self._append(ACTS[event.type], event.data["arbiter"], facts, f"event:{event.stream}:{event.version}")

    def record_refusal(self, act: str, actor: str, code: str, facts: Mapping[str, Any]) -> None:
        """Append to the log that ``actor`` was refused to do ``act``, for the reason ``code``."""
        self._append(REFUSED, actor, {**facts, "act": act, "code": code}, "")

    def acts(self, after: int = 0, limit: int = 100) -> list[AdministrativeAct]:
        """Return entries with numbers above ``after``, in order."""
        entries = self._client.xrange(self._keys.log, f"{after + 1}-0", "+", limit)
        return [_act(*_numbered(entry)) for entry in entries]

    def last(self) -> Head:
        """Return number and digest of the last entry, read off the log itself; 0 and zeros when it is empty."""
        return _last(self._client.xrevrange(self._keys.log, "+", "-", 1))

    def head(self) -> Head | None:
        """Return number and digest of the last entry as they stand beside the log; None when nothing does."""
        number, digest = self._client.hmget(self._keys.head, "n", "d")
        return None if number is None or digest is None else Head(int(number), digest)

    def entries(self) -> Iterator[AdministrationEntry]:
        """Yield all entries with their faults when the chain is computed again."""
        digest, number = GENESIS, 0
        while page := self._client.xrange(self._keys.log, f"{number + 1}-0", "+", ENTRIES_PER_PAGE):
            for stored in page:
                place, fields = _numbered(stored)
                fault = None if place == number + 1 else f"the entries {number + 1} to {place - 1} are missing"
                number = place
                try:
                    act = _act(number, fields)
                    computed = chain_digest(digest, act.canonical.encode())
                except (ValueError, KeyError, TypeError) as error:
                    digest = fields.get(b"h", GENESIS)
                    yield AdministrationEntry(number, digest, None, f"it cannot be read ({error})")
                    continue
                digest = fields[b"h"]
                if computed != digest and fault is None:
                    fault = "its content, its digest or an entry before it was changed"
                yield AdministrationEntry(number, digest, act, fault)

    def verify(self) -> int:
        """Return how many entries the log has after its chain was computed again; raises DamagedStreamError."""
        last = Head(0, GENESIS)
        for entry in self.entries():
            if entry.fault is not None:
                raise DamagedStreamError(STREAM, entry.number, entry.fault)
            last = Head(entry.number, entry.digest)
        if self.head() not in (None, last):
            raise DamagedStreamError(STREAM, last.version + 1, "the end of the log is missing")
        return last.version

    def _change(self, person: str, role: str, actor: str, granted: bool) -> None:
        if role not in ROLES:
            raise ValueError(f"there is no role {role!r}, only {', '.join(ROLES)}")

        def change(pipeline: Any) -> Callable[[], None] | None:
            roles = _roles(pipeline.hget(self._keys.roles, person))
            changed = roles | {role} if granted else roles - {role}
            if changed == roles:
                return None
            if changed:
                return lambda: pipeline.hset(self._keys.roles, person, ",".join(sorted(changed)))
            return lambda: pipeline.hdel(self._keys.roles, person)

        act = "role-granted" if granted else "role-revoked"
        self._append(act, actor, {"person": person, "role": role}, "", change)

    def _append(
        self,
        act: str,
        actor: str,
        facts: Mapping[str, Any],
        once: str,
        change: Callable[[Any], Callable[[], None] | None] = lambda _: lambda: None,
    ) -> AdministrativeAct | None:
        """Append an entry and apply ``change`` in one transaction, nothing when there is nothing to change."""
        keys = self._keys

        def attempt(pipeline: StorePipeline) -> AdministrativeAct | None:
            if once and pipeline.hexists(keys.once, once):
                return None
            number, digest = _last(pipeline.xrevrange(keys.log, "+", "-", 1))
            write = change(pipeline)
            if write is None:
                return None
            # Where entries were lost the numbers continue after theirs, so that the gap stays visible.
            number = max(number, int(pipeline.hget(keys.head, "n") or 0)) + 1
            (sealed,) = seal([Draft(act, SCHEMA, self._now(), actor, facts)], STREAM, number - 1, digest)
            pipeline.multi()
            pipeline.xadd(keys.log, {"b": sealed.packed, "h": sealed.digest}, id=f"{number}-0")
            pipeline.hset(keys.head, mapping={"n": number, "d": sealed.digest})
            if once:
                pipeline.hset(keys.once, once, number)
            write()
            return _act(number, {b"b": sealed.packed, b"h": sealed.digest})

        return transact(self._client, [keys.log, keys.head, keys.roles, keys.once], attempt)


def is_administrative(event: Envelope) -> bool:
    """Tell whether an arbiter has caused ``event``."""
    return event.type in ACTS and isinstance(event.data.get("arbiter"), str)


def _roles(stored: bytes | None) -> frozenset[str]:
    return frozenset(stored.decode().split(",")) if stored else frozenset()


def _last(entries: Any) -> Head:
    if not entries:
        return Head(0, GENESIS)
    number, fields = _numbered(entries[0])
    return Head(number, fields[b"h"])


def _numbered(entry: Any) -> tuple[int, dict[bytes, bytes]]:
    entry_id, fields = entry
    return int(entry_id.partition(b"-")[0]), fields


def _act(number: int, fields: Mapping[bytes, bytes]) -> AdministrativeAct:
    envelope = unpack(fields[b"b"], STREAM, number, fields[b"h"])
    return AdministrativeAct(
        number, envelope.id, envelope.type, envelope.at, envelope.actor, envelope.data, envelope.schema
    )
