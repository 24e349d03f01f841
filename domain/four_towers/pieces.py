"""The names and the moves of the pieces in the words of a page, by kind of their drawings."""

from collections.abc import Mapping

from domain.presentation import PieceGuide

PIECES: Mapping[str, PieceGuide] = {
    "monarch": PieceGuide(
        "King", "Goes one step in any direction, never into check; on a tower it captures like a queen.", "king"
    ),
    "queen": PieceGuide("Queen", "Goes as a rook or a bishop, or sends off one of these two parts.", "detach"),
    "marshall": PieceGuide("Marshall", "Goes as a rook or a knight, or sends off one of these two parts.", "detach"),
    "cardinal": PieceGuide(
        "Cardinal", "Goes as a bishop or a knight, or sends off one of these two parts.", "cardinal"
    ),
    "wizard": PieceGuide(
        "Wizard", "Goes as a rook, a bishop or a knight, or sends off one or two of these parts.", "detach"
    ),
    "rook": PieceGuide("Rook", "Goes any distance along a rank or a file, which a knight on a tower bends.", "rook"),
    "bishop": PieceGuide(
        "Bishop", "Goes any distance diagonally; near a cardinal on a tower it leaps like a knight.", "cardinal"
    ),
    "knight": PieceGuide(
        "Knight", "Leaps two squares and one to the side; near a cardinal on a tower it goes like a bishop.", "cardinal"
    ),
    "dragon": PieceGuide(
        "Dragon", "Has no moves of its own: it moves like the pieces that either side has moved last.", "dragon-both"
    ),
    "pawn": PieceGuide(
        "Pawn", "Goes one square forward or sideways, two from some squares; takes diagonally forward.", "pawn"
    ),
    "lancer": PieceGuide(
        "Lancer", "Goes and takes one or two squares forward, sideways or diagonally forward.", "lancer"
    ),
}
