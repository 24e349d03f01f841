"""The Tower Game: chess on eight levels of five by five cubes. Rules: ruleset 1, TG-01 to TG-30."""

from collections.abc import Sequence

from domain.game import Game, Setup
from domain.operations import operations_from
from domain.tower_game import diagram, evaluate, legality, moves, notation, outcome, position, view
from domain.tower_game.outcome import is_drawn
from domain.tower_game.pieces import PIECES
from domain.tower_game.position import Position, in_check


@operations_from(position, moves, outcome, legality, notation, diagram, view, evaluate)
class TowerGame(Game[Position, int]):
    """The contract, and the short algebraic notation of the rules."""

    id = "tower-game"
    title = "The Tower Game"
    ruleset = 1
    blurb = "Chess in three dimensions, on eight levels of twenty-five cubes. Pawns capture in eight directions."
    goal = "Checkmate your opponent's King. Stalemating it is worth three quarters of a point."
    ending = "A hundred plies in a row without a capture or a Pawn move end the game as a draw."
    difficulty = "Hard to see at first: nine kinds of pieces move in three dimensions."
    duration = "Long: computers of level 3 make about 450 moves, both together."
    setups = {
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
    }
    reasons = {
        "checkmate": "by checkmate",
        "stalemate": "by stalemate",
        "insufficient-material": "too few pieces were left to win",
        "repetition": "the position stood for the third time",
        "no-progress": "too many moves without progress",
    }
    position_format = diagram.POSITION_FORMAT
    pieces = PIECES
    further_pieces = ("K4/5/5/5/5|5/5/5/5/5|5/5/5/5/5|f4/5/5/5/5|5/5/5/5/4F|5/5/5/5/5|5/5/5/5/5|4k/5/5/5/5 w - - 0",)
    counters = 1

    def legal_moves(self, position: Position) -> Sequence[int]:
        """Return the legal moves; none of a game that is drawn by the position."""
        return () if is_drawn(position) else moves.legal_moves(position)

    def is_legal(self, position: Position, move: int) -> bool:
        """Return whether ``move`` is one of them."""
        return legality.is_legal(position, move) and not is_drawn(position)

    def in_check(self, position: Position) -> bool:
        """Return whether the side to move is in check."""
        return in_check(position)

    def san(self, position: Position, move: int) -> str:
        """Return the short algebraic notation of a legal move [TG-25 to TG-28]."""
        return notation.san(position, move)

    def parse_san(self, position: Position, text: str, setup: str | None) -> int:
        """Return the legal move that a text names; castling names depend on the setup [TG-19]."""
        return notation.parse_move(position, text, setup)


GAME: TowerGame = TowerGame()
