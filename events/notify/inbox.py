"""Mail that has arrived: stored before its sender is told that it is accepted, then read, once for each Message-ID.

A mail is known by its digest (``mail_digest``). Its outcome is remembered for MEMORY_DAYS, its content only until it
has been read. None of it is an event; all of it can be erased.
"""

import hashlib
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

from events.notify.notice import from_json, to_json
from events.notify.player_store import PlayerStore
from events.runtime.connections import StoreClient
from events.runtime.notice_keys import PostmasterKeys
from events.runtime.work_list import WorkList, work_script

DAY_MS = 86_400_000
MEMORY_DAYS = 30
MAX_MAILS = 500
"""Of one person; older ones are forgotten."""

MAX_WAITING = 20
MAX_WAITING_BYTES = 4_000_000
"""Mails of one person that were not read yet, and their compressed bytes: more must be sent again later."""

MAX_REFUSALS = 4
REFUSALS_S = 3600
"""So many answers that only refuse are sent in this time about one match, or to mail that is about none."""

MAX_MAILS_SHOWN = 10
"""Of those that a person has sent, on the settings page and by the API."""

MAX_POSTMASTER_MAILS = 100
MAX_POSTMASTER_BYTES = 64_000
"""Of one mail to the postmaster: the rest is not stored."""


class Verdict(StrEnum):
    """The outcome of an incoming mail. A stored value is never renamed; new ones may be added."""

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

    REPEATED = "repeated"
    """Another mail with its Message-ID, but with another text, came before."""

    FAILED = "failed"
    """The server could not read it; nothing more was done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedMail:
    """A mail to ``player``.

    ``recipient`` is the local part that it was sent to, empty once it has been read: it is a secret. ``sender`` is the
    address in its From header, ``return_path`` that of its envelope, empty for the null one. ``text`` is a digest of
    the text below its headers; ``repeats`` tells that a mail with its Message-ID and another text came before.
    ``reason`` is a sentence for the player about the verdict. ``at`` is when it arrived (milliseconds since 1970 UTC).
    """

    digest: str
    player: str
    recipient: str
    return_path: str
    sender: str
    subject: str
    size: int
    at: int
    text: str = ""
    repeats: bool = False
    verdict: Verdict = Verdict.WAITING
    reason: str = ""
    answered: bool = False


class Taken(NamedTuple):
    """A mail that was claimed with ``token`` to be read, for the ``attempt``-th time."""

    mail: ReceivedMail
    content: bytes
    attempt: int
    token: str


class PostmasterMail(NamedTuple):
    """A mail to the postmaster; ``content`` is cut."""

    id: str
    at: int
    sender: str
    content: bytes


def text_digest(content: bytes) -> str:
    """Return the digest of the text of a mail: its headers differ by the way on which it came."""
    head, end, text = content.partition(b"\r\n\r\n")
    return hashlib.sha256(text if end else head).hexdigest()[:32]


def mail_digest(message_id: str, recipient: str, content: bytes) -> str:
    """Return the identity of a mail to ``recipient``: its Message-ID, without one its content."""
    identity = f"id {message_id}".encode(errors="replace") if message_id else b"content " + content
    return hashlib.sha256(recipient.lower().encode(errors="replace") + b"\n" + identity).hexdigest()[:32]


class Inbox(PlayerStore):
    """The incoming mail of an installation. ``work`` is owned by recipients; ``now`` replaces the store's clock."""

    def __init__(self, client: StoreClient, prefix: str, shards: int, now: Callable[[], int] | None = None) -> None:
        super().__init__(client, prefix, shards)
        self.work = WorkList(client, [keys.inbox for keys in self._all_keys()], now)
        self._postmaster = PostmasterKeys(prefix).mails
        self._add = work_script(client, __package__, "add_mail")
        self._finish = work_script(client, __package__, "finish_mail")

    def add(self, mail: ReceivedMail, content: bytes) -> bool:
        """Store a mail to be read, nothing if it is known; return False when too much of the player waits already.

        A mail with the Message-ID of a known one, but with another text, is stored as one that repeats it.
        """
        added = self._store(mail, content)
        if added == b"known" and not mail.repeats:
            stored = self._client.hget(self._keys(mail.player).mails(mail.player), mail.digest)
            if stored is not None and from_json(ReceivedMail, stored).text != mail.text:
                digest = hashlib.sha256(f"{mail.digest} {mail.text}".encode()).hexdigest()[:32]
                return self.add(replace(mail, digest=digest, repeats=True), content)
        return added != b"full"

    def _store(self, mail: ReceivedMail, content: bytes) -> bytes:
        keys = self._keys(mail.player)
        added: bytes = self._add(
            keys=[keys.inbox.base, keys.order(mail.player), keys.mails(mail.player), keys.contents(mail.player)],
            args=[
                mail.digest,
                to_json(mail),
                zlib.compress(content),
                mail.at,
                mail.player,
                mail.at - MEMORY_DAYS * DAY_MS,
                MAX_MAILS,
                MAX_WAITING,
                MAX_WAITING_BYTES,
            ],
        )
        return added

    def take(self) -> Taken | None:
        """Claim a mail that is to be read; None when there is none."""
        while (claim := self.work.claim()) is not None:
            player, _, digest = claim.id.partition(" ")
            keys = self._keys(player)
            with self._client.pipeline(transaction=False) as pipeline:
                pipeline.hget(keys.mails(player), digest)
                pipeline.hget(keys.contents(player), digest)
                packed, content = pipeline.execute()
            if packed is not None and content is not None:
                return Taken(from_json(ReceivedMail, packed), zlib.decompress(content), claim.attempts, claim.token)
            # It has been forgotten.
            self.work.finish(claim)
        return None

    def finish(self, taken: Taken, verdict: Verdict, reason: str, *, answered: bool) -> None:
        """Record the outcome of a mail that was taken, and forget its content; nothing when the claim is lost."""
        mail = taken.mail
        keys = self._keys(mail.player)
        done = replace(mail, verdict=verdict, reason=reason, answered=answered, recipient="")
        self._finish(
            keys=[keys.inbox.base, keys.mails(mail.player), keys.contents(mail.player)],
            args=[mail.player, mail.digest, taken.token, to_json(done)],
        )

    def recent(self, player: str, limit: int) -> list[ReceivedMail]:
        """Return the last ``limit`` mails to ``player``, the newest first."""
        keys = self._keys(player)
        digests = self._client.zrange(keys.order(player), 0, limit - 1, desc=True)
        if not digests:
            return []
        packed_mails = self._client.hmget(keys.mails(player), digests)
        return [from_json(ReceivedMail, packed) for packed in packed_mails if packed is not None]

    def count_refusal(self, mail: ReceivedMail, about: str) -> int:
        """Count an answer to ``mail`` that only refuses; return how many there are within REFUSALS_S with this one.

        ``about`` is the match, empty for none. The same mail gets the same number however often it is counted.
        """
        key = self._keys(mail.player).refusals(mail.player, about)
        stored = self._client.hget(key, mail.digest)
        if stored is not None:
            return int(stored)
        number = int(self._client.hlen(key)) + 1
        with self._client.pipeline(transaction=True) as pipeline:
            pipeline.hset(key, mail.digest, number)
            pipeline.expire(key, REFUSALS_S, nx=True)
            pipeline.execute()
        return number

    def erase(self, player: str) -> None:
        """Delete all mail to ``player``, read or not."""
        keys = self._keys(player)
        self.work.discard(player)
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
