"""The names and the moves of the pieces in the words of a page, by kind of their drawings."""

from collections.abc import Mapping

from domain.presentation import PieceGuide

PIECES: Mapping[str, PieceGuide] = {
    "monarch": PieceGuide(
        "King", "Goes one step in any direction, never to an attacked cube. It may castle to a corner.", "fool"
    ),
    "rook": PieceGuide("Rook", "Goes any distance along a column, along a row, or straight up and down.", "rook"),
    "bishop": PieceGuide(
        "Bishop", "Goes any distance diagonally, on its rank or across ranks: two coordinates change alike.", "bishop"
    ),
    "merchant": PieceGuide(
        "Merchant", "Goes any distance from corner to corner of cubes: all three coordinates change alike.", "merchant"
    ),
    "knight": PieceGuide(
        "Knight", "Leaps two steps along one coordinate and one along another, over anything.", "knight"
    ),
    "captain": PieceGuide(
        "Captain", "Leaps two steps along one coordinate and one along both others, over anything.", "captain"
    ),
    "jester": PieceGuide(
        "Jester", "Leaps two steps along two coordinates and one along the third, over anything.", "jester"
    ),
    "pawn": PieceGuide(
        "Pawn",
        "Goes one cube straight forward, two from its start; takes on the eight cubes around that step.",
        "pawn-captures",
    ),
    "fool": PieceGuide(
        "Fool", "Goes one step in any direction, like a King; but it may be taken like any other piece.", "fool"
    ),
}
