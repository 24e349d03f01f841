"""Every rule about who may do what in a match, and when: state and command in, events out."""

from collections.abc import Callable
from typing import Any

from domain.game import Game, GameOver, IllegalMove, MalformedNotation
from domain.games import GAMES, RULESETS, UnknownRuleset, find_ruleset
from domain.match import commands as c
from domain.match import events as e
from domain.match.refusals import Refused
from domain.match.state import ABORTED, OPEN, PLAYING, MatchState

ABORT_BEFORE_PLY = 2
"""A match may be called off until its second ply has been played."""

LONGEST_MOVE = 10_000
"""Characters; the longest canonical move of any game is far shorter."""


def decide(state: MatchState | None, command: c.Command, now: int) -> tuple[e.Event, ...]:
    """Return the events that ``command`` causes at ``now`` (milliseconds since 1970 UTC).

    ``state`` is None for a match that does not exist yet. Time never runs backwards within a match: an event is never
    dated before the one in front of it. Raises Refused when the command is not allowed.
    """
    if isinstance(command, c.CreateMatch):
        if state is not None:
            raise Refused("match-exists", "this match has been created already")
        return _create(command, now)
    if state is None:
        raise Refused("no-such-match", "there is no such match")
    return _DECISIONS[type(command)](state, command, max(now, state.updated_at))


def _create(command: c.CreateMatch, now: int) -> tuple[e.Event, ...]:
    game = GAMES.get(command.game)
    if game is None:
        raise Refused("unknown-game", f"there is no game {command.game!r}", "game")
    if command.ruleset is not None:
        game = _ruleset(game, command.ruleset)
    setup = game.setups.get(command.setup)
    if setup is None:
        known = ", ".join(game.setups)
        raise Refused("unknown-setup", f"{game.title} has no setup {command.setup!r}, only {known}", "setup")
    if len(command.seats) != len(setup.seat_names):
        raise Refused("wrong-seats", f"this setup has {len(setup.seat_names)} seats, not {len(command.seats)}", "seats")
    people = [seat.player for seat in command.seats if seat.player is not None and seat.level is None]
    if len(set(people)) != len(people):
        raise Refused("wrong-seats", "nobody can sit on two seats of one match", "seats")
    if any(seat.joined and seat.level is None and seat.player != command.creator for seat in command.seats):
        raise Refused("wrong-seats", "other players must be invited, they cannot be seated by you", "seats")
    if command.rated and command.guest:
        raise Refused("guests-play-unrated", "guests play unrated: sign up to play for a rating", "rated")
    created = e.MatchCreated(
        at=now,
        creator=command.creator,
        game=game.id,
        ruleset=game.ruleset,
        setup=setup.name,
        seats=command.seats,
        rated=command.rated,
        private=command.private,
        seed=command.seed,
    )
    if all(seat.joined for seat in command.seats):
        return (created, e.MatchStarted(now))
    return (created,)


def _ruleset(game: Game[Any, Any], ruleset: int) -> Game[Any, Any]:
    try:
        return find_ruleset(game.id, ruleset)
    except UnknownRuleset:
        known = ", ".join(str(other.ruleset) for other in RULESETS[game.id])
        raise Refused("unknown-ruleset", f"{game.title} has no ruleset {ruleset}, only {known}", "ruleset") from None


def _join(state: MatchState, command: c.JoinMatch, now: int) -> tuple[e.Event, ...]:
    _refuse_if_ended(state)
    if state.status != OPEN:
        raise Refused("seats-taken", "all seats of this match are taken")
    own = state.seat_of(command.player)
    if own is not None and state.seats[own].joined:
        raise Refused("already-seated", "you have a seat in this match already")
    if state.rated and command.guest:
        raise Refused("guests-play-unrated", "this match is rated and guests play unrated: sign up to join it")
    if own is not None:
        seat = own
    elif command.seat is None:
        free = [number for number, seat in enumerate(state.seats) if seat.player is None]
        if not free:
            raise Refused("seats-taken", "the free seats of this match are kept for invited players")
        seat = free[0]
    else:
        seat = command.seat
    if command.seat is not None and command.seat != seat:
        raise Refused("seat-taken", "you are invited to another seat of this match", "seat")
    if not 0 <= seat < len(state.seats):
        raise Refused("wrong-seats", f"this match has seats 0 to {len(state.seats) - 1}", "seat")
    if state.seats[seat].player not in (None, command.player):
        raise Refused("seat-taken", "that seat is taken or kept for somebody else", "seat")
    joined = e.PlayerJoined(now, seat, command.player)
    if all(other.joined for number, other in enumerate(state.seats) if number != seat):
        return (joined, e.MatchStarted(now))
    return (joined,)


def _submit_move(state: MatchState, command: c.SubmitMove, now: int) -> tuple[e.Event, ...]:
    _refuse_if_not_playing(state)
    game = find_ruleset(state.game, state.ruleset)
    seat = game.to_move(state.position)
    if state.seats[seat].player != command.player:
        _seat(state, command.player)
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
    )
    outcome = game.outcome(game.play(state.position, move), (*state.history, state.position))
    if outcome is None:
        return (submitted,)
    return (submitted, e.MatchFinished(now, outcome.scores, outcome.reason))


def _resign(state: MatchState, command: c.Resign, now: int) -> tuple[e.Event, ...]:
    seat = _active_seat(state, command.player)
    resigned = e.PlayerResigned(now, seat)
    game = find_ruleset(state.game, state.ruleset)
    going_on = game.withdraw(state.position, seat)
    if going_on is None:
        return (resigned, e.MatchFinished(now, game.shared(state.position, (seat,)), "resignation"))
    outcome = game.outcome(going_on, state.history)
    if outcome is None:
        return (resigned,)
    return (resigned, e.MatchFinished(now, outcome.scores, outcome.reason))


def _abort(state: MatchState, command: c.AbortMatch, now: int) -> tuple[e.Event, ...]:
    if command.player != state.creator:
        _seat(state, command.player)
    _refuse_if_ended(state)
    if len(state.moves) >= ABORT_BEFORE_PLY:
        raise Refused("too-late-to-abort", "two plies have been played: the match can be resigned, not aborted")
    return (e.MatchAborted(now, command.player),)


def _offer_draw(state: MatchState, command: c.OfferDraw, now: int) -> tuple[e.Event, ...]:
    seat = _active_seat(state, command.player)
    if state.draw_agreed:
        if seat in state.draw_agreed:
            raise Refused("draw-already-offered", "you have agreed to a draw already; the others have to answer")
        return _accept_draw(state, c.AcceptDraw(command.player), now)
    offered = state.offered_at[seat]
    if offered is not None and state.last_ply[seat] <= offered:
        raise Refused("draw-already-offered", "you may offer a draw again when you have made another move")
    return (e.DrawOffered(now, seat),)


def _accept_draw(state: MatchState, command: c.AcceptDraw, now: int) -> tuple[e.Event, ...]:
    seat = _answering_seat(state, command.player)
    accepted = e.DrawAccepted(now, seat)
    game = find_ruleset(state.game, state.ruleset)
    if len(state.draw_agreed) + 1 < len(state.seats) - len(game.eliminated(state.position)):
        return (accepted,)
    return (accepted, e.MatchFinished(now, game.shared(state.position, ()), "draw-agreed"))


def _decline_draw(state: MatchState, command: c.DeclineDraw, now: int) -> tuple[e.Event, ...]:
    return (e.DrawDeclined(now, _answering_seat(state, command.player)),)


def _answering_seat(state: MatchState, player: str) -> int:
    seat = _active_seat(state, player)
    if not state.draw_agreed:
        raise Refused("no-draw-offer", "no draw is on offer")
    if seat in state.draw_agreed:
        raise Refused("no-draw-offer", "you have agreed to this draw already; the others have to answer")
    return seat


def _seat(state: MatchState, player: str) -> int:
    seat = state.seat_of(player)
    if seat is None:
        raise Refused("not-your-seat", "you have no seat in this match")
    return seat


def _active_seat(state: MatchState, player: str) -> int:
    """Return the seat of ``player`` in a match that is being played and that the seat has not left."""
    seat = _seat(state, player)
    _refuse_if_not_playing(state)
    if seat in find_ruleset(state.game, state.ruleset).eliminated(state.position):
        raise Refused("out-of-game", "you are out of this game already")
    return seat


def _refuse_if_ended(state: MatchState) -> None:
    if state.status == ABORTED:
        raise Refused("match-over", "this match was aborted")
    if state.ended:
        raise Refused("match-over", f"this match is over: {state.reason}")


def _refuse_if_not_playing(state: MatchState) -> None:
    _refuse_if_ended(state)
    if state.status != PLAYING:
        raise Refused("match-not-started", "this match has not started: not all seats are taken")


_DECISIONS: dict[type[c.Command], Callable[[MatchState, Any, int], tuple[e.Event, ...]]] = {
    c.JoinMatch: _join,
    c.SubmitMove: _submit_move,
    c.Resign: _resign,
    c.AbortMatch: _abort,
    c.OfferDraw: _offer_draw,
    c.AcceptDraw: _accept_draw,
    c.DeclineDraw: _decline_draw,
}
