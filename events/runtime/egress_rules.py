"""The rules of calls to addresses that others name: public ones by https, and those the operator allows. No I/O."""

import re
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import NamedTuple
from urllib.parse import urlsplit

MAX_URL_CHARACTERS = 2_000
_PRINTABLE = re.compile(r"[\x21-\x5b\x5d-\x7e]+")
"""Printable ASCII without the backslash, which some take for a slash and others do not."""

_LABEL = r"[A-Za-z0-9_]([A-Za-z0-9_-]{0,62})"
_HOST = re.compile(rf"{_LABEL}(\.{_LABEL})*\.?|[0-9A-Fa-f:.]{{2,45}}")
_PORTS = {"http": 80, "https": 443}

_NOT_PUBLIC = tuple(
    (ip_network(network), kind)
    for network, kind in (
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

_NEVER_PUBLIC_NAMES = ("localhost", "local", "internal", "invalid", "onion", "alt", "home.arpa")
"""Names that no public name server knows, nor any below them (RFC 6761, 6762, 7686, 8375 and 9476, ICANN)."""

_GLOBAL_IPV6 = ip_network("2000::/3")
"""All that IANA has given out of IPv6; the rest of the space is reserved."""

Address = IPv4Address | IPv6Address


class EgressError(Exception):
    """A call got no answer; the message says why, as a sentence for the person who has named the URL."""


class EgressRefusedError(EgressError):
    """The URL or an address behind it must not be called; nothing was sent."""


class RequestTarget(NamedTuple):
    """The parts of a URL; ``path`` includes the query."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def is_default_port(self) -> bool:
        """Whether the port is that of the scheme, and need not be named."""
        return self.port == _PORTS[self.scheme]


class EgressRules:
    """The rules of an installation; ``allowed`` are networks (CIDR) that may be called although they are not public."""

    def __init__(self, allowed: Sequence[str] = ()) -> None:
        self._allowed = tuple(ip_network(network.strip()) for network in allowed)

    def check_url(self, url: str) -> None:
        """Raise EgressRefusedError if ``url`` can never be called."""
        target = read_url(url)
        if not self._allowed and (target.scheme, target.port) != ("https", _PORTS["https"]):
            raise EgressRefusedError("The address must begin with https:// and use port 443.")
        try:
            address = ip_address(target.host)
        except ValueError:
            if not self._allowed and not _can_be_public(target.host):
                raise EgressRefusedError(f"The name {target.host} has no public address.") from None
        else:
            self.check_address(address, target)

    def check_address(self, address: Address, target: RequestTarget) -> None:
        """Raise EgressRefusedError unless ``address`` may be called for ``target``."""
        # A zone (fe80::1%eth0) chooses an interface of this machine: no public address has one.
        if getattr(address, "scope_id", None) is None and any(address in network for network in self._allowed):
            return
        if (kind := why_not_public(address)) is not None:
            raise EgressRefusedError(f"The host {target.host} is {kind}: only public addresses are called.")
        if (target.scheme, target.port) != ("https", _PORTS["https"]):
            raise EgressRefusedError("The address must begin with https:// and use port 443.")


def _can_be_public(name: str) -> bool:
    """Return whether ``name`` can be a public host; 127.1, of digits, is an address (WHATWG URL, section 3.5)."""
    name = name.lower().rstrip(".")
    last = name.rpartition(".")[2]
    return (
        "." in name and not last[0].isdigit() and not f".{name}".endswith(tuple(f".{n}" for n in _NEVER_PUBLIC_NAMES))
    )


def why_not_public(address: Address) -> str | None:
    """Return the kind of an ``address`` that is not public, in words; None for a public one."""
    if getattr(address, "scope_id", None) is not None:
        return "link-local"
    for network, kind in _NOT_PUBLIC:
        if address in network:
            return kind
    if not address.is_global or (address.version == 6 and address not in _GLOBAL_IPV6):
        return "reserved"
    return None


def read_url(url: str) -> RequestTarget:
    """Return the target that ``url`` names; raises EgressRefusedError with the reason for which it cannot be called."""
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
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return RequestTarget(parts.scheme, parts.hostname or "", port or _PORTS[parts.scheme], path)
