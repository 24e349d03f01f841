"""The ids of matches: made from what asks for them, so that who asks again meets the same match."""

import base64
import hashlib

from events.people.person import Person


def match_id(person: Person, key: str) -> str:
    """Return the id of the match that ``person`` creates with ``key``: the same for the same."""
    return _id(f"{person.id}\n{key}")


def rematch_id(match: str) -> str:
    """Return the id of the match that follows ``match``, whoever proposes it."""
    return _id(f"rematch\n{match}")


def _id(name: str) -> str:
    return "m" + base64.b32encode(hashlib.sha256(name.encode()).digest()[:10]).decode().lower()
