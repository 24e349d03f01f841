"""Fourplay: four-player chess with strange pieces. Rules: ruleset 1, FP-01 to FP-36."""

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence

from domain.facts import captured, listed, repetition_fact
from domain.fourplay import attacks, diagram, draft, evaluate, legality, moves, notation, outcome, position
from domain.fourplay.board import NAMES
from domain.fourplay.position import KIND_CODES, KINDS, KING, NO_PROGRESS, PLAYERS, TITLES, VALUES, Position, spent
from domain.game import Draft, Fact, Game, Hint, Outcome, Setup
from domain.scene import Scene

_STARTS = {
    "standard": (
        "bR1bHMbG7yGyHM1yR/1bKbQbB1b,3y,1yB1yK1/bVM1bDg1b,5y,1yDgyQyVM/bGbB1bMu7yMu1yByG/2b,1bA5yA1y,2/1b,11y,1/15/7*7/15/"
        "1r,11g,1/2r,1rA5gA1g,2/rGrB1rMu7gMu1gBgG/rVMrQrDg1r,5g,1gDg1gVM/1rK1rB1r,3g,1gBgQgK1/rR1rHMrG7gGgHM1gR"
        " r play - - 0"
    ),
    "draft": "15/15/15/15/15/15/15/7*7/15/15/15/15/15/15/15 r setup - - 0",
}
_SIGNS = re.compile("[rbyg](?:VM|HM|Dg|Mu|[KAQGRB,])")
_BY_VALUE = sorted(range(KING + 1, len(VALUES)), key=lambda kind: -VALUES[kind])
_LABELS = {"-": "move", "x": "capture", "*": "shoot", ">": "attach", "<": "detach", "<>": "trade places"}


class Fourplay(Game[Position, str]):
    """The rules of Fourplay."""

    id = "fourplay"
    title = "Fourplay"
    ruleset = 1
    blurb = "Chess for four, each for himself, with archers, dogs and giraffes. The last king wins."
    goal = (
        "Capture the Kings of the other three and keep your own. A player whose King is captured is out, and the later "
        "you go out, the better your place."
    )
    setups: Mapping[str, Setup] = {
        "standard": Setup("standard", "Ready-made armies", diagram.SEATS, diagram.TURNS),
        "draft": Setup("draft", "Draft: everybody buys an army", diagram.SEATS, diagram.TURNS),
    }
    ending = "A hundred turns in a row without a capture end the game; the survivors share the places left."

    def __init__(self) -> None:
        self._starts = {name: position.parse_position(text) for name, text in _STARTS.items()}

    def initial(self, setup: str) -> Position:
        return self._starts[setup]

    def to_move(self, position: Position) -> int:
        return position.side

    def legal_moves(self, position: Position) -> Iterable[str]:
        return draft.placements(position) if position.setup else moves.legal_moves(position)

    def is_legal(self, position: Position, move: str) -> bool:
        return legality.is_legal(position, move)

    def play(self, position: Position, move: str) -> Position:
        return draft.place(position, move) if position.setup else moves.play(position, move)

    def outcome(self, position: Position, history: Sequence[Position]) -> Outcome | None:
        return outcome.outcome(position, history)

    def is_mid_turn(self, position: Position) -> bool:
        return position.setup and draft.begun(position)

    def without_seat(self, position: Position, seat: int) -> Position | None:
        """Return the position without the King of ``seat`` (section 7); None during the set-up, which cannot go on."""
        return None if position.setup else moves.without_king(position, seat)

    def eliminated(self, position: Position) -> tuple[int, ...]:
        return position.out

    def scores_after_leaving(self, position: Position, leaving: tuple[int, ...]) -> tuple[float, ...]:
        return outcome.shared_places((*position.out, *leaving))

    def key(self, position: Position) -> Hashable:
        return outcome.key(position)

    def parse_position(self, text: str) -> Position:
        return position.parse_position(text)

    def format_position(self, position_: Position) -> str:
        return position.format_position(position_)

    def parse_move(self, position: Position, text: str) -> str:
        return notation.parse_move(position, text)

    def format_move(self, position: Position, move: str) -> str:  # noqa: ARG002
        return move

    def read_move(self, position: Position, text: str, setup: str) -> str:  # noqa: ARG002
        return notation.read_move(position, text)

    def display_move(self, position: Position, move: str) -> str:
        """Return the canonical string, with ``+`` when the mover could capture a King if it were his turn again."""
        after = self.play(position, move)
        return f"{move}+" if not after.setup and attacks.threatened(after, position.side, range(4)) else move

    def demand(self, position: Position) -> str:
        if position.setup:
            return ""
        return "You have no move: you must pass." if moves.legal_moves(position) == [moves.PASS] else ""

    def why_not(self, position: Position, square: str) -> str | None:
        return legality.why_not(position, square)

    def facts(self, position: Position, history: Sequence[Position]) -> tuple[Fact, ...]:
        """Return what each seat has paid or still has on the board in points, what it has lost, and the clock."""
        points = tuple(Fact("Points", seat, str(spent(position.board, seat))) for seat in range(4))
        if position.setup:
            return points
        lost = captured(self, position, history, _SIGNS, lambda sign: PLAYERS.index(sign[0]))
        return (
            *points,
            *(
                Fact("Lost", seat, listed((TITLES[kind], lost[PLAYERS[seat] + KIND_CODES[kind]]) for kind in _BY_VALUE))
                for seat in range(4)
            ),
            Fact("Turns without a capture", None, f"{position.clock} of {NO_PROGRESS}"),
            *repetition_fact(self, position, history),
        )

    def in_check(self, position: Position) -> bool:
        """Tell whether the King of the side to move could be captured by another player now (section 4)."""
        return not position.setup and attacks.in_check(position, position.side)

    def diagram(self, position: Position) -> str:
        return diagram.diagram(position)

    def scene(self, position: Position) -> Scene:
        return diagram.scene(position)

    def hints(self, position: Position) -> dict[str, tuple[Hint, ...]]:
        found: dict[str, list[Hint]] = {}
        for move in self.legal_moves(position):
            if move in (moves.PASS, moves.DONE):
                found.setdefault("", []).append(Hint(move, (), move))
            elif "@" in move:
                code, _, square = move.partition("@")
                found.setdefault(square, []).append(Hint(move, (), TITLES[KINDS[code]]))
            else:
                origin, mark, target, promotion = moves.split(move)
                label = TITLES[promotion] if promotion else _LABELS[mark]
                found.setdefault(NAMES[origin], []).append(Hint(move, (NAMES[target],), label))
        return {square: tuple(hints) for square, hints in found.items()}

    def draft(self, position: Position) -> Draft | None:
        return draft.draft(position, self._starts["standard"].board) if position.setup else None

    def evaluate(self, position: Position, seat: int) -> int:
        return evaluate.evaluate(position, seat)

    def order(self, position: Position, moves: Iterable[str]) -> list[str]:
        return evaluate.order(position, moves)

    def noisy_moves(self, position: Position) -> tuple[Sequence[str], bool]:
        return evaluate.noisy_moves(position)


GAME = Fourplay()
