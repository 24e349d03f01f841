"""Decisions about notices without a relay."""

from collections.abc import Iterable

from workers.effects import DeliveryReader
from workers.notices.decide import Decider


def look_at_match(decider: Decider, match_id: str, versions: Iterable[int]) -> None:
    """Let ``decider`` decide about the events of a match at ``versions``, as if they had been delivered together."""
    parts = decider._parts
    delivered = DeliveryReader(parts.store, parts.matches, parts.availability).read(match_id, frozenset(versions))
    decider.look_at_match(delivered)
