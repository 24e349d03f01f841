"""The ports of an installation: which are free, and whether they answer."""

import errno
import socket
import urllib.request
from contextlib import suppress
from typing import NamedTuple

from events.runtime.connections import StoreClient
from events.runtime.errors import StoreError

LOOPBACK = "127.0.0.1"
ALL_ADDRESSES = frozenset({"0.0.0.0", "::"})  # noqa: S104
ELSEWHERE = ("192.0.2.1", 9)
"""An address of no machine (RFC 5737): which own address leads there is that of the default route."""


class PortTakenError(Exception):
    """A port cannot be listened on; the message names its holder, as far as one can tell, and the remedy."""


class Ports(NamedTuple):
    """Where an installation listens: pages and API, live stream, embedded server, incoming mail."""

    api: int = 8000
    stream: int = 8001
    server: int = 6479
    mail: int = 8025

    @classmethod
    def free(cls) -> "Ports":
        """Return four ports on which no program listens now."""
        probes = [socket.socket() for _ in range(4)]
        for probe in probes:
            probe.bind((LOOPBACK, 0))
        api, stream, server, mail = (probe.getsockname()[1] for probe in probes)
        for probe in probes:
            probe.close()
        return cls(api, stream, server, mail)


def check_port_is_free(port: int, purpose: str, option: str, host: str = LOOPBACK) -> None:
    """Raise PortTakenError when ``port`` cannot be listened on; ``option`` is the one that chooses another."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            taken = error.errno == errno.EADDRINUSE
            why = (
                f"is taken by {_identify_listener(host, port)}"
                if taken
                else f"on {host} cannot be used ({error.strerror})"
            )
            raise PortTakenError(f"port {port} for {purpose} {why}: choose another with {option}") from error


def reachable_host(bind: str) -> str:
    """Return the address by which other machines reach a part that listens on ``bind``; loopback without a network."""
    if bind not in ALL_ADDRESSES:
        return bind
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(ELSEWHERE)  # sends nothing: a datagram socket only chooses its address
        return str(probe.getsockname()[0])
    return LOOPBACK


def url_host(host: str) -> str:
    """Return ``host`` as it is written in a URL."""
    return f"[{host}]" if ":" in host else host


def is_serving(client: StoreClient) -> bool:
    """Return whether the server of ``client`` answers and has loaded its files."""
    try:
        return bool(client.ping())
    except StoreError:
        return False


def accepts_connections(host: str, port: int) -> bool:
    """Return whether a connection to ``port`` is accepted."""
    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:
        return False
    return True


def responds_ok(url: str) -> bool:
    """Return whether a GET of ``url`` is answered with 200."""
    try:
        with urllib.request.urlopen(url, timeout=5) as response:  # noqa: S310 - our own address
            return bool(response.status == 200)
    except OSError:
        return False


def _identify_listener(host: str, port: int) -> str:
    try:
        with socket.create_connection((host, port), timeout=1) as connection:
            connection.settimeout(1)
            connection.sendall(b"PING\r\n")
            answer = connection.recv(64)
    except OSError:
        return "another program"
    if answer.startswith((b"+PONG", b"-NOAUTH", b"-DENIED")):
        return "a Valkey or Redis server (set REDIS_URL to use it)"
    return "another program"
