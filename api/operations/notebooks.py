"""How much players may store beside matches."""

from events.people.person import Person
from events.private.notebooks import MAX_BYTES, MAX_GUEST_BYTES


def max_notebook_bytes(person: Person) -> int:
    """Return how many bytes the notes, trees and conditional moves of ``person`` may take together."""
    return MAX_GUEST_BYTES if person.kind == "guest" else MAX_BYTES
