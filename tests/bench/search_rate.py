"""The rate of the search of any checkout: ``python search_rate.py GAME KIND`` reads positions, a line each.

It imports nothing but the domain, so that it runs with that of an older checkout.
"""

import sys
import time

from domain.games import GAMES
from domain.search.choose import choose

NODES = 4_000
LEVEL = 8


def main() -> None:
    game = GAMES[sys.argv[1]]
    if sys.argv[2] == "compiled":
        type(game).search_position = lambda *_: None  # type: ignore[method-assign]
    searched = [game.parse_position(line.rstrip("\n")) for line in sys.stdin]
    nodes = 0
    started = time.process_time()
    for number, position in enumerate(searched):
        nodes += choose(game, position, (), LEVEL, number, NODES).nodes
    print(nodes / (time.process_time() - started))


if __name__ == "__main__":
    main()
