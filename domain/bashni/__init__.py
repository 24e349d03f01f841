"""Bashni: draughts in which captured pieces go under the capturing column and come back when it is captured."""

from domain.bashni import diagram, evaluate, legality, moves, native, notation, position
from domain.bashni.board import Move
from domain.bashni.moves import Jump, again_after_another, never_again
from domain.bashni.pieces import PIECES
from domain.bashni.position import Position
from domain.build import COMPILED
from domain.game import Game, Setup
from domain.operations import operations_from
from domain.search_position import SearchPosition


@operations_from(position, moves, legality, notation, diagram, evaluate)
class Bashni(Game[Position, Move]):
    """The rulesets of Bashni, which differ in ``jump`` alone: see ``domain.bashni.moves``."""

    id = "bashni"
    title = "Bashni"
    blurb = (
        "Russian column draughts. What is captured goes under the piece that captured it and may come free again: "
        "no piece ever leaves the board."
    )
    goal = "Leave your opponent without a move: all columns of theirs captured or blocked."
    ending = (
        "Thirty king moves without capture in a row and the third occurrence of a position are a draw, and the "
        "positions are finitely many."
    )
    difficulty = "Easy to learn: two kinds of pieces, and captures that are compulsory."
    duration = "Often 75 moves in all: two to three months at a move a day."
    setups = {
        "start": Setup(
            "start",
            "Start",
            ("White", "Black"),
            ("white", "black"),
            "1b1b1b1b/b1b1b1b1/1b1b1b1b/8/8/w1w1w1w1/1w1w1w1w/w1w1w1w1 w 0",
        )
    }
    reasons = {
        "no-moves": "no legal move was left",
        "no-progress": "too many moves without progress",
        "repetition": "the position stood for the third time",
    }
    showcase = "8/8/1b6/4(Wwbb)3/3(wwwwbb)1(bw)2/(Bbwww)1(bbbb)5/1w6/2w5 b 1"
    position_format = diagram.POSITION_FORMAT
    pieces = PIECES
    further_pieces = ("8/8/5B2/8/8/2W5/8/8 w 0",)
    counters = 1

    def __init__(self, ruleset: int, jump: Jump, distinction: str) -> None:
        super().__init__()
        self.ruleset, self.jump, self.distinction = ruleset, jump, distinction

    def legal_moves(self, position: Position) -> list[Move]:
        """Return the moves that this ruleset allows."""
        return moves.legal_moves(position, self.jump)

    def search_position(self, position: Position) -> SearchPosition[Move] | None:
        """Return it in machine integers where these are fast, compiled."""
        return native.from_position(position, self.jump is again_after_another) if COMPILED else None

    def is_legal(self, position: Position, move: Move) -> bool:
        """Return whether it allows ``move``."""
        return legality.is_legal(position, move, self.jump)

    def parse_move(self, position: Position, text: str) -> Move:
        """Return the move that ``text`` names in its one form."""
        return notation.parse_move(position, text, self.jump)

    def read_move(self, position: Position, text: str, setup: str) -> Move:  # noqa: ARG002 - there is one setup
        """Return the move that ``text`` names; capitals and marks may differ."""
        return notation.read_move(position, text, self.jump)


GAME: Bashni = Bashni(1, never_again, "In one move no column is jumped twice.")

RULESETS: tuple[Bashni, ...] = (
    GAME,
    Bashni(
        2,
        again_after_another,
        "In one move a column may be jumped again, once another column has been jumped in between.",
    ),
)
