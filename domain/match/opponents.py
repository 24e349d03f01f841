"""The acts of opponents in a match: all of them follow from the match, so that anybody can compute them again.

The seed of a match, from which those of its single moves follow, is known to nobody while an opponent may still move:
with it the opponent's moves could be computed beforehand. The seeds of moves that were made are public, and that of a
match is once it is over. So whenever it goes on from an earlier position or after its end, a fresh seed is drawn.
"""

from collections.abc import Callable

from domain.games import find_ruleset
from domain.match.state import MatchState
from domain.search import accepts_draw, choose


def move_of(
    state: MatchState, level: int, seed: int, nodes: int | None, on_progress: Callable[[int], None] | None = None
) -> str:
    """Return the canonical move of an opponent of ``level``; ``nodes`` None is the level's. Raises as ``choose``."""
    game = find_ruleset(state.game, state.ruleset)
    choice = choose(game, state.play.position, state.play.history, level, seed, nodes, on_progress)
    return game.format_move(state.play.position, choice.move)


def takes_draw(state: MatchState, seat: int, nodes: int | None) -> bool:
    """Tell whether the opponent on ``seat`` agrees to the draw on offer; ``nodes`` None is its level's.

    Raises ValueError when no opponent sits there, and for more nodes than its level has.

    A player answers once for one seat, so that an opponent on several, which cannot agree for all of them, never does.
    """
    player, level = state.seats[seat].player, state.seats[seat].level
    if level is None:
        raise ValueError(f"no opponent has seat {seat} of match {state.match_id}")
    if sum(other.player == player for other in state.seats) > 1:
        return False
    game = find_ruleset(state.game, state.ruleset)
    return accepts_draw(game, state.play.position, state.play.history, level, seat, nodes)
