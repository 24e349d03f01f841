"""Towers: stacks of pieces are toppled along files and ranks to get one's own piece on top of the green castles."""

from collections.abc import Hashable, Iterable, Sequence

from domain.facts import repetition_fact
from domain.game import Fact, Game, Hint, Outcome
from domain.scene import Scene
from domain.towers import evaluate as search_terms
from domain.towers.board import SETUPS, SQUARES, START_POSITIONS
from domain.towers.diagram import counts, diagram, scene
from domain.towers.features import FIRST_PUSH
from domain.towers.legality import is_legal, why_not
from domain.towers.moves import legal_moves, play
from domain.towers.notation import format_move, parse_move, read_move
from domain.towers.outcome import key, outcome, outcome_by_history
from domain.towers.position import Position, format_position, parse_position

_STARTS = {name: parse_position(text) for name, text in START_POSITIONS.items()}

Move = int
"""A move as ``facts`` numbers it."""


class Towers(Game[Position, Move]):
    """The rules of Towers for two and four players."""

    id = "towers"
    title = "Towers"
    ruleset = 1
    blurb = (
        "Build towers and topple them along rows and columns, until your pieces stand on top of the castles. "
        "For two or four."
    )
    goal = (
        "Put your piece on top of four of the five castles (three with four players), or of three that are five pieces "
        "high (two with four players). You also win when nobody else can act after your turn."
    )
    setups = SETUPS
    ending = (
        "Supplies are finite and nothing returns to them, so builds run out, and fifty pushes in a row or the third "
        "occurrence of a position are a draw."
    )

    def initial(self, setup: str) -> Position:
        """Return the start position of ``setup`` (section 2); raises KeyError when there is no such setup."""
        return _STARTS[setup]

    def to_move(self, position: Position) -> int:
        """Return the seat whose turn it is; of a game ended by rule 1 or 2, the next in turn order (section 8)."""
        return position.side

    def seats_at(self, position: Position) -> int:
        """Return 2 or 4: the number of players of the game that ``position`` belongs to."""
        return len(position.supplies)

    def legal_moves(self, position: Position) -> Iterable[Move]:
        """Return the legal moves in ASCII order of their strings; none when rule 1, 2 or 4 has ended the game."""
        return legal_moves(position)

    def is_legal(self, position: Position, move: Move) -> bool:
        """Tell whether ``move`` is legal, from a set of bits."""
        return is_legal(position, move)

    def play(self, position: Position, move: Move) -> Position:
        """Return the position after the legal ``move``, the next player able to act being to move (section 4)."""
        return play(position, move)

    def outcome(self, position: Position, history: Sequence[Position]) -> Outcome | None:
        """Return how the game has ended by section 7, or None while it goes on."""
        return outcome(position, history)

    def outcome_by_history(self, position: Position, history: Sequence[Position]) -> Outcome | None:
        return outcome_by_history(position, history)

    def key(self, position: Position) -> Hashable:
        """Return board, number of players and side to move (section 7, rule 3)."""
        return key(position)

    def parse_position(self, text: str) -> Position:
        """Return the position that ``text`` describes; raises MalformedNotation (section 8)."""
        return parse_position(text)

    def format_position(self, position: Position) -> str:
        """Return the one position string of ``position`` (section 8)."""
        return format_position(position)

    def parse_move(self, position: Position, text: str) -> Move:
        """Return the legal move that ``text`` names; raises MalformedNotation, GameOver or IllegalMove (section 9)."""
        return parse_move(position, text)

    def format_move(self, position: Position, move: Move) -> str:
        """Return ``+b7`` for a build, ``b7-b4`` for a push that ends on b4 (section 9)."""
        return format_move(position, move)

    def read_move(self, position: Position, text: str, setup: str) -> Move:  # noqa: ARG002
        """Return the legal move that a player means by ``text``, as ``B7B4``; raises as ``parse_move`` does."""
        return read_move(position, text)

    def demand(self, position: Position) -> str:
        """Return that the player to move can only push, when that is so (section 3.1)."""
        return "" if position.supplies[position.side] else "Your supply is empty: you can only push."

    def why_not(self, position: Position, square: str) -> str | None:
        """Return why no legal move begins on ``square``; raises MalformedNotation when there is no such square."""
        return why_not(position, square)

    def facts(self, position: Position, history: Sequence[Position]) -> tuple[Fact, ...]:
        """Return the supply, the castles and the crowned castles of each seat, and the pushes in a row."""
        return (*counts(position), *repetition_fact(self, position, history))

    def diagram(self, position: Position) -> str:
        """Return the board with whole towers, bottom first, supplies, side to move and push counter."""
        return diagram(position)

    def scene(self, position: Position) -> Scene:
        """Return the board, its towers piece by piece, and every square in words."""
        return scene(position)

    def hints(self, position: Position) -> dict[str, tuple[Hint, ...]]:
        """Return the towers that can act; a build needs no further square, a push its last square."""
        found: dict[str, list[Hint]] = {}
        for move in legal_moves(position):
            text = format_move(position, move)
            if move < FIRST_PUSH:
                found.setdefault(SQUARES[move], []).append(Hint(text, (), "build"))
            else:
                found.setdefault(text[:2], []).append(Hint(text, (text[3:],), "push"))
        return {square: tuple(hints) for square, hints in sorted(found.items())}

    def evaluate(self, position: Position, seat: int) -> int:
        """Return how good an unfinished position looks for ``seat``, in hundredths of a lone piece."""
        return search_terms.evaluate(position, seat)

    def order(self, position: Position, moves: Iterable[Move]) -> list[Move]:
        """Return ``moves``, wins first, then by what they gain at once."""
        return search_terms.order(position, moves)

    def noisy_moves(self, position: Position) -> tuple[Sequence[Move], bool]:
        """Return the pushes that win or take castles; they may be declined."""
        return search_terms.noisy_moves(position)


GAME = Towers()
