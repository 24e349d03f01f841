"""The names and the moves of the pieces in the words of a page, by kind of their drawings."""

from collections.abc import Mapping

from domain.presentation import PieceGuide

PIECES: Mapping[str, PieceGuide] = {
    "stone": PieceGuide(
        "Piece",
        "The top piece owns the tower: push it over in a line, or build on it unless it is a castle.",
        "five-over-empty",
    ),
    "castle": PieceGuide(
        "Castle", "Never moves, and is not built on. Whoever has a piece on top of it holds it.", "onto-castle"
    ),
}
