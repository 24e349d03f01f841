"""Read models: views for pages and workers, derived from the events and deleted or rebuilt at will."""

from events.matches.readmodels.dump import dump
from events.matches.readmodels.lists import lists_of, write_summary
from events.matches.readmodels.paging import Page
from events.matches.readmodels.rated_matches import Compared, RatedMatch
from events.matches.readmodels.reader import ReadModels
from events.matches.readmodels.standings import HeadToHead, PlayerRating, RatingChange
from events.matches.readmodels.summary import Projected, RatedResult, Summary, Unrated, pool_of, rated_result, summarise
from events.runtime.keys import ReadModelKeys

__all__ = [
    "Compared", "HeadToHead", "Page", "PlayerRating", "Projected", "RatedMatch", "RatedResult", "RatingChange",
    "ReadModelKeys", "ReadModels", "Summary", "Unrated", "dump", "lists_of", "pool_of", "rated_result", "summarise",
    "write_summary",
]  # fmt: skip
