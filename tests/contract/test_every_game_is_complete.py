"""What a game still lacks, from its vectors to its row in the README."""

import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from api.pages.rules import figures_of, has_page
from api.pages.verify_page import pieces_of
from deploy.cli.vectors import read_cases
from domain.game import AnyGame
from domain.games import GAMES
from domain.presentation import MAX_GUIDE_LENGTH, PieceGuide, PositionFormat
from domain.scene import COLOURS, Cell, Piece, Scene
from events.pictures.board import faces
from tests.bench.rules import TARGETS
from tests.golden.stored import path_of, read
from tests.support.rulesets import variant
from tests.support.tiny_game import TINY

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
    template = ROOT / "api" / "pages" / "templates" / "rules" / f"{game.id}.html"
    page = template.read_text() if template.is_file() else ""
    undrawn = drawings_lacking(game, vectors)
    format = getattr(game, "position_format", None)
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
        f"api/pages/templates/rules/{game.id}.html: rulings, and pictures of all kinds of pieces": (
            "parts.ruling(" in page and page.count("{{ piece(") >= len({kind for kind, _ in kinds_of(game)})
        ),
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
        f"GAME.further_pieces: positions with {', '.join(sorted(undrawn))}": not undrawn,
        f"GAME.pieces: name, sentence and figure of {', '.join(sorted(unguided(game)))}": not unguided(game),
        "GAME.position_format: the squares of the board in rows, and how they are written": (
            format is not None and has_squares(game, format) and all(map(re.compile, (format.item, format.rest)))
        ),
        "GAME.difficulty, GAME.duration: a sentence each": game.difficulty.endswith(".")
        and game.duration.endswith("."),
        "GAME.scene: cells of one square each, side by side, inside of the picture": has_cells(game),
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
    for colours, pieces in pieces_of(game):
        titles: dict[str, set[str]] = {}
        for piece in pieces:
            for drawing in faces([piece], colours).values():
                titles.setdefault(re.sub(r'id="[^"]*"', "", drawing), set()).add(piece.title)
        alike |= {title for group in titles.values() if len(group) > 1 for title in group}
    return alike


def kinds_of(game: AnyGame) -> set[tuple[str, str]]:
    """Return the kinds and letters of the pieces that the page which verifies can draw, frozen ones aside."""
    return {(piece.kind, piece.letter) for _, pieces in pieces_of(game) for piece in pieces if piece.seat >= 0}


def unguided(game: AnyGame) -> set[str]:
    """Return the kinds of pieces of which no sentence says how they move, with a name and a figure of the rules."""
    texts = [setup.start for setup in game.setups.values()] + list(game.further_pieces)
    columns = [column for text in texts for column in game.scene(game.parse_position(text)).columns.values()]
    drafts = filter(None, (game.draft(game.initial(setup)) for setup in game.setups))
    pieces = {piece for column in columns for piece in column} | {
        each.piece for draft in drafts for each in draft.pieces
    }
    figures = {figure.id for figure in figures_of(game.id)} if has_page(game.id) else set()
    return {piece.kind for piece in pieces if not is_guided(game.pieces.get(piece.kind), piece, figures)}


def is_guided(guide: PieceGuide | None, piece: Piece, figures: set[str]) -> bool:
    """Return whether ``guide`` names ``piece``, and says in a short sentence how it moves."""
    return (
        guide is not None
        and guide.name.lower() in piece.title.lower()
        and re.fullmatch(r"[A-Z].*\.", guide.moves) is not None
        and len(guide.moves) <= MAX_GUIDE_LENGTH
        and guide.figure in figures
    )


def drawings_lacking(game: AnyGame, vectors: Path) -> set[str]:
    """Return the titles of pieces that occur in cases or the showcase, but neither at the start nor further on."""
    cases = read_cases(vectors) if vectors.is_file() else []
    texts = [
        text
        for case in cases
        if "malformed" not in case
        for name in ("position", "result_position")
        if (text := case.get(name))
    ]
    scenes = [game.scene(game.parse_position(text)) for text in (*texts, *filter(None, [game.showcase]))]
    pieces = {piece for scene in scenes for column in scene.columns.values() for piece in column if piece.seat >= 0}
    return {piece.title for piece in pieces if (piece.kind, piece.letter) not in kinds_of(game)}


def has_squares(game: AnyGame, format: PositionFormat) -> bool:
    """Return whether the rows of ``format`` are the squares of the board, each of them once."""
    return sorted(square for row in format.rows for square in row) == sorted(cell.square for cell in cells_of(game))


def has_cells(game: AnyGame) -> bool:
    """Return whether no two cells overlap and none reaches over the edge of the picture."""
    scene = game.scene(game.initial(next(iter(game.setups))))
    return all(
        cell.x >= 0 and cell.y >= 0 and cell.x + 1 <= scene.width and cell.y + 1 <= scene.height for cell in scene.cells
    ) and all(
        abs(one.x - other.x) > 0.999 or abs(one.y - other.y) > 0.999 for one, other in combinations(scene.cells, 2)
    )


def cells_of(game: AnyGame) -> tuple[Cell, ...]:
    return game.scene(game.initial(next(iter(game.setups)))).cells


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
        "api/pages/templates/rules/tiny.html: rulings, and pictures of all kinds of pieces",
        "GAME.pieces: name, sentence and figure of stone",
        "GAME.position_format: the squares of the board in rows, and how they are written",
        "GAME.difficulty, GAME.duration: a sentence each",
        "tests/bench/rules.py: a target", "README.md: a row",
    ]  # fmt: skip


def test_a_piece_that_no_start_position_has_must_be_declared() -> None:
    without_kings = variant(GAMES["bashni"], further_pieces=())
    assert missing(without_kings) == ["GAME.further_pieces: positions with black king, white king"]


def test_a_sentence_about_a_piece_must_name_it_and_lead_to_a_figure() -> None:
    bashni = GAMES["bashni"]
    guides = {"man": bashni.pieces["man"]._replace(figure="none"), "king": bashni.pieces["king"]._replace(name="Queen")}
    assert missing(variant(bashni, pieces=guides)) == ["GAME.pieces: name, sentence and figure of king, man"]


def test_every_frozen_piece_is_said_to_stand_still() -> None:
    for game in GAMES.values():
        freezes = game.id == "fourplay"
        assert ("frozen" in game.pieces) == freezes
        assert not freezes or "never moves" in game.pieces["frozen"].moves


def test_pieces_that_are_drawn_alike_are_noticed() -> None:
    def scene(position: Any) -> Scene:
        drawn = GAMES["bashni"].scene(position)
        men = {name: tuple(piece._replace(kind="man") for piece in pieces) for name, pieces in drawn.columns.items()}
        return drawn._replace(columns=men)

    titles = "black king, black man, white king, white man"
    alike = f"events/pictures/figures.py: different drawings of {titles}"
    assert alike in missing(variant(GAMES["bashni"], scene=scene))
