"""What others see of a seat that is reserved for an invited player: for whom, and that they cannot take it."""

import re

from flask import Flask

from api.services import Services
from tests.support.callers import ME, OPEN, Caller, invited
from tests.support.projected import project

ANYONE = "Anyone with the link to this page can join"


def page(caller: Caller, path: str) -> str:
    """Return the text of a page without its markup."""
    answer = caller.client.get(path, headers={"Accept": "text/html"})
    assert answer.status_code == 200
    main = answer.text.split("<main", 1)[1].split("</main>", 1)[0]
    return " ".join(re.sub(r"<[^>]*>", " ", main).split())


def test_the_page_of_a_match_says_for_whom_seats_are_kept(app: Flask, anna: Caller, boris: Caller) -> None:
    match_id = anna.create(ME, invited("boris"))
    stranger, carla = Caller(app), Caller(app).sign_up("carla")
    for other in (stranger, carla):
        shown = page(other, f"/matches/{match_id}")
        assert "Waiting for boris to join. Black is reserved for boris." in shown
        assert ANYONE not in shown
        assert "Sign in to join" not in shown
        assert "Join as" not in shown
    assert "is reserved for" not in page(anna, f"/matches/{match_id}")
    assert "You are invited to play Black." in page(boris, f"/matches/{match_id}")


def test_free_and_kept_seats_are_told_apart(app: Flask, services: Services, anna: Caller, boris: Caller) -> None:
    match_id = anna.create(ME, invited("boris"), OPEN, OPEN, game="towers", setup="four-player")
    project(services)
    stranger, carla = Caller(app), Caller(app).sign_up("carla")
    shown = page(stranger, f"/matches/{match_id}")
    assert "Blue is reserved for boris." in shown
    assert ANYONE in shown
    assert "Sign in to join" in shown
    assert re.findall(r"Join as \w+", page(carla, f"/matches/{match_id}")) == ["Join as Red", "Join as Black"]
    assert "2 seats free, one reserved for boris" in page(carla, "/lobby")
