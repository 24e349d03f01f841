"""The balance of a schedule: meetings, seats, neighbours, opposites of entrants; seats balanced by edge colouring."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from domain.contest.schedules import Pairing


class Span(NamedTuple):
    """The least and the greatest of several counts."""

    least: int
    most: int

    def __str__(self) -> str:
        return str(self.least) if self.least == self.most else f"{self.least}-{self.most}"


class Balance(NamedTuple):
    """The counts of a schedule: over entrants, entrants and seats, pairs, or ordered pairs of entrants.

    ``before`` counts how often one plays directly before another, ``opposite`` how often two sit opposite each other;
    at two seats both are the same as meeting, and ``opposite`` is not counted.
    """

    pairings: int
    matches: Span
    meetings: Span
    seats: Span
    before: Span
    opposite: Span


def count_balance(pairings: Sequence[Pairing], entrants: int) -> Balance:
    """Return the counts of ``pairings`` of one number of seats between entrants 0 to ``entrants`` - 1."""
    seats = len(pairings[0])
    matches: Counter[int] = Counter()
    taken: Counter[tuple[int, int]] = Counter()
    met: Counter[tuple[int, int]] = Counter()
    before: Counter[tuple[int, int]] = Counter()
    opposite: Counter[tuple[int, int]] = Counter()
    for pairing in pairings:
        for seat, one in enumerate(pairing):
            matches[one] += 1
            taken[one, seat] += 1
            before[one, pairing[(seat + 1) % seats]] += 1
            if seats == 4:
                opposite[one, pairing[(seat + 2) % seats]] += 1
            for other in pairing:
                met[one, other] += 1
    everybody = range(entrants)
    others = [(one, other) for one in everybody for other in everybody if one != other]
    return Balance(
        len(pairings),
        _span(matches[one] for one in everybody),
        _span(met[pair] for pair in others),
        _span(taken[one, seat] for one in everybody for seat in range(seats)),
        _span(before[pair] for pair in others),
        _span(opposite[pair] for pair in others),
    )


def _span(counts: Iterable[int]) -> Span:
    numbers = list(counts)
    return Span(min(numbers), max(numbers))


def balance_seats(tables: Sequence[Pairing]) -> tuple[Pairing, ...]:
    """Return ``tables`` of four with other seats: each person has each seat once in every four matches in a row.

    The matches of each person are split, in order, into groups of four; the bipartite graph of groups and tables has
    no vertex of more than four edges, so its edges can be coloured with the four seats (D. Koenig, 1916), by
    exchanging two colours along alternating paths. It changes neighbours: only for tables whose people were replaced.
    """
    seated: list[list[tuple[int, int] | None]] = [[None] * 4 for _ in tables]
    playing: dict[tuple[int, int], list[int | None]] = {}
    appearances: Counter[int] = Counter()
    for number, table in enumerate(tables):
        for person in table:
            group = (person, appearances[person] // 4)
            appearances[person] += 1
            seat = playing.setdefault(group, [None] * 4).index(None)
            if seated[number][seat] is not None:
                _exchange(number, seat, seated[number].index(None), seated, playing)
            seated[number][seat] = group
            playing[group][seat] = number
    return tuple(tuple([group[0] for group in groups if group is not None]) for groups in seated)


def _exchange(
    table: int,
    taken: int,
    free: int,
    seated: list[list[tuple[int, int] | None]],
    playing: dict[tuple[int, int], list[int | None]],
) -> None:
    """Exchange two seats along the path from ``table``, so that the seat ``taken`` there becomes free instead.

    The graph is bipartite: the path leaves tables by the one seat and groups by the other, and comes to no group in
    which the seat ``taken`` is free.
    """
    path: list[tuple[int, tuple[int, int], int]] = []
    following: int | None = table
    while following is not None and (group := seated[following][taken]) is not None:
        path.append((following, group, taken))
        following = playing[group][free]
        if following is not None:
            path.append((following, group, free))
    for number, group, seat in path:
        seated[number][seat] = playing[group][seat] = None
    for number, group, seat in path:
        other = taken + free - seat
        seated[number][other] = group
        playing[group][other] = number
