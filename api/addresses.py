"""Addresses of the API, and the ids of matches in them: made from the request, so that a repeat has the same match."""

from events.people.person import Person
from events.store.kinds import digest_id

PREFIX = "/api/v1"


def match_id_for(person: Person, key: str) -> str:
    """Return the id of the match that ``person`` creates with the idempotency key ``key``."""
    return "m" + digest_id(f"{person.id}\n{key}")


def rematch_id(match_id: str) -> str:
    """Return the id of the match that follows ``match_id``, the same for every player who proposes it."""
    return "m" + digest_id(f"rematch\n{match_id}")
