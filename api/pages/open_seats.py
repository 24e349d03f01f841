"""The free seats of open matches, as the lobby and the pages of games offer them to a viewer."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from api.pages.wording import rating_words
from api.representations.matches import MatchSummary
from api.services import services
from domain.games import GAMES
from domain.match.enums import Status
from events.matches.readmodels import Summary, pool_of
from events.people.person import Person


class SeatObstacle(StrEnum):
    """Why a viewer cannot take a free seat at once."""

    SIGNED_OUT = "signed-out"
    OWN_MATCH = "own-match"
    RATED = "rated"  # guests play unrated


class FreeSeat(NamedTuple):
    """A free seat: its number, its name, such as "White", and the colour of its pieces."""

    number: int
    name: str
    colour: str


class OpenSeats(NamedTuple):
    """The free seats of a match, the ratings of its players in words, and the obstacle for the viewer, if any."""

    free: tuple[FreeSeat, ...]
    ratings: Mapping[str, str]
    obstacle: SeatObstacle | None


def offer_seats(matches: Iterable[tuple[Summary, MatchSummary]], viewer: Person | None) -> dict[str, OpenSeats]:
    """Return by id the seats that the open ones among ``matches`` offer to ``viewer``; ratings take one round trip."""
    offered = [(summary, match) for summary, match in matches if summary.status == Status.OPEN]
    players = [
        (seat.player, _pool(summary)) for summary, _ in offered for seat in summary.seats if seat.player is not None
    ]
    ratings = dict(zip(players, services().readmodels.ratings_in(players), strict=True))
    return {
        summary.match: OpenSeats(
            _free_seats(match),
            {
                player: rating_words(rating)
                for (player, pool), rating in ratings.items()
                if rating is not None and pool == _pool(summary)
            },
            _obstacle(summary, viewer),
        )
        for summary, match in offered
    }


def _pool(summary: Summary) -> str:
    return pool_of(summary.game, len(summary.seats))


def _free_seats(match: MatchSummary) -> tuple[FreeSeat, ...]:
    game = GAMES.get(match.game.id)
    setup = game.setups.get(match.setup) if game else None
    colours = setup.colours if setup else [""] * len(match.seats)
    return tuple(
        FreeSeat(seat.seat, seat.name, colour)
        for seat, colour in zip(match.seats, colours, strict=True)
        if seat.state == "open"
    )


def _obstacle(summary: Summary, viewer: Person | None) -> SeatObstacle | None:
    if viewer is None:
        return SeatObstacle.SIGNED_OUT
    if any(seat.player == viewer.id for seat in summary.seats):
        return SeatObstacle.OWN_MATCH
    return SeatObstacle.RATED if summary.rated and viewer.kind == "guest" else None
