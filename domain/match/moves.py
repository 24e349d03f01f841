"""Playing: a move, and giving the game up."""

from domain.game import GameOver, IllegalMove, MalformedNotation
from domain.games import find_ruleset
from domain.match import commands as c
from domain.match import events as e
from domain.match.guards import active_seat, refuse_if_not_playing, seat_of
from domain.match.refusals import Refused
from domain.match.state import MatchState

LONGEST_MOVE = 10_000
"""Characters; the longest canonical move of any game is far shorter."""


def submit_move(state: MatchState, command: c.SubmitMove, now: int) -> tuple[e.Event, ...]:
    """Return the move, a draw offer that rides with it, and the end of the match when it ends the game."""
    refuse_if_not_playing(state, now)
    game = find_ruleset(state.game, state.ruleset)
    seat = game.to_move(state.position)
    if state.seats[seat].player != command.player:
        seat_of(state, command.player)
        names = game.setups[state.setup].seat_names
        raise Refused("not-your-turn", f"it is not your turn: {names[seat]} is to move")
    if len(command.move) > LONGEST_MOVE:
        raise Refused("malformed-move", f"a move has at most {LONGEST_MOVE} characters", "move")
    try:
        move = game.read_move(state.position, command.move, state.setup)
    except MalformedNotation as error:
        raise Refused("malformed-move", str(error), "move") from error
    except GameOver as error:
        raise Refused("match-over", str(error)) from error
    except IllegalMove as error:
        raise Refused("illegal-move", str(error), "move") from error
    submitted = e.MoveSubmitted(
        at=now,
        seat=seat,
        ply=len(state.moves) + 1,
        move=game.format_move(state.position, move),
        level=command.level,
        seed=command.seed,
        engine=command.engine,
        channel=command.channel,
    )
    outcome = game.outcome(game.play(state.position, move), state.history.then(state.position))
    if outcome is None:
        # Whoever moves while others wait for an answer declines; who has agreed before need not say so again.
        offers = command.offer_draw and seat not in state.draw_agreed
        return (submitted, e.DrawOffered(now, seat)) if offers else (submitted,)
    return (submitted, e.MatchFinished(now, outcome.scores, outcome.reason))


def resign(state: MatchState, command: c.Resign, now: int) -> tuple[e.Event, ...]:
    """Return that a seat gives up: it has lost, or in a game of several seats it leaves and the others go on."""
    seat = active_seat(state, command.player, now, even_frozen=command.channel == c.ERASURE)
    resigned = e.PlayerResigned(now, seat, command.channel)
    game = find_ruleset(state.game, state.ruleset)
    going_on = game.withdraw(state.position, seat)
    if going_on is None:
        return (resigned, e.MatchFinished(now, game.shared(state.position, (seat,)), "resignation"))
    outcome = game.outcome(going_on, state.history)
    if outcome is None:
        return (resigned,)
    return (resigned, e.MatchFinished(now, outcome.scores, outcome.reason))
