"""The names of the other players of a match, as notices to one of them have them."""

from collections.abc import Collection, Mapping, Sequence

from domain.match.state import Seat
from events.people.blocks import BLOCK, Blocks
from events.people.person import Person


def names_of_others(
    seats: Sequence[Seat], player: str, persons: Mapping[str, Person], blocked: Collection[str] = ()
) -> list[str]:
    """Return the names of the other players by seat, without those ``blocked`` and those who have left."""
    names = []
    for seat in seats:
        if seat.level is not None:
            names.append(f"Opponent {seat.level}")
        elif seat.player is not None and seat.player != player and seat.player not in blocked:
            names += [persons[seat.player].name] if seat.player in persons else []
    return list(dict.fromkeys(names))


def blocked_by(blocks: Blocks, player: str) -> set[str]:
    """Return the ids of the people whom ``player`` blocks."""
    return {other for other, kind in blocks.of(player).items() if kind == BLOCK}


def people_seated(seats: Sequence[Seat]) -> list[str]:
    """Return the ids of the people who have ``seats`` of a match or are invited to them."""
    return [seat.player for seat in seats if seat.player is not None and seat.level is None]
