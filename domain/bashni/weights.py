"""The weights of the evaluation of Bashni, in hundredths of a single man.

Every weight is that of a feature, counted for White and against Black. Fitted on 2026-11-28 to 223 games at 80 nodes a
move, except HANGING and FADING_PLIES. Against the former evaluation, at 60 nodes a move: 332 games, +55 Elo
(95 %: +18 to +93), accepted by the sequential test of 0 against 25 Elo.
"""

from typing import Final

MAN: Final = 100
"""A column commanded by a man."""
KING: Final = 330
"""A column commanded by a king."""
RESERVE_MAN: Final = (64, 62)
RESERVE_KING: Final = (110, 70)
"""A piece of the owner's colour under the commander, which commands when the one above it is captured: the first, and
each further one."""
PRISONER_MAN: Final = (40, 54, 66)
PRISONER_KING: Final = (60, 97, 125)
"""A prisoner under one piece of the owner, under two, and under more: so many captures set it free."""
NEXT_PRISONER: Final = (-25, -11, -5)
"""The uppermost prisoner, which is the first to come free, under one piece, two and more."""
ADVANCE: Final = (-6, 5, 20, 14)
"""A man on its fourth row or beyond, on its fifth or beyond, on its sixth or beyond, on its seventh."""
BACK_ROW: Final = 34
"""A man on its first row, where it keeps others from being crowned."""
STEPS: Final = 3
"""A man that can step forward on the side of the left hand, or of both."""
TURN: Final = 12
"""The move."""
HANGING: Final = (-6, -30)
"""A column of the player to move that can be captured next: the first, and each further one."""
FADING_PLIES: Final = 90
"""The quiet plies after which an advantage would be worth nothing; the game is drawn long before. It drives a winner to
capture, or to move men."""
