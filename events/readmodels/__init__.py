"""Read models: what pages and workers look up, derived from the events and deleted or rebuilt at will."""

from events.readmodels.dump import dump
from events.readmodels.lists import lists_of, write_summary
from events.readmodels.paging import Page
from events.readmodels.rated_matches import Compared, RatedMatch
from events.readmodels.reader import ReadModels
from events.readmodels.standings import HeadToHead, PlayerRating, RatingChange
from events.readmodels.summary import Projected, RatedResult, Summary, Unrated, pool_of, rated_result, summarise
from events.runtime.keys import ReadModelKeys

__all__ = [
    "Compared",
    "HeadToHead",
    "Page",
    "PlayerRating",
    "Projected",
    "RatedMatch",
    "RatedResult",
    "RatingChange",
    "ReadModelKeys",
    "ReadModels",
    "Summary",
    "Unrated",
    "dump",
    "lists_of",
    "pool_of",
    "rated_result",
    "summarise",
    "write_summary",
]
