"""Stores that earlier commits have written, kept as JSON that any version of the server can load; and quick copies."""

import base64
import gzip
import json
from pathlib import Path
from typing import Any, NamedTuple

from events.runtime.connections import StoreClient


class CopiedKey(NamedTuple):
    """A key as the server itself writes it; ``expires_in_ms`` is 0 for one that stays."""

    name: bytes
    expires_in_ms: int
    content: bytes


def copied(redis: StoreClient) -> list[CopiedKey]:
    """Return all keys of the server of ``redis``."""
    client: Any = redis
    return [CopiedKey(name, max(client.pttl(name), 0), client.dump(name)) for name in client.scan_iter()]


def write_copy(redis: StoreClient, keys: list[CopiedKey]) -> None:
    """Write ``keys`` to the empty server of ``redis``, which must be of the version that they were copied from."""
    with redis.pipeline(transaction=False) as pipeline:
        for key in keys:
            pipeline.restore(key.name, key.expires_in_ms, key.content)
        pipeline.execute()


def restore(redis: StoreClient, path: Path) -> dict[str, Any]:
    """Write the keys of the dump at ``path`` to the empty server of ``redis``; return the facts that it comes with.

    A dump is a gzipped JSON document with ``facts`` and ``keys``; a key is its name, its type, the milliseconds until
    it expires (null: never) and its content, in which a list of one string is base64.
    """
    dump = json.loads(gzip.decompress(path.read_bytes()))
    with redis.pipeline(transaction=False) as pipeline:
        for key, kind, expires_in_ms, content in dump["keys"]:
            for command in _commands(key, kind, content):
                pipeline.execute_command(*command)
            if expires_in_ms is not None:
                pipeline.pexpire(key, expires_in_ms)
        pipeline.execute()
    facts: dict[str, Any] = dump["facts"]
    return facts


def _commands(key: str, kind: str, content: Any) -> list[tuple[Any, ...]]:
    match kind:
        case "string":
            return [("SET", key, _bytes(content))]
        case "hash":
            return [("HSET", key, *map(_bytes, content))]
        case "list":
            return [("RPUSH", key, *map(_bytes, content))]
        case "set":
            return [("SADD", key, *map(_bytes, content))]
        case "zset":
            return [("ZADD", key, score, _bytes(member)) for score, member in content]
        case "stream":
            entries = [("XADD", key, entry, *map(_bytes, fields)) for entry, fields in content["entries"]]
            groups = [("XGROUP", "CREATE", key, name, last, "MKSTREAM") for name, last in content["groups"].items()]
            return [*entries, *groups, ("XSETID", key, content["last"])]
    raise ValueError(f"no key of a dump is a {kind}")


def _bytes(value: str | list[str]) -> bytes:
    return value.encode() if isinstance(value, str) else base64.b64decode(value[0])
