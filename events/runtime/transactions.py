"""Optimistic transactions: read, decide, and write only if no other client has changed the keys that were read."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from redis.exceptions import WatchError

from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.errors import WriteContentionError

MAX_ATTEMPTS = 100
T = TypeVar("T")


def transact(
    client: StoreClient, keys: Sequence[str], change: Callable[[StorePipeline], T], *, attempts: int = MAX_ATTEMPTS
) -> T:
    """Call ``change``, execute the commands it has queued in one transaction, and return its result.

    It reads through the pipeline, and queues after ``multi()``; again, up to ``attempts`` times, if one of ``keys`` was
    changed. Raises WriteContentionError.
    """
    with client.pipeline(transaction=True) as pipeline:
        for _ in range(attempts):
            try:
                pipeline.watch(*keys)
                result = change(pipeline)
                if pipeline.command_stack:
                    pipeline.execute()
            except WatchError:
                continue
            return result
    raise WriteContentionError(f"other writers change {', '.join(keys[:3])} all the time")
