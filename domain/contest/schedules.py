"""Who meets whom, and in which seat: schedules for two and for four seats.

A pairing names entrants by their numbers, from 0, in the order of the seats; the turn goes round the table in that
order. The four-seat schedules also balance who plays after whom and who sits opposite: threats come from neighbours.
``balance.py`` measures the balance of each schedule.
"""

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import Final

Pairing = tuple[int, ...]
Rounds = tuple[tuple[Pairing, ...], ...]


class Form(StrEnum):
    """The forms of tournaments, as stored: never renamed, only added to."""

    ALL_PLAY_ALL = "all-play-all"
    """Two seats: everybody meets everybody once."""

    SHIFTED = "shifted"
    """Everybody has four matches, at four seats each seat once, at two seats each seat twice."""

    PERFECT = "perfect"
    """Four seats: everybody has everybody once before, once behind and once opposite."""

    WHIST = "whist"
    """Four seats: everybody plays in every round, meets everybody three times and has everybody opposite once."""


MAX_ALL_PLAY_ALL = 16
MAX_SHIFTED = 64
"""Entrants."""

_PRIMITIVE_ROOTS: Final = {5: 2, 13: 2, 17: 3}
_POWERS_OF_NINE: Final = (1, 3, 4, 7, 2, 6, 8, 5)
"""The powers of x in the field of nine elements, where x^2 = x + 1; a + 3b stands for a + bx."""

_SHIFTED_FOUR: Final = {
    5: (0, 1, 3, 2),
    6: (0, 1, 3, 2),
    7: (0, 1, 2, 4),
    8: (0, 2, 1, 4),
    9: (0, 2, 1, 4),
    10: (0, 2, 1, 5),
    11: (0, 1, 5, 2),
    12: (0, 1, 7, 3),
    13: (0, 1, 3, 9),
}
"""The first table by the number of entrants: of all tables that whose meetings are the most even."""

_SHIFTED_MANY: Final = (0, 1, 4, 6)
"""All differences of this table are distinct from 13 entrants on: nobody meets anybody twice."""

_WHIST: Final = {
    8: ((7, 0, 1, 5), (2, 3, 6, 4)),
    12: ((11, 0, 1, 9), (2, 4, 8, 7), (3, 5, 10, 6)),
    16: ((15, 0, 13, 2), (1, 8, 10, 11), (3, 4, 7, 12), (5, 9, 6, 14)),
}
"""The first round by the number of entrants; the last entrant stays while the others move on by one each round."""

_WHIST_TURNS: Final = {
    8: "00322320321220",
    12: "121331021203122312113212022011220",
    16: "300210222100012233331322200200222000031210110302332213122012",
}
"""By how many seats each table is turned, in order: the circle stays, and everybody has every seat about as often."""

_SIZES: Final[dict[tuple[Form, int], Sequence[int]]] = {
    (Form.ALL_PLAY_ALL, 2): range(3, MAX_ALL_PLAY_ALL + 1),
    (Form.SHIFTED, 2): range(5, MAX_SHIFTED + 1),
    (Form.SHIFTED, 4): range(5, MAX_SHIFTED + 1),
    (Form.PERFECT, 4): (5, 9, 13, 17),
    (Form.WHIST, 4): (8, 12, 16),
}


def sizes(form: Form, seats: int) -> Sequence[int]:
    """Return the numbers of entrants for which there is a schedule, ascending; none for a form without these seats."""
    return _SIZES.get((form, seats), ())


def field_size(form: Form, seats: int, entries: int) -> int:
    """Return how many of ``entries`` people can play: the largest fitting number, 0 when there are too few."""
    return max((size for size in sizes(form, seats) if size <= entries), default=0)


def rounds(form: Form, seats: int, entrants: int) -> Rounds:
    """Return the schedule for a number of entrants, in rounds in which nobody plays twice where the form has such.

    The shifted form is one round. Raises ValueError where there is no schedule.
    """
    if entrants not in sizes(form, seats):
        raise ValueError(f"there is no {form} schedule for {entrants} people at {seats} seats")
    match form:
        case Form.ALL_PLAY_ALL:
            return _berger(entrants)
        case Form.SHIFTED if seats == 2:
            return (_shift(((0, 1), (0, 2)), entrants),)
        case Form.SHIFTED:
            return (_shift((_SHIFTED_FOUR.get(entrants, _SHIFTED_MANY),), entrants),)
        case Form.PERFECT:
            return _mendelsohn(entrants)
        case Form.WHIST:
            return _whist(entrants)


def schedule(form: Form, seats: int, entrants: int) -> tuple[Pairing, ...]:
    """Return all pairings of the schedule in the order of its rounds. Raises ValueError where there is no schedule."""
    return tuple(pairing for pairings in rounds(form, seats, entrants) for pairing in pairings)


def _berger(entrants: int) -> Rounds:
    """Return Berger's tables (FIDE Handbook C.05, Annex 1): colours alternate, and are even for an odd number.

    In round r those meet whose numbers, from 1, add up to r + 1 modulo one less than the even number of places.
    """
    places = entrants + entrants % 2
    circle = places - 1
    drawn = []
    for number in range(1, places):
        pairings = []
        for first in range(1, places):
            second = (number - first) % circle + 1  # modulo the circle, from 1
            if second == first:
                second = places
            if first < second <= entrants:
                lower_begins = first <= places // 2 if second == places else (first + second) % 2 == 1
                pairings.append((first - 1, second - 1) if lower_begins else (second - 1, first - 1))
        drawn.append(tuple(pairings))
    return tuple(drawn)


def _shift(tables: Iterable[Pairing], entrants: int) -> tuple[Pairing, ...]:
    """Return each of ``tables`` moved on by every number: so everybody has each of its seats once."""
    return tuple(
        tuple([(number + shift) % entrants for number in table]) for table in tables for shift in range(entrants)
    )


def _mendelsohn(entrants: int) -> Rounds:
    """Return a perfect Mendelsohn design of blocks of four from a field of ``entrants`` = 4n + 1 elements.

    With g a primitive element the tables of round 0 are g^i * (1, g^n, g^2n, g^3n); round r adds r to all, and leaves
    r out (N. S. Mendelsohn, "Perfect cyclic designs", 1977).
    """
    if entrants == 9:
        powers: Sequence[int] = _POWERS_OF_NINE
        add: Callable[[int, int], int] = _add_in_nine
    else:
        powers = [_PRIMITIVE_ROOTS[entrants] ** exponent % entrants for exponent in range(entrants - 1)]

        def add(one: int, other: int) -> int:
            return (one + other) % entrants

    step = (entrants - 1) // 4
    return tuple(
        tuple([tuple([add(powers[first + turn * step], number) for turn in range(4)]) for first in range(step)])
        for number in range(entrants)
    )


def _add_in_nine(one: int, other: int) -> int:
    return (one + other) % 3 + 3 * ((one // 3 + other // 3) % 3)


def _whist(entrants: int) -> Rounds:
    """Return a whist tournament (I. Anderson, "Combinatorial Designs and Tournaments", 1997) with balanced seats."""
    circle = entrants - 1
    turns = iter(_WHIST_TURNS[entrants])
    drawn = []
    for number in range(circle):
        pairings = []
        for table in _WHIST[entrants]:
            moved = tuple([place if place == circle else (place + number) % circle for place in table])
            turn = int(next(turns))
            pairings.append(moved[turn:] + moved[:turn])
        drawn.append(tuple(pairings))
    return tuple(drawn)
