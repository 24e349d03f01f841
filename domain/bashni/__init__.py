"""Bashni: draughts in which captured pieces go under the capturing column and come back when it is captured."""

from collections.abc import Hashable, Iterable, Sequence

from domain.bashni import evaluate as search_terms
from domain.bashni.board import NAMES, SETUPS, START_POSITION, Move
from domain.bashni.diagram import counts, diagram, scene
from domain.bashni.jumping import Jump, again_after_another, never_again
from domain.bashni.legality import is_legal, must_capture, why_not
from domain.bashni.moves import legal_moves, play
from domain.bashni.notation import format_move, parse_move, read_move
from domain.bashni.outcome import key, outcome
from domain.bashni.position import Position, format_position, parse_position
from domain.facts import repetition_fact
from domain.game import Fact, Game, Hint, Outcome
from domain.scene import Scene

_START = {"start": parse_position(START_POSITION)}


class Bashni(Game[Position, Move]):
    """The rules of Bashni. The rulesets differ in ``jump`` alone: see ``domain.bashni.jumping``."""

    id = "bashni"
    title = "Bashni"
    blurb = (
        "Russian column draughts. What is captured goes under the piece that captured it and may come free again: "
        "no piece ever leaves the board."
    )
    goal = "Leave your opponent without a move: all columns of theirs captured or blocked."
    setups = SETUPS
    ending = (
        "Thirty king moves without capture in a row and the third occurrence of a position are a draw, and the "
        "positions are finitely many."
    )

    def __init__(self, ruleset: int, jump: Jump, distinction: str) -> None:
        self.ruleset = ruleset
        self.distinction = distinction
        self._jump = jump

    def initial(self, setup: str) -> Position:
        """Return the start position (section 2); raises KeyError when ``setup`` is not ``start``."""
        return _START[setup]

    def to_move(self, position: Position) -> int:
        """Return the seat whose turn it is: 0 is White."""
        return position.side

    def legal_moves(self, position: Position) -> Iterable[Move]:
        """Return the legal moves in ASCII order of their strings; none when the game is over by position."""
        return legal_moves(position, self._jump)

    def is_legal(self, position: Position, move: Move) -> bool:
        """Tell whether ``move`` is legal by walking it square by square."""
        return is_legal(position, move, self._jump)

    def play(self, position: Position, move: Move) -> Position:
        """Return the position after the legal ``move`` (sections 3 to 6)."""
        return play(position, move)

    def outcome(self, position: Position, history: Sequence[Position]) -> Outcome | None:
        """Return how the game has ended by section 7, or None while it goes on."""
        return outcome(position, history)

    def key(self, position: Position) -> Hashable:
        """Return board and side to move; the draw counter is disregarded (section 7, condition 3)."""
        return key(position)

    def parse_position(self, text: str) -> Position:
        """Return the position that ``text`` describes; raises MalformedNotation (section 8)."""
        return parse_position(text)

    def format_position(self, position: Position) -> str:
        """Return the one position string of ``position`` (section 8)."""
        return format_position(position)

    def parse_move(self, position: Position, text: str) -> Move:
        """Return the legal move that ``text`` names; raises MalformedNotation, GameOver or IllegalMove (section 9)."""
        return parse_move(position, text, self._jump)

    def format_move(self, position: Position, move: Move) -> str:
        """Return ``c3-d4`` for a plain move, ``f6xd8xa5`` for a capture (section 9)."""
        return format_move(position, move)

    def read_move(self, position: Position, text: str, setup: str) -> Move:  # noqa: ARG002
        """Return the legal move that a player means by ``text``, as ``c3e5``; raises as ``parse_move`` does."""
        return read_move(position, text, self._jump)

    def demand(self, position: Position) -> str:
        """Return that a capture is compulsory, and which columns can capture (section 4)."""
        jumpers = must_capture(position)
        return f"You must capture: {', '.join(f'{name} can' for name in jumpers)}." if jumpers else ""

    def why_not(self, position: Position, square: str) -> str | None:
        """Return why no legal move begins on ``square``; raises MalformedNotation when there is no such square."""
        return why_not(position, square)

    def facts(self, position: Position, history: Sequence[Position]) -> tuple[Fact, ...]:
        """Return the columns and the prisoners of each seat, and the draw counter (section 6)."""
        return (*counts(position), *repetition_fact(self, position, history))

    def diagram(self, position: Position) -> str:
        """Return the board with whole columns, from the top down, side to move and draw counter."""
        return diagram(position)

    def scene(self, position: Position) -> Scene:
        """Return the board, its columns piece by piece, and every square in words."""
        return scene(position)

    def hints(self, position: Position) -> dict[str, tuple[Hint, ...]]:
        """Return the columns that can move; the path of a capture is every landing square in order."""
        found: dict[str, list[Hint]] = {}
        for move in self.legal_moves(position):
            text = format_move(position, move)
            path = tuple(NAMES[square] for square in move[1:])
            found.setdefault(NAMES[move[0]], []).append(Hint(text, path, "capture" if text[2] == "x" else "move"))
        return {square: tuple(hints) for square, hints in found.items()}

    def evaluate(self, position: Position, seat: int) -> int:
        """Return how good an unfinished position looks for ``seat``, in hundredths of a single man."""
        return search_terms.evaluate(position, seat)

    def order(self, position: Position, moves: Iterable[Move]) -> list[Move]:
        """Return ``moves`` by what they gain at once: captures and crownings first."""
        return search_terms.order(position, moves)

    def noisy_moves(self, position: Position) -> tuple[Sequence[Move], bool]:
        """Return the captures when there are any; they are compulsory (section 4)."""
        return search_terms.noisy_moves(position, self._jump)


GAME = Bashni(1, never_again, "In one move no column is jumped twice.")

RULESETS = (
    GAME,
    Bashni(
        2,
        again_after_another,
        "In one move a column may be jumped again, once another column has been jumped in between.",
    ),
)
