"""The Tower Game: chess on eight levels of five by five cubes. Rules: ruleset 1, TG-01 to TG-30."""

from collections.abc import Callable
from dataclasses import dataclass

from domain.game import Game, Setup, operations
from domain.tower_game import diagram, evaluate, legality, moves, notation, outcome, position, view
from domain.tower_game.outcome import is_drawn
from domain.tower_game.position import Position


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TowerGame(Game[Position, int]):
    """The contract, and the short algebraic notation of the rules."""

    in_check: Callable[[Position], bool]
    """(position): whether the side to move is in check."""
    san: Callable[[Position, int], str]
    """(position, move): the short algebraic notation of a legal move [TG-25 to TG-28]."""
    parse_san: Callable[[Position, str, str | None], int]
    """(position, text, setup): the legal move that a text names; castling names depend on the setup [TG-19]."""


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
    in_check=position.in_check,
    san=notation.san,
    parse_san=notation.parse_move,
    counters=1,
    **operations(
        *(position, moves, outcome, legality, notation, diagram, view, evaluate),
        legal_moves=lambda position: () if is_drawn(position) else moves.legal_moves(position),
        is_legal=lambda position, move: legality.is_legal(position, move) and not is_drawn(position),
    ),
)
