"""Towers: stacks of pieces are toppled along files and ranks to get one's own piece on top of the green castles."""

from domain.game import Game, Setup
from domain.operations import operations_from
from domain.towers import diagram, evaluate, legality, moves, native, notation, position
from domain.towers.board import SEAT_NAMES
from domain.towers.pieces import PIECES
from domain.towers.position import Position

Move = int
"""A move as ``features`` numbers it."""

_COLOURS = {2: ("white", "black"), 4: ("white", "blue", "red", "black")}
_FOUR_TURNS = (3, 2, 1, 0)
"""The quarter turns clockwise that bring the corner of each of four seats to the lower left."""


@operations_from(position, moves, legality, notation, diagram, evaluate, native)
class Towers(Game[Position, Move]):
    """The rules of two and of four players."""

    id = "towers"
    title = "Towers"
    ruleset = 1
    blurb = (
        "Build towers and topple them along rows and columns, until your pieces stand on top of the castles. "
        "For two or four."
    )
    goal = (
        "Put your piece on top of four of the five castles (three with four players), or of three that are five pieces "
        "high (two with four players). You also win when nobody else can act after your turn."
    )
    ending = (
        "Supplies are finite and nothing returns to them, so builds run out, and fifty pushes in a row or the third "
        "occurrence of a position are a draw."
    )
    difficulty = "Easy to learn: one kind of piece, which is built up or pushed over."
    duration = "Often 60 moves in all, with four players 100: two to three months at a move a day."
    setups = {
        "two-player": Setup(
            "two-player",
            "Two players",
            SEAT_NAMES[2],
            _COLOURS[2],
            "1,ww,3,bb,1/ww,2,g,2,bb/7/1,g,1,g,1,g,1/7/bb,2,g,2,ww/1,bb,3,ww,1 2 w 0",
        ),
        "four-player": Setup(
            "four-player",
            "Four players",
            SEAT_NAMES[4],
            _COLOURS[4],
            "1,ww,ww,1,uu,uu,1/ww,2,g,2,uu/ww,5,uu/1,g,1,g,1,g,1/bb,5,rr/bb,2,g,2,rr/1,bb,bb,1,rr,rr,1 4 w 0",
            _FOUR_TURNS,
        ),
        "four-player-diagram": Setup(
            "four-player-diagram",
            "Four players, two towers each",
            SEAT_NAMES[4],
            _COLOURS[4],
            "1,ww,3,uu,1/ww,2,g,2,uu/7/1,g,1,g,1,g,1/7/bb,2,g,2,rr/1,bb,3,rr,1 4 w 0",
            _FOUR_TURNS,
        ),
    }
    reasons = {
        "castles": "enough castles were controlled",
        "crowned-castles": "enough castles were crowned",
        "no-moves": "no legal move was left",
        "no-progress": "too many moves without progress",
        "repetition": "the position stood for the third time",
    }
    position_format = diagram.POSITION_FORMAT
    pieces = PIECES
    standing = "Castles"
    counters = 1

    def seats_at(self, position: Position) -> int:
        """Return 2 or 4."""
        return len(position.supplies)


GAME: Towers = Towers()
