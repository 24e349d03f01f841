"""How a match stands, in words, and its seats as its page shows them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from api.pages.announcements import is_turn_of
from api.pages.clocks import SeatClock, seat_clocks
from api.pages.pictures import colours_of, plies_in_words
from api.pages.wording import about, headline, score_words, thinking_words
from api.representations.clocks import SECOND_MS
from api.representations.matches import Match
from api.representations.players import Player
from domain.game import AnyGame
from domain.match.enums import Status
from domain.match.state import MatchState
from domain.search.budgets import thinks_long
from events.matches.readmodels import PlayerRating, rated_result, summarise


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


def seat_views(
    state: MatchState,
    match: Match,
    game: AnyGame,
    now: int,
    ratings: Mapping[str, PlayerRating],
    changes: Mapping[str, tuple[float, float]],
) -> list[SeatView]:
    """Return the seats of ``match``, which represents ``state``, at ``now``.

    ``ratings`` are those of the players, ``changes`` their ratings before and after the match if it counts.
    """
    colours = colours_of(state, game)
    clocks = seat_clocks(state, now)
    eliminated = game.eliminated(state.play.position)
    scores = state.result.scores
    return [
        SeatView(
            seat=seat.seat,
            name=seat.name,
            state=seat.state,
            player=seat.player,
            colour=colours[seat.seat],
            clock=clocks[seat.seat],
            rating=ratings.get(seat.player.id) if seat.player else None,
            score=None if scores is None else score_words(scores[seat.seat]),
            change=changes.get(seat.player.id) if seat.player else None,
            to_move=not state.cases.frozen and match.to_move == seat.seat,
            agrees_to_draw=seat.seat in state.offers.draw_agreed,
            eliminated=state.status == Status.PLAYING and seat.seat in eliminated,
        )
        for seat in match.seats
    ]


class Standing(NamedTuple):
    """How a match stands for its viewer, in sentences; ``waiting_for`` is empty after the end."""

    viewer_to_move: bool
    waiting_for: str
    circumstances: Sequence[str]
    headline: str
    rated: bool
    rating_pending: bool


def describe_standing(
    state: MatchState,
    seats: Sequence[SeatView],
    seat: int | None,
    circumstances: Sequence[str],
    thinks_until: int | None,
    now: int,
) -> Standing:
    """Return how the match stands at ``now`` for the viewer, who holds ``seat``.

    ``circumstances`` are the sentences about the position (``announcements.describe_position``). ``thinks_until`` is
    when the search of an opponent that thinks for long is expected to end, 0 while it waits.
    """
    names = [view.name for view in seats]
    rated = rated_result(summarise(state)) is not None
    return Standing(
        viewer_to_move=is_turn_of(state, seat),
        waiting_for=_describe_waiting(state, seats, seat, thinks_until, now),
        circumstances=circumstances,
        headline=headline(state.result.scores, names) if state.result.scores else "",
        rated=rated,
        rating_pending=rated and not any(view.change for view in seats),
    )


def summarise_standing(state: MatchState, seats: Sequence[SeatView]) -> str:
    """Return in one sentence how the match stands, for previews of links to its page."""
    plies = plies_in_words(len(state.play.moves))
    if state.result.scores:
        return f"{headline(state.result.scores, [view.name for view in seats])}, {plies}."
    mover = next((view.name for view in seats if view.to_move), None)
    return f"{plies.capitalize()}, {mover} to move." if mover else f"{plies.capitalize()}."


def _describe_waiting(
    state: MatchState, seats: Sequence[SeatView], seat: int | None, thinks_until: int | None, now: int
) -> str:
    """Return a sentence about the one that the match waits for."""
    if state.ended:
        return ""
    if state.cases.frozen or state.play.broken is not None:
        why = "is frozen" if state.cases.frozen else "cannot be replayed"
        return f"The match {why}: it continues when an arbiter has ruled."
    if state.status == Status.OPEN:
        return _describe_open_seats(state, seats, seat)
    mover = next((view for view in seats if view.to_move), seats[0])
    if mover.seat == seat:
        return f"Your move: you play {mover.name}."
    if mover.player is not None and mover.player.kind == "opponent":
        return _describe_thinking(state.game, mover, thinks_until, now)
    return f"Waiting for {mover.player_name} ({mover.name}) to move."


def _describe_thinking(game_id: str, mover: SeatView, until: int | None, now: int) -> str:
    """Return a sentence about an opponent that is to move; ``until`` as in ``describe_standing``."""
    name, level = f"{mover.player_name} ({mover.name})", mover.player.level if mover.player else None
    if until and until > now:
        left = about((until - now) / SECOND_MS)
        return f"{name} is thinking, {left} left."
    if until == 0 and level is not None and thinks_long(level):
        return f"{name} is going to think for {thinking_words(game_id, level)}: other searches come first."
    return f"{name} is thinking and will move soon."


def _describe_open_seats(state: MatchState, seats: Sequence[SeatView], seat: int | None) -> str:
    if seat is not None and not state.seats[seat].joined:
        return f"You are invited to play {seats[seat].name}."
    missing = [view for view in seats if view.state != "taken"]
    names = " and ".join(view.player_name if view.player else f"someone to play {view.name}" for view in missing)
    sentences = [f"Waiting for {names} to join."]
    if seat is None:
        sentences += (f"{view.name} is reserved for {view.player_name}." for view in missing if view.player)
    return " ".join(sentences)
