"""The one way in which Rookery calls servers that others name: webhooks, push services, witnesses, timestamp services.

A name is resolved once, every address is checked, and the connection goes to a checked one: to let a library resolve it
again is how such guards are passed (DNS rebinding). Only https on port 443 to public addresses is called, and networks
that the operator allows (``egress_rules``). No redirects, proxies or cookies; answers are limited in bytes and time.
"""

import contextlib
import queue
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from ipaddress import ip_address
from typing import NamedTuple

import httpcore

from events.runtime.egress_rules import EgressError, EgressRules, RequestTarget, read_url

EXCHANGE_TIMEOUT_S = 15.0
"""For everything from the first look at the name to the last byte of the answer."""

MAX_ANSWER_BYTES = 65_536
MAX_HEADER_BYTES = 16_384
MAX_CONNECTION_ATTEMPTS = 3
_WRITE_BYTES = 4_096

Resolve = Callable[[str, int], Iterable[str]]


class EgressResponse(NamedTuple):
    """The answer of a server, names of ``headers`` in lower case; ``is_complete`` is False where ``body`` was cut."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    is_complete: bool


class Egress:
    """Calls servers that others name, in public or ``allowed`` networks (CIDR).

    ``resolve`` and ``trust`` replace this machine's resolver and its certificate authorities.
    """

    def __init__(
        self, allowed: Sequence[str] = (), *, resolve: Resolve | None = None, trust: ssl.SSLContext | None = None
    ) -> None:
        self._rules = EgressRules(allowed)
        self._resolve = resolve or system_addresses
        self._trust = trust

    def post(
        self, url: str, headers: Mapping[str, str], body: bytes, *, timeout_s: float | None = None
    ) -> EgressResponse:
        """Send ``body``, within ``timeout_s`` if less; return the answer, whatever its status. Raises EgressError."""
        target, timeout_s = read_url(url), min(timeout_s or EXCHANGE_TIMEOUT_S, EXCHANGE_TIMEOUT_S)
        with _worded(timeout_s):
            return self._exchange(target, headers, body, _Deadline(timeout_s))

    def _exchange(
        self, target: RequestTarget, headers: Mapping[str, str], body: bytes, deadline: "_Deadline"
    ) -> EgressResponse:
        addresses = self.checked_addresses(target, deadline.remaining_s())
        backend = _CheckedBackend(addresses, deadline, MAX_ANSWER_BYTES + MAX_HEADER_BYTES)
        place = httpcore.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.path)
        trust = self._context if target.scheme == "https" else None
        host = f"[{target.host}]" if ":" in target.host else target.host
        address = host if target.is_default_port else f"{host}:{target.port}"
        sent = [("Host", address), *headers.items(), ("Accept-Encoding", "identity"), ("Connection", "close")]
        with (
            httpcore.HTTPConnection(place.origin, ssl_context=trust, network_backend=backend) as connection,
            connection.stream("POST", place, headers=sent, content=body) as response,
        ):
            content, is_complete = self._read(response)
            return EgressResponse(response.status, _header_mapping(response.headers), content, is_complete)

    @cached_property
    def _context(self) -> ssl.SSLContext:
        return self._trust or httpcore.default_ssl_context()

    def _read(self, response: httpcore.Response) -> tuple[bytes, bool]:
        content = bytearray()
        try:
            for chunk in response.iter_stream():
                content += chunk
                if len(content) > MAX_ANSWER_BYTES:
                    return bytes(content[:MAX_ANSWER_BYTES]), False
        except _TooManyBytesError:
            return bytes(content[:MAX_ANSWER_BYTES]), False
        return bytes(content), True

    def checked_addresses(self, target: RequestTarget, timeout_s: float) -> list[str]:
        """Return the addresses of ``target``, all of which may be called; raises EgressError."""
        try:
            addresses = [ip_address(target.host)]
        except ValueError:
            resolved = _resolved_within(self._resolve, target.host, target.port, timeout_s)
            addresses = [ip_address(text) for text in resolved]
        if not addresses:
            raise EgressError(f"The name {target.host} has no address.")
        for address in addresses:
            self._rules.check_address(address, target)
        return [str(address) for address in dict.fromkeys(addresses)]


def system_addresses(host: str, port: int) -> list[str]:
    """Return the addresses of ``host`` that this machine's resolver finds; raises OSError."""
    resolved = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in resolved]


def _header_mapping(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    values: dict[str, str] = {}
    for name, value in headers:
        key = name.decode("ascii", "replace").lower()
        text = value.decode("latin-1")
        values[key] = f"{values[key]}, {text}" if key in values else text
    return values


def _resolved_within(resolve: Resolve, host: str, port: int, timeout_s: float) -> list[str]:
    """Return the addresses found in time. A resolver cannot be interrupted: its thread is left to end alone."""
    results: queue.SimpleQueue[list[str] | Exception] = queue.SimpleQueue()

    def look_up() -> None:
        try:
            results.put(list(resolve(host, port)))
        except Exception as error:  # told to the caller, who waits for it
            results.put(error)

    threading.Thread(target=look_up, name="resolver", daemon=True).start()
    try:
        result = results.get(timeout=timeout_s)
    except queue.Empty:
        raise httpcore.ConnectTimeout from None
    if isinstance(result, OSError | UnicodeError):
        raise EgressError(f"The name {host} cannot be found.") from result
    if isinstance(result, Exception):
        raise result
    return result


class _TooManyBytesError(Exception):
    pass


class _Deadline:
    def __init__(self, timeout_s: float) -> None:
        self._at = time.monotonic() + timeout_s

    def remaining_s(self) -> float:
        """Return how many seconds are left; raises httpcore.ReadTimeout when none are."""
        remaining = self._at - time.monotonic()
        if remaining <= 0:
            raise httpcore.ReadTimeout
        return remaining


class _CheckedBackend(httpcore.SyncBackend):
    """Connects to checked addresses only, and keeps the limits of one exchange."""

    def __init__(self, addresses: Sequence[str], deadline: _Deadline, max_bytes: int) -> None:
        super().__init__()
        self._addresses = addresses
        self._deadline = deadline
        self._max_bytes = max_bytes

    def connect_tcp(
        self,
        host: str,  # noqa: ARG002 (its addresses are known)
        port: int,
        timeout: float | None = None,  # noqa: ARG002 (the deadline of the exchange counts, here and below)
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to one of the checked addresses: the next one when one does not answer."""
        waiting = list(self._addresses[:MAX_CONNECTION_ATTEMPTS])
        while True:
            address = waiting.pop(0)
            seconds = self._deadline.remaining_s() / (len(waiting) + 1)
            try:
                stream = super().connect_tcp(address, port, seconds, local_address, socket_options)
                return _LimitedStream(stream, self._deadline, self._max_bytes)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if not waiting:
                    raise


class _LimitedStream(httpcore.NetworkStream):
    """A connection that ends at a deadline and after a number of bytes, however they are spread over reads."""

    def __init__(self, stream: httpcore.NetworkStream, deadline: _Deadline, max_bytes: int) -> None:
        self._stream = stream
        self._deadline = deadline
        self._remaining_bytes = max_bytes

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002
        """Return the bytes received; raises a timeout at the deadline, _TooManyBytesError behind the limit."""
        if self._remaining_bytes <= 0:
            raise _TooManyBytesError
        received = self._stream.read(min(max_bytes, self._remaining_bytes), self._deadline.remaining_s())
        self._remaining_bytes -= len(received)
        return received

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        """Send ``buffer`` piece by piece; raises a timeout at the deadline."""
        for start in range(0, len(buffer), _WRITE_BYTES):
            self._stream.write(buffer[start : start + _WRITE_BYTES], self._deadline.remaining_s())

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> httpcore.NetworkStream:
        """Return the same connection with TLS, for the name that was called."""
        stream = self._stream.start_tls(ssl_context, server_hostname, self._deadline.remaining_s())
        return _LimitedStream(stream, self._deadline, self._remaining_bytes)


@contextlib.contextmanager
def _worded(timeout_s: float) -> Iterator[None]:
    """Raise EgressError with words for the person who named the URL where httpcore raises its own errors."""
    try:
        yield
    except httpcore.TimeoutException as error:
        raise EgressError(f"There was no complete answer within {timeout_s:g} seconds.") from error
    except _TooManyBytesError as error:
        raise EgressError("The headers of the answer are too long.") from error
    except httpcore.ConnectError as error:
        raise EgressError(f"No connection was made: {_connect_words(error)}.") from error
    except httpcore.NetworkError as error:
        raise EgressError("The connection broke before the answer was complete.") from error
    except httpcore.ProtocolError as error:
        raise EgressError(f"The answer is not valid HTTP: {str(error)[:200]}.") from error


def _connect_words(error: httpcore.ConnectError) -> str:
    cause = error.__cause__
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"its certificate is not valid for it ({cause.verify_message})"
    if isinstance(cause, ssl.SSLError):
        return f"TLS failed ({cause.reason or 'no reason given'})"
    if isinstance(cause, OSError) and cause.strerror:
        return cause.strerror.lower()
    return "the server does not answer"
