"""The first steps of each game: lessons, rows of playable figures, which are kept as TOML and made from the rules."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from api.pages.learning.playable import FigureStep, PlayableFigure
from api.pages.pictures import squares_named
from api.pages.rules import figures_of
from api.pages.rules.drawing import Figure, rules_of
from domain.games import GAMES

FOLDER = Path(__file__).parent / "lessons"


class Lesson(NamedTuple):
    """One lesson: its id, its title, a sentence about it, and its figures."""

    id: str
    title: str
    about: str
    figures: tuple[PlayableFigure, ...]


@lru_cache(maxsize=16)
def lessons_of(game_id: str) -> tuple[Lesson, ...]:
    """Return the lessons of a game in order; none if there are no first steps."""
    path = FOLDER / f"{game_id}.toml"
    if game_id not in GAMES or not path.is_file():
        return ()
    return tuple(_lesson(game_id, **entry) for entry in tomllib.loads(path.read_text())["lesson"])


def _lesson(game_id: str, *, id: str, title: str, about: str, figure: Sequence[Mapping[str, Any]]) -> Lesson:
    return Lesson(id, title, about, tuple(figure_from(game_id, **entry) for entry in figure))


def figure_from(
    game_id: str,
    *,
    goal: str = "",
    of: str = "",
    position: str = "",
    moves: str | None = None,
    refused: str | None = None,
    composed: str = "",
    done: str = "",
) -> PlayableFigure:
    """Return a figure of a lesson or of a strategy page.

    ``of`` is a figure of the rules page: it has the position and, unless they are given, the moves, the first move that
    is refused and, as its caption, the last words. ``moves`` alternate between the reader and the other side. A figure
    without moves takes any that its claims name, or, without ``goal``, is only looked at. ``composed`` is the kind of
    the first move and its parts, if it is put together.
    """
    drawn = {figure.id: figure for figure in figures_of(game_id)}[of] if of else Figure("", position, "")
    line = (drawn.moves if moves is None else moves).split()
    forbidden = _pressable(game_id, drawn)[:1] if refused is None else refused.split()
    steps = [FigureStep(f"First try {move}: it is forbidden.", refused=move) for move in forbidden]
    said = done or drawn.caption.replace("`", "")
    if not line and goal:
        steps.append(FigureStep(goal, accepted=_named_moves(drawn), done=said))
    for place in range(0, len(line), 2):
        reply = line[place + 1] if place + 1 < len(line) else ""
        words = said if place + 2 >= len(line) else ""
        first = tuple(composed.split()) if place == 0 else ()
        hint = f"The parts are {' and '.join(first[1:])}." if first else f"The move is {line[place]}."
        asked = goal if place == 0 else "Go on."
        steps.append(FigureStep(asked, (line[place],), reply=reply, hint=hint, done=words, composed=first))
    return PlayableFigure(
        game_id, drawn.ruleset or GAMES[game_id].ruleset, drawn.position, tuple(steps), "" if line or goal else said
    )


def _named_moves(figure: Figure) -> tuple[str, ...]:
    """Return the legal moves that a figure of a rules page names."""
    return tuple((figure.complete or figure.reached or figure.legal).split())


@lru_cache(maxsize=256)
def playable_of(game_id: str, figure: Figure) -> PlayableFigure | None:
    """Return a figure of a rules page for trying its moves; None if it shows neither a move nor a refusal."""
    if not (figure.moves or figure.illegal or figure.legal or figure.complete or figure.reached):
        return None
    ruleset = figure.ruleset or GAMES[game_id].ruleset
    steps = [FigureStep(f"Try {move}: it is refused.", refused=move) for move in _pressable(game_id, figure)]
    line = figure.moves.split()
    named = tuple(dict.fromkeys([*line[:1], *_named_moves(figure)]))[: 1 if len(line) > 1 else None]
    if named:
        goal = f"Play {line[0]}." if line else "Try a move."
        steps.append(FigureStep(goal, accepted=named, reply=line[1] if len(line) > 1 else ""))
    for place in range(2, len(line), 2):
        reply = line[place + 1] if place + 1 < len(line) else ""
        steps.append(FigureStep(f"Play {line[place]}.", accepted=(line[place],), reply=reply))
    return PlayableFigure(game_id, ruleset, figure.position, tuple(steps)) if steps else None


def _pressable(game_id: str, figure: Figure) -> list[str]:
    """Return the forbidden moves of a figure that can be pressed square by square.

    Rearrangements, series of moves and castling cannot, nor can moves that leave the board.
    """
    if not figure.illegal:
        return []
    game = rules_of(GAMES[game_id], figure)
    squares = {cell.square for cell in game.scene(game.parse_position(figure.position)).cells}
    named = {move: squares_named(move) for move in figure.illegal.split() if ":" not in move and ";" not in move}
    return [move for move, pressed in named.items() if pressed and squares.issuperset(pressed)]
