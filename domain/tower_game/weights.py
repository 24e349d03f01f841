"""The weights of the evaluation of The Tower Game, in hundredths of a Pawn.

Every weight is that of a feature, counted for White and against Black. On 2026-11-28, at 40 nodes, the features
from TURN to PAWN_THREAT: 132 games of 70 plies, +72 Elo (95 %: +17 to +131). On 2026-11-29, at 600 nodes, the two that
drive a King to mate: 100 games, +89 Elo (95 %: +63 to +115).
"""

from typing import Final

ROOK: Final = 560
BISHOP: Final = 480
MERCHANT: Final = 260
KNIGHT: Final = 420
CAPTAIN: Final = 400
JESTER: Final = 340
FOOL: Final = 300
PAWN: Final = 100
"""The men, after the average number of cubes that each reaches on an open board."""
CENTRE: Final = 3
PAWN_CENTRE: Final = 1
"""A step of a man, or of a Pawn, from the edge towards the middle of its level (four at most)."""
RANK: Final = (0, 6, 12, 16, 16, 12, 8, 4)
"""A man other than King and Pawn, by its rank as its side sees it."""
PAWN_RANK: Final = (0, 0, 4, 12, 26, 50, 90, 0)
"""A Pawn, by its rank."""
KING_RANK: Final = (16, 4, -20, -40, -50, -50, -50, -50)
"""The King, by its rank."""
TURN: Final = 15
"""The move."""
CONTROL: Final = 2
"""A cube that a Pawn, a leaper or the King attacks."""
NEAR_KING: Final = 8
"""A cube beside the enemy's King that a Pawn, a leaper or the King attacks."""
RIDER_AT_KING: Final = 10
"""A Rook, Bishop or Merchant on a line with the enemy's King, whatever stands between."""
HANGING: Final = 25
"""A man of the enemy that a Pawn or a leaper attacks and no Pawn, leaper or King defends."""
PAWN_THREAT: Final = 30
"""A man of the enemy, other than a Pawn, that a Pawn attacks."""
ESCAPE_TAKEN: Final = 20
"""A cube beside a King driven to mate that is off the board, attacked, or on a line of an enemy."""
KINGS_CLOSE: Final = 10
"""A cube less between a King driven to mate and that of the enemy."""
