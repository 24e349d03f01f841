"""The matches that start next: as soon as everybody at the table has room, those with most matches left first."""

from collections import Counter
from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import NamedTuple

from domain.contest.tournament.state import PairingStatus, TournamentState


class Obstacle(StrEnum):
    """Why a pairing waits."""

    AT_ONCE = "at-once"
    """Somebody plays as many matches of the tournament at once as its terms allow."""

    NO_ROOM = "no-room"
    """Somebody has no room for a match now: too many, or a vacation."""

    SAME_PLAYERS = "same-players"
    """The two play each other already."""

    APART = "apart"
    """Two people cannot be placed at one table."""


class Waiting(NamedTuple):
    """A pairing that waits, and for whom; for nobody by name where two people cannot be placed at one table."""

    pairing: int
    obstacle: Obstacle
    entrants: tuple[int, ...]


class NextMatches(NamedTuple):
    """The pairings that start now, in this order, and those that wait, in the drawn order."""

    starting: tuple[int, ...]
    waiting: tuple[Waiting, ...]


def next_matches(
    state: TournamentState, room: Mapping[str, int], apart: Collection[frozenset[str]] = frozenset()
) -> NextMatches:
    """Return which pairings start now: everybody has room, at most two do not play two matches with each other at once.

    ``room`` says how many more matches may be started for each player, ``apart`` which two are placed at no table.
    Among those that can start comes the pairing whose people have the most matches left, then the drawn order.
    """
    running = [pairing.entrants for pairing in state.pairings if pairing.status == PairingStatus.RUNNING]
    playing = Counter(one for entrants in running for one in entrants)
    players = [entrant.player for entrant in state.entrants]
    free = [room.get(player, 0) for player in players]
    waiting = {number: state.pairings[number - 1].entrants for number in state.numbers(PairingStatus.WAITING)}
    left = Counter(one for entrants in waiting.values() for one in entrants)
    meeting = {frozenset(entrants) for entrants in running if len(entrants) == 2}
    separated = {
        number
        for number, entrants in waiting.items()
        if apart and any(pair <= {players[one] for one in entrants} for pair in apart)
    }

    def obstacle(number: int) -> Waiting | None:
        entrants = waiting[number]
        busy = tuple([one for one in entrants if playing[one] >= state.terms.at_once])
        full = tuple([one for one in entrants if free[one] < 1])
        if number in separated:
            return Waiting(number, Obstacle.APART, ())
        if frozenset(entrants) in meeting:
            return Waiting(number, Obstacle.SAME_PLAYERS, entrants)
        if busy:
            return Waiting(number, Obstacle.AT_ONCE, busy)
        return Waiting(number, Obstacle.NO_ROOM, full) if full else None

    reasons = {number: obstacle(number) for number in waiting}
    starting: list[int] = []
    while able := [number for number, reason in reasons.items() if reason is None]:
        first = max(able, key=lambda number: (sum(left[one] for one in waiting[number]), -number))
        del reasons[first]
        entrants = waiting[first]
        starting.append(first)
        for one in entrants:
            playing[one] += 1
            free[one] -= 1
            left[one] -= 1
        if len(entrants) == 2:
            meeting.add(frozenset(entrants))
        for number in reasons:
            if not set(entrants).isdisjoint(waiting[number]):
                reasons[number] = obstacle(number)
    return NextMatches(tuple(starting), tuple([reason for reason in reasons.values() if reason is not None]))
