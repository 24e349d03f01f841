"""Addresses of the API, and the ids of matches in them: made from what asks, so that a repeat meets the same match."""

import base64
import hashlib

from events.people.person import Person

PREFIX = "/api/v1"


def match_id_for(person: Person, key: str) -> str:
    """Return the id of the match that ``person`` creates with the idempotency key ``key``."""
    return _id_from(f"{person.id}\n{key}")


def rematch_id(match_id: str) -> str:
    """Return the id of the match that follows ``match_id``, the same for every player who proposes it."""
    return _id_from(f"rematch\n{match_id}")


def _id_from(name: str) -> str:
    return "m" + base64.b32encode(hashlib.sha256(name.encode()).digest()[:10]).decode().lower()
