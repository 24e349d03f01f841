"""Playing on with the same people: the match that follows one that is over."""

from domain.match.commands import CreateMatch
from domain.match.guards import seat_of
from domain.match.refusals import CommandError
from domain.match.state import MatchState, Seat
from domain.match.terms import STANDARD


def rematch(state: MatchState, player: str, match: str, seed: str, guest: bool) -> CreateMatch:
    """Return the creation of ``match``, which follows ``state``, as ``player`` proposes it.

    The same game, ruleset, setup and terms, rated and private as before; everybody moves on by one seat. Who proposes
    it is seated, opponents keep their level, all others are invited. Raises CommandError when ``player`` had no seat,
    the match is not over, or was called off before all seats were taken.
    """
    seat_of(state, player)
    if not state.ended:
        raise CommandError("match-not-over", "this match is not over: play it to its end first")
    if not all(seat.joined for seat in state.seats):
        raise CommandError("match-not-started", "this match never began: there is nobody to play again with")
    seats = tuple(_kept(seat, player) for seat in (*state.seats[1:], state.seats[0]))
    return CreateMatch(
        match=match,
        creator=player,
        game=state.game,
        setup=state.setup,
        seats=seats,
        rated=state.rated,
        private=state.private,
        seed=seed,
        guest=guest,
        ruleset=state.ruleset,
        terms=state.terms or STANDARD,
        rematch_of=state.match_id,
    )


def _kept(seat: Seat, player: str) -> Seat:
    return seat if seat.level is not None or seat.player is None or seat.player == player else Seat.invited(seat.player)
