"""How read models see matches: summarised and rated by way of the cached states."""

from collections.abc import Callable, Mapping

from events.readmodels import Projected, RatedResult, rated_result, summarise
from events.service.matches import Matches, UnknownMatchError
from events.store.contract import EventStore, Head


class CachedSummaries:
    """Summarises matches by way of the states that are cached in this process (``SummaryReader``)."""

    def __init__(self, matches: Matches, store: EventStore) -> None:
        self._matches = matches
        self._store = store

    def heads(self, versions: Mapping[str, int]) -> Mapping[str, Head]:
        """Return the present heads of the matches cached at these versions or later: lost events count for nothing."""
        cached = {match_id: self._matches.cached(match_id) for match_id in versions}
        match_ids = [
            match_id for match_id, known in cached.items() if known and known.head.version >= versions[match_id]
        ]
        return dict(zip(match_ids, self._store.heads(match_ids), strict=True)) if match_ids else {}

    def read(self, match_id: str, version: int, head: Head | None) -> Projected | None:
        """Return the summary of a match at ``version`` or later, given its present head; None for no such match."""
        try:
            if head is None:
                loaded = self._matches.load_at_least(match_id, version)
            else:
                loaded = self._matches.load_at(match_id, head)
        except UnknownMatchError:
            return None
        return Projected(summarise(loaded.state), loaded.head.tag.digest)


def result_reader(matches: Matches) -> Callable[[str], RatedResult | None]:
    """Return a function that returns the result of a match as it counts for ratings now; None for none."""

    def read(match_id: str) -> RatedResult | None:
        try:
            return rated_result(summarise(matches.load(match_id).state))
        except UnknownMatchError:
            return None

    return read
