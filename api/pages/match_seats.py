"""The seats of a match as its page shows them."""

from dataclasses import dataclass

from api.pages.clocks import SeatClock, seat_clocks
from api.pages.pictures import colours_of
from api.pages.wording import score_words
from api.representations.matches import Match
from api.representations.players import Player
from api.services import services
from domain.game import AnyGame
from domain.match.enums import Status
from domain.match.state import MatchState
from events.readmodels import PlayerRating, pool_of


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatView:
    """A seat with its player, clock, rating in the pool of the match, score, and rating before and after the match."""

    seat: int
    name: str
    state: str
    player: Player | None
    colour: str
    clock: SeatClock | None
    rating: PlayerRating | None
    score: str | None
    change: tuple[float, float] | None
    to_move: bool
    agrees_to_draw: bool
    eliminated: bool

    @property
    def player_name(self) -> str:
        """The name of the player, "open seat" without one."""
        return self.player.name if self.player else "open seat"


def seat_views(state: MatchState, match: Match, game: AnyGame, now: int) -> list[SeatView]:
    """Return the seats of ``match``, which represents ``state``, at ``now``."""
    pool = pool_of(state.game, len(state.seats))
    readmodels = services().readmodels
    changes = readmodels.rating_change(state.match_id) if state.status == Status.FINISHED and state.rated else {}
    colours = colours_of(state, game)
    clocks = seat_clocks(state, now)
    eliminated = game.elimination.eliminated(state.play.position)
    scores = state.result.scores
    views = []
    for seat in match.seats:
        ratings = readmodels.ratings(seat.player.id) if seat.player else ()
        views.append(
            SeatView(
                seat=seat.seat,
                name=seat.name,
                state=seat.state,
                player=seat.player,
                colour=colours[seat.seat],
                clock=clocks[seat.seat],
                rating=next((rating for rating in ratings if rating.pool == pool), None),
                score=None if scores is None else score_words(scores[seat.seat]),
                change=changes.get(seat.player.id) if seat.player else None,
                to_move=not state.cases.frozen and match.to_move == seat.seat,
                agrees_to_draw=seat.seat in state.offers.draw_agreed,
                eliminated=state.status == Status.PLAYING and seat.seat in eliminated,
            )
        )
    return views
