"""Packs: many finished matches of one game in one file, compressed in groups, with an index at the end.

Digests of events are not in it: they do not compress and follow from the events. That of the last event proves all.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson

from events.store.archive import framing
from events.store.contract import EMPTY, Head
from events.store.envelope import Envelope, canonical_bytes, chain_digest, unpack

MAGIC = b"rookery pack 1\n"
GROUP = 16
"""Matches in a frame: more compress better, and take longer to read one of."""

DICTIONARY_BYTES = 8 * 1024
MIN_SAMPLES = 2000
"""Events from which a dictionary is worth training."""


class ArchivedMatch(NamedTuple):
    """An archived match: events as stored, head, packed summary, ``revision`` of its conditional moves (kept live)."""

    stream: str
    head: Head
    events: tuple[bytes, ...]
    summary: bytes
    revision: int

    def envelopes(self) -> list[Envelope]:
        """Return the events; raises DamagedArchiveError unless they lead to the head."""
        envelopes, digest = [], EMPTY.digest
        try:
            for version, packed in enumerate(self.events, 1):
                event = unpack(packed, self.stream, version, digest)
                digest = chain_digest(digest, canonical_bytes(event.draft, self.stream, version))
                envelopes.append(event._replace(id=digest.hex()))
        except (ValueError, TypeError) as error:
            raise framing.DamagedArchiveError(f"{self.stream} in the archive cannot be read ({error})") from error
        if (len(envelopes), digest) != self.head:
            raise framing.DamagedArchiveError(f"{self.stream} in the archive does not lead to the digest that it had")
        return envelopes


class PackIndex(NamedTuple):
    """The frames of a pack, GROUP matches each; ``contents`` has names and heads, ``round`` makes it unique."""

    game: str
    round: int
    dictionary: str | None
    contents: framing.Frame
    events: list[framing.Frame]
    summaries: list[framing.Frame]


class Dictionary(NamedTuple):
    """A dictionary of zstandard, and the name of the file that it is in."""

    name: str
    content: bytes


def dictionary_for(matches: Sequence[ArchivedMatch]) -> bytes | None:
    """Return a dictionary for matches like these; None when they are too few to train one."""
    samples = [event for match in matches for event in match.events]
    return framing.train_dictionary(samples, DICTIONARY_BYTES) if len(samples) >= MIN_SAMPLES else None


def build_pack(
    game: str, round_number: int, matches: Sequence[ArchivedMatch], dictionary: Dictionary | None = None
) -> bytes:
    """Return a pack of ``matches``, made in a round of archiving."""
    file, content = framing.FileWriter(MAGIC), dictionary and dictionary.content
    groups = [matches[first : first + GROUP] for first in range(0, len(matches), GROUP)]
    contents = [(match.stream, match.head.version, match.head.digest.hex()) for match in matches]
    index = PackIndex(
        game,
        round_number,
        dictionary and dictionary.name,
        file.add(framing.compress(orjson.dumps(contents))),
        [file.add(framing.compress(b"\n\n".join(map(_record, group)), content)) for group in groups],
        [file.add(framing.compress(b"\n".join(match.summary for match in group))) for group in groups],
    )
    return file.finish(index._asdict())


def read_pack_index(fields: Any) -> PackIndex:
    """Return the index of a pack from its JSON values; raises DamagedArchiveError."""
    try:
        start, length = fields["contents"]
        events, summaries = ([(start, length) for start, length in fields[name]] for name in ("events", "summaries"))
        return PackIndex(fields["game"], fields["round"], fields["dictionary"], (start, length), events, summaries)
    except (KeyError, TypeError, ValueError) as error:
        raise framing.DamagedArchiveError(f"the index of a pack cannot be read ({error})") from error


def contents_in(frame: bytes) -> list[tuple[str, Head]]:
    """Return the names and heads of the matches of a pack; raises DamagedArchiveError."""
    return [(stream, Head(version, bytes.fromhex(digest))) for stream, version, digest in framing.read_json(frame)]


def records_in(content: bytes) -> list[bytes]:
    """Return the records of the matches in the content of a frame of events."""
    return content.split(b"\n\n")


def summaries_in(frame: bytes) -> list[bytes]:
    """Return the packed summaries in a frame; raises DamagedArchiveError."""
    return framing.decompress(frame).split(b"\n")


def read_record(record: bytes, stream: str, head: Head) -> ArchivedMatch:
    """Return the match that a record holds, without a summary; raises DamagedArchiveError unless it is ``stream``."""
    facts, *events = record.split(b"\n")
    try:
        name, revision = orjson.loads(facts)
    except ValueError as error:
        raise framing.DamagedArchiveError(f"the place of {stream} in the archive cannot be read ({error})") from error
    if name != stream:
        raise framing.DamagedArchiveError(f"{name} is in the place of {stream} in the archive")
    return ArchivedMatch(stream, head, tuple(events), b"", revision)


def _record(match: ArchivedMatch) -> bytes:
    return b"\n".join((orjson.dumps((match.stream, match.revision)), *match.events))
