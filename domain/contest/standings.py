"""The table of a tournament: points, then tie-breaks as an ordered list of functions, then shared places."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from domain.contest.points import PointsRule, comparison, points
from domain.contest.schedules import Pairing


class TieBreak(StrEnum):
    """The names of the tie-breaks, as stored; the rating is never one."""

    WINS = "wins"
    """More matches won."""

    SONNEBORN_BERGER = "sonneborn-berger"
    """The points of each opponent met, twice for a better place than theirs, once for the same."""

    MUTUAL = "mutual"
    """The results among those who are tied: 2 for a better place than another of them, 1 for the same."""

    SECOND_PLACES = "second-places"
    """More second places, at four seats."""

    FEWEST_FLAGS = "fewest-flags"
    """Fewer matches lost on time."""


STANDARD_TIE_BREAKS = (TieBreak.WINS, TieBreak.SONNEBORN_BERGER, TieBreak.MUTUAL, TieBreak.FEWEST_FLAGS)


class MatchRecord(NamedTuple):
    """A result that counts for the table: who sat where, the score of each seat, and the seats whose flag fell."""

    entrants: Pairing
    scores: tuple[float, ...]
    flags: tuple[int, ...] = ()


class Row(NamedTuple):
    """A line of a table: ``places`` are the best and the worst place that the entrant shares, from 1.

    ``breaks`` are the values of the tie-breaks, in their order, the greater the better; None where none was asked for,
    since nobody was tied any more.
    """

    entrant: int
    places: tuple[int, int]
    points: int
    played: int
    wins: int
    breaks: tuple[int | None, ...]


_Played = Mapping[int, Sequence[tuple[MatchRecord, float]]]
"""The results of each entrant, each with the entrant's score."""


class _Tied(NamedTuple):
    """Entrants who are tied, with the results and the points of all."""

    played: _Played
    totals: Mapping[int, int]
    entrants: Collection[int]


def standings(
    entrants: Iterable[int], records: Sequence[MatchRecord], rule: PointsRule, tie_breaks: Sequence[TieBreak]
) -> tuple[Row, ...]:
    """Return the table of ``entrants``, best first, those who share places by number.

    A result with a player who is not among them, and so is struck, counts for nobody at two seats; at four seats it
    counts for the others, who have played each other too.
    """
    rows = sorted(entrants)
    counted = [record for record in records if len(record.entrants) > 2 or set(record.entrants) <= set(rows)]
    totals = dict.fromkeys(rows, 0)
    results: dict[int, list[tuple[MatchRecord, float]]] = {one: [] for one in rows}
    for record in counted:
        for one, score, gained in zip(record.entrants, record.scores, points(rule, record.scores), strict=True):
            if one in totals:
                totals[one] += gained
                results[one].append((record, score))
    breaks: dict[int, list[int | None]] = {one: [] for one in rows}
    groups = _split(rows, totals)
    for tie_break in tie_breaks:
        finer: list[list[int]] = []
        for group in groups:
            tied = _Tied(results, totals, group)
            values = {one: _VALUES[tie_break](one, tied) if len(group) > 1 else 0 for one in group}
            for one, value in values.items():
                breaks[one].append(value if len(group) > 1 else None)
            finer += _split(group, values)
        groups = finer
    table: list[Row] = []
    for group in groups:
        places = (len(table) + 1, len(table) + len(group))
        for one in group:
            wins = _wins(one, _Tied(results, totals, group))
            table.append(Row(one, places, totals[one], len(results[one]), wins, tuple(breaks[one])))
    return tuple(table)


def cross_table(records: Iterable[MatchRecord]) -> dict[tuple[int, int], int]:
    """Return for two entrants who have met the results of the first: 2 for each better place, 1 for each same one."""
    met: dict[tuple[int, int], int] = {}
    for entrants, scores, _ in records:
        for one, score in zip(entrants, scores, strict=True):
            for other, its_score in zip(entrants, scores, strict=True):
                if one != other:
                    met[one, other] = met.get((one, other), 0) + comparison(score, its_score)
    return met


def _split(group: Iterable[int], values: Mapping[int, int]) -> list[list[int]]:
    """Return ``group`` in parts of equal value, the greatest first."""
    parts: dict[int, list[int]] = {}
    for one in sorted(group, key=lambda one: (-values[one], one)):
        parts.setdefault(values[one], []).append(one)
    return list(parts.values())


def _wins(one: int, tied: _Tied) -> int:
    return _times_at_place(one, tied, 1)


def _second_places(one: int, tied: _Tied) -> int:
    return _times_at_place(one, tied, 2)


def _times_at_place(one: int, tied: _Tied, place: int) -> int:
    """Return in how many matches an entrant had a place from 1 alone."""
    return sum(
        record.scores.count(score) == 1 and sum(other > score for other in record.scores) == place - 1
        for record, score in tied.played[one]
    )


def _sonneborn_berger(one: int, tied: _Tied) -> int:
    return sum(
        tied.totals.get(other, 0) * comparison(score, its_score)
        for record, score in tied.played[one]
        for other, its_score in zip(record.entrants, record.scores, strict=True)
        if other != one
    )


def _mutual(one: int, tied: _Tied) -> int:
    return sum(
        comparison(score, its_score)
        for record, score in tied.played[one]
        for other, its_score in zip(record.entrants, record.scores, strict=True)
        if other != one and other in tied.entrants
    )


def _fewest_flags(one: int, tied: _Tied) -> int:
    return -sum(record.entrants[seat] == one for record, _ in tied.played[one] for seat in record.flags)


_VALUES: Final[Mapping[TieBreak, Callable[[int, _Tied], int]]] = {
    TieBreak.WINS: _wins,
    TieBreak.SONNEBORN_BERGER: _sonneborn_berger,
    TieBreak.MUTUAL: _mutual,
    TieBreak.SECOND_PLACES: _second_places,
    TieBreak.FEWEST_FLAGS: _fewest_flags,
}
