"""Where an installation listens, and whether it answers there."""

import socket
import urllib.request
from typing import NamedTuple

import redis

from deploy.local.embedded import LOOPBACK
from events.runtime.errors import StoreError


class Ports(NamedTuple):
    """Where an installation listens: pages and API, live stream, embedded server."""

    api: int = 8000
    stream: int = 8001
    server: int = 6479

    @classmethod
    def free(cls) -> "Ports":
        """Return three ports on which no program listens now."""
        probes = [socket.socket() for _ in range(3)]
        for probe in probes:
            probe.bind((LOOPBACK, 0))
        api, stream, server = (probe.getsockname()[1] for probe in probes)
        for probe in probes:
            probe.close()
        return cls(api, stream, server)


def bracketed(host: str) -> str:
    """Return ``host`` as it stands in a URL."""
    return f"[{host}]" if ":" in host else host


def pongs(client: "redis.Redis") -> bool:
    """Tell whether the server of ``client`` answers and has read its files."""
    try:
        return bool(client.ping())
    except (redis.RedisError, StoreError):
        return False


def listens(host: str, port: int) -> bool:
    """Tell whether connections are accepted."""
    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:
        return False
    return True


def answers(url: str) -> bool:
    """Tell whether a GET of ``url`` is answered with 200."""
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310 - our own address
            return bool(answer.status == 200)
    except OSError:
        return False
