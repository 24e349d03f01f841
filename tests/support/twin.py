"""The search on seeded positions of every game, one line for each choice: ``python -m tests.support.twin``.

Run in plain Python and in the compiled build, the lines must be the same. The first one names the build.
"""

import random
import sys
from collections.abc import Iterator

from domain.build import COMPILED
from domain.game import AnyGame
from domain.search.choose import choose
from tests.support.rulesets import RULESETS

POSITIONS = 300
NODES = 150
LEVEL = 8
MAX_PLIES = 60


def positions(game: AnyGame, chance: random.Random) -> Iterator[tuple[object, list[object]]]:
    """Yield positions of random games that are not over, with their histories: one of every game."""
    setups = list(game.setups)
    while True:
        history: list[object] = []
        position = game.initial(chance.choice(setups))
        for _ in range(chance.randrange(MAX_PLIES)):
            moves = list(game.legal_moves(position))
            if not moves or game.fast_outcome(position, history) is not None:
                break
            history.append(position)
            position = game.play(position, chance.choice(moves))
        if next(iter(game.legal_moves(position)), None) is not None and game.fast_outcome(position, history) is None:
            yield position, history


def choices(game: AnyGame, count: int) -> Iterator[str]:
    """Yield ``count`` choices: move, value, depth, nodes, and the position and its evaluations by seat."""
    chance = random.Random(f"{game.id}-{game.ruleset}")
    for number, (position, history) in zip(range(count), positions(game, chance), strict=False):
        chosen = choose(game, position, history, LEVEL, number, NODES)
        evaluations = [game.evaluate(position, seat) for seat in range(game.seats_at(position))]
        move, text = game.format_move(position, chosen.move), game.format_position(position)
        yield f"{game.id} {move} {chosen.value} {chosen.depth} {chosen.nodes} {evaluations} {text}"


def main() -> None:
    print("compiled" if COMPILED else "plain")
    count = int(sys.argv[1]) if sys.argv[1:] else POSITIONS
    for game in RULESETS.values():
        for line in choices(game, count):
            print(line)


if __name__ == "__main__":
    main()
