"""Thinking ahead: a tree of moves of all seats from any position of a match, played out by its rules."""

from collections.abc import Sequence
from typing import Any

from domain.errors import RulesError
from domain.game import AnyGame
from domain.games import find_ruleset
from domain.history import History
from domain.match.lines import Line, Lines, is_seen_over
from domain.match.refusals import CommandError
from domain.match.state import MatchState

MAX_TREE_MOVES = 500
MAX_TREE_DEPTH = 100


def explored(state: MatchState, ply: int, tree: Sequence[Line]) -> Lines:
    """Return ``tree`` as it grows from the position after ``ply`` plies, with all moves in canonical form.

    Raises CommandError, with the place as the field ("tree.0.next.1.move"), when there is no such position, a move is
    not legal where it stands or stands there twice, or the tree is too large.
    """
    if state.play.broken is not None:
        raise CommandError(
            "broken-match", f"this match cannot be replayed ({state.play.broken}): nothing can be tried out in it"
        )
    if ply > len(state.play.moves):
        raise CommandError("no-such-ply", f"{len(state.play.moves)} moves have been played", "ply")
    if _size(tree) > MAX_TREE_MOVES:
        raise CommandError("invalid-lines", f"at most {MAX_TREE_MOVES} moves can be kept", "tree")
    game, position = find_ruleset(state.game, state.ruleset), state.play.position_after(ply)
    grown = _grown(game, state.setup, position, state.play.history[:ply], tree, MAX_TREE_DEPTH, "tree")
    return Lines(ply=ply, position=game.format_position(position), first=grown, taken_back=state.play.taken_back)


def _size(tree: Sequence[Line]) -> int:
    return len(tree) + sum(_size(line.next) for line in tree)


def _grown(
    game: AnyGame, setup: str, position: Any, history: History, tree: Sequence[Line], deepest: int, place: str
) -> tuple[Line, ...]:
    if tree and not deepest:
        raise CommandError("invalid-lines", f"the tree may be {MAX_TREE_DEPTH} moves deep", place)
    if tree and is_seen_over(game, position, history):
        raise CommandError("invalid-lines", "the game is over here: nothing can follow", place)
    merged: dict[str, Line] = {}
    for number, line in enumerate(tree):
        here = f"{place}.{number}"
        try:
            move = game.read_move(position, line.move, setup)
        except RulesError as error:
            raise CommandError("illegal-move", str(error), f"{here}.move") from error
        name = game.format_move(position, move)
        if name in merged:
            raise CommandError("invalid-lines", f"{name} stands here twice", f"{here}.move")
        after = game.play(position, move)
        following = _grown(game, setup, after, history.with_position(position), line.next, deepest - 1, f"{here}.next")
        merged[name] = Line(move=name, then=None, next=following)
    return tuple(merged.values())
