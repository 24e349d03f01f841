"""The names that events are stored under. One that has been stored is never reused for something else."""

import re
from typing import get_args

from domain.match.events import Event

TYPES: dict[str, type[Event]] = {
    re.sub(r"(?<=[a-z])(?=[A-Z])", "-", made.__name__).lower(): made for made in get_args(Event)
}
"""The name of an event is that of its class: "match-created" of MatchCreated."""

SEEDS = frozenset({"match-created", "seed-drawn"})
"""The stored types whose ``seed`` is that of a match: the last of them decides the moves of its opponents."""
