"""Places: how many matches may begin for an account, and those that new matches have taken.

Of a bot that is its declared capacity, of a person a setting, which counts for matches that the server begins.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import IntEnum, StrEnum
from typing import Any, NamedTuple

from events.people.capacity import Capacity
from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.errors import StoreUnavailableError
from events.runtime.keys import PeopleKeys
from events.runtime.transactions import transact
from events.store.converter import pack, read_value, unpack

DEFAULT_CONCURRENT = 10
MAX_CONCURRENT_OF_PERSON = 100

MAX_PLACE_AGE_MS = 10 * 60 * 1000
"""For how long a new place counts before the read models have it: a relay that is behind by more lets it exceed."""


class Starts(StrEnum):
    """Whether the server starts matches of seeks and tournaments for a person with room."""

    YES = "yes"
    ASK = "ask"
    """As an invitation: the match begins when it is accepted."""

    NO = "no"


class StartLimit(NamedTuple):
    """The server starts matches while fewer than ``concurrent`` are played, invitations that wait included."""

    concurrent: int = DEFAULT_CONCURRENT
    starts: Starts = Starts.YES


class PlaceOutcome(IntEnum):
    """The outcome of asking for a place."""

    REFUSED = 0
    HELD_BEFORE = 1
    TAKEN = 2


class Places:
    """The places of all accounts of an installation."""

    def __init__(self, client: StoreClient, prefix: str, now: Callable[[], int]) -> None:
        self._client = client
        self._keys = PeopleKeys(prefix)
        self._now = now

    def limits_of(self, players: Iterable[str]) -> dict[str, StartLimit]:
        """Return the limit of each of ``players``, in one round trip: for one who is suspended the server starts none.

        The limit of a bot is its capacity.
        """
        wanted = list(dict.fromkeys(players))
        with self._client.pipeline(transaction=False) as pipeline:
            for player in wanted:
                pipeline.hmget(self._keys.account(player), "capacity", "starts")
                pipeline.exists(self._keys.suspension(player))
            replies = pipeline.execute() if wanted else []
        return {
            player: StartLimit(0, Starts.NO) if suspended else _limit(capacity, stored)
            for player, (capacity, stored), suspended in zip(wanted, replies[::2], replies[1::2], strict=True)
        }

    def set_limit(self, person: str, limit: StartLimit) -> bool:
        """Store the limit of a person; return False when the account is gone."""
        account = self._keys.account(person)

        def change(pipeline: StorePipeline) -> bool:
            is_there = bool(pipeline.exists(account))
            pipeline.multi()
            if is_there:
                pipeline.hset(account, "starts", pack(limit))
            return is_there

        return transact(self._client, [account], change)

    @contextmanager
    def hold(
        self,
        owner: str,
        subject: str,
        maximum: int,
        *,
        projected: Callable[[Sequence[str]], Collection[str]],
        counted: Callable[[], Collection[str]],
    ) -> Iterator[bool]:
        """Take one of ``maximum`` places of ``owner`` for the ``subject`` of the block; yields False if all are taken.

        ``projected`` returns which of some subjects the read models have, ``counted`` those with a place by the read
        models. An error frees the place, unless the subject may exist.
        """
        # In this order: subjects that are projected by now are among those counted next.
        taken = self.taken(owner)
        place = self.take(owner, subject, maximum, projected=projected(taken) if taken else (), counted=counted())
        try:
            yield place != PlaceOutcome.REFUSED
        except StoreUnavailableError:
            raise
        except Exception:
            if place == PlaceOutcome.TAKEN:
                self.free(owner, subject)
            raise

    def taken(self, owner: str) -> list[str]:
        """Return the subjects that hold a place of ``owner`` and may not be in the read models yet."""
        subjects: Any = self._client.zrange(self._keys.places(owner), 0, -1)
        return [subject.decode() for subject in subjects]

    def take(
        self, owner: str, subject: str, maximum: int, *, projected: Collection[str], counted: Collection[str]
    ) -> PlaceOutcome:
        """Let ``subject`` take a place of ``owner`` unless ``maximum`` others have one.

        ``projected`` are those of ``taken`` that the read models had before ``counted``, which have a place, was read.
        Crash-safe: counted and taken in one step. A place of which nothing comes is free again after MAX_PLACE_AGE_MS.
        """
        places, now = self._keys.places(owner), self._now()

        def change(pipeline: StorePipeline) -> PlaceOutcome:
            taken = pipeline.zrange(places, f"({now - MAX_PLACE_AGE_MS}", "+inf", byscore=True)
            held = {place.decode() for place in taken} - set(projected)
            if len((held | set(counted)) - {subject}) >= maximum:
                return PlaceOutcome.REFUSED
            pipeline.multi()
            pipeline.zremrangebyscore(places, "-inf", now - MAX_PLACE_AGE_MS)
            if projected:
                pipeline.zrem(places, *projected)
            pipeline.zadd(places, {subject: now})
            return PlaceOutcome.HELD_BEFORE if subject in held else PlaceOutcome.TAKEN

        return transact(self._client, [places], change)

    def free(self, owner: str, subject: str) -> None:
        """Give the place of ``subject`` back, which has not come about after all."""
        self._client.zrem(self._keys.places(owner), subject)


def seeks_of(person: str) -> str:
    """Return the owner of the places of a person's open seeks, which are counted apart from matches."""
    return f"{person}:seeks"


def _limit(capacity: bytes | None, stored: bytes | None) -> StartLimit:
    if capacity is not None:
        declared: Mapping[str, Any] = json.loads(capacity)
        return StartLimit(read_value(Capacity, declared).concurrent)
    return StartLimit() if stored is None else unpack(StartLimit, stored)
