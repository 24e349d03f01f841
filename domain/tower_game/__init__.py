"""The Tower Game: chess on eight levels of five by five cubes. Rules: ruleset 1, TG-01 to TG-30."""

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence

from domain.facts import captured, listed, repetition_fact
from domain.game import Fact, Game, Hint, Outcome, Setup
from domain.scene import Scene
from domain.tower_game import diagram, evaluate, legality, moves, notation, outcome, position
from domain.tower_game.board import HOMES, NAMES, PASSED
from domain.tower_game.position import BLACK, KING, LETTERS, Position

_SEATS = ("White", "Black")
_PROMOTION_LABELS = ("", "bishop", "captain", "fool", "jester", "merchant", "knight", "rook")
_SIGNS = re.compile("[a-zA-Z]")
_CAPTURABLE = tuple(zip(diagram.KINDS, LETTERS, strict=True))[1:]
_STARTS = {
    "original": (
        "rnmmr/ccmmn/cckjj/nbbjj/rbbnr|ppppp/ppppp/ppppp/ppppp/ppppp|5/5/5/5/5|5/5/5/5/5|5/5/5/5/5|5/5/5/5/5|"
        "PPPPP/PPPPP/PPPPP/PPPPP/PPPPP|RNBBR/CCBBN/CCKJJ/NMMJJ/RMMNR w aa1,ae1,ea1,ee1,aa8,ae8,ea8,ee8 - 0"
    ),
    "alternate": (
        "rnbmr/bmjcn/jckbm/nbmjc/rjcnr|ppppp/ppppp/ppppp/ppppp/ppppp|5/5/5/5/5|5/5/5/5/5|5/5/5/5/5|5/5/5/5/5|"
        "PPPPP/PPPPP/PPPPP/PPPPP/PPPPP|RNBMR/BMJCN/JCKBM/NBMJC/RJCNR w aa1,ae1,ea1,ee1,aa8,ae8,ea8,ee8 - 0"
    ),
}


class TowerGame(Game[Position, int]):
    """The rules of The Tower Game."""

    id = "tower-game"
    title = "The Tower Game"
    ruleset = 1
    blurb = "Chess in three dimensions, on eight levels of twenty-five cubes. Pawns capture in eight directions."
    goal = "Checkmate your opponent's King. Stalemating it is worth three quarters of a point."
    setups: Mapping[str, Setup] = {
        "original": Setup("original", "Original", _SEATS),
        "alternate": Setup("alternate", "Alternate", _SEATS),
    }
    ending = "A hundred plies in a row without a capture or a Pawn move end the game as a draw."

    def __init__(self) -> None:
        self._starts = {name: position.parse_position(text) for name, text in _STARTS.items()}

    def initial(self, setup: str) -> Position:
        return self._starts[setup]

    def to_move(self, position: Position) -> int:
        return position.side

    def legal_moves(self, position: Position) -> Iterable[int]:
        return () if outcome.over_without_claim(position) else moves.legal_moves(position)

    def is_legal(self, position: Position, move: int) -> bool:
        return legality.is_legal(position, move) and not outcome.over_without_claim(position)

    def play(self, position: Position, move: int) -> Position:
        return moves.play(position, move)

    def outcome(self, position: Position, history: Sequence[Position]) -> Outcome | None:
        return outcome.outcome(position, history)

    def outcome_by_history(self, position: Position, history: Sequence[Position]) -> Outcome | None:
        return outcome.outcome_by_history(position, history)

    def key(self, position: Position) -> Hashable:
        return outcome.key(position)

    def parse_position(self, text: str) -> Position:
        return position.parse_position(text)

    def format_position(self, position_: Position) -> str:
        return position.format_position(position_)

    def parse_move(self, position: Position, text: str) -> int:
        return notation.parse_move(position, text)

    def format_move(self, position: Position, move: int) -> str:
        return notation.format_move(position, move)

    def san(self, position: Position, move: int) -> str:
        """Return the short algebraic notation of the legal ``move`` [TG-25 to TG-28]."""
        return notation.san(position, move)

    def parse_san(self, position: Position, text: str, setup: str | None = None) -> int:
        """Return the legal move that ``text`` names; castling names are read after ``setup`` [TG-19]."""
        return notation.parse_move(position, text, setup)

    def read_move(self, position: Position, text: str, setup: str) -> int:
        return notation.read_move(position, text, setup)

    def display_move(self, position: Position, move: int) -> str:
        return notation.display_move(position, move)

    def why_not(self, position: Position, square: str) -> str | None:
        return legality.why_not(position, square)

    def facts(self, position: Position, history: Sequence[Position]) -> tuple[Fact, ...]:
        lost = captured(self, position, history, _SIGNS, lambda sign: int(sign.islower()))
        return (
            *(
                Fact("Lost", seat, listed((kind, lost[sign.lower() if seat else sign]) for kind, sign in _CAPTURABLE))
                for seat in (0, 1)
            ),
            Fact("Plies without a capture or a Pawn move", None, f"{position.clock} of {moves.QUIET_CLOCK}"),
            *repetition_fact(self, position, history),
        )

    def in_check(self, position_: Position) -> bool:
        """Tell whether the side to move is in check."""
        return position.in_check(position_)

    def diagram(self, position: Position) -> str:
        return diagram.diagram(position)

    def scene(self, position: Position) -> Scene:
        return diagram.scene(position)

    def hints(self, position: Position) -> dict[str, tuple[Hint, ...]]:
        found: dict[str, list[Hint]] = {}
        for move in self.legal_moves(position):
            origin, target = moves.origin_of(move), moves.target_of(move)
            king = position.board[origin] == KING + position.side * BLACK
            castling = king and origin == HOMES[position.side] and target in PASSED
            label = _PROMOTION_LABELS[move & 15] or (
                "castle" if castling else "capture" if move & moves.CAPTURE else "move"
            )
            hint = Hint(notation.format_move(position, move), (NAMES[target],), label)
            found.setdefault(NAMES[origin], []).append(hint)
        return {square: tuple(hints) for square, hints in found.items()}

    def evaluate(self, position: Position, seat: int) -> int:
        return evaluate.evaluate(position, seat)

    def order(self, position: Position, moves: Iterable[int]) -> list[int]:
        return evaluate.order(position, moves)

    def noisy_moves(self, position: Position) -> tuple[Sequence[int], bool]:
        return evaluate.noisy_moves(position)


GAME = TowerGame()
