"""Appends that are acknowledged only when replicas have them: WAIT on the connection that has written."""

from collections.abc import Sequence
from typing import Any

from redis.exceptions import WatchError

from events.runtime.connections import StoreClient
from events.runtime.errors import StoreUnavailableError
from events.runtime.scripts import Argument, Script

MAX_WAIT_MS = 1000
"""For replicas that are behind: a caller is told after this time, and repeats the request."""

MAX_ATTEMPTS = 5

WRITE_HEAD_AGAIN = "redis.call('HSET', KEYS[1], 'v', redis.call('HGET', KEYS[1], 'v'))"
"""WAIT waits for what its connection has written: that of a repeated request has written nothing yet."""


class NotCopiedError(StoreUnavailableError):
    """What was appended is stored, but fewer than ``replicas`` replicas have it: one may take over without it.

    The same request again waits for them again, and is never carried out twice.
    """

    def __init__(self, stream: str, replicas: int, copied: int) -> None:
        super().__init__(f"an event of {stream} is stored, but {copied} instead of {replicas} replicas have it by now")
        self.replicas = replicas


def append_copied(
    client: StoreClient, append: Script, stream: str, keys: Sequence[str], args: Sequence[Argument], replicas: int
) -> Any:
    """Call the script ``append`` and wait until ``replicas`` replicas have what it wrote; return its reply.

    ``keys[1]`` is the head of the stream. Raises NotCopiedError, and what the script raises.
    """
    for _ in range(MAX_ATTEMPTS):
        try:
            # Watched for the sake of the connection, which stays the same until the pipeline ends.
            with client.pipeline(transaction=True) as connection:
                connection.watch(keys[1])
                reply = append(keys, args, connection)
                if reply[0] == b"repeated":
                    connection.eval(WRITE_HEAD_AGAIN, 1, keys[1])
                if reply[0] in (b"appended", b"repeated"):
                    copied: Any = connection.wait(replicas, MAX_WAIT_MS)
                    if copied < replicas:
                        raise NotCopiedError(stream, replicas, copied)
                return reply
        except WatchError:
            continue  # the connection broke or the slot has moved; the request's key makes the repetition safe
    raise StoreUnavailableError("the connection to the event store breaks again and again")
