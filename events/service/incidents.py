"""Incidents: what went wrong with the installation itself, for its operators and for the players whom it concerns."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from types import MappingProxyType
from typing import NamedTuple

from events.runtime.connections import StoreClient
from events.runtime.keys import IncidentKeys
from events.runtime.scripts import load_script
from events.store.converter import pack, unpack
from events.store.told import LostEvent

MAX_VERSION = 2**31
"""Above the versions of all matches."""


class Incident(NamedTuple):
    """Something that happened to the store ``at`` an instant (milliseconds since 1970 UTC), described in ``words``.

    ``lost`` maps each match that lost events to the last version that is left of it, as far as the incident was
    recorded as a whole; events that were found one by one are in ``Incidents.lost_events``.
    """

    id: str
    at: int
    words: str
    lost: Mapping[str, int] = MappingProxyType({})


class Loss(NamedTuple):
    """What a match lost in an incident: the events after version ``after``; it was found ``at`` an instant."""

    at: int
    after: int


class Incidents:
    """The recorded incidents of an installation. Every method raises StoreUnavailableError."""

    def __init__(self, client: StoreClient, prefix: str) -> None:
        self._client = client
        self._keys = IncidentKeys(prefix)
        self._record_lost = load_script(client, __package__, "record_lost_events")

    def record(self, incident: Incident) -> None:
        """Record ``incident`` for good; one whose id is recorded already changes nothing.

        Crash-safe: one transaction, and a caller who never saw the reply records the same again.
        """
        with self._client.pipeline(transaction=True) as pipeline:
            pipeline.hsetnx(self._keys.all, incident.id, _packed(incident))
            for match_id in incident.lost:
                pipeline.sadd(self._keys.of_match(match_id), incident.id)
            pipeline.execute()

    def record_lost(self, incident: Incident, events: Sequence[LostEvent]) -> int:
        """Name ``events`` as lost in ``incident``; return how many had not been named before, in this one or another.

        Several processes find the same loss: each event is named once, and an incident that would name none is not
        recorded. Crash-safe: the events of a match are named in one step, and found again until they are.
        """
        added = 0
        for match_id, lost in groupby(sorted(events), key=attrgetter("match")):
            named = [part for event in lost for part in (event.version, event.digest, event.request)]
            keys = self._keys
            added += int(
                self._record_lost(
                    [keys.all, keys.matches(incident.id), keys.of_match(match_id), keys.lost_events(match_id)],
                    [incident.id, _packed(incident), match_id, *named],
                )
            )
        return added

    def count(self) -> int:
        """Return the number of incidents."""
        return int(self._client.hlen(self._keys.all))

    def all(self) -> list[Incident]:
        """Return all incidents, the earliest first."""
        found = self._client.hgetall(self._keys.all)
        return sorted((_unpack(id, packed) for id, packed in found.items()), key=lambda each: (each.at, each.id))

    def lost_events(self, incident: Incident) -> list[LostEvent]:
        """Return the events that were named one by one as lost in ``incident``, match by match."""
        matches = [match.decode() for match in sorted(self._client.smembers(self._keys.matches(incident.id)))]
        return [event for match in matches for id, event in self._named(match) if id == incident.id]

    def losses(self, match_id: str) -> list[Loss]:
        """Return what a match has lost, the earliest loss first."""
        ids = list(self._client.smembers(self._keys.of_match(match_id)))
        found = self._client.hmget(self._keys.all, ids) if ids else []
        incidents = [_unpack(id, packed) for id, packed in zip(ids, found, strict=True) if packed is not None]
        left = {incident.id: incident.lost.get(match_id, MAX_VERSION) for incident in incidents}
        for id, event in self._named(match_id) if ids else ():
            if id in left:
                left[id] = min(left[id], event.version - 1)
        return sorted(Loss(each.at, left[each.id]) for each in incidents)

    def _named(self, match_id: str) -> list[tuple[str, LostEvent]]:
        """Return the events of a match that were named as lost, in order, each with the id of the incident."""
        named = []
        for field, value in self._client.hgetall(self._keys.lost_events(match_id)).items():
            digest, id, request = value.decode().split(" ", 2)
            named.append((id, LostEvent(match_id, int(field.partition(b" ")[0]), digest, request)))
        return sorted(named, key=lambda each: each[1])


def _packed(incident: Incident) -> str:
    return pack(_Recorded(incident.at, incident.words, dict(incident.lost)))


def _unpack(id: bytes, packed: bytes) -> Incident:
    recorded = unpack(_Recorded, packed)
    return Incident(id.decode(), recorded.at, recorded.words, recorded.lost)


class _Recorded(NamedTuple):
    at: int
    words: str
    lost: Mapping[str, int]
