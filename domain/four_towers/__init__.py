"""Four Towers: chess on nine arenas, ruled by the pieces on four towers. Rules: ruleset 1, FT-01 to FT-37.

The modules, each of which imports only from those before it:

    board             geometry: squares, arenas, towers, rays and leaps under refraction
    attacks           attacks on kings, and how the pieces on towers change them
    position          the position and its string
    moves             moves as values, their effect on a position, their strings
    pseudo_legal      where the pieces of the side to move can go, check disregarded
    legal_moves       the legal moves that one piece makes
    diagram           the position as text and as a scene, and the effects of the pieces on towers, in words
    refusals          why a piece cannot make a move, in words
    compound_moves    rearrangements and multi-moves: legality, canonical order, enumeration
    check_tables      attacks on the king during a multi-move, and the ways to stop them
    multi_move_search whether any multi-move is legal
    outcome           how a game ends
    legality          whether one given move is legal, and why a piece has no move
    notation          moves read from text
    evaluate          evaluation, move ordering and noisy moves for the search
    candidate_search  the few compound moves that deserve a search
    composition       compound moves put together part by part on the board page
    pieces            names and moves of the pieces, in words
    view              the text beside the picture on a page: hints, demands, facts
"""

from collections.abc import Sequence

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
    view,
)
from domain.four_towers.legal_moves import generator_of
from domain.four_towers.moves import Move, MultiMove, Rearrangement
from domain.four_towers.outcome import is_drawn
from domain.four_towers.pieces import PIECES
from domain.four_towers.position import Position
from domain.game import Game, Setup
from domain.operations import operations_from


@operations_from(position, moves, outcome, legality, notation, diagram, composition, view, evaluate)
class FourTowers(Game[Position, Move]):
    """The contract, and lists of the moves that it leaves unlisted, for checks of small positions."""

    id = "four-towers"
    title = "Four Towers"
    ruleset = 1
    blurb = "Chess on nine arenas with four towers between them, that change what the pieces round them can do."
    goal = "Checkmate your opponent's king. Stalemate is a draw."
    ending = "A hundred and fifty plies in a row without a promotion or a final capture end the game as a draw."
    difficulty = "The hardest to learn: eleven kinds of pieces, ten kinds of moves, and towers that change them."
    duration = "Long: computers of level 1 have ended a match after 101 moves."
    setups = {
        "standard": Setup(
            "standard",
            "Standard",
            ("White", "Black"),
            ("white", "black"),
            "dmk/rnbdcq/ppppppbnr/6pppp/10/9/10/PPPP6/RNBPPPPPP/QCDBNR/KMD w - -/- - 0 1",
        )
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
    further_pieces = ("3/6/9/10/l8w/9/L8W/10/k8/6/2K w - -/- - 0 1",)
    counters = 2

    def legal_moves(self, position: Position) -> list[int]:
        """Return the legal moves of single pieces."""
        return [] if is_drawn(position) else generator_of(position).moves()

    def any_unlisted_move(self, position: Position) -> Move | None:
        """Return a legal rearrangement or multi-move."""
        return None if is_drawn(position) else outcome.unlisted_move(position)

    def unlisted_candidates(self, position: Position, limit: int) -> list[Move]:
        """Return rearrangements and multi-moves that gain something."""
        return [] if is_drawn(position) else candidate_search.candidates(position, limit)

    def in_check(self, position: Position) -> bool:
        """Return whether the side to move is in check."""
        return outcome.in_check(position)

    def multi_moves(self, position: Position) -> Sequence[MultiMove]:
        """Return all legal multi-moves in ASCII order of their strings; there may be millions."""
        return [] if is_drawn(position) else compound_moves.multi_moves(position)

    def rearrangements(self, position: Position) -> Sequence[Rearrangement]:
        """Return all legal rearrangements in ASCII order of their strings; there may be hundreds of thousands."""
        return [] if is_drawn(position) else compound_moves.rearrangements(position)


GAME: FourTowers = FourTowers()
