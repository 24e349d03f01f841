"""The positions of a match: what the rules make of its events, and what stands when they cannot follow them.

Administration never needs the rules. Whatever goes wrong in them (a ruleset that is not installed, a move that is not
legal any more, a mistake in the rules' own code) leaves a match that is broken, not one that cannot be read.
"""

from typing import Any

from domain.games import find_ruleset
from domain.history import History
from domain.match import clock as clocks
from domain.match.enums import Status
from domain.match.state import MatchState


def with_start(state: MatchState) -> MatchState:
    """Return the match with the first position of its setup."""
    try:
        game = find_ruleset(state.game, state.ruleset)
        return state._replace(position=game.initial(state.setup), history=History(game))
    except Exception as error:
        return _broken(state, f"the start: {_said(error)}", state.created_at)


def with_move(state: MatchState, move: str, at: int, **changes: Any) -> MatchState:
    """Return the match with ``move`` (canonical notation) played, as far as positions go, and ``changes`` of fields."""
    if state.broken is not None:
        return state._replace(unplayed=(*state.unplayed, move), **changes)
    try:
        game = find_ruleset(state.game, state.ruleset)
        position = game.play(state.position, game.parse_move(state.position, move))
    except Exception as error:
        reason = f"ply {len(state.moves) + 1}, {move}: {_said(error)}"
        return _broken(state._replace(unplayed=(move,), **changes), reason, at)
    moves = state.moves + (move,)  # noqa: RUF005 - twice as fast as unpacking, and there may be thousands
    return state._replace(
        position=position, history=state.history.with_position(state.position), moves=moves, **changes
    )


def without_seat(state: MatchState, seat: int, at: int) -> MatchState:
    """Return the match after ``seat`` has left the game; as it is where the game ends by that."""
    if state.broken is not None:
        return state
    try:
        going_on = find_ruleset(state.game, state.ruleset).elimination.without_seat(state.position, seat)
    except Exception as error:
        return _broken(state, f"seat {seat} leaves: {_said(error)}", at)
    if going_on is None:
        return state
    # The position before can never stand again, so that it is no part of the history: that has one for every ply.
    state = state._replace(position=going_on, draw_agreed=(), takeback=None, left_ply=len(state.moves))
    if state.clock is not None and state.clock.seat == to_move(state):
        # Another seat left: the turn goes on as it was.
        return state
    return state.on_clock(clocks.passed, to_move(state), at)


def taken_back(state: MatchState, ply: int) -> MatchState:
    """Return the match with the position after ``ply`` plies, which may be before what the rules cannot follow."""
    if ply > len(state.moves):
        return state._replace(unplayed=state.unplayed[: ply - len(state.moves)])
    if state.position is None:
        return state._replace(moves=(), unplayed=())
    last_ply = [0] * len(state.seats)
    game, history = find_ruleset(state.game, state.ruleset), state.history[:ply]
    for number in range(ply, 0, -1):
        seat = game.to_move(history[number - 1])
        last_ply[seat] = last_ply[seat] or number
        if all(last_ply):
            break
    return state._replace(
        position=state.position_after(ply),
        history=history,
        moves=state.moves[:ply],
        last_ply=tuple(last_ply),
        unplayed=(),
        broken=None,
    )


def under_ruleset(state: MatchState, ruleset: int, at: int) -> MatchState:
    """Return the match with the same positions under another ruleset, which may follow what the old one could not."""
    unplayed, before = state.unplayed, state
    state = state._replace(ruleset=ruleset, broken=None, unplayed=())
    try:
        new = find_ruleset(state.game, ruleset)
        if before.position is None:
            state = state._replace(position=new.initial(state.setup), history=History(new))
        else:
            old = find_ruleset(state.game, before.ruleset)
            state = state._replace(
                position=new.parse_position(old.format_position(state.position)),
                history=History(new, [new.parse_position(text) for text in state.history.texts()]),
            )
    except Exception as error:
        # The positions of the old ruleset are none of the new one.
        state = state._replace(position=None, history=(), moves=(), unplayed=(*state.moves, *unplayed))
        return _broken(state, f"ruleset {ruleset}: {_said(error)}", at)
    for move in unplayed:
        state = with_move(state, move, at)
    return state


def over(state: MatchState, ply: int) -> bool:
    """Tell whether by the rules the game is over after ``ply`` plies; not when the rules cannot say."""
    try:
        game = find_ruleset(state.game, state.ruleset)
        return game.outcome(state.position_after(ply), state.history[:ply]) is not None
    except Exception:
        return False


def to_move(state: MatchState) -> int | None:
    """Return the seat whose turn it is; None when the match is not being played, or nobody can tell."""
    if state.status != Status.PLAYING or state.broken is not None:
        return None
    return find_ruleset(state.game, state.ruleset).to_move(state.position)


def is_mid_turn(state: MatchState) -> bool:
    """Tell whether the turn is one move for the clock and the last ply has not ended it."""
    if state.terms is None or not state.terms.whole_turns or state.status != Status.PLAYING or state.broken is not None:
        return False
    return find_ruleset(state.game, state.ruleset).is_mid_turn(state.position)


def _broken(state: MatchState, reason: str, at: int) -> MatchState:
    state = state._replace(broken=reason, draw_agreed=(), takeback=None)
    return state.on_clock(clocks.passed, None, at)


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__
