"""How much seats may append to a match beside their moves, so that a bundle stays far below what is read of one.

These are bounds of commands, not rules of a match: the audit asks them, replaying recorded events does not.
"""

from domain.match import commands as c
from domain.match.refusals import CommandError
from domain.match.state import MatchState

MAX_GIFTS_PER_TURN = 3
"""Of time, by one seat, from one move of the match to the next."""

MAX_TAKEBACKS_PER_PLY = 3
"""Requests to go back to one ply of a match."""

MAX_EVENTS_AT_START = 500
MAX_EVENTS_PER_PLY = 20
"""Events of a match by the number of its plies: beyond them a seat moves, answers and ends the match, and no more."""

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
    if state.version >= MAX_EVENTS_AT_START + MAX_EVENTS_PER_PLY * state.play.plies:
        reason = f"the record of this match is too long for its {state.play.plies} plies: go on with moves alone"
        raise CommandError("too-many-offers", reason)
    if isinstance(command, c.RequestTakeback):
        ply = state.play.last_ply[seat] - 1
        if state.offers.takebacks.count(ply) >= MAX_TAKEBACKS_PER_PLY:
            reason = f"you have asked {MAX_TAKEBACKS_PER_PLY} times to go back to ply {ply}: play on from here"
            raise CommandError("too-many-offers", reason)
    if isinstance(command, c.GiveTime) and state.offers.gifts[seat] >= MAX_GIFTS_PER_TURN:
        reason = f"you have given time {MAX_GIFTS_PER_TURN} times since the last move: give more when one has been made"
        raise CommandError("invalid-gift", reason)
