"""Names of people: their form, reserved names, and which names look alike."""

import re

MAX_NAME_CHARACTERS = 24
NAME = re.compile(f"^[A-Za-z0-9_-]{{3,{MAX_NAME_CHARACTERS}}}$")
_LOOK_ALIKES = str.maketrans("012345789iqv", "olzeastbglgu", "-_")
"""Confusable digits and letters as one common letter; 8 counts as B, 6 as itself. Separators are dropped."""

_PAIRS = (("rn", "m"), ("uu", "w"))
"""Letters that look like one, after v has become u."""


class InvalidNameError(ValueError):
    """A name that nobody can sign up with; the message gives the reason."""


def skeleton(name: str) -> str:
    """Return the skeleton of a name, the same for names that look alike (after UTS 39, section 4)."""
    folded = name.lower().translate(_LOOK_ALIKES)
    for pair, single in _PAIRS:
        folded = folded.replace(pair, single)
    return folded


_RESERVED_ANYWHERE = ("administrator", "arbiter", "moderator", "opponent", "operator", "referee", "rookery")
_OFFICES = (
    *("abuse", "admin", "anonymous", "bot", "clock", "console", "deleted", "engine", "guest", "judge", "mod"),
    *("noreply", "null", "official", "owner", "postmaster", "root", "security", "server", "staff", "support"),
    *("sysadmin", "sysop", "system", "team", "umpire", "webmaster"),
)
_PREFIXES = ("the", "a", "my", "chief", "head", "real", "site")
_RESERVED_PARTS = tuple(map(skeleton, _RESERVED_ANYWHERE))
_OFFICE = f"(?:{'|'.join(map(skeleton, _OFFICES))})s?"
_RESERVED_NAME = re.compile(f"(?:{'|'.join(map(skeleton, _PREFIXES))})*(?:{_OFFICE})+")
"""The skeleton of offices and prefixes: ``the-judges``, ``support_team``; mailboxes of every host (RFC 2142)."""

_RESERVED_FORM = re.compile("guest-|p[a-z2-7]{16}$")
"""Names of guests, and ids."""


def check_name(name: str) -> None:
    """Raise InvalidNameError unless a person can sign up with ``name``."""
    if not NAME.fullmatch(name):
        raise InvalidNameError(f"a name has 3 to {MAX_NAME_CHARACTERS} characters: letters, digits, - and _")
    folded = skeleton(name.replace("6", "b"))
    reserved = (
        _RESERVED_FORM.match(name.lower())
        or any(part in folded for part in _RESERVED_PARTS)
        or _RESERVED_NAME.fullmatch(folded)
        or _RESERVED_NAME.fullmatch(_without_number(name))
    )
    if reserved:
        raise InvalidNameError("this name is reserved for opponents, guests, ids or offices")


def _without_number(name: str) -> str:
    """Return the skeleton of a name without a number at its end: ``admin-2`` counts as ``admin``."""
    return skeleton(re.sub("[-_]?[0-9]+$", "", name).replace("6", "b"))
