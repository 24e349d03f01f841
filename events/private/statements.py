"""Texts that events name by a digest only, so that they can be erased: what is said in cases, and reasons of arbiters.

The digest is that of a random salt and the text. With the salt anybody can check that it is this text; without it, when
both are erased, nobody can find out by guessing what was said.
"""

import hashlib
import json
import secrets
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import NamedTuple

from events.runtime.connections import StoreClient
from events.runtime.keys import CaseKeys
from events.store.codec import content_shown
from events.store.envelope import Envelope

LONGEST = 10_000
"""Characters."""


SALT = 32
"""Hexadecimal digits."""

UNNAMED_AFTER_MS = 3_600_000
"""A text that no event names after this time belongs to a request that came to nothing."""

MEMBERS: Mapping[str, tuple[str, ...]] = {
    "dispute-raised": ("statement",),
    "statement-filed": ("statement",),
    "ruling-appealed": ("statement",),
    "case-reopened": ("statement",),
    "ruling-made": ("reason", "rule"),
    "ruleset-proposed": ("reason",),
}
"""Which members of an event's content are digests of texts, by the type of the event."""


class Statement(NamedTuple):
    """What was said. Its digest is the SHA-256 of the UTF-8 bytes of ``salt`` (hexadecimal) and ``text``."""

    salt: str
    text: str

    @property
    def digest(self) -> str:
        """What stands for the statement in an event, in hexadecimal."""
        return hashlib.sha256((self.salt + self.text).encode()).hexdigest()


Kept = Mapping[tuple[str, str], Statement]
"""Texts by author and digest."""


class Recalled(NamedTuple):
    """A text that an event names: its digest, salt and text, both None when it was erased or is not for the reader.

    ``fault`` says why the text that is kept cannot be shown as the one that was said; None when nothing is wrong.
    """

    sha256: str
    salt: str | None = None
    text: str | None = None
    fault: str | None = None


class TextFault(NamedTuple):
    """The ``member`` of the event at ``version`` names a text that is missing or is not the one that is kept."""

    version: int
    member: str
    reason: str


def salted(text: str) -> Statement:
    """Return ``text`` with a new salt."""
    return Statement(secrets.token_hex(SALT // 2), text)


def digests(envelope: Envelope) -> dict[str, str]:
    """Return the digests of the texts that an event names, by the member of its content."""
    content = content_shown(envelope)
    return {
        member: content[member]
        for member in MEMBERS.get(envelope.type, ())
        if isinstance(content.get(member), str) and content[member]
    }


def recalled(envelope: Envelope, kept: Kept, present: Container[str]) -> dict[str, Recalled]:
    """Return the texts that an event names, by the member of its content, each compared with its digest.

    ``kept`` are the texts of its match, ``present`` the ids of the authors who have not been erased.
    """
    texts, named = {}, digests(envelope)
    for member in MEMBERS.get(envelope.type, ()):
        digest = named.get(member)
        if digest is None:
            texts[member] = Recalled("", fault="no text was recorded")
            continue
        if digest == envelope.data[member]:
            statement = kept.get((envelope.actor, digest))
        else:
            # An older schema recorded the text itself. It cannot be taken out of the event, but it is not shown.
            statement = Statement("", envelope.data[member]) if envelope.actor in present else None
        if statement is None:
            missing = "the text is missing, although its author has not been erased"
            texts[member] = Recalled(digest, fault=missing if envelope.actor in present else None)
        elif statement.digest != digest:
            texts[member] = Recalled(digest, fault="the text that is kept is not the one whose digest was recorded")
        else:
            texts[member] = Recalled(digest, statement.salt, statement.text)
    return texts


class Statements:
    """The texts of one installation. Methods raise redis-py's errors. ``now`` returns milliseconds since 1970 UTC."""

    def __init__(self, client: StoreClient, prefix: str, now: Callable[[], int]) -> None:
        self._client = client
        self._keys = CaseKeys(prefix)
        self._now = now

    def compose(self, match: str, author: str, text: str) -> Statement:
        """Return what ``author`` says in a case of ``match``, not kept yet; the same text again has the same salt."""
        own = (said for (who, _), said in self.of_match(match).items() if who == author and said.text == text)
        return next(own, None) or salted(text)

    def keep(self, match: str, author: str, *texts: Statement) -> None:
        """Keep what ``author`` says in a case of ``match``.

        Crash-safe: texts are kept before the event that names them is appended, so that no event lacks its text. Killed
        in between, texts remain that no event names and that are not shown; ``discard_unnamed`` takes them away.
        """
        with self._client.pipeline(transaction=True) as pipeline:
            for said in texts:
                pipeline.zadd(self._keys.unconfirmed, {json.dumps([match, author, said.digest]): self._now()})
                pipeline.hset(self._keys.texts(match), f"{author}:{said.digest}", said.salt + said.text)
            pipeline.sadd(self._keys.matches_of(author), match)
            pipeline.execute()

    def of_match(self, match: str) -> dict[tuple[str, str], Statement]:
        """Return the texts of a match by author and digest; those that were erased are not among them."""
        stored = self._client.hgetall(self._keys.texts(match))
        return {_author_and_digest(field): _statement(kept) for field, kept in stored.items()}

    def of_author(self, author: str) -> dict[str, list[Statement]]:
        """Return what ``author`` said, by match: also where the author has no part but is the arbiter."""
        matches = sorted(match.decode() for match in self._client.smembers(self._keys.matches_of(author)))
        return {match: [said for (who, _), said in self.of_match(match).items() if who == author] for match in matches}

    def faults(
        self, match: str, envelopes: Iterable[Envelope], present: Callable[[Iterable[str]], Container[str]]
    ) -> Iterator[TextFault]:
        """Yield which texts that the events of ``match`` name are missing or are not those whose digests they carry.

        ``present`` returns those of the ids it is given that belong to people who have not been erased.
        """
        naming = [envelope for envelope in envelopes if digests(envelope)]
        if not naming:
            return
        kept, authors = self.of_match(match), present({envelope.actor for envelope in naming})
        for envelope in naming:
            for member, text in recalled(envelope, kept, authors).items():
                if text.fault is not None:
                    yield TextFault(envelope.version, member, text.fault)

    def discard_unnamed(self, events_of: Callable[[str], Iterable[Envelope] | None], limit: int = 100) -> int:
        """Take away texts that were kept for events that never came, ``limit`` at most are looked at; return how many.

        ``events_of`` reads the events of a match; None means that they cannot be read, and its texts stay. Only texts
        older than UNNAMED_AFTER_MS are looked at: no request takes that long.
        """
        due = self._client.zrange(
            self._keys.unconfirmed, "-inf", self._now() - UNNAMED_AFTER_MS, byscore=True, offset=0, num=limit
        )
        discarded = 0
        for member in due:
            match, author, digest = json.loads(member)
            events = events_of(match)
            named = {(event.actor, each) for event in events or () for each in digests(event).values()}
            if events is not None and (author, digest) not in named:
                discarded += self._client.hdel(self._keys.texts(match), f"{author}:{digest}")
            self._client.zrem(self._keys.unconfirmed, member)
        return discarded

    def erase(self, author: str) -> None:
        """Erase what ``author`` said in all cases; the events go on naming the digests.

        Crash-safe: killed midway, doing it again does the rest, for which matches they are is forgotten last.
        """
        for match in self._client.smembers(self._keys.matches_of(author)):
            texts = self._keys.texts(match.decode())
            for field in self._client.hkeys(texts):
                if _author_and_digest(field)[0] == author:
                    self._client.hdel(texts, field)
        self._client.delete(self._keys.matches_of(author))


def _author_and_digest(field: bytes) -> tuple[str, str]:
    author, _, digest = field.decode().rpartition(":")
    return author, digest


def _statement(kept: bytes) -> Statement:
    # The text is compared with a digest: damaged bytes need not fail here.
    text = kept.decode(errors="replace")
    return Statement(text[:SALT], text[SALT:])
