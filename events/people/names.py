"""Names of people: what they are made of, which are kept, and which two look alike."""

import re

NAME = re.compile("^[A-Za-z0-9_-]{3,24}$")

_LOOK_ALIKES = str.maketrans("0123456789i", "olzeasbtbgl", "-_")
"""Digits and letters that are easily taken for one another, as the letter that stands for both; separators vanish."""

_PAIRS = (("rn", "m"), ("vv", "w"))


class UnfitName(ValueError):
    """A name that cannot be had by signing up; the message says why."""


def skeleton(name: str) -> str:
    """Return what is left of a name when all that looks alike is made the same: look-alikes have one skeleton.

    The idea is that of Unicode Technical Standard 39, section 4, for the few characters that names here are made of.
    """
    folded = name.lower().translate(_LOOK_ALIKES)
    for pair, single in _PAIRS:
        folded = folded.replace(pair, single)
    return folded


_ANYWHERE = ("administrator", "arbiter", "moderator", "opponent", "operator", "referee", "rookery")
_OFFICES = (
    *("admin", "clock", "console", "guest", "judge", "mod", "official", "owner", "root", "security", "server"),
    *("staff", "support", "sysadmin", "system", "team", "umpire", "webmaster"),
)
_BESIDE = ("the", "a", "my", "chief", "head", "real", "site")

_KEPT_PARTS = tuple(map(skeleton, _ANYWHERE))
_OFFICE = f"(?:{'|'.join(map(skeleton, _OFFICES))})s?"
_KEPT_WHOLE = re.compile(f"(?:{'|'.join(map(skeleton, _BESIDE))})*(?:{_OFFICE})+")
"""The skeleton of a name that consists of offices and of what is put before them: ``the-judges``, ``support_team``."""

_KEPT_FORMS = re.compile("guest-|p[a-z2-7]{16}$")
"""Names of guests, and ids."""


def check_name(name: str) -> None:
    """Raise UnfitName unless ``name`` can be the name of a person who signs up."""
    if not NAME.fullmatch(name):
        raise UnfitName("a name has 3 to 24 characters: letters, digits, - and _")
    folded = skeleton(name)
    kept = (
        _KEPT_FORMS.match(name.lower())
        or any(part in folded for part in _KEPT_PARTS)
        or _KEPT_WHOLE.fullmatch(folded)
        or _KEPT_WHOLE.fullmatch(_without_number(name))
    )
    if kept:
        raise UnfitName("this name is kept for opponents, guests, ids and offices: choose another")


def _without_number(name: str) -> str:
    """Return the skeleton of a name without the number at its end: ``admin-2`` is taken for ``admin``."""
    return skeleton(re.sub("[-_]?[0-9]+$", "", name))
