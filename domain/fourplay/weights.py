"""The weights of the evaluation of Fourplay, in hundredths of an Ant.

They are counted for every seat; a seat stands as well as it leads the others, the best of them above all. On
2026-11-28, at 40 nodes, KING_ATTACKED: 50 games, +24 Elo (95 %: +1 to +48).
"""

from typing import Final

ARCHER: Final = 520
DOG: Final = 330
QUEEN: Final = 900
MUTATOR: Final = 420
GIRAFFE: Final = 190
ROOK: Final = 500
BISHOP: Final = 320
ANT: Final = 100
VERTICAL: Final = 230
HORIZONTAL: Final = 230
"""The pieces, by their strength on this board: the prices of the set-up differ from it."""
CENTRE: Final = 1
"""A step of a piece towards the middle of the board."""
OPEN_LINE: Final = -4
"""A square between the King and its cover on one of the eight lines, five at most."""
KING_ATTACKED: Final = (-60, -250)
"""A King that others still in could capture, with the move, when it can escape, and without."""
PLACE: Final = 3000
"""A whole point of the places already settled."""
