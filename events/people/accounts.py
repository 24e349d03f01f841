"""People: names, passwords, sessions and tokens, in ordinary keys outside the event streams.

Streams carry opaque ids only; everything here can be exported and erased without touching one. Of sessions and tokens
the store keeps the SHA-256, of passwords the argon2 hash, so that its contents let nobody in. All keys share one hash
tag. A session or token key carries the whole person, so that recognising a caller costs one GET; a new name is written
to all of them in one step.
"""

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from redis import Redis
from redis.exceptions import NoScriptError

from events.people.guest_list import GuestList
from events.people.names import check_name, skeleton
from events.people.passwords import Passwords, check_password, device_mark
from events.runtime.scripts import load_script

LONGEST_LABEL = 60
MOST_TOKENS = 20
MOST_SESSIONS = 50
"""Whoever signs in once more ends the oldest."""


class Person(NamedTuple):
    """Somebody who can sit on a seat. ``kind`` is "person" or "guest", ``created_at`` milliseconds since 1970 UTC."""

    id: str
    name: str
    kind: str
    created_at: int


class Token(NamedTuple):
    """An API token as its owner sees it; the secret is shown once, when it is made, and never stored."""

    id: str
    label: str
    created_at: int


class Session(NamedTuple):
    """A session as its owner sees it, without its secret. Instants are milliseconds since 1970 UTC."""

    created_at: int
    expires_at: int


class NameTaken(ValueError):
    """The name is taken, or looks like one that is taken."""


class NoSuchPerson(LookupError):
    """There is nobody with this id, perhaps because the person has just been erased."""


class TooManyTokens(ValueError):
    """The person has MOST_TOKENS tokens and must revoke one first."""


class Suspension(NamedTuple):
    """Why a person may not act, and until when (milliseconds since 1970 UTC; None: until it is taken back)."""

    reason: str
    until: int | None


class Admission(NamedTuple):
    """Whose session or token it was, the how many-th act of the person in this window, and when the window ends.

    ``resets_in`` is in seconds. ``suspension`` is why the person may not act, None when they may.
    """

    person: Person
    used: int
    resets_in: int
    suspension: Suspension | None


class People:
    """The people of one installation. Safe to share between threads.

    Every method raises redis-py's errors when the store cannot be reached.
    """

    def __init__(self, client: Redis, prefix: str, now: Callable[[], int], passwords: Passwords | None = None) -> None:
        self._client: Any = client
        self._keys = f"{prefix}{{people}}:"
        self.guests = GuestList(client, self._keys)
        self._now = now
        self._passwords = passwords or Passwords()
        self._enrol = load_script(client, __package__, "enrol")
        self._admit = load_script(client, __package__, "admit")
        self._open_session = load_script(client, __package__, "open_session")
        self._issue = load_script(client, __package__, "issue_token")
        self._end_sessions = load_script(client, __package__, "end_sessions")
        self._erase = load_script(client, __package__, "erase")
        self._rename = load_script(client, __package__, "rename")
        self._become_person = load_script(client, __package__, "become_person")
        self._begin_erasure = load_script(client, __package__, "begin_erasure")

    def sign_up(self, name: str, password: str, guest: Person | None = None) -> Person:
        """Return the new person, who is ``guest`` when one signs up, with the same id, sessions and tokens.

        Raises UnfitName, UnfitPassword, NameTaken and TooManySignIns, and NoSuchPerson when ``guest`` is none any more.
        """
        check_name(name)
        check_password(password, name)
        if self.find(name) is not None:
            raise NameTaken(name)
        hashed = self._passwords.hash(password)
        if guest is not None:
            return self._make_person(guest, name, hashed)
        person = Person(_new_id(), name, "person", self._now())
        if not self._keep(person, hashed):
            raise NameTaken(name)
        return person

    def _make_person(self, guest: Person, name: str, hashed: str) -> Person:
        person = guest._replace(name=name, kind="person")
        keys = [
            *(self._person_key(guest.id), self._name_key(guest.name), self._name_key(name), self._look_key(name)),
            *(self._sessions_key(guest.id), self._tokens_key(guest.id), self.guests.key),
        ]
        # Crash-safe: one script; before it the guest is a guest, after it a person with everything the guest had.
        outcome = self._become_person(keys=keys, args=[guest.id, name, _packed(person), hashed])
        if outcome == b"taken":
            raise NameTaken(name)
        if outcome == b"no guest":
            raise NoSuchPerson(guest.id)
        return person

    def guest(self) -> Person:
        """Return a new guest: a person without a password, named guest-xxxxxx."""
        while True:
            person = Person(_new_id(), f"guest-{_letters(4)[:6]}", "guest", self._now())
            # Crash-safe: listed first, so that every guest is looked at some time; an unused id is taken off the list.
            self.guests.look_at(person.id, person.created_at)
            if self._keep(person, ""):
                return person

    def sign_in(self, name: str, password: str) -> Person | None:
        """Return who has this name and password, or None. An unknown name takes as long as a wrong password.

        Raises TooManySignIns.
        """
        person = self.find(name)
        hashed = self._hash_of(person) if person else None
        if not self._passwords.matches(hashed, password):
            return None
        if person and person.kind != "guest":
            # Who signed up before names were compared by their look enters the index now.
            self._client.setnx(self._look_key(person.name), person.id)
        if person and hashed and self._passwords.is_outdated(hashed):
            self._client.hset(self._person_key(person.id), "password", self._passwords.hash(password))
        return person

    def mark_device(self, person: Person) -> str:
        """Return what a device keeps on which ``person`` has signed in, for ``knows_device``."""
        return device_mark(person.id, self._hash_of(person) or "")

    def knows_device(self, name: str, mark: str) -> bool:
        """Tell whether ``mark`` was given to a device on which who has this ``name`` signed in with this password."""
        person = self.find(name)
        hashed = self._hash_of(person) if person else None
        return bool(
            person
            and hashed
            and hmac.compare_digest(device_mark(person.id, hashed).encode(), mark.encode(errors="replace"))
        )

    def set_password(self, person: Person, current: str, wanted: str) -> bool:
        """Make ``wanted`` the password of ``person`` and end all sessions; return False when ``current`` is not theirs.

        Tokens stay. Killed in between, the password is new and old sessions go on: setting it again ends them. Raises
        UnfitPassword and TooManySignIns.
        """
        check_password(wanted, person.name)
        if self.sign_in(person.name, current) != person:
            return False
        self._client.hset(self._person_key(person.id), "password", self._passwords.hash(wanted))
        self.end_sessions(person)
        return True

    def reset_password(self, person: Person) -> str:
        """Return a new password of ``person``, drawn at random, which counts from now on; all their sessions end."""
        drawn = "-".join(_letters(5)[:4] for _ in range(4))
        self._client.hset(self._person_key(person.id), "password", self._passwords.hash(drawn))
        self.end_sessions(person)
        return drawn

    def rename(self, person: Person, name: str) -> Person:
        """Return ``person`` with another name; sessions and tokens go on. Raises UnfitName and NameTaken."""
        check_name(name)
        renamed = person._replace(name=name)
        keys = [
            self._person_key(person.id),
            *(self._name_key(person.name), self._name_key(name)),
            *(self._look_key(person.name), self._look_key(name)),
            *(self._sessions_key(person.id), self._tokens_key(person.id)),
        ]
        if not self._rename(keys=keys, args=[person.id, name, _packed(renamed)]):
            raise NameTaken(name)
        return renamed

    def suspend(self, person: Person, suspension: Suspension) -> None:
        """Let ``person`` not act for the time being; sessions end, tokens only read."""
        until = suspension.until
        # Crash-safe: the suspension counts from its first step on; a session that is left can only read.
        self._client.set(self._suspension_key(person.id), json.dumps(suspension), pxat=until)
        self.end_sessions(person)

    def restore(self, person: Person) -> bool:
        """Let ``person`` act again; return False when they could."""
        return bool(self._client.delete(self._suspension_key(person.id)))

    def suspension(self, person: Person) -> Suspension | None:
        """Return why ``person`` may not act now, None when they may."""
        return _suspension(self._client.get(self._suspension_key(person.id)))

    def person(self, id: str) -> Person | None:
        """Return the person with this id, or None."""
        return self.persons([id]).get(id)

    def persons(self, ids: Iterable[str]) -> dict[str, Person]:
        """Return the people with these ids, in one round trip; ids of nobody are left out."""
        wanted = list(dict.fromkeys(ids))
        if not wanted:
            return {}
        with self._client.pipeline(transaction=False) as pipeline:
            for id in wanted:
                pipeline.hmget(self._person_key(id), "name", "kind", "created_at")
            found = pipeline.execute()
        return {
            id: Person(id, name.decode(), kind.decode(), int(created_at))
            for id, (name, kind, created_at) in zip(wanted, found, strict=True)
            if name is not None
        }

    def find(self, name: str) -> Person | None:
        """Return the person of this name, in whatever case it is written, or None."""
        id = self._client.get(self._name_key(name))
        return self.person(id.decode()) if id else None

    def open_session(self, person: Person, ttl: int) -> str:
        """Return the secret of a new session of ``person``, valid for ``ttl`` seconds; raises NoSuchPerson."""
        secret = secrets.token_urlsafe(32)
        keys = [self._person_key(person.id), self._key("session", secret), self._sessions_key(person.id)]
        if not self._open_session(keys=keys, args=[_packed(person), ttl, self._now(), MOST_SESSIONS]):
            raise NoSuchPerson(person.id)
        return secret

    def person_of_session(self, secret: str) -> Person | None:
        """Return whose session this is, or None when it has ended or never was."""
        return _unpacked(self._client.get(self._key("session", secret)))

    def sessions(self, person: Person) -> list[Session]:
        """Return the sessions of ``person`` that have not ended, oldest first."""
        opened = self._client.zrange(self._sessions_key(person.id), 0, -1, withscores=True)
        with self._client.pipeline(transaction=False) as pipeline:
            for key, _ in opened:
                pipeline.pttl(key)
            left = pipeline.execute()
        now = self._now()
        return [Session(int(at), now + ms) for (_, at), ms in zip(opened, left, strict=True) if ms > 0]

    def end_session(self, secret: str) -> None:
        """End the session; one that has ended already stays so."""
        person, key = self.person_of_session(secret), self._key("session", secret)
        if person is not None:
            with self._client.pipeline(transaction=True) as pipeline:
                pipeline.delete(key)
                pipeline.zrem(self._sessions_key(person.id), key)
                pipeline.execute()

    def end_sessions(self, person: Person) -> None:
        """End all sessions of ``person``, wherever they are."""
        self._end_sessions(keys=[self._sessions_key(person.id)])

    def create_token(self, person: Person, label: str) -> tuple[Token, str]:
        """Return a new token and its secret. Raises TooManyTokens and NoSuchPerson."""
        token = Token("t" + _letters(10), label, self._now())
        secret = "rookery_" + secrets.token_urlsafe(32)
        key = self._key("token", secret)
        made = self._issue(
            keys=[self._person_key(person.id), key, self._tokens_key(person.id)],
            args=[_packed(person), token.id, json.dumps([label, token.created_at, key]), MOST_TOKENS],
        )
        if made == b"nobody":
            raise NoSuchPerson(person.id)
        if made == b"too many":
            raise TooManyTokens(f"nobody can have more than {MOST_TOKENS} tokens: revoke one first")
        return token, secret

    def tokens(self, person: Person) -> list[Token]:
        """Return the tokens of ``person``, oldest first."""
        stored = self._client.hgetall(self._tokens_key(person.id))
        tokens = [Token(id.decode(), *json.loads(packed)[:2]) for id, packed in stored.items()]
        return sorted(tokens, key=lambda token: (token.created_at, token.id))

    def revoke_token(self, person: Person, token: str) -> bool:
        """Make the token worthless from now on; return False when ``person`` has no such token."""
        stored = self._client.hget(self._tokens_key(person.id), token)
        if stored is None:
            return False
        with self._client.pipeline(transaction=True) as pipeline:
            pipeline.delete(json.loads(stored)[2])
            pipeline.hdel(self._tokens_key(person.id), token)
            pipeline.execute()
        return True

    def credential(self, kind: str, secret: str) -> str:
        """Return where the "session" or "token" with this ``secret`` is kept; nobody learns the secret from it."""
        return self._key(kind, secret)

    def person_of(self, credential: str) -> Person | None:
        """Return whose session or token is kept under ``credential``, or None when it has ended or never was."""
        return _unpacked(self._client.get(credential))

    def admit(self, kind: str, secret: str, window: int) -> Admission | None:
        """Return whose "session" or "token" this is and count one act of that person; None when it is nobody's.

        Acts are counted in windows of ``window`` seconds that begin with the first act after the one before.
        """
        key = self._key(kind, secret)
        arguments: list[str | int] = [f"{self._keys}acts:", window, self._suspension_key("")]
        try:
            admitted = self._client.evalsha(self._admit.sha, 1, key, *arguments)
        except NoScriptError:  # the server was started again; this loads the script and runs it
            admitted = self._admit(keys=[key], args=arguments)
        if not admitted:
            return None
        packed, used, resets_in, suspension = admitted
        return Admission(Person(*json.loads(packed)), used, resets_in, _suspension(suspension))

    def begin_erasure(self, person: Person) -> bool:
        """Let ``person`` get no other name from now on; return False when somebody of this name is not there any more.

        Who is being erased could otherwise become somebody else on the way: a guest who signs up must not be taken for
        one who has stayed away.
        """
        return bool(self._begin_erasure(keys=[self._person_key(person.id)], args=[person.name]))

    def erase(self, person: Person) -> None:
        """Forget the person: name, password, sessions and tokens; the name is free again, the id stays nobody's.

        All of it goes at once.
        """
        keys = [
            self._sessions_key(person.id),
            self._tokens_key(person.id),
            self._name_key(person.name),
            self._look_key(person.name),
            self._person_key(person.id),
            self._suspension_key(person.id),
            f"{self._keys}acts:{person.id}",
        ]
        self._erase(keys=keys, args=[person.id])

    def _keep(self, person: Person, hashed: str) -> bool:
        keys = [self._name_key(person.name), self._person_key(person.id), self._look_key(person.name)]
        return bool(self._enrol(keys=keys, args=[person.id, person.name, person.kind, person.created_at, hashed]))

    def _hash_of(self, person: Person) -> str | None:
        stored = self._client.hget(self._person_key(person.id), "password")
        return stored.decode() if stored else None

    def _person_key(self, id: str) -> str:
        return f"{self._keys}person:{id}"

    def _name_key(self, name: str) -> str:
        return f"{self._keys}name:{name.lower()}"

    def _look_key(self, name: str) -> str:
        return f"{self._keys}look:{skeleton(name)}"

    def _suspension_key(self, person: str) -> str:
        return f"{self._keys}suspended:{person}"

    def _tokens_key(self, person: str) -> str:
        return f"{self._keys}tokens:{person}"

    def _sessions_key(self, person: str) -> str:
        return f"{self._keys}signed-in:{person}"

    def _key(self, kind: str, secret: str) -> str:
        return f"{self._keys}{kind}:{hashlib.sha256(secret.encode(errors='replace')).hexdigest()}"


def _packed(person: Person) -> str:
    return json.dumps(person, separators=(",", ":"))


def _unpacked(stored: Any) -> Person | None:
    return Person(*json.loads(stored)) if stored else None


def _suspension(stored: Any) -> Suspension | None:
    return Suspension(*json.loads(stored)) if stored else None


def _new_id() -> str:
    return "p" + _letters(10)


def _letters(size: int) -> str:
    return base64.b32encode(secrets.token_bytes(size)).decode().rstrip("=").lower()
