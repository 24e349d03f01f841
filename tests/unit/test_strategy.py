"""The strategy pages: their claims are complete, and the search agrees with those about moves."""

import re
from importlib import import_module

import pytest
from flask import Flask

from api.pages.learning.strategy import StrategyClaim, claims_of, practice_of
from domain.games import GAMES
from domain.search import analyse
from domain.search.values import is_won
from tests.unit.test_playable_figures import app

__all__ = ["app"]

MIN_CLAIMS = 10
MIN_GAMES = 20
NODES = 3_000
"""Positions that the search looks at for a claim; the page says so."""

CLAIMS = [(game_id, claim) for game_id in GAMES for claim in claims_of(game_id)]
ABOUT_MOVES = [
    pytest.param(claim, id=f"{game_id}/{claim.id}") for game_id, claim in CLAIMS if claim.worse or claim.wins
]


@pytest.mark.parametrize("game_id", GAMES)
def test_the_strategy_of_a_game_has_enough_claims_and_numbers_from_games(game_id: str) -> None:
    claims, practice = claims_of(game_id), practice_of(game_id)
    assert len(claims) >= MIN_CLAIMS
    assert len({claim.id for claim in claims}) == len(claims)
    assert practice is not None
    assert practice.games >= MIN_GAMES
    assert practice.setup in GAMES[game_id].setups
    measured = [claim.measured for claim in claims if claim.measured]
    assert len(measured) >= 3
    assert all(re.search(r"\d", text) for text in measured)
    assert sum(bool(claim.worse or claim.wins) for claim in claims) >= 4


@pytest.mark.parametrize("claim", ABOUT_MOVES)
def test_the_search_agrees_with_a_claim_about_a_move(claim: StrategyClaim) -> None:
    game = claim.figure.game
    position = game.parse_position(claim.figure.position)
    first = next(step.accepted[0] for step in claim.figure.steps if step.accepted)
    moves = [game.parse_move(position, text) for text in (first, *claim.worse)]
    analysis = analyse(game, position, (), NODES, moves)
    value, *others = (judged.value for judged in analysis.moves)
    assert all(value - other >= claim.by for other in others), (value, others)
    assert bool(claim.worse) == bool(claim.by)
    if claim.wins:
        assert is_won(value)


@pytest.mark.parametrize("game_id", GAMES)
def test_the_page_shows_every_claim_and_its_figure_can_be_played(game_id: str, app: Flask) -> None:
    client = app.test_client()
    page = client.get(f"/games/{game_id}/strategy").text
    for claim in claims_of(game_id):
        assert f'id="{claim.id}"' in page
        address = f"/games/{game_id}/strategy/{claim.id}"
        assert (f'data-try="{address}"' in page) == bool(claim.figure.steps)
        assert client.get(address).get_json()["steps"] is not None
    for place in ("first-steps", "rules"):
        assert f'href="/games/{game_id}/strategy"' in client.get(f"/games/{game_id}/{place}").text


@pytest.mark.parametrize(
    ("package", "claim_id", "names"),
    [
        ("tower_game", "values", "ROOK BISHOP KNIGHT CAPTAIN JESTER FOOL MERCHANT"),
        ("fourplay", "prices", "QUEEN ARCHER ROOK MUTATOR BISHOP GIRAFFE"),
        ("four_towers", "promote", "WIZARD MARSHALL CARDINAL ROOK DRAGON KNIGHT LANCER"),
    ],
)
def test_what_the_computer_counts_for_a_piece_is_what_the_page_says(package: str, claim_id: str, names: str) -> None:
    weights = import_module(f"domain.{package}.weights")
    text = next(claim.text for claim in claims_of(package.replace("_", "-")) if claim.id == claim_id)
    for name in names.split():
        assert f"{name.lower()} {getattr(weights, name) / 100:g}" in text.lower()


def test_an_unknown_claim_or_game_has_no_strategy(app: Flask) -> None:
    for path in ("bashni/strategy/x", "x/strategy", "x/strategy/x"):
        assert app.test_client().get(f"/games/{path}").status_code == 404
