"""Which texts are mail addresses here, and when two of them are the same."""

import hashlib
import re
import unicodedata

MAX_ADDRESS_OCTETS = 254
"""RFC 5321, 4.5.3.1.3, without the angle brackets."""

MAX_LOCAL_OCTETS = 64
_FORM = "anna@example.org"
_LOCAL = re.compile(r"[^\s@<>()\[\]\\,;:\"\x00-\x1f\x7f]+")
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


class InvalidAddressError(ValueError):
    """A text that is no mail address to which anything can be sent; the message gives the reason."""


def parse_address(text: str, own_domain: str = "") -> str:
    """Return a mail address, its domain in lower-case ASCII (RFC 5890), the local part as written (NFC).

    Raises InvalidAddressError, also for addresses at ``own_domain``, quoted local parts and machines by number.
    """
    local, at, domain = unicodedata.normalize("NFC", text.strip()).rpartition("@")
    if not at or not local or not domain:
        raise InvalidAddressError(f"a mail address is like {_FORM}")
    if not _LOCAL.fullmatch(local) or local.startswith(".") or local.endswith(".") or ".." in local:
        raise InvalidAddressError(
            f"before @, a character or the place of a dot is not supported: write it like {_FORM}"
        )
    if any(unicodedata.category(character).startswith("C") for character in local):
        raise InvalidAddressError("the part before @ has invisible characters")
    ascii_domain = _ascii_domain(domain)
    address = f"{local}@{ascii_domain}"
    if len(local.encode()) > MAX_LOCAL_OCTETS or len(address.encode()) > MAX_ADDRESS_OCTETS:
        raise InvalidAddressError("the address is too long")
    if ascii_domain == own_domain:
        raise InvalidAddressError(f"addresses at {own_domain} are those of this server: it cannot write to itself")
    return address


def address_digest(address: str) -> str:
    """Return the SHA-256 of ``address`` in hexadecimal digits, the same in capitals and in lower case."""
    return hashlib.sha256(address.strip().casefold().encode(errors="replace")).hexdigest()


def _ascii_domain(domain: str) -> str:
    try:
        text = domain.encode("idna").decode().lower()
    except UnicodeError:
        raise InvalidAddressError(f"the part after @ is no domain name: write the address like {_FORM}") from None
    labels = text.split(".")
    if len(labels) < 2 or not all(map(_LABEL.fullmatch, labels)) or labels[-1].isdigit():
        raise InvalidAddressError(f"the part after @ is no domain name: write the address like {_FORM}")
    return text
