"""Playable figures: all that a page needs to play one, computed by the rules when the figure is made.

A figure is a position with steps. Each step asks the reader for a move, or for a forbidden one, which is refused with
the reason of the rules. The page gets every legal move, the boards after accepted moves and after the replies behind
them, and all refusals: it needs neither the server nor any rules to play the figure.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from api.pages.pictures import squares_of, trace_of_move
from api.pages.rules.drawing import setup_of
from domain.errors import IllegalMove, RulesError
from domain.game import AnyGame
from domain.games import find_ruleset
from domain.presentation import Hint
from events.pictures.board import draw
from events.pictures.steps import board_of, steps_between

MAX_REFUSED_TARGETS: Final = 200
"""Pairs of a piece and a square that are asked for the reason why one does not go to the other."""


class FigureStep(NamedTuple):
    """A step of a figure: an act of the reader, and the words about it. Moves are in canonical notation.

    ``accepted`` are the moves that fulfil it, none: every legal one. With ``refused``, a move that the rules forbid,
    the reader tries that move instead. ``reply`` is played after the first accepted move. ``goal`` is the task,
    ``hint`` the way to do it, and ``done`` the result. ``composed`` is the kind of the accepted move, and its parts in
    order, if the reader puts it together on the board.
    """

    goal: str
    accepted: tuple[str, ...] = ()
    refused: str = ""
    reply: str = ""
    hint: str = ""
    done: str = ""
    composed: tuple[str, ...] = ()


class PlayableFigure(NamedTuple):
    """A figure to play: game, ruleset, position and steps in order. Without steps it is only looked at.

    Several accepted moves, or all, end a figure: only the last step has them.
    """

    game_id: str
    ruleset: int
    position: str
    steps: tuple[FigureStep, ...]
    text: str = ""

    @property
    def game(self) -> AnyGame:
        """The rules of the figure."""
        return find_ruleset(self.game_id, self.ruleset)


@lru_cache(maxsize=512)
def represent(figure: PlayableFigure) -> Mapping[str, Any]:
    """Return ``figure`` as the page plays it, made once; raises RulesError where the rules contradict it."""
    game = figure.game
    position = game.parse_position(figure.position)
    colours = setup_of(game, position).colours
    steps, faces = [], dict[str, str]()
    picture = str(draw(game.scene(position), colours))
    diagram = game.diagram(position)
    for step in figure.steps:
        if step.refused:
            steps.append(_step_of(game, position, step, {}))
            continue
        texts = step.accepted or tuple(game.format_move(position, move) for move in game.legal_moves(position))
        represented = _step_of(game, position, step, _boards_after(game, position, texts, colours, faces))
        if step.composed:
            represented["composition"] = _composition(game, position, step.composed, colours, faces)
        position = game.play(position, game.parse_move(position, texts[0]))
        if step.reply:
            board = _boards_after(game, position, (step.reply,), colours, faces)[step.reply]
            represented["reply"] = {"move": step.reply, **board}
            position = game.play(position, game.parse_move(position, step.reply))
        steps.append(represented)
    return {"picture": picture, "diagram": diagram, "faces": faces, "steps": steps, "text": figure.text}


def refusal(game: AnyGame, position: Any, text: str) -> str:
    """Return why the rules refuse a move, empty if they accept it."""
    try:
        game.parse_move(position, text)
    except RulesError as error:
        return str(error)
    return ""


def _boards_after(
    game: AnyGame, position: Any, texts: Sequence[str], colours: Sequence[str], faces: dict[str, str]
) -> dict[str, Any]:
    """Return by move the board after it as a difference, and in lines of text; adds the pieces to ``faces``."""
    before = board_of(game.scene(position), colours)
    boards = {}
    for text in texts:
        after = game.play(position, game.parse_move(position, text))
        trace = trace_of_move(game, position, after)
        difference = steps_between((before, board_of(game.scene(after), colours, traces=[trace])), colours, 0)
        faces.update(difference["faces"])
        boards[text] = {"board": difference["steps"][0], "diagram": game.diagram(after)}
    return boards


def _composition(
    game: AnyGame, position: Any, composed: Sequence[str], colours: Sequence[str], faces: dict[str, str]
) -> dict[str, Any]:
    """Return a composed move as its title and its stages: the part that is asked for, and all that can follow there.

    The boards lead from stage to stage; at the last one no part is asked for. Adds the pieces to ``faces``.
    """
    kind, *parts = composed
    stages = [game.compose(position, kind, parts[:number]) for number in range(len(parts) + 1)]
    difference = steps_between([board_of(stage.scene, colours) for stage in stages], colours, 0)
    faces.update(difference["faces"])
    boards = [None, *difference["steps"]]
    return {
        "title": next(offered.title for offered in game.compositions(position) if offered.kind == kind),
        "stages": [
            {"part": part, "board": board, "hints": _hints(stage.following)}
            for part, board, stage in zip([*parts, ""], boards, stages, strict=True)
        ],
    }


def _hints(following: Mapping[str, Sequence[Hint]]) -> dict[str, list[dict[str, Any]]]:
    return {square: [hint._asdict() for hint in hints] for square, hints in following.items()}


def _step_of(game: AnyGame, position: Any, step: FigureStep, boards: Mapping[str, Any]) -> dict[str, Any]:
    hints = {square: list(listed) for square, listed in game.hints(position).items()}
    refused = {}
    if step.refused:
        refused[step.refused] = refusal(game, position, step.refused)
        start, *path = squares_of(game, position, step.refused)
        hints.setdefault(start, []).append(Hint(step.refused, tuple(path), "try"))
    columns = game.scene(position).columns
    reasons = {square: game.why_not(position, square) for square in columns if square not in hints}
    return {
        "goal": step.goal,
        "hint": step.hint,
        "done": step.done,
        "hints": _hints(hints),
        "accepted": boards,
        "refused": refused,
        "why_not": {square: reason for square, reason in reasons.items() if reason},
        "why_not_there": _refused_targets(game, position),
    }


@lru_cache(maxsize=64)
def _refused_targets(game: AnyGame, position: Any) -> dict[str, dict[str, str]]:
    """Return, by movable piece and square, why the piece does not go there; nothing on boards with too many pairs."""
    hints, squares = game.hints(position), [cell.square for cell in game.scene(position).cells]
    pieces = [square for square in hints if square]
    if len(pieces) * len(squares) > MAX_REFUSED_TARGETS:
        return {}
    reasons: dict[str, dict[str, str]] = {}
    for piece in pieces:
        reached = {square for hint in hints[piece] for square in hint.path}
        for square in squares:
            reason = "" if square == piece or square in reached else _reason(game, position, piece, square)
            if reason:
                reasons.setdefault(piece, {})[square] = reason
    return reasons


def _reason(game: AnyGame, position: Any, piece: str, square: str) -> str:
    """Return why a piece neither goes to a square nor captures there."""
    for text in (f"{piece}-{square}", f"{piece}x{square}"):
        try:
            game.parse_move(position, text)
        except IllegalMove as error:
            return str(error)
        except RulesError:
            continue
    return ""
