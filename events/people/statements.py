"""Texts that events name by a salted digest only, so that they can be erased: statements, reasons of arbiters."""

import hashlib
import json
import secrets
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import NamedTuple

from events.runtime.connections import StoreClient
from events.runtime.keys import CaseKeys
from events.store.codec import content_shown
from events.store.envelope import Envelope

MAX_TEXT_LENGTH = 10_000
SALT_LENGTH = 32
UNNAMED_AFTER_MS = 3_600_000
"""A text that no event names after this time belongs to a request that failed."""

MAX_DISCARDED = 100
"""Of such texts, at a time."""

MEMBERS: Mapping[str, tuple[str, ...]] = {
    "dispute-raised": ("statement",),
    "statement-filed": ("statement",),
    "ruling-appealed": ("statement",),
    "case-reopened": ("statement",),
    "ruling-made": ("reason", "rule"),
    "ruleset-proposed": ("reason",),
}
"""The members of an event's content that are digests of texts, by the type of the event."""


class Statement(NamedTuple):
    """A text with its salt. Its digest is the SHA-256 of the UTF-8 bytes of ``salt`` (hexadecimal) and ``text``."""

    salt: str
    text: str

    @property
    def digest(self) -> str:
        """The digest that an event carries, in hexadecimal."""
        return hashlib.sha256((self.salt + self.text).encode()).hexdigest()


StoredTexts = Mapping[tuple[str, str], Statement]


class NamedText(NamedTuple):
    """A text that an event names, None when erased or hidden. ``fault``: why it is not the one that was recorded."""

    sha256: str
    salt: str | None = None
    text: str | None = None
    fault: str | None = None


class TextFault(NamedTuple):
    """The ``member`` of the event at ``version`` names a text that is missing or altered."""

    version: int
    member: str
    reason: str


def with_salt(text: str) -> Statement:
    """Return ``text`` with a new salt."""
    return Statement(secrets.token_hex(SALT_LENGTH // 2), text)


def text_digests(envelope: Envelope) -> dict[str, str]:
    """Return the digests of the texts that an event names, by the member of its content."""
    content = content_shown(envelope)
    return {
        member: content[member]
        for member in MEMBERS.get(envelope.type, ())
        if isinstance(content.get(member), str) and content[member]
    }


def named_texts(envelope: Envelope, stored: StoredTexts, present: Container[str]) -> dict[str, NamedText]:
    """Return the texts that an event names, by member; ``present`` are authors who have not been erased."""
    texts, named = {}, text_digests(envelope)
    for member in MEMBERS.get(envelope.type, ()):
        digest = named.get(member)
        if digest is None:
            texts[member] = NamedText("", fault="no text was recorded")
            continue
        statement = stored.get((envelope.actor, digest))
        if statement is None:
            missing = "the text is missing, although its author has not been erased"
            texts[member] = NamedText(digest, fault=missing if envelope.actor in present else None)
        elif statement.digest != digest:
            texts[member] = NamedText(digest, fault="the stored text is not the one whose digest was recorded")
        else:
            texts[member] = NamedText(digest, statement.salt, statement.text)
    return texts


class Statements:
    """The texts of an installation."""

    def __init__(self, client: StoreClient, prefix: str, now: Callable[[], int]) -> None:
        self._client = client
        self._keys = CaseKeys(prefix)
        self._now = now

    def compose(self, match_id: str, author: str, text: str) -> Statement:
        """Return a statement of ``author`` in a case of a match, not saved yet; a repeated text keeps its salt."""
        earlier = (
            statement
            for (writer, _), statement in self.of_match(match_id).items()
            if writer == author and statement.text == text
        )
        return next(earlier, None) or with_salt(text)

    def save(self, match_id: str, author: str, *statements: Statement) -> None:
        """Save the statement of ``author`` in a case of a match."""
        # Crash-safe: texts are saved before the event that names them is appended, so that no event lacks its text.
        # A kill in between leaves texts that no event names; they are not shown, and ``discard_unnamed`` deletes them.
        with self._client.pipeline(transaction=True) as pipeline:
            for statement in statements:
                pipeline.zadd(self._keys.unconfirmed, {json.dumps([match_id, author, statement.digest]): self._now()})
                pipeline.hset(
                    self._keys.texts(match_id), f"{author}:{statement.digest}", statement.salt + statement.text
                )
            pipeline.sadd(self._keys.matches_of(author), match_id)
            pipeline.execute()

    def of_match(self, match_id: str) -> dict[tuple[str, str], Statement]:
        """Return the texts of a match that have not been erased, by author and digest."""
        stored = self._client.hgetall(self._keys.texts(match_id))
        return {_author_and_digest(field): _statement(text) for field, text in stored.items()}

    def of_author(self, author: str) -> dict[str, list[Statement]]:
        """Return the texts of ``author``, as a player or as an arbiter, by match."""
        matches = sorted(match_id.decode() for match_id in self._client.smembers(self._keys.matches_of(author)))
        return {
            match_id: [statement for (writer, _), statement in self.of_match(match_id).items() if writer == author]
            for match_id in matches
        }

    def faults(
        self, match_id: str, envelopes: Iterable[Envelope], present: Callable[[Iterable[str]], Container[str]]
    ) -> Iterator[TextFault]:
        """Yield the texts that events of a match name and that are missing or altered; see ``present_of``."""
        naming = [envelope for envelope in envelopes if text_digests(envelope)]
        if not naming:
            return
        stored, authors = self.of_match(match_id), present({envelope.actor for envelope in naming})
        for envelope in naming:
            for member, text in named_texts(envelope, stored, authors).items():
                if text.fault is not None:
                    yield TextFault(envelope.version, member, text.fault)

    def discard_unnamed(self, events_of: Callable[[str], Iterable[Envelope] | None]) -> int:
        """Delete up to MAX_DISCARDED texts older than UNNAMED_AFTER_MS that no event names; return how many."""
        due = self._client.zrange(
            self._keys.unconfirmed, "-inf", self._now() - UNNAMED_AFTER_MS, byscore=True, offset=0, num=MAX_DISCARDED
        )
        discarded = 0
        for member in due:
            match_id, author, digest = json.loads(member)
            events = events_of(match_id)
            named = {(event.actor, digest) for event in events or () for digest in text_digests(event).values()}
            if events is not None and (author, digest) not in named:
                discarded += self._client.hdel(self._keys.texts(match_id), f"{author}:{digest}")
            self._client.zrem(self._keys.unconfirmed, member)
        return discarded

    def erase(self, author: str) -> None:
        """Erase the texts of ``author`` in all cases; the events keep the digests."""
        # Crash-safe: the index of the author is deleted last, so that erasing again completes it.
        for match_id in self._client.smembers(self._keys.matches_of(author)):
            texts = self._keys.texts(match_id.decode())
            for field in self._client.hkeys(texts):
                if _author_and_digest(field)[0] == author:
                    self._client.hdel(texts, field)
        self._client.delete(self._keys.matches_of(author))


def _author_and_digest(field: bytes) -> tuple[str, str]:
    author, _, digest = field.decode().rpartition(":")
    return author, digest


def _statement(stored: bytes) -> Statement:
    # The text is compared with a digest: damaged bytes need not fail here.
    text = stored.decode(errors="replace")
    return Statement(text[:SALT_LENGTH], text[SALT_LENGTH:])
