"""How read models see matches: summarised and rated by way of the cached states."""

from collections.abc import Callable

from events.readmodels import Projected, RatedResult, rated_result, summarise
from events.readmodels.projector import Read
from events.service.matches import Matches, UnknownMatchError
from events.store.contract import Head


def summary_reader(matches: Matches) -> Read:
    """Return a function that summarises a match as it stands now; None for no such match."""

    def read(match_id: str, head: Head) -> Projected | None:
        try:
            loaded = matches.load_at(match_id, head)
        except UnknownMatchError:
            return None
        return Projected(summarise(loaded.state), loaded.head.tag.digest)

    return read


def result_reader(matches: Matches) -> Callable[[str], RatedResult | None]:
    """Return a function that returns the result of a match as it counts for ratings now; None for none."""

    def read(match_id: str) -> RatedResult | None:
        try:
            return rated_result(summarise(matches.load(match_id).state))
        except UnknownMatchError:
            return None

    return read
