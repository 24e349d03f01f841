"""The lobby and the pages of games: what each viewer is offered, and what programs may collect."""

import re
from urllib.robotparser import RobotFileParser

from flask import Flask
from markupsafe import escape

from api.services import Services
from domain.games import GAMES
from tests.support.callers import ME, OPEN, Caller, started
from tests.support.projected import project


def offers_in(caller: Caller) -> list[str]:
    """Return the words of the buttons and links beside the open matches, newest first."""
    page = caller.client.get("/lobby").text.split("Recent matches")[0]
    offers = page.split('<span class="offer">')[1:]
    return [
        re.sub("<[^>]*>|\\s+", " ", offer.split("</span></li>")[0].split("</li>")[0]).split()[-1] for offer in offers
    ]


def test_each_viewer_is_offered_the_seats_that_can_be_taken(
    app: Flask, services: Services, anna: Caller, boris: Caller
) -> None:
    anna.create(ME, OPEN, rated=True)
    anna.create(OPEN, ME)
    anna.create(ME, OPEN, OPEN, OPEN, game="towers", setup="four-player")
    project(services)
    guest = Caller(app).play_as_guest()
    assert offers_in(boris) == ["Join", "Join", "Join"]
    assert offers_in(anna) == ["match", "match", "match"]
    assert offers_in(guest) == ["Join", "Join", "up"]
    assert offers_in(Caller(app)) == ["Join", "Join", "Join"]


def test_the_page_of_every_game_says_first_how_to_win(anna: Caller) -> None:
    for game in GAMES.values():
        first = re.search(r"<h1>.*?<dt>(.*?)</dt><dd>(.*?)</dd>", anna.client.get(f"/games/{game.id}").text, re.DOTALL)
        assert first is not None
        assert first.groups() == ("To win", escape(game.goal))


def test_the_rating_of_who_waits_stands_in_the_lobby(services: Services, anna: Caller, boris: Caller) -> None:
    finished = started(anna, boris, rated=True)
    assert (anna.move(finished).status_code, boris.move(finished).status_code) == (201, 201)
    boris.post(f"/matches/{finished}/resignation")
    assert services.ratings.rate(finished)
    anna.create(ME, OPEN)
    project(services)
    assert re.search(r"anna 1\d\d\d\?", boris.client.get("/lobby").text)


def test_search_engines_are_led_to_the_games_and_not_to_matches(anna: Caller) -> None:
    answer = anna.client.get("/robots.txt")
    assert answer.mimetype == "text/plain"
    robots = RobotFileParser()
    robots.parse(answer.text.splitlines())
    assert all(robots.can_fetch("*", path) for path in ("/", "/games/bashni", "/games/bashni/rules", "/help"))
    assert not any(robots.can_fetch("*", path) for path in ("/matches/m1", "/players/anna", "/api/v1/games"))


def test_the_icon_is_where_programs_look_for_it(anna: Caller) -> None:
    icon = anna.client.get("/favicon.ico")
    assert (icon.status_code, icon.mimetype, icon.data[:4]) == (200, "image/x-icon", b"\0\0\1\0")
