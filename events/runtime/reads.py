"""Reads that share a round trip: each part of an answer adds its own to a batch, which asks the store once for all."""

import math
from collections.abc import Callable, Iterable
from typing import Any, Generic, NamedTuple, TypeVar

from events.runtime.connections import StoreClient, StorePipeline

T = TypeVar("T")
U = TypeVar("U")


class Read(NamedTuple, Generic[T]):
    """A read: ``queue`` queues its commands, any number of them, and ``parse`` makes its result of their replies."""

    queue: Callable[[StorePipeline], object]
    parse: Callable[[list[Any]], T]

    def then(self, convert: Callable[[T], U]) -> "Read[U]":
        """Return a read with the same commands whose result is converted."""
        return Read(self.queue, lambda replies: convert(self.parse(replies)))


class ReadBatch:
    """Reads that are made together when the result of the first is asked for; those added later make a new batch."""

    def __init__(self, client: StoreClient) -> None:
        self._client = client
        self._pending: list[tuple[Read[Any], list[Any]]] = []

    def add(self, read: Read[T]) -> Callable[[], T]:
        """Add a read; return a function that returns its result, the same at each call, and raises StoreError."""
        result: list[T] = []
        self._pending.append((read, result))

        def get() -> T:
            if not result:
                self._execute()
            return result[0]

        return get

    def _execute(self) -> None:
        with self._client.pipeline(transaction=False) as pipeline:
            ends = []
            for read, _ in self._pending:
                read.queue(pipeline)
                ends.append(len(pipeline))
            replies = pipeline.execute() if len(pipeline) else []
        start = 0
        for (read, result), end in zip(self._pending, ends, strict=True):
            result.append(read.parse(replies[start:end]))
            start = end
        self._pending = []


def read_alone(client: StoreClient, read: Read[T]) -> T:
    """Return the result of one read, in a round trip of its own; raises StoreError."""
    return ReadBatch(client).add(read)()


def read_due(
    client: StoreClient, names: Iterable[str], until: float = math.inf, limit: int | None = None
) -> list[list[tuple[str, int]]]:
    """Return of each of the sorted sets ``names`` the first members, up to ``limit``, that are due by ``until``.

    Each is given with its instant (milliseconds since 1970 UTC). One round trip to each server.
    """
    part: dict[str, Any] = {} if limit is None else {"start": 0, "num": limit}
    with client.pipeline(transaction=False) as pipeline:
        for name in names:
            pipeline.zrangebyscore(name, "-inf", until, withscores=True, **part)
        replies = pipeline.execute()
    return [[(member.decode(), int(at)) for member, at in reply] for reply in replies]
