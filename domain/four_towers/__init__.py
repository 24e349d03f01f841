"""Four Towers: chess on nine arenas, ruled by the pieces on four towers. Rules: ruleset 1, FT-01 to FT-37.

The modules, each of which imports only from those before it:

    board             geometry: squares, arenas, towers, rays and leaps under refraction
    attacks           who attacks a king, and what the pieces on towers change about it
    position          the position and its string
    moves             moves as values, what they do to a position, their strings
    pseudo_legal      where the pieces of the side to move can go, whatever becomes of its king
    legal_moves       the legal moves that one piece makes
    diagram           the position as text and as a scene
    refusals          why a piece cannot make a move, in words
    compound_moves    rearrangements and multi-moves: legality, canonical order, enumeration
    check_tables      who attacks the king during a multi-move, and what could stop them
    multi_move_search whether any multi-move is legal
    outcome           how a game ends
    legality          whether one given move is legal, and why a piece has no move
    notation          moves read from text
    evaluate          evaluation, move ordering and noisy moves for the search
    candidate_search  the few compound moves that deserve a search
    notes             what the pieces on towers do, in words
    composition       compound moves put together part by part on the board page
"""

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence

from domain.facts import captured, listed, repetition_fact
from domain.four_towers import (
    candidate_search,
    composition,
    compound_moves,
    diagram,
    evaluate,
    legality,
    moves,
    notation,
    outcome,
    position,
)
from domain.four_towers.board import NAMES
from domain.four_towers.diagram import TITLES
from domain.four_towers.legal_moves import Turn
from domain.four_towers.moves import PROMOTED, RETURN, Move, Multi, Rearrangement, head_of, target_of, victim_of
from domain.four_towers.position import LETTERS, NEVER, QUIET_CLOCK, Position
from domain.game import Composed, Composition, Fact, Game, Hint, Outcome, Setup, StepBudget
from domain.scene import Scene

_START = "dmk/rnbdcq/ppppppbnr/6pppp/10/9/10/PPPP6/RNBPPPPPP/QCDBNR/KMD w - -/- - 0 1"
_SIGNS = re.compile("[a-zA-Z]")
_LOST = tuple((TITLES[LETTERS.index(letter)], letter) for letter in "WQMCDRBNLP")
"""The pieces that can be captured, the strongest first, and their letters."""
_LABELS = ("attach", "move", "swap", "move directly", "attach directly", "capture")
"""By mark."""


class FourTowers(Game[Position, Move]):
    """The rules of Four Towers."""

    id = "four-towers"
    title = "Four Towers"
    ruleset = 1
    blurb = "Chess on nine arenas with four towers between them, that change what the pieces round them can do."
    goal = "Checkmate your opponent's king. Stalemate is a draw."
    setups: Mapping[str, Setup] = {"standard": Setup("standard", "Standard", ("White", "Black"))}
    ending = "A hundred and fifty plies in a row without a promotion or a final capture end the game as a draw."

    def __init__(self) -> None:
        self._starts = {"standard": position.parse_position(_START)}

    def initial(self, setup: str) -> Position:
        return self._starts[setup]

    def to_move(self, position: Position) -> int:
        return position.side

    def legal_moves(self, position: Position) -> Iterable[Move]:
        """Return the legal moves that are no rearrangement and no multi-move, in ASCII order of their strings."""
        return [] if outcome.drawn(position) else Turn(position).moves()

    def multi_moves(self, position: Position) -> Sequence[Multi]:
        """Return all legal multi-moves in ASCII order of their strings; there may be millions."""
        return [] if outcome.drawn(position) else compound_moves.multi_moves(position)

    def rearrangements(self, position: Position) -> Sequence[Rearrangement]:
        """Return all legal rearrangements in ASCII order of their strings; there may be hundreds of thousands."""
        return [] if outcome.drawn(position) else compound_moves.rearrangements(position)

    def unlisted_move(self, position: Position) -> Move | None:
        """Return a legal rearrangement or multi-move, or None; of use where ``legal_moves`` has none to offer."""
        return None if outcome.drawn(position) else outcome.unlisted_move(position)

    def candidates(self, position: Position, most: int) -> list[Move]:
        """Return at most ``most`` legal rearrangements and multi-moves, the most promising first."""
        return [] if outcome.drawn(position) else candidate_search.candidates(position, most)

    def is_legal(self, position: Position, move: Move) -> bool:
        return legality.is_legal(position, move)

    def play(self, position: Position, move: Move) -> Position:
        return moves.play(position, move)

    def outcome(self, position: Position, history: Sequence[Position]) -> Outcome | None:
        return outcome.outcome(position, history)

    def fast_outcome(self, position: Position, history: Sequence[Position]) -> Outcome | None:
        return outcome.fast_outcome(position, history)

    def bounded_outcome(self, position: Position, history: Sequence[Position], budget: StepBudget) -> Outcome | None:
        return outcome.outcome(position, history, budget=budget)

    def outcome_by_history(self, position: Position, history: Sequence[Position]) -> Outcome | None:
        return outcome.outcome_by_history(position, history)

    def key(self, position: Position) -> Hashable:
        return outcome.key(position)

    def in_check(self, position: Position) -> bool:
        """Tell whether the side to move is in check."""
        return outcome.checked(position)

    def parse_position(self, text: str) -> Position:
        return position.parse_position(text)

    def format_position(self, position_: Position) -> str:
        return position.format_position(position_)

    def parse_move(self, position: Position, text: str) -> Move:
        return notation.parse_move(position, text)

    def read_move(self, position: Position, text: str, setup: str) -> Move:  # noqa: ARG002
        return notation.read_move(position, text)

    def format_move(self, position: Position, move: Move) -> str:
        return moves.format_move(position, move)

    def display_move(self, position: Position, move: Move) -> str:
        """Return the canonical string with a mark for check, or for mate where that is seen at a glance."""
        after = moves.play(position, move)
        if not outcome.checked(after):
            return moves.format_move(position, move)
        ended = outcome.fast_outcome(after, ())
        return f"{moves.format_move(position, move)}{'#' if ended and ended.reason == 'checkmate' else '+'}"

    def demand(self, position: Position) -> str:
        code, tower = position.returning
        if position.returning == NEVER or not Turn(position).returns():
            return ""
        return f"Your {TITLES[code & 15]}, captured on {NAMES[tower]}, may be put back: this turn only."

    def why_not(self, position: Position, square: str) -> str | None:
        reason = legality.why_not(position, square)
        if reason and any(square in each.pieces for each in composition.compositions(position)):
            return f"{reason}; it can only take part in a rearrangement or a multi-move"
        return reason

    def facts(self, position: Position, history: Sequence[Position]) -> tuple[Fact, ...]:
        lost = captured(self, position, history, _SIGNS, lambda sign: int(sign.islower()))
        return (
            *(
                Fact("Lost", seat, listed((title, lost[sign.lower() if seat else sign]) for title, sign in _LOST))
                for seat in (0, 1)
            ),
            Fact("Plies without progress", None, f"{position.clock} of {QUIET_CLOCK}"),
            *repetition_fact(self, position, history),
        )

    def diagram(self, position: Position) -> str:
        return diagram.diagram(position)

    def scene(self, position: Position) -> Scene:
        return composition.scene(position)

    def hints(self, position: Position) -> dict[str, tuple[Hint, ...]]:
        found: dict[str, list[Hint]] = {}
        for move in [] if outcome.drawn(position) else Turn(position).moves():
            head, target = head_of(move), NAMES[target_of(move)]
            text = moves.format_move(position, move)
            if head.mark == RETURN:
                found.setdefault(target, []).append(Hint(text, (), f"return {TITLES[head.part]}"))
                continue
            words = [f"send off {TITLES[head.part]}"] if head.part else []
            if victim_of(move) >= 0:
                words.append(f"capture {NAMES[victim_of(move)]} en passant")
            elif not (words and _LABELS[head.mark] == "move"):
                words.append(_LABELS[head.mark])
            if move & 15:
                words.append(TITLES[PROMOTED[move & 15]])
            found.setdefault(NAMES[head.origin], []).append(Hint(text, (target,), ", ".join(words)))
        return {square: tuple(hints) for square, hints in found.items()}

    def compositions(self, position: Position) -> tuple[Composition, ...]:
        return composition.compositions(position)

    def compose(self, position: Position, kind: str, parts: Sequence[str]) -> Composed:
        return composition.compose(position, kind, parts)

    def evaluate(self, position: Position, seat: int) -> int:
        return evaluate.evaluate(position, seat)

    def order(self, position: Position, moves: Iterable[Move]) -> list[Move]:
        return evaluate.order(position, moves)

    def noisy_moves(self, position: Position) -> tuple[Iterable[Move], bool]:
        return evaluate.noisy_moves(position)


GAME = FourTowers()
