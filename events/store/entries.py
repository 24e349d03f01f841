"""Entries of feeds and streams, as the server returns them, and what they stand for."""

from collections.abc import Iterable, Mapping
from typing import Any

from events.runtime.connections import Entry
from events.store.contract import DamagedStreamError, Pointer
from events.store.envelope import Envelope, unpack


def pointer_of(entry_id: bytes, fields: Mapping[bytes, bytes]) -> Pointer:
    """Return the pointer that a feed entry is."""
    return Pointer(int(entry_id.partition(b"-")[0]), fields[b"m"].decode(), int(fields[b"v"]))


def entry_of(reply: list[Any]) -> Entry:
    """Return a stream entry from the reply of a script, in the form in which a command returns it."""
    entry_id, fields = reply
    return entry_id, dict(zip(fields[::2], fields[1::2], strict=True))


def envelopes_of(stream: str, after: int, entries: Iterable[Entry]) -> list[Envelope]:
    """Return the events that ``entries`` of a stream are, from version ``after`` + 1 on; raises DamagedStreamError."""
    envelopes = []
    for version, (entry_id, fields) in enumerate(entries, after + 1):
        if entry_id != b"%d-0" % version:
            raise DamagedStreamError(stream, version, f"the entry is missing, {entry_id.decode()} is in its place")
        try:
            envelopes.append(unpack(fields[b"b"], stream, version, fields[b"h"]))
        except (ValueError, KeyError) as error:
            raise DamagedStreamError(stream, version, f"the entry cannot be read ({error})") from error
    return envelopes
