"""How much players may store beside matches."""

from events.people.person import Person
from events.private.notebooks import MAX_BYTES, MAX_GUEST_BYTES


def notebook_bytes(person: Person) -> int:
    """Return how much ``person`` may keep beside matches: notes, trees and conditional lines together."""
    return MAX_GUEST_BYTES if person.kind == "guest" else MAX_BYTES
