"""Who is new to a game: the goal, and why the computer moved, stand beside the board for them."""

from collections.abc import Sequence

from api.services import services
from domain.match.state import MatchState
from events.matches.readmodels import PlayerRating, Summary
from events.runtime.reads import Read

MAX_MATCHES_OF_NEWCOMERS = 3
"""The match of a game, counted from 1, up to which a person is new to it."""

LATEST_OF_SHARD = 10
"""Finished matches that are looked at for it, of each shard; rated ones are counted by the rating."""


def read_of_finished(person: str) -> Read[list[Summary]]:
    """Return the read of the matches that ``person`` has finished last."""
    return services().readmodels.read_of_latest("finished", person, LATEST_OF_SHARD)


def is_new(state: MatchState, rating: PlayerRating | None, finished: Sequence[Summary]) -> bool:
    """Tell whether a person with this rating in the pool of the match, and these matches, is new to its game."""
    rated = rating.matches if rating else 0
    return max(rated, sum(summary.game == state.game for summary in finished)) < MAX_MATCHES_OF_NEWCOMERS
