"""Figures of Four Towers: how a game ends."""

from api.pages.rules.figure import Figure, Result
from api.pages.rules.games.four_towers.claims import Only, shown

_ROUND = "h2-i4 d10-c8 i4-h2 c8-d10"

SHOWN = (
    shown(
        Figure(
            "checkmate",
            "3/6/8k/8Q1/10/9/10/9R/9/6/K2 b - -/- - 0 1",
            "The queen gives check next to the king, and the rook protects her along the j-file.",
            complete="",
            result=Result((1.0, 0.0), "checkmate"),
        )
    ),
    shown(
        Figure(
            "stalemate",
            "3/6/8k/7Q2/10/9/10/10/9/6/K2 b - -/- - 0 1",
            "Black is not in check and has no move.",
            complete="",
            result=Result((0.5, 0.5), "stalemate"),
        )
    ),
    shown(
        Figure(
            "rare-rescue",
            "3/6/9/9k/10/9/r2D6/1P8/K7r/P5/3 w - -/- - 0 1",
            "White would be mated, if the dragon on d5 did not give it multi-moves. They count like all others.",
            going_on=True,
        ),
        Only("All legal moves", ".*", "a3-b3;d2-d3 b4-a4;d2-d3"),
    ),
    shown(
        Figure(
            "kings-only",
            "3/6/8k/10/10/9/10/10/9/6/K2 b - -/- - 0 1",
            "Two kings alone, and nothing that may return.",
            complete="",
            result=Result((0.5, 0.5), "insufficient-material"),
        )
    ),
    shown(
        Figure(
            "third-time",
            "dmk/rnbdcq/ppppppbnr/6pppp/10/9/10/PPPP6/RNBPPPPPP/QCDBNR/KMD w - -/- - 0 1",
            "Knights go out and back. After eight plies the board is as at the start for the third time, but at first "
            "dragons had nothing to copy. After ten plies a position has really stood three times.",
            moves=f"{_ROUND} {_ROUND} h2-i4 d10-c8",
            after="dmk/r1bdcq/ppppppbnr/1n4pppp/10/9/10/PPPP4N1/RNBPPPPPP/QCDB1R/KMD w - N/N - 10 6",
            result=Result((0.5, 0.5), "repetition"),
        )
    ),
    shown(
        Figure(
            "no-progress",
            "3/6/9/1P7k/10/9/3P6/10/9/6/2K w - -/- - 149 75",
            "The clock shows 149. Moving a pawn does not set it back.",
            moves="c8-c9",
            after="3/6/P8/9k/10/9/3P6/10/9/6/2K b - -/- - 150 75",
            result=Result((0.5, 0.5), "no-progress"),
        )
    ),
)
