"""The weights of the evaluation of Four Towers, in hundredths of a pawn.

Every weight is that of a feature, counted for White and against Black. On 2026-11-28, at 40 nodes, the features
from TURN on: 56 games of 70 plies, +50 Elo (95 %: -32 to +138).
"""

from typing import Final

ROOK: Final = 450
BISHOP: Final = 300
QUEEN: Final = 850
KNIGHT: Final = 300
MARSHALL: Final = 850
CARDINAL: Final = 700
WIZARD: Final = 1250
DRAGON: Final = 350
PAWN: Final = 100
LANCER: Final = 220
"""The pieces."""
CENTRE: Final = 3
"""A step of a piece from the edge towards the middle (ten at most)."""
TOWER: Final = 25
"""A piece on a tower."""
KING_CENTRE: Final = -4
"""The same step of the king."""
KING_ADVANCE: Final = -3
"""A step of the king towards the other side."""
TURN: Final = 15
"""The move."""
CONTROL: Final = 2
"""A square that a pawn, a leap or the king attacks."""
NEAR_KING: Final = 8
"""A square beside the enemy's king that a pawn or a leap attacks."""
RIDER_AT_KING: Final = 10
"""A piece that rides on a line with the enemy's king, whatever stands between."""
HANGING: Final = 20
"""A piece of the enemy that a pawn or a leap attacks and none of these, nor the king, defends."""
PAWN_THREAT: Final = 30
"""A piece of the enemy, other than a pawn, that a pawn attacks."""
