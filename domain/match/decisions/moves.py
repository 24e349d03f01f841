"""Playing: a move, and giving the game up."""

from domain.errors import GameOver, IllegalMove, MalformedNotation
from domain.games import find_ruleset
from domain.match import commands as c, events as e
from domain.match.enums import Channel, EndReason
from domain.match.evolutions.moves import move_submitted
from domain.match.evolve import Decision
from domain.match.guards import active_seat, refuse_if_not_playing, seat_of
from domain.match.refusals import CommandError
from domain.match.state import MatchState

MAX_MOVE_CHARACTERS = 10_000
"""Characters; the longest canonical move of any game is far shorter."""

MAX_MOVES_PER_SUBMISSION = 64
"""The longest turn, an army of cheap pieces set up in Fourplay's draft, has fewer than 30 plies."""


def submit_move(state: MatchState, command: c.SubmitMove, now: int) -> Decision:
    """Return the move, a draw offer that rides with it, and the end of the match when it ends the game."""
    refuse_if_not_playing(state, now)
    game = find_ruleset(state.game, state.ruleset)
    seat = game.to_move(state.play.position)
    if state.seats[seat].player != command.player:
        seat_of(state, command.player)
        names = game.setups[state.setup].seat_names
        raise CommandError("not-your-turn", f"it is not your turn: {names[seat]} is to move")
    if len(command.move) > MAX_MOVE_CHARACTERS:
        raise CommandError("malformed-move", f"a move has at most {MAX_MOVE_CHARACTERS} characters", "move")
    try:
        move = game.read_move(state.play.position, command.move, state.setup)
    except MalformedNotation as error:
        raise CommandError("malformed-move", str(error), "move") from error
    except GameOver as error:
        raise CommandError("match-over", str(error)) from error
    except IllegalMove as error:
        raise CommandError("illegal-move", str(error), "move") from error
    canonical = game.format_move(state.play.position, move)
    if command.signed is not None:
        _refuse_alias(command.move, canonical)
    submitted = e.MoveSubmitted(
        at=now,
        seat=seat,
        ply=len(state.play.moves) + 1,
        move=canonical,
        level=command.level,
        seed=command.seed,
        engine=command.engine,
        nodes=command.nodes,
        channel=command.channel,
        signed=command.signed,
    )
    # The position is played once: the match after the move takes it as it is.
    position = game.play(state.play.position, move)
    after = move_submitted(state, submitted, position)
    decision = Decision(state=after, events=(submitted,))
    outcome = game.outcome(position, after.play.history)
    if outcome is None:
        # A move declines the proposals of others; a seat that agrees to the draw on offer need not offer one.
        offers = command.offer_draw and seat not in state.offers.draw_agreed
        return decision.then(e.DrawOffered(at=now, seat=seat)) if offers else decision
    return decision.then(e.MatchFinished(at=now, scores=outcome.scores, reason=outcome.reason))


def submit_moves(state: MatchState, command: c.SubmitMoves, now: int) -> Decision:
    """Return the moves of the command in order, as ``submit_move`` returns each of them.

    Raises CommandError for the first move that cannot be played, with its place ("moves.3") as the field; without a
    field when the player could not have played any move.
    """
    if not 1 <= len(command.moves) <= MAX_MOVES_PER_SUBMISSION:
        raise CommandError("malformed-move", f"submit 1 to {MAX_MOVES_PER_SUBMISSION} moves at a time", "moves")
    decision = Decision(state=state)
    for index, move in enumerate(command.moves):
        last = index == len(command.moves) - 1
        single = c.SubmitMove(
            player=command.player,
            move=move,
            channel=command.channel,
            offer_draw=command.offer_draw and last,
            signed=command.signed if last else None,
        )
        try:
            made = submit_move(decision.state, single, now)
            if command.signed is not None:
                _refuse_alias(move, made.state.play.moves[-1])
        except CommandError as refused:
            if index == 0 and refused.field is None:
                raise  # the match is at fault, not the move
            raise refused.at(f"moves.{index}") from refused
        decision = Decision(state=made.state, events=decision.events + made.events)
    return decision


def _refuse_alias(move: str, canonical: str) -> None:
    """Raise CommandError unless a signed ``move`` is the one that will be recorded: nobody has signed another."""
    if move != canonical:
        raise CommandError("malformed-move", f"a signed move is written in its canonical form, {canonical}", "move")


def resign(state: MatchState, command: c.Resign, now: int) -> tuple[e.Event, ...]:
    """Return the resignation of a seat: it has lost, or in a game of several seats it leaves and the others go on."""
    seat = active_seat(state, command.player, now, even_frozen=command.channel == Channel.ERASURE)
    resigned = e.PlayerResigned(at=now, seat=seat, channel=command.channel, signed=command.signed)
    game = find_ruleset(state.game, state.ruleset)
    going_on = game.without_seat(state.play.position, seat)
    if going_on is None:
        return (
            resigned,
            e.MatchFinished(
                at=now, scores=game.scores_after_leaving(state.play.position, (seat,)), reason=EndReason.RESIGNATION
            ),
        )
    outcome = game.outcome(going_on, state.play.history)
    if outcome is None:
        return (resigned,)
    return (resigned, e.MatchFinished(at=now, scores=outcome.scores, reason=outcome.reason))
