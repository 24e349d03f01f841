"""Puzzles as figures to play."""

from api.pages.learning.playable import FigureStep, PlayableFigure
from api.pages.pictures import squares_named
from domain.games import GAMES
from domain.puzzles.puzzle import Puzzle


def figure_of(puzzle: Puzzle) -> PlayableFigure:
    """Return the figure that plays a puzzle; every reply follows one move of the solver."""
    game = GAMES[puzzle.game_id]
    position = game.parse_position(puzzle.position)
    solver = game.to_move(position)
    steps: list[FigureStep] = []
    for ply, text in enumerate(puzzle.line):
        if game.to_move(position) == solver:
            last = ply == len(puzzle.line) - 1
            goal = "Find the best move." if ply == 0 else "Go on: find the next move."
            squares = squares_named(text)
            hint = f"A good move touches {squares[0]}." if squares else ""
            accepted = (text, *(puzzle.alternatives if last else ()))
            done = "Solved: nothing else is nearly as good." if last else ""
            steps.append(FigureStep(goal, accepted, hint=hint, done=done))
        else:
            steps[-1] = steps[-1]._replace(reply=text)
        position = game.play(position, game.parse_move(position, text))
    return PlayableFigure(puzzle.game_id, game.ruleset, puzzle.position, tuple(steps))


def seat_of(puzzle: Puzzle) -> str:
    """Return the name of the seat that is to move."""
    game = GAMES[puzzle.game_id]
    position = game.parse_position(puzzle.position)
    setups = (setup for setup in game.setups.values() if len(setup.seat_names) == game.seats_at(position))
    return next(setups).seat_names[game.to_move(position)]
