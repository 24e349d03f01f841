"""Incidents: failures of the installation itself, for its operators and for the players whom it concerns."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from events.runtime.connections import StoreClient
from events.runtime.keys import IncidentKeys
from events.runtime.reads import Read, read_alone
from events.store.converter import pack, unpack


class Incident(NamedTuple):
    """Something that happened to the store, in ``words``; ``lost`` maps matches to the last version that is left."""

    id: str
    at: int
    words: str
    lost: Mapping[str, int] = MappingProxyType({})


class Loss(NamedTuple):
    """The loss of a match in an incident: the events after version ``after``; it was found ``at`` an instant."""

    at: int
    after: int


class Incidents:
    """The recorded incidents of an installation."""

    def __init__(self, client: StoreClient, prefix: str) -> None:
        self._client = client
        self._keys = IncidentKeys(prefix)

    def record(self, incident: Incident) -> bool:
        """Record ``incident`` for good, once by its id; return whether it is new. Crash-safe: one transaction."""
        with self._client.pipeline(transaction=True) as pipeline:
            pipeline.hsetnx(self._keys.all, incident.id, _packed(incident))
            for match_id in incident.lost:
                pipeline.sadd(self._keys.of_match(match_id), incident.id)
            return bool(pipeline.execute()[0])

    def count(self) -> int:
        """Return the number of incidents."""
        return int(self._client.hlen(self._keys.all))

    def all(self) -> list[Incident]:
        """Return all incidents, the earliest first."""
        stored = self._client.hgetall(self._keys.all)
        return sorted(
            (_unpack(id, packed) for id, packed in stored.items()), key=lambda incident: (incident.at, incident.id)
        )

    def losses(self, match_id: str) -> list[Loss]:
        """Return the losses of a match, the earliest first."""
        return read_alone(self._client, self.read_of_losses(match_id))

    def read_of_losses(self, match_id: str) -> Read[list[Loss]]:
        """Return the read of the losses of a match; there are none in nearly all, so that it is one round trip."""
        return Read(
            lambda pipeline: pipeline.smembers(self._keys.of_match(match_id)),
            lambda replies: self._losses(match_id, list(replies[0])),
        )

    def _losses(self, match_id: str, ids: list[bytes]) -> list[Loss]:
        losses = self._client.hmget(self._keys.all, ids) if ids else []
        incidents = [_unpack(id, packed) for id, packed in zip(ids, losses, strict=True) if packed is not None]
        return sorted(Loss(incident.at, incident.lost[match_id]) for incident in incidents)


def _packed(incident: Incident) -> bytes:
    return pack(_Recorded(incident.at, incident.words, dict(incident.lost)))


def _unpack(id: bytes, packed: bytes) -> Incident:
    recorded = unpack(_Recorded, packed)
    return Incident(id.decode(), recorded.at, recorded.words, recorded.lost)


class _Recorded(NamedTuple):
    at: int
    words: str
    lost: Mapping[str, int]
