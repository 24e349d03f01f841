"""Mail that has arrived: stored before its sender is told that it is accepted, once for each Message-ID, then read.

A mail is known by its digest (``mail_digest``). What became of it is remembered for MEMORY_DAYS, its content only until
it has been read. None of it is an event; all of it can be erased.
"""

import hashlib
import zlib
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

from events.notices.json_text import from_json, to_json
from events.runtime.connections import StoreClient
from events.runtime.notice_keys import IncomingMailKeys, PostmasterKeys
from events.runtime.scripts import load_script

DAY_MS = 86_400_000
MEMORY_DAYS = 30
MAX_MAILS = 500
"""Of one person; older ones are forgotten."""

MAX_WAITING = 20
MAX_WAITING_BYTES = 4_000_000
"""Mails of one person that were not read yet, and their compressed bytes: more must be sent again later."""

REFUSAL_S = 3600
"""After an answer that only refuses, further ones to the same address are kept back for so long."""

MAX_MAILS_SHOWN = 10
"""Of those that a person has sent, on the settings page and by the API."""

MAX_POSTMASTER_MAILS = 100
MAX_POSTMASTER_BYTES = 64_000
"""Of one mail to the postmaster: the rest is not stored."""


class Verdict(StrEnum):
    """What became of an incoming mail. A stored value is never renamed; new ones may be added."""

    WAITING = "waiting"
    """It was not read yet."""

    READ = "read"
    """Its commands were carried out or refused, one by one; the answer says which."""

    AUTOMATIC = "automatic"
    """No person has written it."""

    LOOP = "loop"
    """It is a mail of Rookery's that has come back."""

    BOUNCE = "bounce"
    """It reports that a mail was not delivered."""

    NOT_ALLOWED = "not-allowed"
    """Its sender may not write for the account."""

    UNSUBSCRIBED = "unsubscribed"
    """It turned notices by mail off."""

    FAILED = "failed"
    """The server could not read it; nothing more was done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedMail:
    """What is known of a mail to ``player``.

    ``recipient`` is the local part that it was sent to, empty once it has been read: it is a secret. ``sender`` is the
    address in its From header, ``return_path`` that of its envelope, empty for the null one. ``reason`` is a sentence
    for the player about the verdict. ``at`` is when it arrived, in milliseconds since 1970 UTC.
    """

    digest: str
    player: str
    recipient: str
    return_path: str
    sender: str
    subject: str
    size: int
    at: int
    verdict: Verdict = Verdict.WAITING
    reason: str = ""
    answered: bool = False


class Taken(NamedTuple):
    """A mail that is to be read now, for the ``attempt``-th time."""

    mail: ReceivedMail
    content: bytes
    attempt: int


class PostmasterMail(NamedTuple):
    """A mail to the postmaster; ``content`` is cut."""

    id: str
    at: int
    sender: str
    content: bytes


def mail_digest(message_id: str, recipient: str, content: bytes) -> str:
    """Return what makes a mail to ``recipient`` known when it comes again: its Message-ID, without one its content."""
    identity = f"id {message_id}".encode(errors="replace") if message_id else b"content " + content
    return hashlib.sha256(recipient.lower().encode(errors="replace") + b"\n" + identity).hexdigest()[:32]


class Inbox:
    """The incoming mail of an installation with ``shards`` shards. Safe to share between threads.

    Instants are milliseconds since 1970 UTC. Methods raise StoreError.
    """

    def __init__(self, client: StoreClient, prefix: str, shards: int) -> None:
        self._client = client
        self._prefix = prefix
        self._shards = shards
        self._postmaster = PostmasterKeys(prefix).mails
        self._add = load_script(client, __package__, "add_mail")
        self._take = load_script(client, __package__, "take_mail")
        self._finish = load_script(client, __package__, "finish_mail")

    def add(self, mail: ReceivedMail, content: bytes) -> bool:
        """Store a mail to be read, nothing if it is known; return False when too much of the player waits already."""
        keys = self._keys(mail.player)
        added: bytes = self._add(
            keys=[keys.order(mail.player), keys.mails(mail.player), keys.contents(mail.player), keys.due],
            args=[
                mail.digest,
                to_json(mail),
                zlib.compress(content),
                mail.at,
                _member(mail),
                mail.at - MEMORY_DAYS * DAY_MS,
                MAX_MAILS,
                MAX_WAITING,
                MAX_WAITING_BYTES,
            ],
        )
        return added != b"full"

    def take(self, now: int, lease_ms: int) -> Taken | None:
        """Return a mail that is due, and nobody else for ``lease_ms``; None when none is.

        Crash-safe: the mail of a reader that is killed is due again when the lease ends.
        """
        for shard in self._due_shards(now):
            keys = IncomingMailKeys(self._prefix, shard)
            while found := self._take(keys=[keys.due, keys.attempts], args=[now, now + lease_ms]):
                taken = self._read(keys, found[0].decode(), int(found[1]))
                if taken is not None:
                    return taken
        return None

    def finish(self, mail: ReceivedMail, verdict: Verdict, reason: str, *, answered: bool) -> None:
        """Record what became of a mail that was taken, and forget its content."""
        keys = self._keys(mail.player)
        done = replace(mail, verdict=verdict, reason=reason, answered=answered, recipient="")
        self._finish(
            keys=[keys.mails(mail.player), keys.contents(mail.player), keys.due, keys.attempts],
            args=[mail.digest, to_json(done), _member(mail)],
        )

    def next_due(self) -> int | None:
        """Return when the next mail is to be read, None when none waits."""
        with self._client.pipeline(transaction=False) as pipeline:
            for shard in range(self._shards):
                pipeline.zrange(IncomingMailKeys(self._prefix, shard).due, 0, 0, withscores=True)
            found = pipeline.execute()
        return min((int(first[0][1]) for first in found if first), default=None)

    def count_due(self, now: int) -> int:
        """Return how many mails were to be read by ``now``."""
        with self._client.pipeline(transaction=False) as pipeline:
            for shard in range(self._shards):
                pipeline.zcount(IncomingMailKeys(self._prefix, shard).due, "-inf", now)
            return sum(pipeline.execute())

    def recent(self, player: str, limit: int) -> list[ReceivedMail]:
        """Return the last ``limit`` mails to ``player``, the newest first."""
        keys = self._keys(player)
        digests = self._client.zrange(keys.order(player), 0, limit - 1, desc=True)
        if not digests:
            return []
        found = self._client.hmget(keys.mails(player), digests)
        return [from_json(ReceivedMail, packed) for packed in found if packed is not None]

    def may_refuse(self, mail: ReceivedMail) -> bool:
        """Tell whether ``mail`` may be answered by a refusal: no other one to the same address was within the hour.

        The same mail gets the same answer however often it is asked for.
        """
        token = hashlib.sha256(mail.recipient.encode(errors="replace")).hexdigest()[:16]
        key = self._keys(mail.player).refusal(mail.player, token)
        is_first = self._client.set(key, mail.digest, nx=True, ex=REFUSAL_S)
        return bool(is_first) or self._client.get(key) == mail.digest.encode()

    def erase(self, player: str) -> None:
        """Delete all mail to ``player``, read or not."""
        keys = self._keys(player)
        digests = self._client.hkeys(keys.contents(player))
        if waiting := [f"{player} {digest.decode()}" for digest in digests]:
            self._client.zrem(keys.due, *waiting)
            self._client.hdel(keys.attempts, *waiting)
        self._client.delete(keys.contents(player), keys.mails(player), keys.order(player))

    def keep_for_postmaster(self, sender: str, content: bytes, now: int) -> None:
        """Store a mail to the postmaster; the oldest and those before MEMORY_DAYS are forgotten."""
        with self._client.pipeline(transaction=True) as pipeline:
            fields: dict[str | bytes, str | bytes | int] = {
                "at": now,
                "from": sender.encode(errors="replace"),
                "content": zlib.compress(content[:MAX_POSTMASTER_BYTES]),
            }
            pipeline.xadd(self._postmaster, fields, maxlen=MAX_POSTMASTER_MAILS, approximate=False)  # type: ignore[arg-type]
            pipeline.xtrim(self._postmaster, minid=max(0, now - MEMORY_DAYS * DAY_MS))
            pipeline.pexpire(self._postmaster, MEMORY_DAYS * DAY_MS)
            pipeline.execute()

    def postmaster_mails(self) -> list[PostmasterMail]:
        """Return the mails to the postmaster, the newest first."""
        return [
            PostmasterMail(
                id.decode(),
                int(fields[b"at"]),
                fields[b"from"].decode(errors="replace"),
                zlib.decompress(fields[b"content"]),
            )
            for id, fields in self._client.xrevrange(self._postmaster)
        ]

    def delete_postmaster_mail(self, id: str) -> bool:
        """Delete a mail to the postmaster; return False when it was not there."""
        return bool(self._client.xdel(self._postmaster, id))

    def _keys(self, player: str) -> IncomingMailKeys:
        return IncomingMailKeys.of(self._prefix, player, self._shards)

    def _due_shards(self, now: int) -> list[int]:
        """Return the shards in which a mail is due, that with the longest overdue one first."""
        with self._client.pipeline(transaction=False) as pipeline:
            for shard in range(self._shards):
                keys = IncomingMailKeys(self._prefix, shard)
                pipeline.zrangebyscore(keys.due, "-inf", now, start=0, num=1, withscores=True)
            found = pipeline.execute()
        due = [(first[0][1], shard) for shard, first in enumerate(found) if first]
        return [shard for _, shard in sorted(due)]

    def _read(self, keys: IncomingMailKeys, member: str, attempt: int) -> Taken | None:
        player, _, digest = member.partition(" ")
        with self._client.pipeline(transaction=False) as pipeline:
            pipeline.hget(keys.mails(player), digest)
            pipeline.hget(keys.contents(player), digest)
            packed, content = pipeline.execute()
        if packed is None or content is None:
            # The person was erased meanwhile, or the mail has been forgotten.
            self._client.zrem(keys.due, member)
            self._client.hdel(keys.attempts, member)
            return None
        return Taken(from_json(ReceivedMail, packed), zlib.decompress(content), attempt)


def _member(mail: ReceivedMail) -> str:
    return f"{mail.player} {mail.digest}"
