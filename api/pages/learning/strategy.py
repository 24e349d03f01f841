"""Strategy by game: claims with a figure each, kept as TOML, and findings of ``python -m tests.tuning.practice``."""

import json
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from api.pages.learning.lessons import figure_from
from api.pages.learning.playable import PlayableFigure
from api.pages.rules.drawing import Drawn, Figure, draw_figure
from domain.games import GAMES
from events.pictures.symbols import Symbols

FOLDER = Path(__file__).parent / "strategy"


class StrategyClaim(NamedTuple):
    """A claim about good play: its title, the words about it, the numbers from games, and its figure.

    The first move of the figure is at least ``by`` hundredths of the smallest piece better than each of ``worse``, and
    with ``wins`` it wins by force: the tests ask the search.
    """

    id: str
    title: str
    text: str
    measured: str
    figure: PlayableFigure
    worse: tuple[str, ...] = ()
    by: int = 0
    wins: bool = False


class Practice(NamedTuple):
    """The games of a level against itself that findings come from: their number, nodes a move, date; and findings."""

    games: int
    setup: str
    level: int
    nodes: int
    date: str
    findings: Mapping[str, str]


@lru_cache(maxsize=16)
def practice_of(game_id: str) -> Practice | None:
    """Return the games that were played for the strategy of a game; None without any."""
    noted = json.loads((FOLDER / "findings.json").read_text())
    return Practice(**noted[game_id]) if game_id in noted else None


@lru_cache(maxsize=16)
def claims_of(game_id: str) -> tuple[StrategyClaim, ...]:
    """Return the claims about a game in order, none without a strategy page.

    Raises KeyError for a finding that has not been noted.
    """
    path = FOLDER / f"{game_id}.toml"
    if game_id not in GAMES or not path.is_file():
        return ()
    practice = practice_of(game_id)
    findings = practice.findings if practice else {}
    return tuple(_claim(game_id, findings, **entry) for entry in tomllib.loads(path.read_text())["claim"])


def _claim(game_id: str, findings: Mapping[str, str], *, id: str, title: str, text: str, **rest: Any) -> StrategyClaim:
    measured = rest.pop("measured", "").format_map(findings)
    worse, by, wins = tuple(rest.pop("worse", "").split()), rest.pop("by", 0), rest.pop("wins", False)
    return StrategyClaim(id, title, text, measured, figure_from(game_id, **rest), worse, by, wins)


def drawn_claims(game_id: str) -> tuple[tuple[tuple[StrategyClaim, Drawn], ...], Symbols]:
    """Return the claims about a game, each with its figure drawn, and the pieces that the drawings use."""
    symbols = Symbols()
    claims = claims_of(game_id)
    return tuple((claim, _drawn(claim, number, symbols)) for number, claim in enumerate(claims, 1)), symbols


def _drawn(claim: StrategyClaim, number: int, symbols: Symbols) -> Drawn:
    playable = claim.figure
    moves = (move for step in playable.steps if len(step.accepted) == 1 for move in (step.accepted[0], step.reply))
    caption = playable.steps[-1].done if playable.steps else playable.text
    forbidden = " ".join(step.refused for step in playable.steps if step.refused)
    figure = Figure(
        claim.id,
        playable.position,
        caption,
        moves=" ".join(filter(None, moves)),
        illegal=forbidden,
        ruleset=playable.ruleset,
    )
    return draw_figure(playable.game, figure, number, symbols)
