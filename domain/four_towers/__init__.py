"""Four Towers: chess on nine arenas, ruled by the pieces on four towers. Rules: ruleset 1, FT-01 to FT-37.

The modules, each of which imports only from those before it:

    board             geometry: squares, arenas, towers, rays and leaps under refraction
    attacks           attacks on kings, and how the pieces on towers change them
    position          the position and its string
    moves             moves as values, what they do to a position, their strings
    pseudo_legal      where the pieces of the side to move can go, check disregarded
    legal_moves       the legal moves that one piece makes
    diagram           the position as text and as a scene, and what the pieces on towers do, in words
    refusals          why a piece cannot make a move, in words
    compound_moves    rearrangements and multi-moves: legality, canonical order, enumeration
    check_tables      attacks on the king during a multi-move, and what could stop them
    multi_move_search whether any multi-move is legal
    outcome           how a game ends
    legality          whether one given move is legal, and why a piece has no move
    notation          moves read from text
    evaluate          evaluation, move ordering and noisy moves for the search
    candidate_search  the few compound moves that deserve a search
    composition       compound moves put together part by part on the board page
    view              what a page shows beside the picture: hints, demands, facts
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from domain.four_towers import candidate_search, compound_moves, outcome
from domain.four_towers.composition import compose, compositions, scene
from domain.four_towers.diagram import diagram
from domain.four_towers.evaluate import evaluate, noisy_moves, order
from domain.four_towers.legal_moves import MoveGenerator
from domain.four_towers.legality import is_legal
from domain.four_towers.moves import Move, MultiMove, Rearrangement, format_move, play
from domain.four_towers.notation import parse_move, read_move
from domain.four_towers.outcome import in_check, is_drawn
from domain.four_towers.position import Position, format_position, parse_position, to_move
from domain.four_towers.view import demand, facts, hints, why_not
from domain.game import Game, Outcome, Setup, StepBudget, UnlistedMoves


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FourTowers(Game[Position, Move]):
    """The contract, and lists of the moves that it leaves unlisted, for checks of small positions."""

    in_check: Callable[[Position], bool]
    """(position): whether the side to move is in check."""
    multi_moves: Callable[[Position], Sequence[MultiMove]]
    """(position): all legal multi-moves in ASCII order of their strings; there may be millions."""
    rearrangements: Callable[[Position], Sequence[Rearrangement]]
    """(position): all legal rearrangements in ASCII order of their strings; there may be hundreds of thousands."""


def _legal_moves(position: Position) -> Iterable[Move]:
    return [] if is_drawn(position) else MoveGenerator(position).moves()


def _multi_moves(position: Position) -> Sequence[MultiMove]:
    return [] if is_drawn(position) else compound_moves.multi_moves(position)


def _rearrangements(position: Position) -> Sequence[Rearrangement]:
    return [] if is_drawn(position) else compound_moves.rearrangements(position)


def _any_move(position: Position) -> Move | None:
    return None if is_drawn(position) else outcome.unlisted_move(position)


def _candidates(position: Position, limit: int) -> list[Move]:
    return [] if is_drawn(position) else candidate_search.candidates(position, limit)


def _outcome(position: Position, history: Sequence[Position]) -> Outcome | None:
    return outcome.outcome(position, history)


def _bounded_outcome(position: Position, history: Sequence[Position], budget: StepBudget) -> Outcome | None:
    return outcome.outcome(position, history, budget=budget)


def _display_move(position: Position, move: Move) -> str:
    """Return the canonical string with a mark for check, or for mate where ``fast_outcome`` sees it."""
    text, after = format_move(position, move), play(position, move)
    if not in_check(after):
        return text
    ended = outcome.fast_outcome(after, ())
    return f"{text}{'#' if ended and ended.reason == 'checkmate' else '+'}"


GAME = FourTowers(
    id="four-towers",
    title="Four Towers",
    ruleset=1,
    blurb="Chess on nine arenas with four towers between them, that change what the pieces round them can do.",
    goal="Checkmate your opponent's king. Stalemate is a draw.",
    ending="A hundred and fifty plies in a row without a promotion or a final capture end the game as a draw.",
    setups={
        "standard": Setup(
            "standard",
            "Standard",
            ("White", "Black"),
            ("white", "black"),
            "dmk/rnbdcq/ppppppbnr/6pppp/10/9/10/PPPP6/RNBPPPPPP/QCDBNR/KMD w - -/- - 0 1",
        )
    },
    reasons={
        "checkmate": "by checkmate",
        "stalemate": "by stalemate",
        "insufficient-material": "too few pieces were left to win",
        "repetition": "the position stood for the third time",
        "no-progress": "too many moves without progress",
    },
    to_move=to_move,
    legal_moves=_legal_moves,
    unlisted=UnlistedMoves(any_move=_any_move, candidates=_candidates, compositions=compositions, compose=compose),
    multi_moves=_multi_moves,
    rearrangements=_rearrangements,
    is_legal=is_legal,
    play=play,
    outcome=_outcome,
    outcome_by_history=outcome.outcome_by_history,
    bounded_outcome=_bounded_outcome,
    fast_outcome=outcome.fast_outcome,
    key=outcome.key,
    in_check=in_check,
    parse_position=parse_position,
    format_position=format_position,
    counters=2,
    parse_move=parse_move,
    format_move=format_move,
    read_move=read_move,
    display_move=_display_move,
    diagram=diagram,
    scene=scene,
    hints=hints,
    why_not=why_not,
    demand=demand,
    facts=facts,
    evaluate=evaluate,
    order=order,
    noisy_moves=noisy_moves,
)
