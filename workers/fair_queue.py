"""The matches that wait for an opponent, in an order that shares the opponents' time fairly among people.

The time is shared by who created the matches: each answer is charged to its creator with the nodes that its search may
visit, and of all that wait the match whose creator has been charged least is next (self-clocked fair queueing). So
a person with a hundred matches against the strongest opponent waits for them, and others do not; an answer that costs
little comes before one that costs much. Cheap answers have a lane of their own, for which a process is reserved.

All of this is a hint: what is owed is read off the matches. Crash-safe: a match that was taken by a worker that is
killed is added again by the sweeper, and one that was answered meanwhile owes nothing when it is taken.
"""

from typing import NamedTuple

from domain.search import LEVELS
from events.runtime.connections import StoreClient
from events.runtime.keys import OpponentKeys
from events.runtime.scripts import load_script

QUICK, SLOW = "quick", "slow"
LANES = (QUICK, SLOW)

MAX_QUICK_NODES = 1000
"""An answer whose search may visit more positions than this waits in the slow lane."""


def lane_of(level: int) -> str:
    """Return the lane in which the answers of an opponent of ``level`` wait."""
    return QUICK if LEVELS[level].nodes <= MAX_QUICK_NODES else SLOW


class Turn(NamedTuple):
    """The match whose turn it is, and what has made it wait (``events.runtime.origin``; empty: unknown)."""

    match_id: str
    origin: str


class FairQueue:
    """The waiting matches of an installation. Safe to share between threads and processes.

    Methods raise StoreUnavailableError.

    Each lane is a sorted set of matches by the charge at which their turn comes, another of people by the charge of
    their last match, the charge of the match that was taken last, and what has made the matches wait. People without
    a waiting match are not stored.
    """

    def __init__(self, client: StoreClient, prefix: str) -> None:
        self._client = client
        self._prefix = prefix
        self._add = load_script(client, __package__, "add_match")
        self._take = load_script(client, __package__, "take_match")

    def add(self, match_id: str, creator: str, level: int, origin: str = "") -> None:
        """Let a match wait for an opponent of ``level``, charged to its ``creator``; nothing if it waits already.

        ``origin`` is what has made it wait (``events.runtime.origin``).
        """
        self._add(keys=self._keys(lane_of(level)), args=[match_id, creator, LEVELS[level].nodes, origin])

    def take(self, lane: str) -> Turn | None:
        """Remove the match that is next in ``lane`` and return it; None when none waits there."""
        taken: tuple[bytes, bytes] | None = self._take(keys=self._keys(lane))
        return None if taken is None else Turn(*(part.decode() for part in taken))

    def waiting(self, lane: str) -> int:
        """Return how many matches wait in ``lane``."""
        return int(self._client.zcard(OpponentKeys(self._prefix, lane).matches))

    def _keys(self, lane: str) -> list[str]:
        keys = OpponentKeys(self._prefix, lane)
        return [keys.matches, keys.people, keys.charge, keys.origins]
