"""The weights of the evaluation of Towers, in hundredths of a lone piece.

They are counted for every seat; a seat stands as well as it leads the best of the others. Castles change hands often,
so that tall towers within reach of castles count for more than a castle held early. On
2026-11-28, at 40 nodes: RETAKEN 26 games, +27 Elo (95 %: -95 to +155); SUPPLY 22 games, +32 Elo (-35 to +101).
"""

from typing import Final

TOWER: Final = (0, 100, 230, 390, 560, 660)
"""A controlled tower, by height: in a tower every piece but the lowest can fall."""
REACHES_CASTLE: Final = 150
"""A tower that reaches a castle over empty ground, for every such castle; a third of it when one build is missing."""
CASTLE: Final = (0, 0, 350, 450, 550, 1000)
"""A controlled castle, by height: each piece makes it harder to fall on, and the crown is for good."""
ENEMY_BELOW_TOP: Final = 40
"""Lost on a castle whose top stands on an enemy piece: it comes back when the castle is pushed."""
CASTLES_OF_TWO: Final = (0, 0, 150, 900, 9000, 9000)
CASTLES_OF_FOUR: Final = (0, 150, 1200, 9000, 9000, 9000)
"""On top of the castles themselves, by their number, with two seats and with four: the last one before the goal decides
most games."""
CROWNS_OF_TWO: Final = (0, 0, 500, 9000, 9000, 9000)
CROWNS_OF_FOUR: Final = (0, 600, 9000, 9000, 9000, 9000)
"""Likewise for the crowned castles."""
MOBILITY: Final = 25
"""A push that could be made."""
TURN: Final = 60
"""The move."""
THREAT_TO_MOVE: Final = (0, 650, 850, 950, 1000, 1050)
"""The castles that the side to move can fall on: it gets one, and the others stay in its reach."""
THREAT_WAITING: Final = (0, 150, 450, 650, 750, 800)
"""The castles that others can fall on: one threat is easily answered, two hardly."""
RETAKEN: Final = -60
"""A castle that the side to move can fall on, and another seat as well, which may take it back."""
CAN_WIN: Final = 4000
"""The side to move can fall on the castle, or crown the castle, that it lacks."""
SUPPLY: Final = 3
"""A piece in the supply."""
FADING_PUSHES: Final = 150
"""The pushes in a row after which an advantage would be worth nothing; the game is drawn long before."""
