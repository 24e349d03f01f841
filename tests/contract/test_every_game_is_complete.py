"""What a game still lacks, from its vectors to its row in the README."""

import re
from pathlib import Path

import pytest

from api.pages.rules import figures_of, has_page
from api.pages.verify_page import _pieces
from deploy.cli.vectors import read_cases
from domain.game import AnyGame
from domain.games import GAMES
from domain.scene import COLOURS
from events.pictures.board import faces
from tests.bench.rules import TARGETS
from tests.golden.stored import path_of, read
from tests.support.tiny_game import TINY
from tests.unit.test_rules_pages import PIECES, RULINGS

ROOT = Path(__file__).parents[2]
MATCH_REASONS = {"resignation", "draw-agreed", "flag", "ruling"}
"""Why a match may end whatever its game is."""
MIN_FIGURES = 5


def missing(game: AnyGame) -> list[str]:
    """Return what ``game`` lacks, in words that say where to put it."""
    package = game.id.replace("-", "_")
    vectors = ROOT / "tests" / "vectors" / f"{game.id}.public.json"
    seen = reasons_seen(game, vectors)
    style = (ROOT / "events" / "pictures" / "picture.css").read_text()
    readers = (ROOT / "api" / "pages" / "static" / "proof" / "boards.js").read_text()
    checks = {
        f"domain/games.py: {game.id} in GAMES": game.id in GAMES,
        f"pyproject.toml: domain.{package} in the contract of independence": (
            f'"domain.{package}"' in (ROOT / "pyproject.toml").read_text()
        ),
        f"tests/vectors/{vectors.name}: cases with moves, perft and outcome": has_cases(vectors),
        f"tests/golden: python -m tests.golden {game.id} {game.ruleset}": path_of(game.id, game.ruleset).is_file(),
        f"api/pages/templates/rules/{game.id}.toml: {MIN_FIGURES} figures": (
            has_page(game.id) and len(figures_of(game.id)) >= MIN_FIGURES
        ),
        f"api/pages/templates/rules/{game.id}.html": (
            ROOT / "api" / "pages" / "templates" / "rules" / f"{game.id}.html"
        ).is_file(),
        f"GAME.reasons: words for {', '.join(sorted(seen - game.reasons.keys()))}": seen <= game.reasons.keys(),
        "GAME.setups: a colour of domain.scene.COLOURS for each seat": all(
            len(set(setup.colours)) == len(setup.seat_names) and set(setup.colours) <= set(COLOURS)
            for setup in game.setups.values()
        ),
        "events/pictures/picture.css: a style of each colour": all(
            f".piece-{colour} " in style and f".by-{colour} " in style for colour in colours_of(game)
        ),
        f"events/pictures/figures.py: different drawings of {', '.join(sorted(drawn_alike(game)))}": not drawn_alike(
            game
        ),
        "GAME.setups: a number of quarter turns for each seat": all(
            len(setup.turns) == len(setup.seat_names) and set(setup.turns) <= {0, 1, 2, 3}
            for setup in game.setups.values()
        ),
        f"api/pages/static/proof/boards.js: a reader of {game.id}": f"  {game.id}:" in readers
        or f'"{game.id}":' in readers,
        "tests/unit/test_rules_pages.py: RULINGS and PIECES": game.id in RULINGS and game.id in PIECES,
        "GAME.showcase: a position in which the game goes on": is_under_way(game),
        "tests/bench/rules.py: a target": game.id in TARGETS,
        "README.md: a row": f"**{game.title}**" in (ROOT / "README.md").read_text(),
    }
    return [place for place, there in checks.items() if not there]


def has_cases(vectors: Path) -> bool:
    """Return whether a file has the kinds of cases that every game needs."""
    kinds = {kind for case in read_cases(vectors) for kind in case} if vectors.is_file() else set()
    return {"moves", "perft", "outcome"} <= kinds


def reasons_seen(game: AnyGame, vectors: Path) -> set[str]:
    """Return the reasons of outcomes in the vectors and the golden matches of ``game``."""
    cases = read_cases(vectors) if vectors.is_file() else []
    seen = {str(case["outcome"]["reason"]) for case in cases if case.get("outcome")}
    golden = path_of(game.id, game.ruleset)
    seen |= {match.reason for match in read(golden)} if golden.is_file() else set()
    return seen - MATCH_REASONS


def drawn_alike(game: AnyGame) -> set[str]:
    """Return the titles of pieces in one colour that cannot be told apart."""
    alike: set[str] = set()
    for colours, pieces in _pieces(game):
        titles: dict[str, set[str]] = {}
        for piece in pieces:
            for drawing in faces([piece], colours).values():
                titles.setdefault(re.sub(r'id="[^"]*"', "", drawing), set()).add(piece.title)
        alike |= {title for group in titles.values() if len(group) > 1 for title in group}
    return alike


def colours_of(game: AnyGame) -> set[str]:
    return {colour for setup in game.setups.values() for colour in setup.colours}


def is_under_way(game: AnyGame) -> bool:
    """Return whether the position that shows the game, if it declares one, has not ended."""
    return not game.showcase or game.outcome(game.parse_position(game.showcase), ()) is None


@pytest.mark.parametrize("rulesets", GAMES.rulesets.values(), ids=GAMES.rulesets)
def test_every_ruleset_of_a_game_lacks_nothing(rulesets: tuple[AnyGame, ...]) -> None:
    assert [place for game in rulesets for place in missing(game)] == []


def test_what_a_game_lacks_is_named() -> None:
    assert missing(TINY) == [
        "domain/games.py: tiny in GAMES", "pyproject.toml: domain.tiny in the contract of independence",
        "tests/vectors/tiny.public.json: cases with moves, perft and outcome",
        "tests/golden: python -m tests.golden tiny 1", "api/pages/templates/rules/tiny.toml: 5 figures",
        "api/pages/templates/rules/tiny.html", "api/pages/static/proof/boards.js: a reader of tiny",
        "tests/unit/test_rules_pages.py: RULINGS and PIECES", "tests/bench/rules.py: a target", "README.md: a row",
    ]  # fmt: skip
