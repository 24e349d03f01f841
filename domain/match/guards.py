"""Whether somebody may act in a match now: the refusals that commands share."""

from domain.game import AnyGame
from domain.games import find_ruleset
from domain.match import commands as c
from domain.match.clock import falls_at
from domain.match.endings import reason_words
from domain.match.enums import Status
from domain.match.refusals import CommandError
from domain.match.state import MatchState

TIME_UP = "time-up"
"""The code of the refusal that says: a flag has fallen that is not recorded yet."""

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


def seat_of(state: MatchState, player: str) -> int:
    """Return the seat of ``player``; raises CommandError when there is none."""
    seat = state.seat_of(player)
    if seat is None:
        raise CommandError("not-your-seat", "you have no seat in this match")
    return seat


def active_seat(state: MatchState, player: str, now: int, even_frozen: bool = False) -> int:
    """Return the seat of ``player``, who plays on in a match that is being played; raises CommandError."""
    seat = seat_of(state, player)
    refuse_if_not_playing(state, now, even_frozen)
    if seat in find_ruleset(state.game, state.ruleset).eliminated(state.play.position):
        raise CommandError("no-longer-playing", "you are out of this game already")
    return seat


def seats_playing(state: MatchState) -> tuple[int, ...]:
    """Return the seats that have not left the game."""
    gone = find_ruleset(state.game, state.ruleset).eliminated(state.play.position)
    return tuple([seat for seat in range(len(state.seats)) if seat not in gone])


def refuse_if_ended(state: MatchState) -> None:
    """Raise CommandError when the match is over."""
    if state.status == Status.ABORTED:
        raise CommandError("match-over", "this match was cancelled")
    if state.ended:
        raise CommandError("match-over", f"this match is over: {reason_words(state.result.reason, state.game)}")


def refuse_if_not_playing(state: MatchState, now: int, even_frozen: bool = False) -> None:
    """Raise CommandError unless the match is being played and no time is up; ``even_frozen`` lets a frozen one pass.

    A flag that has fallen counts from its instant on, recorded or not: a late move and a flag can never both count.
    """
    refuse_if_ended(state)
    if not even_frozen:
        refuse_if_frozen(state)
    if state.status != Status.PLAYING:
        raise CommandError("match-not-started", "this match has not started: not all seats are taken")
    refuse_if_broken(state)
    instant = falls_at(state.clock)
    if instant is not None and now >= instant:
        names = find_ruleset(state.game, state.ruleset).setups[state.setup].seat_names
        raise CommandError(TIME_UP, f"the time of {names[state.clock.seat or 0]} is up")


def refuse_if_broken(state: MatchState) -> None:
    """Raise CommandError when the rules cannot follow the match."""
    if state.play.broken is not None:
        raise CommandError(
            "broken-match", f"this match cannot be replayed ({state.play.broken}): an arbiter has to rule on it"
        )


def rules_of(state: MatchState) -> AnyGame:
    """Return the rules that the positions of the match are of; raises CommandError when it has none."""
    if state.play.position is None:
        refuse_if_broken(state)
    return find_ruleset(state.game, state.ruleset)


def refuse_if_frozen(state: MatchState) -> None:
    """Raise CommandError while an arbiter has to rule first."""
    if state.cases.frozen:
        raise CommandError("match-frozen", "this match is frozen until an arbiter has ruled")


def refuse_excess(state: MatchState | None, command: c.Command) -> None:
    """Raise CommandError when the seat of the command's player has wished for as much as it may.

    So a bundle stays far below the size limit of readers. This bounds commands and is no rule of a match: the audit
    asks it, replaying recorded events does not.
    """
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
        reason = f"the record of this match is too long for its {state.play.plies} moves: go on with moves alone"
        raise CommandError("too-many-offers", reason)
    if isinstance(command, c.RequestTakeback):
        ply = state.play.last_ply[seat] - 1
        if state.offers.takebacks.count(ply) >= MAX_TAKEBACKS_PER_PLY:
            reason = f"you have asked {MAX_TAKEBACKS_PER_PLY} times to go back to move {ply}: play on from here"
            raise CommandError("too-many-offers", reason)
    if isinstance(command, c.GiveTime) and state.offers.gifts[seat] >= MAX_GIFTS_PER_TURN:
        reason = f"you have given time {MAX_GIFTS_PER_TURN} times since the last move: give more when one has been made"
        raise CommandError("invalid-gift", reason)
