"""Private lists of people whom a person blocks or mutes."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from domain.match.state import Seat
from events.people.person import Person
from events.runtime.connections import StoreClient
from events.runtime.errors import LimitReachedError
from events.runtime.keys import PeopleKeys

BLOCK = "block"
"""The other person can send no invitations and no messages, and take no seat in one's matches."""

MUTE = "mute"
"""The other person's messages are not shown."""

KINDS = (BLOCK, MUTE)
MAX_BLOCKS = 500


class Blocks:
    """The lists of an installation."""

    def __init__(self, client: StoreClient, prefix: str) -> None:
        self._client = client
        self._keys = PeopleKeys(prefix)

    def put(self, person: str, other: str, kind: str) -> None:
        """Put ``other`` on the list of ``person``, with one of KINDS. Raises LimitReachedError."""
        key = self._keys.blocks(person)
        if self._client.hlen(key) >= MAX_BLOCKS and not self._client.hexists(key, other):
            raise LimitReachedError(f"this list can have {MAX_BLOCKS} people at most: remove one first")
        self._client.hset(key, other, kind)

    def remove(self, person: str, other: str) -> bool:
        """Remove ``other`` from the list of ``person``; return False when they were not on it."""
        return bool(self._client.hdel(self._keys.blocks(person), other))

    def of(self, person: str) -> dict[str, str]:
        """Return the list of ``person``: kinds by the ids of others."""
        stored = self._client.hgetall(self._keys.blocks(person))
        return {other.decode(): kind.decode() for other, kind in stored.items()}

    def blocking(self, people: Iterable[str], other: str) -> set[str]:
        """Return those of ``people`` who block ``other``, in one round trip."""
        wanted = list(dict.fromkeys(people))
        if not wanted:
            return set()
        with self._client.pipeline(transaction=False) as pipeline:
            for person in wanted:
                pipeline.hget(self._keys.blocks(person), other)
            kinds = pipeline.execute()
        return {person for person, kind in zip(wanted, kinds, strict=True) if kind == BLOCK.encode()}

    def between(self, people: Iterable[str]) -> set[frozenset[str]]:
        """Return the pairs of ``people`` in which one blocks the other, in one round trip."""
        among = list(dict.fromkeys(people))
        with self._client.pipeline(transaction=False) as pipeline:
            for person in among:
                pipeline.hgetall(self._keys.blocks(person))
            lists = pipeline.execute() if among else []
        return {
            frozenset((person, other.decode()))
            for person, stored in zip(among, lists, strict=True)
            for other, kind in stored.items()
            if kind == BLOCK.encode() and other.decode() in among
        }

    def erase(self, person: str) -> None:
        """Delete the list of ``person``."""
        self._client.delete(self._keys.blocks(person))


def opponent_name(level: int) -> str:
    """Return the name of the computer player of ``level``: "Computer, level 3"."""
    return f"Computer, level {level}"


def names_of_others(
    seats: Sequence[Seat], player: str, persons: Mapping[str, Person], blocked: Collection[str] = ()
) -> list[str]:
    """Return the names of the other players by seat, without those ``blocked`` and those who have left."""
    names = []
    for seat in seats:
        if seat.level is not None:
            names.append(opponent_name(seat.level))
        elif seat.player is not None and seat.player != player and seat.player not in blocked:
            names += [persons[seat.player].name] if seat.player in persons else []
    return list(dict.fromkeys(names))


def blocked_by(blocks: Blocks, player: str) -> set[str]:
    """Return the ids of the people whom ``player`` blocks."""
    return {other for other, kind in blocks.of(player).items() if kind == BLOCK}
