"""Decisions about notices without a relay."""

from collections.abc import Iterable

from workers.effects import DeliveryReader
from workers.notices.decide import MatchObserver


def look_at_match(observer: MatchObserver, match_id: str, versions: Iterable[int]) -> None:
    """Let ``observer`` decide about the events of a match at ``versions``, as if they had been delivered together."""
    matches, availability = observer.matches, observer.decider.circumstances.availability
    reader = DeliveryReader(matches._store, matches, availability)  # type: ignore[arg-type]
    delivered = reader.read(match_id, frozenset(versions))
    observer.look_at_match(delivered)
