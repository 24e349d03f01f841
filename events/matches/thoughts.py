"""The turns of opponents that think for long, as the work list has them.

Such a turn is two entries: one for the search, in whose content the worker notes how far it has come, and one that is
due well before the flag falls and has the move found with few nodes, whatever else waits.
"""

import hashlib
import json
from collections.abc import Sequence
from typing import NamedTuple

from domain.match.clock import falls_at
from domain.match.state import MatchState
from domain.match.terms import DAY
from events.runtime.work_list import WorkList
from events.store.converter import pack, unpack

URGENT_SHARE = 4
"""The last such part of the time between the begin of a turn and its flag is kept free."""

ORDER_HORIZON_MS = 30 * DAY
"""Of the matches of one person the one whose flag falls first is first; all that fall later than this are equal."""

_SEARCH, _URGENT = "search:", "urgent:"


class Thought(NamedTuple):
    """The content of the entry for a search.

    ``until`` is the instant at which the search is expected to end (milliseconds since 1970 UTC), 0 before it begins.
    A search that has ended leaves its ``move``, the ``nodes`` of its budget, and the ``basis`` that both follow from.
    """

    origin: str
    until: int = 0
    basis: str = ""
    move: str = ""
    nodes: int = 0


def search_entry(match_id: str) -> str:
    """Return the id of the entry for the search in a match."""
    return f"{_SEARCH}{match_id}"


def urgent_entry(match_id: str) -> str:
    """Return the id of the entry that answers in a match before the flag falls."""
    return f"{_URGENT}{match_id}"


def match_of(entry: str) -> str:
    """Return the match that an entry of the opponents' turns is about."""
    return entry.removeprefix(_SEARCH).removeprefix(_URGENT)


def is_urgent(entry: str) -> bool:
    """Return whether an entry answers before the flag falls."""
    return entry.startswith(_URGENT)


def read_thought(turns: WorkList, match_id: str) -> Thought | None:
    """Return the thought about the next move of a match, None when none waits or is under way."""
    content = turns.entry_content("", search_entry(match_id))
    return None if content is None else unpack(Thought, content)


def packed(thought: Thought) -> str:
    """Return ``thought`` as the content of an entry."""
    return pack(thought).decode()


def urgent_at(state: MatchState) -> int | None:
    """Return the instant from which an answer is urgent (milliseconds since 1970 UTC); None while no flag can fall."""
    flag = falls_at(state.clock)
    return None if flag is None else flag - max(0, flag - state.clock.since) // URGENT_SHARE


def order_of(state: MatchState, now: int) -> int:
    """Return the instant, ``now`` or earlier, by which a search is put in order among those of the same owner."""
    flag = falls_at(state.clock)
    return now if flag is None else min(now, flag - ORDER_HORIZON_MS)


def basis_of_move(moves: Sequence[str], *circumstances: str | int) -> str:
    """Return a digest of all that the move of an opponent follows from."""
    return hashlib.sha256(json.dumps([*circumstances, *moves]).encode()).hexdigest()[:32]
