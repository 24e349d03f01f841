"""Accounts: names, passwords, suspensions and erasure, in ordinary keys outside the event streams.

Streams carry opaque ids. Of passwords the argon2 hash is kept. All keys share one hash tag, so that an account and the
names that lead to it change in one step.
"""

import hashlib
import hmac
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from events.people.credentials import FOREIGN_REPLY, Credentials, ForeignReplyError, Sessions, Tokens, key_of_token
from events.people.directory import entry_of
from events.people.names import check_name, skeleton
from events.people.passwords import Passwords, check_password, device_mark
from events.people.person import Person, Suspension, UnknownPersonError, random_letters, unpack_suspension
from events.people.places import seeks_of
from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.keys import PeopleKeys
from events.runtime.reads import Read, read_alone
from events.runtime.transactions import transact
from events.runtime.work_list import WorkList
from events.store.converter import pack


class NameTakenError(ValueError):
    """The name is taken, or looks like one that is taken."""


class People:
    """The people of one installation."""

    def __init__(self, client: StoreClient, prefix: str, now: Callable[[], int], passwords: Passwords) -> None:
        self._client = client
        self._keys = PeopleKeys(prefix)
        self._now = now
        self._passwords = passwords
        self.guests = WorkList(client, [self._keys.guests], now)
        """Guests by when to check next whether they have stayed away and can be erased."""

        self.credentials = Credentials(client, prefix)
        self.sessions = Sessions(client, prefix, now, self.credentials)
        self.tokens = Tokens(client, prefix, now, self.credentials)

    def sign_up(self, name: str, password: str, guest: Person | None = None) -> Person:
        """Return the new person; a ``guest`` who signs up keeps their id, sessions and tokens.

        Raises InvalidNameError, InvalidPasswordError, NameTakenError, TooManySignInsError, UnknownPersonError (no such
        guest).
        """
        check_name(name)
        check_password(password, name)
        if self.find(name) is not None:
            raise NameTakenError(name)
        hashed = self._passwords.hash(password)
        if guest is not None:
            return self._make_person(guest, name, hashed)
        person = Person("p" + random_letters(10), name, "person", self._now())
        self.enrol(person, hashed)
        return person

    def _make_person(self, guest: Person, name: str, hashed: str) -> Person:
        person = guest._replace(name=name, kind="person")

        def check(account: Mapping[bytes, bytes]) -> None:
            # After a reply that was lost the guest is a person already, with this very hash.
            is_made = account.get(b"password") == hashed.encode()
            if b"erasing" in account or not (is_made or account.get(b"kind") == b"guest"):
                raise UnknownPersonError(guest.id)

        self._store(person, {"name": name, "kind": "person", "password": hashed}, check, guest.name)
        self.guests.discard("", [guest.id])
        return person

    def guest(self) -> Person:
        """Return a new guest: a person without a password, called guest-xxxxxx."""
        while True:
            person = Person("p" + random_letters(10), f"guest-{random_letters(4)[:6]}", "guest", self._now())
            # Crash-safe: listed first, so that every guest is checked eventually; an unused id is taken off the list.
            self.guests.add(person.id, "", person.created_at)
            with suppress(NameTakenError):
                self.enrol(person, "")
                return person

    def enrol(self, person: Person, hashed: str) -> None:
        """Store a new person with the hash of a password, empty for a guest. Raises NameTakenError."""
        fields = {"name": person.name, "kind": person.kind, "created_at": str(person.created_at), "password": hashed}
        self._store(person, fields, lambda _: None)

    def sign_in(self, name: str, password: str, *, first: bool = False) -> Person | None:
        """Return the person, or None after the same time; ``first`` waits for no other. Raises TooManySignInsError."""
        person = self.find(name)
        hashed = self._hash_of(person) if person else None
        if not self._passwords.matches(hashed, password, first=first):
            return None
        if person and hashed and self._passwords.is_outdated(hashed):
            self._client.hset(self._keys.account(person.id), "password", self._passwords.hash(password))
        return person

    def mark_device(self, person: Person) -> str:
        """Return the mark of a device on which ``person`` has signed in, for ``knows_device``."""
        return device_mark(person.id, self._hash_of(person) or "")

    def knows_device(self, name: str, mark: str) -> bool:
        """Tell whether ``mark`` was given to a device on which ``name`` signed in with their present password."""
        person = self.find(name)
        hashed = self._hash_of(person) if person else None
        return bool(
            person
            and hashed
            and hmac.compare_digest(device_mark(person.id, hashed).encode(), mark.encode(errors="replace"))
        )

    def set_password(self, person: Person, wanted: str) -> None:
        """Set the password and end all sessions, not tokens. Raises InvalidPasswordError and TooManySignInsError."""
        check_password(wanted, person.name)
        # Crash-safe: a kill in between leaves old sessions valid; setting the password again ends them.
        self._client.hset(self._keys.account(person.id), "password", self._passwords.hash(wanted, first=True))
        self.sessions.end_all(person)

    def password_mark(self, person_id: str) -> str:
        """Return the mark of the present password of a person, for ``choose_password``."""
        stored = self._client.hget(self._keys.account(person_id), "password")
        return hashlib.sha256(b"rookery password\n" + (stored or b"")).hexdigest()

    def choose_password(self, person: Person, mark: str, wanted: str) -> bool:
        """Set the password as ``set_password``, and return whether ``mark`` is that of the present one."""
        check_password(wanted, person.name)
        hashed, account = self._passwords.hash(wanted), self._keys.account(person.id)

        def attempt(pipeline: StorePipeline) -> bool:
            if person.kind == "guest" or self.password_mark(person.id) != mark or not pipeline.exists(account):
                return False
            pipeline.multi()
            pipeline.hset(account, "password", hashed)
            return True

        # Crash-safe: a kill before the sessions are ended leaves them valid; the owner signs out everywhere.
        if not transact(self._client, [account], attempt):
            return False
        self.sessions.end_all(person)
        return True

    def reset_password(self, person: Person) -> str:
        """Give ``person`` a random password, end all their sessions and return it."""
        password = "-".join(random_letters(5)[:4] for _ in range(4))
        self._client.hset(self._keys.account(person.id), "password", self._passwords.hash(password))
        self.sessions.end_all(person)
        return password

    def rename(self, person: Person, name: str) -> Person:
        """Return ``person`` with a new name; sessions and tokens stay. Raises InvalidNameError and NameTakenError."""
        check_name(name)
        renamed = person._replace(name=name)

        def check(account: Mapping[bytes, bytes]) -> None:
            if not account or b"erasing" in account:
                raise NameTakenError(name)

        self._store(renamed, {"name": name}, check, person.name)
        return renamed

    def suspend(self, person: Person, suspension: Suspension) -> None:
        """Suspend ``person``: their sessions end, their tokens can only read."""
        until = suspension.until
        # Crash-safe: the suspension holds from its first step; a session that is left can only read.
        self._client.set(self._keys.suspension(person.id), pack(suspension), pxat=until)
        self.sessions.end_all(person)

    def restore(self, person: Person) -> bool:
        """Lift the suspension of ``person``; return False when there is none."""
        return bool(self._client.delete(self._keys.suspension(person.id)))

    def suspension(self, person: Person) -> Suspension | None:
        """Return the suspension of ``person``, None when they may act."""
        return unpack_suspension(self._client.get(self._keys.suspension(person.id)))

    def person(self, id: str) -> Person | None:
        """Return the person with this id, or None."""
        return self.persons([id]).get(id)

    def persons(self, ids: Iterable[str]) -> dict[str, Person]:
        """Return the people with these ids, in one round trip; unknown ids are left out."""
        return read_alone(self._client, self.read_of(ids))

    def read_of(self, ids: Iterable[str]) -> Read[dict[str, Person]]:
        """Return the read of the people with these ids; unknown ids are left out."""
        wanted = list(dict.fromkeys(ids))

        def queue(pipeline: StorePipeline) -> None:
            for id in wanted:
                pipeline.hmget(self._keys.account(id), "name", "kind", "created_at")

        def parse(replies: list[Any]) -> dict[str, Person]:
            return {
                id: Person(id, name.decode(), kind.decode(), int(created_at))
                for id, (name, kind, created_at) in zip(wanted, replies, strict=True)
                if name is not None
            }

        return Read(queue, parse)

    def find(self, name: str) -> Person | None:
        """Return the person with this name, in any case, or None."""
        id = self._client.get(self._keys.name(name))
        person = self.person(id.decode()) if id else None
        if person is not None and person.name.lower() != name.lower():
            raise ForeignReplyError(FOREIGN_REPLY)  # or renamed in between
        return person

    def begin_erasure(self, person: Person) -> bool:
        """Freeze the name of ``person``, so that no guest signs up while being erased; False if they are gone."""
        account = self._keys.account(person.id)

        def change(pipeline: StorePipeline) -> bool:
            is_there = pipeline.hget(account, "name") == person.name.encode()
            pipeline.multi()
            if is_there:
                pipeline.hset(account, "erasing", 1)
            return is_there

        return transact(self._client, [account], change)

    def erase(self, person: Person) -> None:
        """Erase name, password, sessions and tokens in one step. The name is free again, the id is never reused."""
        keys, id = self._keys, person.id
        changed = [keys.account(id), keys.sessions(id), keys.tokens(id)]
        names = [keys.name(person.name), keys.look(skeleton(person.name))]

        def change(pipeline: StorePipeline) -> None:
            sessions = pipeline.zrange(keys.sessions(id), 0, -1)
            tokens = map(key_of_token, pipeline.hvals(keys.tokens(id)))
            own = _led_to(pipeline, names, id)
            pipeline.multi()
            pipeline.delete(*sessions, *tokens, *own, *changed)
            pipeline.delete(keys.suspension(id), keys.writes_of(id), keys.places(id), keys.places(seeks_of(id)))
            pipeline.zrem(keys.bots, id)
            pipeline.zrem(keys.directory, entry_of(person))
            pipeline.zrem(keys.seen, id)

        transact(self._client, [*changed, *names], change)

    def _store(
        self,
        person: Person,
        fields: Mapping[Any, str],
        check: Callable[[Mapping[bytes, bytes]], None],
        former: str | None = None,
    ) -> None:
        """Store ``fields`` of an account, to which the name of ``person`` leads, no longer ``former``.

        ``check`` raises an error for an account that must not change. Raises NameTakenError for a name that is taken or
        looks like one; those of guests may. Crash-safe: one step, which can be repeated.
        """
        account, names = self._keys.account(person.id), [self._keys.name(person.name)]
        if person.kind != "guest":
            names.append(self._keys.look(skeleton(person.name)))
        before = [] if former is None else [self._keys.name(former), self._keys.look(skeleton(former))]

        def change(pipeline: StorePipeline) -> None:
            check(pipeline.hgetall(account))
            if {*pipeline.mget(names)} - {None, person.id.encode()}:
                raise NameTakenError(person.name)
            own = _led_to(pipeline, before, person.id)
            pipeline.multi()
            if own:
                pipeline.delete(*own)
            if former is not None:
                pipeline.zrem(self._keys.directory, entry_of(person._replace(name=former)))
            pipeline.mset(dict.fromkeys(names, person.id))
            pipeline.hset(account, mapping={**fields})

        transact(self._client, [account, *names, *before], change)

    def _hash_of(self, person: Person) -> str | None:
        """Return the hash of the password of ``person``, read with the name: it is never that of somebody else."""
        name, hashed = self._client.hmget(self._keys.account(person.id), ["name", "password"])
        if name is not None and name.decode() != person.name:
            raise ForeignReplyError(FOREIGN_REPLY)
        return hashed.decode() if hashed else None


def _led_to(pipeline: StorePipeline, names: Sequence[str], person: str) -> list[str]:
    """Return those of the keys ``names`` that lead to ``person``: another one may have taken a name since."""
    owners = pipeline.mget(names) if names else []
    return [name for name, owner in zip(names, owners, strict=True) if owner == person.encode()]
