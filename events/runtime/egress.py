"""The one way in which Rookery calls servers that others name: webhooks of players and push services.

Any URL may lead anywhere, also into the network of the operator. So a name is resolved once, every address that it has
is checked, and the connection goes to one of the checked addresses; the name is used only for the Host header and the
certificate. To check a name and then let a library resolve it again is how such guards are passed (DNS rebinding).
Only https on port 443 to public addresses is called. Networks that the operator has allowed may be private, and may be
called with http and on any port.

Redirects are not followed, the environment's proxies are not asked, no cookies are kept. An answer is limited in bytes,
and an exchange as a whole in time, so a server that sends a byte every second does not hold up its caller.
"""

import contextlib
import queue
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from ipaddress import AddressValueError, IPv4Address, IPv6Address, ip_address, ip_network
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

import httpcore

EXCHANGE_TIMEOUT_S = 15.0
"""For everything from the first look at the name to the last byte of the answer."""

MAX_ANSWER_BYTES = 65_536
MAX_HEADER_BYTES = 16_384
MAX_URL_CHARACTERS = 2_000
MAX_ADDRESSES = 16
MAX_CONNECTION_ATTEMPTS = 3

_WRITE_BYTES = 4_096
_PRINTABLE = re.compile(r"[\x21-\x5b\x5d-\x7e]+")
"""Printable ASCII without the backslash, which some take for a slash and others do not."""

_LABEL = r"[A-Za-z0-9_]([A-Za-z0-9_-]{0,62})"
_HOST = re.compile(rf"{_LABEL}(\.{_LABEL})*\.?|[0-9A-Fa-f:.]{{2,45}}")
_PORTS = {"http": 80, "https": 443}

_NOT_PUBLIC = tuple(
    (ip_network(network), what)
    for network, what in (
        ("0.0.0.0/8", "of this machine"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "inside a provider's network (CGNAT)"),
        ("127.0.0.0/8", "of this machine (loopback)"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved for protocols"),
        ("192.0.2.0/24", "reserved for documentation"),
        ("192.88.99.0/24", "a relay (6to4)"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "reserved for benchmarks"),
        ("198.51.100.0/24", "reserved for documentation"),
        ("203.0.113.0/24", "reserved for documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
        ("::/128", "of this machine"),
        ("::1/128", "of this machine (loopback)"),
        ("::ffff:0:0/96", "a mapped IPv4 address"),
        ("::/96", "a compatible IPv4 address"),
        ("64:ff9b::/96", "a translated IPv4 address (NAT64)"),
        ("64:ff9b:1::/48", "a translated IPv4 address (NAT64)"),
        ("2001::/32", "a tunnelled IPv4 address (Teredo)"),
        ("2001:2::/48", "reserved for benchmarks"),
        ("2001::/23", "reserved for protocols"),
        ("2001:db8::/32", "reserved for documentation"),
        ("2002::/16", "a tunnelled IPv4 address (6to4)"),
        ("3fff::/20", "reserved for documentation"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "private"),
        ("ff00::/8", "multicast"),
    )
)
"""IANA's special-purpose address registries, and the ranges in which an IPv4 address can hide."""

_GLOBAL_IPV6 = ip_network("2000::/3")
"""All that IANA has given out of IPv6; the rest of the space is reserved."""

_TLS_WORDS = {
    "CERTIFICATE_VERIFY_FAILED": "its certificate is not valid for it",
    "UNEXPECTED_EOF_WHILE_READING": "it ended the connection",
}

Address = IPv4Address | IPv6Address
Resolve = Callable[[str, int], Iterable[str]]
"""Takes a host and a port; returns its addresses; raises OSError."""


class EgressError(Exception):
    """A call got no answer; the message says why, as a sentence for the person who has named the URL."""


class EgressRefusedError(EgressError):
    """The URL or an address behind it must not be called; nothing was sent."""


class Answer(NamedTuple):
    """What a server has answered.

    The names of ``headers`` are in lower case. ``is_complete`` is False where ``body`` was cut at the limit.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    is_complete: bool


class Egress:
    """Calls servers that others name. Safe to share between threads.

    ``allowed`` are networks (CIDR) that may be called although they are not public. ``resolve`` finds the addresses of
    a host. ``timeout_s`` limits an exchange as a whole, ``max_bytes`` the body of an answer. ``trust`` replaces the
    certificate authorities of this machine.
    """

    def __init__(
        self,
        allowed: Sequence[str] = (),
        *,
        resolve: Resolve | None = None,
        timeout_s: float = EXCHANGE_TIMEOUT_S,
        max_bytes: int = MAX_ANSWER_BYTES,
        trust: ssl.SSLContext | None = None,
    ) -> None:
        self._allowed = tuple(ip_network(network) for network in allowed)
        self._resolve = resolve or system_addresses
        self._timeout_s = timeout_s
        self._max_bytes = max_bytes
        self._trust = trust

    def check(self, url: str) -> None:
        """Raise EgressRefusedError if ``url`` can never be called. Looks nothing up and connects to nothing."""
        parts, port = _split(url)
        if not self._allowed and (parts.scheme != "https" or port != _PORTS["https"]):
            raise EgressRefusedError("The address must begin with https:// and use port 443.")
        with contextlib.suppress(AddressValueError, ValueError):
            self._check_address(ip_address(parts.hostname or ""), parts.scheme, port)

    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Send ``body`` to ``url`` and return the answer, whatever its status; raises EgressError.

        The headers Host, Content-Length, Accept-Encoding and Connection are added.
        """
        parts, port = _split(url)
        deadline = _Deadline(self._timeout_s)
        backend = _CheckedBackend(self, parts.scheme, deadline, self._max_bytes + MAX_HEADER_BYTES)
        origin = httpcore.Origin(parts.scheme.encode(), (parts.hostname or "").encode(), port)
        sent = [*headers.items(), ("Accept-Encoding", "identity"), ("Connection", "close")]
        with (
            _worded(self._timeout_s),
            httpcore.HTTPConnection(origin, ssl_context=self._context, network_backend=backend) as connection,
            connection.stream("POST", _target(parts, port), headers=sent, content=body) as response,
        ):
            content, is_complete = self._read(response)
            return Answer(response.status, _header_mapping(response.headers), content, is_complete)

    @cached_property
    def _context(self) -> ssl.SSLContext:
        return self._trust or httpcore.default_ssl_context()

    def _read(self, response: httpcore.Response) -> tuple[bytes, bool]:
        content = bytearray()
        try:
            for chunk in response.iter_stream():
                content += chunk
                if len(content) > self._max_bytes:
                    return bytes(content[: self._max_bytes]), False
        except _TooManyBytesError:
            return bytes(content[: self._max_bytes]), False
        return bytes(content), True

    def checked_addresses(self, host: str, port: int, scheme: str, timeout_s: float) -> list[str]:
        """Return the addresses of ``host``, all of which may be called; raises EgressError."""
        try:
            addresses = [ip_address(host)]
        except ValueError:
            addresses = [ip_address(found) for found in _resolved_within(self._resolve, host, port, timeout_s)]
        if not addresses:
            raise EgressError(f"The name {host} has no address.")
        for address in addresses:
            self._check_address(address, scheme, port)
        return [str(address) for address in dict.fromkeys(addresses)]

    def _check_address(self, address: Address, scheme: str, port: int) -> None:
        # A zone (fe80::1%eth0) chooses an interface of this machine: no public address has one.
        if getattr(address, "scope_id", None) is None and any(address in network for network in self._allowed):
            return
        if (what := why_not_public(address)) is not None:
            raise EgressRefusedError(f"The address {address} is {what}: only public addresses are called.")
        if (scheme, port) != ("https", _PORTS["https"]):
            raise EgressRefusedError("The address must begin with https:// and use port 443.")


def why_not_public(address: Address) -> str | None:
    """Return what kind of address that is not public ``address`` is, in words; None for a public one."""
    if getattr(address, "scope_id", None) is not None:
        return "link-local"
    for network, what in _NOT_PUBLIC:
        if address in network:
            return what
    if not address.is_global or (address.version == 6 and address not in _GLOBAL_IPV6):
        return "reserved"
    return None


def system_addresses(host: str, port: int) -> list[str]:
    """Return the addresses of ``host`` that this machine's resolver finds; raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


def _split(url: str) -> tuple[SplitResult, int]:
    if len(url) > MAX_URL_CHARACTERS:
        raise EgressRefusedError(f"The address is longer than {MAX_URL_CHARACTERS} characters.")
    if not _PRINTABLE.fullmatch(url):
        raise EgressRefusedError(
            "The address has a space, a backslash or a letter beyond ASCII; write names as xn--... and the rest as %.."
        )
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise EgressRefusedError("The address cannot be read: its host or port is malformed.") from None
    if parts.scheme not in _PORTS:
        raise EgressRefusedError("The address must begin with https://.")
    if "@" in parts.netloc:
        raise EgressRefusedError("The address must not hold a user name or password.")
    if "#" in url:
        raise EgressRefusedError("The address must not hold a fragment (#...): it would not be sent.")
    if not _HOST.fullmatch(parts.hostname or "") or port == 0:
        raise EgressRefusedError("The address has no host that can be called.")
    return parts, port or _PORTS[parts.scheme]


def _target(parts: SplitResult, port: int) -> httpcore.URL:
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return httpcore.URL(scheme=parts.scheme, host=parts.hostname or "", port=port, target=target)


def _header_mapping(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    values: dict[str, str] = {}
    for name, value in headers:
        key = name.decode("ascii", "replace").lower()
        text = value.decode("latin-1")
        values[key] = f"{values[key]}, {text}" if key in values else text
    return values


def _resolved_within(resolve: Resolve, host: str, port: int, timeout_s: float) -> list[str]:
    """Return what ``resolve`` finds in time. A resolver cannot be interrupted: its thread is left to end alone."""
    results: queue.SimpleQueue[list[str] | Exception] = queue.SimpleQueue()

    def look_up() -> None:
        try:
            results.put(list(resolve(host, port)))
        except Exception as error:  # told to the caller, who waits for it
            results.put(error)

    threading.Thread(target=look_up, name="resolver", daemon=True).start()
    try:
        found = results.get(timeout=timeout_s)
    except queue.Empty:
        raise httpcore.ConnectTimeout from None
    if isinstance(found, OSError | UnicodeError):
        raise EgressError(f"The name {host} cannot be found.") from found
    if isinstance(found, Exception):
        raise found
    return found[:MAX_ADDRESSES]


class _TooManyBytesError(Exception):
    pass


class _Deadline:
    """The end of an exchange, by the monotonic clock."""

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

    def __init__(self, egress: Egress, scheme: str, deadline: _Deadline, max_bytes: int) -> None:
        super().__init__()
        self._egress = egress
        self._scheme = scheme
        self._deadline = deadline
        self._max_bytes = max_bytes

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002 (the deadline of the exchange counts, here and below)
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to an address of ``host``: the next one when one does not answer."""
        addresses = self._egress.checked_addresses(host, port, self._scheme, self._deadline.remaining_s())
        waiting = addresses[:MAX_CONNECTION_ATTEMPTS]
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
        """Return what has come; raises a timeout at the deadline, _TooManyBytesError behind the limit."""
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
        return f"{_TLS_WORDS['CERTIFICATE_VERIFY_FAILED']} ({cause.verify_message})"
    if isinstance(cause, ssl.SSLError):
        return _TLS_WORDS.get(cause.reason or "", f"TLS failed ({cause.reason or 'no reason given'})")
    if isinstance(cause, OSError) and cause.strerror:
        return cause.strerror.lower()
    return "the server does not answer"
