"""The names and the moves of the pieces in the words of a page, by kind of their drawings."""

from collections.abc import Mapping

from domain.presentation import PieceGuide

PIECES: Mapping[str, PieceGuide] = {
    "man": PieceGuide(
        "Man", "Goes one square diagonally forward; jumps an enemy, backwards too, and takes its top along.", "man"
    ),
    "king": PieceGuide(
        "King", "Goes and jumps any distance along a diagonal, and takes along the top of what it jumps.", "king"
    ),
}
