"""The short bots of the documentation, as they stand there, play every game."""

import json
import runpy
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from api.services import Services
from domain.games import GAMES
from events.webhooks.signing import fresh_keys, signed_headers
from tests.support.callers import Caller, invited
from tests.support.served_app import served

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
NOW = 1_800_000_000_000


def test_four_polling_bots_invite_each_other_and_play_every_game(
    app: Flask, services: Services, capsys: pytest.CaptureFixture[str]
) -> None:
    play_round = runpy.run_path(str(EXAMPLES / "polling_bot.py"))["play_round"]
    bots = [Caller(app).sign_up(f"Bot-{name}") for name in ("one", "two", "three", "four")]
    tokens = [bot.token().removeprefix("Bearer ") for bot in bots]
    matches = {}
    for game in GAMES.values():
        setup = next(iter(game.setups.values()))
        seats = [{"kind": "me"}, *(invited(bot.name) for bot in bots[1 : len(setup.seat_names)])]
        matches[game.id] = bots[0].create(*seats, game=game.id, setup=setup.name)
    with served(app) as url:
        attended = []
        for token in (*tokens, *tokens):
            services.projector.project(list(matches.values()))
            attended.append(play_round(url, token))
    assert capsys.readouterr().out == "", "nothing that it does is refused"
    assert attended[:4] == [0, len(GAMES), 1, 1], "all accept their invitations"
    plies = {game: services.matches.load(match_id).state.play.plies for game, match_id in matches.items()}
    assert plies == {game: len(services.matches.load(matches[game]).state.seats) for game in GAMES}


TURN = {"type": "match.turn", "data": {"version": 7, "legal_moves": ["c3-d4"]}}


@pytest.mark.parametrize(
    ("event", "late_s", "forged", "response"),
    [
        (TURN, 0, False, (200, {"move": "c3-d4", "version": 7})),
        (TURN, 299, False, (200, {"move": "c3-d4", "version": 7})),
        (TURN, 301, False, (401, None)),
        (TURN, 0, True, (401, None)),
        ({"type": "match.ended", "data": {}}, 0, False, (204, None)),
        ({"type": "match.turn", "data": {"version": 7}}, 0, False, (204, None)),
    ],
    ids=["a turn", "a late one", "one from too long ago", "a forged one", "another event", "a thin payload"],
)
def test_the_webhook_bot_answers_turns_that_are_signed_and_recent(
    event: dict[str, Any], late_s: int, forged: bool, response: tuple[int, Any]
) -> None:
    respond = runpy.run_path(str(EXAMPLES / "webhook_bot.py"))["respond"]
    keys, former, body = fresh_keys(), fresh_keys(), json.dumps(event).encode()
    headers = signed_headers([keys, former], "n1", NOW, body)
    for secret in (keys.secret, former.secret):
        assert respond(headers, body + b" " * forged, secret, NOW / 1000 + late_s) == response
