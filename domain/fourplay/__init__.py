"""Fourplay: four-player chess with strange pieces. Rules: ruleset 1, FP-01 to FP-36."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from domain.fourplay import attacks, draft, moves
from domain.fourplay.diagram import SEATS, TURNS, diagram, scene
from domain.fourplay.evaluate import evaluate, noisy_moves, order
from domain.fourplay.legality import is_legal, why_not
from domain.fourplay.notation import parse_move, read_move
from domain.fourplay.outcome import key, outcome, scores_sharing_places
from domain.fourplay.position import Position, format_position, parse_position, to_move
from domain.fourplay.view import demand, facts, hints
from domain.game import Elimination, Game, Setup
from domain.presentation import Draft

_COLOURS = ("red", "blue", "yellow", "green")
_STANDARD = (
    "bR1bHMbG7yGyHM1yR/1bKbQbB1b,3y,1yB1yK1/bVM1bDg1b,5y,1yDgyQyVM/bGbB1bMu7yMu1yByG/2b,1bA5yA1y,2/1b,11y,1/15/7*7/15/"
    "1r,11g,1/2r,1rA5gA1g,2/rGrB1rMu7gMu1gBgG/rVMrQrDg1r,5g,1gDg1gVM/1rK1rB1r,3g,1gBgQgK1/rR1rHMrG7gGgHM1gR"
    " r play - - 0"
)
_READY_ARMIES = parse_position(_STANDARD).board


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Fourplay(Game[Position, str]):
    """The contract, and checks."""

    in_check: Callable[[Position], bool]
    """(position): whether another player could capture the King of the side to move now (section 4)."""


def _legal_moves(position: Position) -> Iterable[str]:
    return draft.placements(position) if position.setup else moves.legal_moves(position)


def _play(position: Position, move: str) -> Position:
    return draft.play_placement(position, move) if position.setup else moves.play(position, move)


def _is_mid_turn(position: Position) -> bool:
    return position.setup and draft.has_begun(position)


def _without_seat(position: Position, seat: int) -> Position | None:
    """Return the position without the King of ``seat`` (section 7); None during the set-up, which cannot go on."""
    return None if position.setup else moves.without_king(position, seat)


def _eliminated(position: Position) -> tuple[int, ...]:
    return position.eliminated


def _scores_after_leaving(position: Position, leaving: tuple[int, ...]) -> tuple[float, ...]:
    return scores_sharing_places((*position.eliminated, *leaving))


def _in_check(position: Position) -> bool:
    return not position.setup and attacks.in_check(position, position.side)


def _format_move(position: Position, move: str) -> str:  # noqa: ARG001
    return move


def _display_move(position: Position, move: str) -> str:
    """Return the canonical string, with ``+`` when the mover could capture a King on an immediate second turn."""
    after = _play(position, move)
    return f"{move}+" if not after.setup and attacks.threatened_players(after, position.side, range(4)) else move


def _draft(position: Position) -> Draft | None:
    return draft.draft(position, _READY_ARMIES) if position.setup else None


GAME = Fourplay(
    id="fourplay",
    title="Fourplay",
    ruleset=1,
    blurb="Chess for four without allies, with archers, dogs and giraffes. The last king wins.",
    goal=(
        "Capture the Kings of the other three and keep your own. A player whose King is captured is out, and the later "
        "you go out, the better your place."
    ),
    ending="A hundred turns in a row without a capture end the game; the survivors share the places left.",
    setups={
        "standard": Setup("standard", "Ready-made armies", SEATS, _COLOURS, _STANDARD, TURNS),
        "draft": Setup(
            "draft",
            "Draft: everybody buys an army",
            SEATS,
            _COLOURS,
            "15/15/15/15/15/15/15/7*7/15/15/15/15/15/15/15 r setup - - 0",
            TURNS,
        ),
    },
    reasons={
        "last-king": "the last king on the board",
        "insufficient-material": "too few pieces were left to win",
        "repetition": "the position stood for the third time",
        "no-progress": "too many moves without progress",
    },
    to_move=to_move,
    is_mid_turn=_is_mid_turn,
    legal_moves=_legal_moves,
    is_legal=is_legal,
    play=_play,
    outcome=outcome,
    scores_after_leaving=_scores_after_leaving,
    elimination=Elimination(without_seat=_without_seat, eliminated=_eliminated),
    key=key,
    in_check=_in_check,
    parse_position=parse_position,
    format_position=format_position,
    counters=1,
    parse_move=parse_move,
    format_move=_format_move,
    read_move=read_move,
    display_move=_display_move,
    diagram=diagram,
    scene=scene,
    hints=hints,
    why_not=why_not,
    demand=demand,
    facts=facts,
    draft=_draft,
    evaluate=evaluate,
    order=order,
    noisy_moves=noisy_moves,
)
