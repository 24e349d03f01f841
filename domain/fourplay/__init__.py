"""Fourplay: four-player chess with strange pieces. Rules: ruleset 1, FP-01 to FP-36."""

from domain.fourplay import attacks, diagram, draft, evaluate, legality, moves, notation, outcome, position, view
from domain.fourplay.diagram import SEATS, TURNS
from domain.fourplay.pieces import PIECES
from domain.fourplay.position import Position, parse_position
from domain.fourplay.weights import PLACE
from domain.game import Game, Setup
from domain.operations import operations_from
from domain.presentation import ArmyDraft

_COLOURS = ("red", "blue", "yellow", "green")
_STANDARD = (
    "bR1bHMbG7yGyHM1yR/1bKbQbB1b,3y,1yB1yK1/bVM1bDg1b,5y,1yDgyQyVM/bGbB1bMu7yMu1yByG/2b,1bA5yA1y,2/1b,11y,1/15/7*7/15/"
    "1r,11g,1/2r,1rA5gA1g,2/rGrB1rMu7gMu1gBgG/rVMrQrDg1r,5g,1gDg1gVM/1rK1rB1r,3g,1gBgQgK1/rR1rHMrG7gGgHM1gR"
    " r play - - 0"
)
_READY_ARMIES = parse_position(_STANDARD).board


@operations_from(position, outcome, legality, notation, diagram, view, evaluate)
class Fourplay(Game[Position, str]):
    """The contract, and checks."""

    id = "fourplay"
    title = "Fourplay"
    ruleset = 1
    blurb = "Chess for four without allies, with archers, dogs and giraffes. The last king wins."
    goal = (
        "Capture the Kings of the other three and keep your own. A player whose King is captured is out, and the later "
        "you go out, the better your place."
    )
    ending = "A hundred turns in a row without a capture end the game; the survivors share the places left."
    difficulty = "Takes an evening: eleven kinds of pieces, several of them strange, and three enemies."
    duration = "Long: computers of level 1 make about 580 moves, all four together."
    setups = {
        "standard": Setup("standard", "Ready-made armies", SEATS, _COLOURS, _STANDARD, TURNS),
        "draft": Setup(
            "draft",
            "Draft: everybody buys an army",
            SEATS,
            _COLOURS,
            "15/15/15/15/15/15/15/7*7/15/15/15/15/15/15/15 r setup - - 0",
            TURNS,
        ),
    }
    reasons = {
        "last-king": "the last king on the board",
        "insufficient-material": "too few pieces were left to win",
        "repetition": "the position stood for the third time",
        "no-progress": "too many moves without progress",
    }
    position_format = diagram.POSITION_FORMAT
    pieces = PIECES
    counters = 1
    place_worth = PLACE

    def is_mid_turn(self, position: Position) -> bool:
        """Return whether the seat to move has begun to set up its army."""
        return position.setup and draft.has_begun(position)

    def legal_moves(self, position: Position) -> list[str]:
        """Return the placements while armies are set up, then the moves."""
        return draft.placements(position) if position.setup else moves.legal_moves(position)

    def play(self, position: Position, move: str) -> Position:
        """Return the position after a placement or a move."""
        return draft.play_placement(position, move) if position.setup else moves.play(position, move)

    def display_move(self, position: Position, move: str) -> str:
        """Return the canonical string, with ``+`` when the mover could capture a King on an immediate second turn."""
        after = self.play(position, move)
        return f"{move}+" if not after.setup and attacks.threatened_players(after, position.side, range(4)) else move

    def draft(self, position: Position) -> ArmyDraft | None:
        """Return the army that is being set up."""
        return draft.draft(position, _READY_ARMIES) if position.setup else None

    def in_check(self, position: Position) -> bool:
        """Return whether another player could capture the King of the side to move now (section 4)."""
        return not position.setup and attacks.in_check(position, position.side)

    def without_seat(self, position: Position, seat: int) -> Position | None:
        """Return the position without a King; during the set-up the game cannot go on without it (section 7)."""
        return None if position.setup else moves.without_king(position, seat)


GAME: Fourplay = Fourplay()
