"""The Tower Game: chess on eight levels of five by five cubes. Rules: ruleset 1, TG-01 to TG-30."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from domain.game import Game, Setup
from domain.tower_game import legality, moves
from domain.tower_game.diagram import diagram, scene
from domain.tower_game.evaluate import evaluate, noisy_moves, order
from domain.tower_game.legality import why_not
from domain.tower_game.moves import play
from domain.tower_game.notation import display_move, format_move, parse_move, read_move, san
from domain.tower_game.outcome import is_drawn, key, outcome, outcome_by_history
from domain.tower_game.position import Position, format_position, in_check, parse_position, to_move
from domain.tower_game.view import facts, hints


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TowerGame(Game[Position, int]):
    """The contract, and the short algebraic notation of the rules."""

    in_check: Callable[[Position], bool]
    """(position): whether the side to move is in check."""
    san: Callable[[Position, int], str]
    """(position, move): the short algebraic notation of a legal move [TG-25 to TG-28]."""
    parse_san: Callable[[Position, str, str | None], int]
    """(position, text, setup): the legal move that a text names; castling names depend on the setup [TG-19]."""


def _legal_moves(position: Position) -> Iterable[int]:
    return () if is_drawn(position) else moves.legal_moves(position)


def _is_legal(position: Position, move: int) -> bool:
    return legality.is_legal(position, move) and not is_drawn(position)


GAME = TowerGame(
    id="tower-game",
    title="The Tower Game",
    ruleset=1,
    blurb="Chess in three dimensions, on eight levels of twenty-five cubes. Pawns capture in eight directions.",
    goal="Checkmate your opponent's King. Stalemating it is worth three quarters of a point.",
    ending="A hundred plies in a row without a capture or a Pawn move end the game as a draw.",
    setups={
        "original": Setup(
            "original",
            "Original",
            ("White", "Black"),
            ("white", "black"),
            "rnmmr/ccmmn/cckjj/nbbjj/rbbnr|ppppp/ppppp/ppppp/ppppp/ppppp|5/5/5/5/5|5/5/5/5/5|5/5/5/5/5|5/5/5/5/5|"
            "PPPPP/PPPPP/PPPPP/PPPPP/PPPPP|RNBBR/CCBBN/CCKJJ/NMMJJ/RMMNR w aa1,ae1,ea1,ee1,aa8,ae8,ea8,ee8 - 0",
        ),
        "alternate": Setup(
            "alternate",
            "Alternate",
            ("White", "Black"),
            ("white", "black"),
            "rnbmr/bmjcn/jckbm/nbmjc/rjcnr|ppppp/ppppp/ppppp/ppppp/ppppp|5/5/5/5/5|5/5/5/5/5|5/5/5/5/5|5/5/5/5/5|"
            "PPPPP/PPPPP/PPPPP/PPPPP/PPPPP|RNBMR/BMJCN/JCKBM/NBMJC/RJCNR w aa1,ae1,ea1,ee1,aa8,ae8,ea8,ee8 - 0",
        ),
    },
    reasons={
        "checkmate": "by checkmate",
        "stalemate": "by stalemate",
        "insufficient-material": "too few pieces were left to win",
        "repetition": "the position stood for the third time",
        "no-progress": "too many moves without progress",
    },
    to_move=to_move,
    legal_moves=_legal_moves,
    is_legal=_is_legal,
    play=play,
    outcome=outcome,
    outcome_by_history=outcome_by_history,
    key=key,
    in_check=in_check,
    parse_position=parse_position,
    format_position=format_position,
    counters=1,
    parse_move=parse_move,
    format_move=format_move,
    read_move=read_move,
    display_move=display_move,
    san=san,
    parse_san=parse_move,
    diagram=diagram,
    scene=scene,
    hints=hints,
    why_not=why_not,
    facts=facts,
    evaluate=evaluate,
    order=order,
    noisy_moves=noisy_moves,
)
