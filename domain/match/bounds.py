"""How much seats may append to a match beside their moves.

Moves are bounded by the rules of the games; what seats only wish for is bounded here, so that a bundle stays far below
what is read of one. These are bounds of commands, not rules of a match: replaying recorded events does not ask
them, and what was appended before there were any stays as it is.
"""

from domain.match import commands as c
from domain.match.refusals import CommandError
from domain.match.state import MatchState

MAX_GIFTS_PER_TURN = 3
"""Of time, by one seat, from one move of the match to the next."""

MAX_REQUESTS = 1000
"""Of one seat in one match: draw offers, requests to take moves back, and gifts of time."""


_Move = c.SubmitMove | c.SubmitMoves


def refuse_excess(state: MatchState | None, command: c.Command) -> None:
    """Raise CommandError when the seat of the command's player has wished for as much as it may."""
    if state is None or not isinstance(command, _Move | c.OfferDraw | c.RequestTakeback | c.GiveTime):
        return
    seat, offers = state.seat_of(command.player), isinstance(command, _Move)
    if seat is None or (isinstance(command, _Move) and not command.offer_draw):
        return
    if state.offers.requests[seat] >= MAX_REQUESTS:
        without = ": play the move without the draw offer" if offers else ""
        reason = (
            f"a seat offers draws, asks for moves back and gives time {MAX_REQUESTS} times in a match at most{without}"
        )
        raise CommandError("too-many-offers", reason)
    if isinstance(command, c.GiveTime) and state.offers.gifts[seat] >= MAX_GIFTS_PER_TURN:
        reason = f"you have given time {MAX_GIFTS_PER_TURN} times since the last move: give more when one has been made"
        raise CommandError("invalid-gift", reason)
