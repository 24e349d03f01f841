"""The positions of a match: those after its events, and the last one when the rules cannot follow them.

Administration never needs the rules. Whatever goes wrong in them (a ruleset that is not installed, a move that is not
legal any more, a mistake in the rules' own code) leaves a match that is broken, not one that cannot be read.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from domain.game import AnyGame
from domain.games import find_ruleset
from domain.history import History
from domain.match import clock as clocks
from domain.match.enums import Channel, Status
from domain.match.state import MatchState, Play
from domain.vector import with_item


def with_start(state: MatchState) -> MatchState:
    """Return the match with the first position of its setup."""
    try:
        game = find_ruleset(state.game, state.ruleset)
        play = replace(state.play, position=game.initial(state.setup), history=History(game))
    except Exception as error:
        return _broken(state, f"the start: {_reason(error)}", state.created_at)
    return replace(state, play=play)


def with_move(
    state: MatchState, move: str, position: Any = None, *, last_ply: tuple[int, ...], channels: Sequence[Channel | None]
) -> Play:
    """Return the play after ``move``, broken where the rules refuse it; ``position``: the one it leads to, if known."""
    play = state.play
    broken, history, moves, unplayed = play.broken, play.history, play.moves, play.unplayed
    if broken is not None:
        position, unplayed = play.position, (*unplayed, move)
    else:
        try:
            if position is None:
                game = find_ruleset(state.game, state.ruleset)
                position = game.play(play.position, game.parse_move(play.position, move))
            history = history.with_position(play.position)
            moves = with_item(moves, move)
        except Exception as error:
            broken = f"ply {len(moves) + 1}, {move}: {_reason(error)}"
            position, unplayed = play.position, (move,)
    return Play(
        position=position,
        history=history,
        moves=moves,
        channels=channels,
        last_ply=last_ply,
        left_ply=play.left_ply,
        taken_back=play.taken_back,
        broken=broken,
        unplayed=unplayed,
    )


def without_seat(state: MatchState, seat: int, at: int) -> MatchState:
    """Return the match after ``seat`` has left the game; as it is where the game ends by that."""
    if state.play.broken is not None:
        return state
    try:
        position = find_ruleset(state.game, state.ruleset).without_seat(state.play.position, seat)
    except Exception as error:
        return _broken(state, f"seat {seat} leaves: {_reason(error)}", at)
    if position is None:
        return state
    # The position before can never stand again, so that it is no part of the history: that has one for every ply.
    play = replace(state.play, position=position, left_ply=len(state.play.moves))
    state = replace(state, play=play, offers=replace(state.offers, draw_agreed=(), takeback=None))
    if state.clock.seat == to_move(state):
        # Another seat left: the turn goes on as it was.
        return state
    return state.on_clock(clocks.pass_turn, to_move(state), at)


def taken_back(state: MatchState, ply: int) -> Play:
    """Return the play up to ``ply`` plies, which may be before an event that the rules cannot follow."""
    play = replace(
        state.play,
        channels=state.play.channels[:ply],
        left_ply=min(state.play.left_ply, ply),
        taken_back=state.play.taken_back + 1,
    )
    if ply > len(play.moves):
        return replace(play, unplayed=play.unplayed[: ply - len(play.moves)])
    if play.position is None:
        return replace(play, channels=(), moves=(), unplayed=())
    last_ply = [0] * len(state.seats)
    game, history = find_ruleset(state.game, state.ruleset), play.history[:ply]
    for number in range(ply, 0, -1):
        seat = game.to_move(history[number - 1])
        last_ply[seat] = last_ply[seat] or number
        if all(last_ply):
            break
    return replace(
        play,
        position=play.position_after(ply),
        history=history,
        moves=play.moves[:ply],
        last_ply=tuple(last_ply),
        unplayed=(),
        broken=None,
    )


def under_ruleset(state: MatchState, ruleset: int, at: int) -> MatchState:
    """Return the match with the same positions under another ruleset, which may follow more of its events."""
    before, play = state, replace(state.play, broken=None, unplayed=())
    state = replace(state, ruleset=ruleset)
    try:
        new = find_ruleset(state.game, ruleset)
        if play.position is None:
            play = replace(play, position=new.initial(state.setup), history=History(new))
        else:
            old = find_ruleset(state.game, before.ruleset)
            history = History(new, [new.parse_position(text) for text in play.history.texts()])
            play = replace(play, position=new.parse_position(old.format_position(play.position)), history=history)
    except Exception as error:
        # The positions of the old ruleset are none of the new one.
        unplayed = (*play.moves, *before.play.unplayed)
        state = replace(state, play=replace(play, position=None, history=(), moves=(), unplayed=unplayed))
        return _broken(state, f"ruleset {ruleset}: {_reason(error)}", at)
    state = replace(state, play=play)
    for move in before.play.unplayed:
        was_broken = state.play.broken is not None
        play = with_move(state, move, last_ply=state.play.last_ply, channels=state.play.channels)
        state = replace(state, play=play)
        if play.broken is not None and not was_broken:
            state = _broken(state, play.broken, at)
    return state


def is_over(state: MatchState, ply: int) -> bool:
    """Return whether by the rules the game is over after ``ply`` plies; not when the rules cannot say."""
    try:
        game = find_ruleset(state.game, state.ruleset)
        return game.outcome(state.play.position_after(ply), state.play.history[:ply]) is not None
    except Exception:
        return False


def rules_in_play(state: MatchState, play: Play) -> AnyGame | None:
    """Return the rules by which ``play`` goes on; None when the match is not being played, or they cannot follow it."""
    if state.status != Status.PLAYING or play.broken is not None:
        return None
    return find_ruleset(state.game, state.ruleset)


def to_move(state: MatchState) -> int | None:
    """Return the seat whose turn it is; None when the match is not being played, or nobody can tell."""
    game = rules_in_play(state, state.play)
    return None if game is None else game.to_move(state.play.position)


def _broken(state: MatchState, reason: str, at: int) -> MatchState:
    offers = replace(state.offers, draw_agreed=(), takeback=None)
    state = replace(state, play=replace(state.play, broken=reason), offers=offers)
    return state.on_clock(clocks.pass_turn, None, at)


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
