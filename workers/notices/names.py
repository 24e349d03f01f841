"""The names of the other players, as notices have them."""

from events.installation import Installation
from events.people.blocks import BLOCK
from events.readmodels import Summary


def names_of_others(installation: Installation, summary: Summary, player: str) -> list[str]:
    """Return the names of the players of a match other than ``player``, in the order of their seats.

    People whom the player blocks are left out, and those who have left. Raises StoreUnavailableError.
    """
    blocked = {other for other, kind in installation.blocks.of(player).items() if kind == BLOCK}
    seats = [seat for seat in summary.seats if seat.player not in (None, player) and seat.player not in blocked]
    persons = installation.people.persons({seat.player: None for seat in seats if seat.player and seat.level is None})
    names = []
    for seat in seats:
        if seat.level is not None:
            names.append(f"Opponent {seat.level}")
        elif seat.player in persons:
            names.append(persons[seat.player].name)
    return list(dict.fromkeys(names))
