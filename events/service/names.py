"""The names of the other players of a match, as notices to one of them have them."""

from collections.abc import Collection, Mapping

from events.people.blocks import BLOCK, Blocks
from events.people.person import Person
from events.readmodels import Summary


def names_of_others(
    summary: Summary, player: str, persons: Mapping[str, Person], blocked: Collection[str] = ()
) -> list[str]:
    """Return the names of the players of a match other than ``player``, in the order of their seats.

    ``persons`` are the people in the match by id. Those ``blocked`` by the player are left out, and those who have
    left.
    """
    names = []
    for seat in summary.seats:
        if seat.level is not None:
            names.append(f"Opponent {seat.level}")
        elif seat.player is not None and seat.player != player and seat.player not in blocked:
            names += [persons[seat.player].name] if seat.player in persons else []
    return list(dict.fromkeys(names))


def blocked_by(blocks: Blocks, player: str) -> set[str]:
    """Return the ids of the people whom ``player`` blocks. Raises StoreUnavailableError."""
    return {other for other, kind in blocks.of(player).items() if kind == BLOCK}


def people_seated(summary: Summary) -> list[str]:
    """Return the ids of the people who sit in a match or are invited to it."""
    return [seat.player for seat in summary.seats if seat.player is not None and seat.level is None]
