"""The boards of the page that verifies: its script reads positions as the games do, and it has all their pieces."""

import json
import random
import subprocess
from pathlib import Path
from typing import Any

from api.pages.verify_page import board_tables
from domain.games import GAMES
from tests.support.node import NODE

READ = Path(__file__).parents[1] / "support" / "read_positions.mjs"
PLIES = 24
SHOWCASES = 2
"""Positions per setup that are read: the start, the last of a random game."""


def positions() -> list[tuple[str, str]]:
    """Return positions of all games and setups, from seeded games at random."""
    found = []
    for game in GAMES.values():
        for setup in game.setups:
            rng = random.Random(f"{game.id} {setup}")
            position: Any = game.initial(setup)
            found.append((game.id, game.format_position(position)))
            for _ in range(PLIES):
                moves = list(game.legal_moves(position))
                if not moves:
                    break
                position = game.play(position, rng.choice(moves))
            found.append((game.id, game.format_position(position)))
        if game.showcase:
            found.append((game.id, game.showcase))
    return found


def test_the_script_reads_the_positions_of_all_games_as_their_rules_do() -> None:
    given = positions()
    lines = "".join(json.dumps({"game": game, "position": position}) + "\n" for game, position in given)
    read = subprocess.run([NODE, str(READ)], input=lines, capture_output=True, check=True, text=True, timeout=60)
    tables = json.loads(board_tables())
    for (game, position), line in zip(given, read.stdout.splitlines(), strict=True):
        scene = GAMES[game].scene(GAMES[game].parse_position(position))
        found = json.loads(line)
        expected = {
            square: [piece.letter + "!" * piece.frozen for piece in column] for square, column in scene.columns.items()
        }
        assert found["columns"] == expected, position
        assert found["links"] == [list(link) for link in scene.links], position
        pieces, squares = tables[game]["pieces"], tables[game]["squares"]
        for square, column in scene.columns.items():
            assert square in squares
            titles = [pieces[piece.letter + "!" * piece.frozen][1] for piece in column]
            assert titles == [piece.title for piece in column]
