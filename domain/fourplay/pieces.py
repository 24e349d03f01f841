"""The names and the moves of the pieces in the words of a page, by kind of their drawings."""

from collections.abc import Mapping

from domain.presentation import PieceGuide

PIECES: Mapping[str, PieceGuide] = {
    "monarch": PieceGuide(
        "King", "Goes one step in any direction. It may be taken, and then its player is out.", "king"
    ),
    "queen": PieceGuide(
        "Queen", "Goes any distance in all eight directions, and may leap over one piece on the way.", "queen"
    ),
    "archer": PieceGuide(
        "Archer",
        "Walks four squares with one turn at most, in its own quadrant; shoots to take, and stays there.",
        "archer-shoots",
    ),
    "little-dog": PieceGuide(
        "Little Dog",
        "Steps to an empty square or attaches to a piece beside it; then it leaps around that piece.",
        "dog-attached",
    ),
    "mutator": PieceGuide(
        "Mutator", "Moves as the pieces that stand beside it, of any owner. Beside nothing it cannot move.", "mutator"
    ),
    "rook": PieceGuide("Rook", "Goes any distance along its row or column.", "lines"),
    "bishop": PieceGuide("Bishop", "Goes any distance diagonally.", "lines"),
    "vertical-mover": PieceGuide("Vertical Mover", "Goes any distance along its column, never along its row.", "lines"),
    "horizontal-mover": PieceGuide(
        "Horizontal Mover", "Goes any distance along its row, never along its column.", "lines"
    ),
    "giraffe": PieceGuide(
        "Giraffe", "Leaps one square in one direction and four in the other, over anything.", "giraffe"
    ),
    "ant": PieceGuide(
        "Ant", "Goes and takes one square diagonally; on a corner of another quadrant it may promote.", "ant"
    ),
    "neutron": PieceGuide(
        "Neutron", "Belongs to nobody, never moves and is never taken. It stands in the way.", "start"
    ),
    "frozen": PieceGuide(
        "Frozen", "Its player is out. It never moves again, but stands in the way and can be taken.", "frozen"
    ),
}
