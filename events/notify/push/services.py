"""The push services that messages are sent to: of known browsers, or in networks that the operator allows."""

import re
from collections.abc import Sequence
from ipaddress import ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

MAX_ENDPOINT_LENGTH = 1000

SERVICES = {
    "fcm.googleapis.com": "Google",
    "updates.push.services.mozilla.com": "Mozilla",
    "web.push.apple.com": "Apple",
}

DOMAINS = {".push.services.mozilla.com": "Mozilla", ".push.apple.com": "Apple", ".notify.windows.com": "Microsoft"}
UNKNOWN_SERVICE = "must be the address of a push service of Google, Mozilla, Apple or Microsoft"


class InvalidEndpointError(ValueError):
    """The address is not that of a push service; the message says why, as a clause."""


def check_endpoint(endpoint: str, allowed: Sequence[str] = ()) -> None:
    """Raise InvalidEndpointError unless ``endpoint`` is that of a push service, or in ``allowed`` networks (CIDR)."""
    if len(endpoint) > MAX_ENDPOINT_LENGTH:
        raise InvalidEndpointError(f"must have at most {MAX_ENDPOINT_LENGTH} characters")
    if not endpoint.isascii() or not endpoint.isprintable() or " " in endpoint:
        raise InvalidEndpointError("must have no spaces, and only ASCII characters")
    try:
        parts = urlsplit(endpoint)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise InvalidEndpointError("must be a URL") from None
    if parts.username is not None or parts.password is not None or parts.fragment or not parts.path.strip("/"):
        raise InvalidEndpointError("must be a URL with a path, without a user name and a fragment")
    if parts.scheme in ("http", "https") and _is_allowed(host, allowed):
        return
    if parts.scheme != "https" or port not in (None, 443) or not _name_of(host):
        raise InvalidEndpointError(UNKNOWN_SERVICE)


def service_name(endpoint: str) -> str:
    """Return the name of the push service of a checked ``endpoint``; its host if it has no name."""
    parts: SplitResult = urlsplit(endpoint)
    return _name_of(parts.hostname or "") or parts.netloc


_HOST = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+")


def _name_of(host: str) -> str:
    if not _HOST.fullmatch(host):
        return ""
    named = (name for domain, name in DOMAINS.items() if host.endswith(domain))
    return SERVICES.get(host) or next(named, "")


def _is_allowed(host: str, allowed: Sequence[str]) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return any(address in ip_network(network.strip()) for network in allowed)
