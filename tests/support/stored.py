"""All that a store holds, to be searched."""

import zlib
from collections.abc import Iterator
from typing import Any

from events.runtime.connections import StoreClient


def stored(redis: StoreClient) -> Iterator[tuple[str, bytes]]:
    """Yield the name of every key with all that is in it, compressed values as they read."""
    for key in redis.scan_iter():
        kind: Any = redis.type(key)
        if kind == b"none":
            continue  # a count of acts that has just run out
        content: Any = {
            b"string": lambda key=key: redis.get(key), b"hash": lambda key=key: redis.hgetall(key),
            b"list": lambda key=key: redis.lrange(key, 0, -1), b"set": lambda key=key: redis.smembers(key),
            b"zset": lambda key=key: redis.zrange(key, 0, -1), b"stream": lambda key=key: redis.xrange(key),
        }[kind]()  # fmt: skip
        values = [content] if isinstance(content, bytes) else getattr(content, "values", list)()
        texts = [repr(content).encode(), *map(unzipped, values)]
        yield key.decode(), b"\n".join(texts)


def unzipped(value: bytes) -> bytes:
    """Return what ``value`` was before it was compressed, or ``value`` itself when it was not."""
    try:
        return zlib.decompress(value)
    except zlib.error:
        return value
