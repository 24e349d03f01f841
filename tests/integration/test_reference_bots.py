"""The short bots of the documentation, as they stand there, play every game."""

import json
import runpy
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from flask import Flask

from api.services import Services
from domain.games import GAMES, find_ruleset
from domain.match.enums import Channel, Status
from events.notify.notice import NoticeKind
from events.notify.webhooks.signing import fresh_keys, signed_headers
from tests.support.callers import Caller, invited
from tests.support.looks import look_at_match
from tests.support.projected import project
from tests.support.receivers import LOOPBACK
from tests.support.served_app import served
from workers.composition import make_deliveries, make_observer, make_senders

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
NOW = 1_800_000_000_000


def test_four_polling_bots_play_every_game(app: Flask, services: Services, capsys: pytest.CaptureFixture[str]) -> None:
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
            project(services)
            attended.append(play_round(url, token))
    assert capsys.readouterr().out == "", "nothing that it does is refused"
    assert attended[:4] == [0, len(GAMES), 1, 1], "all accept their invitations"
    plies = {game: services.matches.load(match_id).state.play.plies for game, match_id in matches.items()}
    assert plies == {game: len(services.matches.load(matches[game]).state.seats) for game in GAMES}


V = {"version": 7}
FULL = {**V, "form": "full"}
TURN: Any = {"type": "match.turn", "data": {**FULL, "answers": ["move", "moves", "resign"], "legal_moves": ["c3-d4"]}}
PLAYED = (200, {"move": "c3-d4", "version": 7})
OFFER = {**FULL, "answers": ["accept", "decline"]}


@pytest.mark.parametrize(
    ("event", "late_s", "forged", "response"),
    [
        (TURN, 0, False, PLAYED),
        (TURN, 299, False, PLAYED),
        (TURN, 301, False, (401, {})),
        (TURN, 0, True, (401, {})),
        ({"type": "deadline.near", "data": TURN["data"]}, 0, False, PLAYED),
        ({"type": "match.turn", "data": {**TURN["data"], "legal_moves": []}}, 0, False, (200, {**V, "resign": True})),
        ({"type": "match.turn", "data": {"answers": ["move"], "form": "thin", **V}}, 0, False, (202, {})),
        ({"type": "challenge.received", "data": OFFER}, 0, False, (200, {**V, "accept": True})),
        ({"type": "match.offer", "data": OFFER}, 0, False, (200, {**V, "decline": True})),
        ({"type": "match.ended", "data": {**FULL, "answers": []}}, 0, False, (202, {})),
        ({"type": "test", "data": {"player": "p1"}}, 0, False, (202, {})),
    ],
    ids=[
        *("a turn", "a late one", "one from too long ago", "a forged one", "a deadline", "no move that is listed"),
        *("a thin payload", "an invitation", "an offer", "an end", "a test"),
    ],
)
def test_the_webhook_bot_wants_signed_turns(event: Any, late_s: int, forged: bool, response: tuple[int, Any]) -> None:
    respond = runpy.run_path(str(EXAMPLES / "webhook_bot.py"))["respond"]
    keys, former, body = fresh_keys(), fresh_keys(), json.dumps(event).encode()
    headers = signed_headers([keys, former], "n1", NOW, body)
    for secret in (keys.secret, former.secret):
        assert respond(headers, body + b" " * forged, secret, NOW / 1000 + late_s) == response


def test_the_webhook_bot_plays_every_game(app: Flask, services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    services.settings = services.settings._replace(egress_allowed=LOOPBACK)
    observer, deliveries = make_observer(services), make_deliveries(services, make_senders(services))
    bot, *people = (Caller(app).sign_up(name) for name in ("Mr-Tower", "anna", "boris", "clara"))
    names = [invited(bot.name), {"kind": "me"}, *(invited(person.name) for person in people[1:])]
    matches = {}
    for game in GAMES.values():
        setup = next(iter(game.setups.values()))
        seats = names[: len(setup.seat_names)]
        matches[game.id] = people[0].create(*seats, game=game.id, setup=setup.name)
        for person in people[1 : len(seats) - 1]:
            assert person.post(f"/matches/{matches[game.id]}/joins").status_code == 201
    with webhook_bot(monkeypatch) as url:
        made = bot.post("/me/webhooks", {"url": url, "kinds": [str(kind) for kind in NoticeKind], "payload": "full"})
        monkeypatch.setenv("WEBHOOK_SECRET", made.json["secret"])
        for _ in ("accept", "play", "play"):
            for match_id in matches.values():
                for person in people:
                    state = services.matches.load(match_id).state
                    to_move = find_ruleset(state.game, state.ruleset).to_move(state.play.position)
                    if state.status == Status.PLAYING and state.seats[to_move].player == person.id:
                        assert person.move(match_id).status_code == 201
                look_at_match(observer, match_id, set(range(1, services.matches.load(match_id).state.version + 1)))
            deliveries.deliver_due()
    for match_id in matches.values():
        play = services.matches.load(match_id).state.play
        assert play.channels.count(Channel.WEBHOOK) >= 2, services.ledger.page(bot.id)


@contextmanager
def webhook_bot(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Run the bot while the block lasts; yield its address."""
    handler = runpy.run_path(str(EXAMPLES / "webhook_bot.py"))["Handler"]
    monkeypatch.setattr(handler, "log_message", lambda *_: None)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()
