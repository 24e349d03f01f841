"""The form for a new match: filled in as last time, with the limits that are reached, unrated for newcomers."""

import re

import pytest
from flask import Flask

from api.services import Services
from tests.support.callers import ME, OPEN, Caller, opponent
from tests.support.projected import project

SELECTED = re.compile(r'<option value="([^"]+)" selected>')


def form_of(caller: Caller, query: str = "") -> str:
    return caller.client.get(f"/matches/new{query}").text


def seats_in(form: str) -> list[tuple[str, str]]:
    """Return who is selected to play each of the seats shown, and the level that the computer would have."""
    shown = next(part for part in form.split("<fieldset data-kind=")[1:] if " hidden disabled>" not in part[:60])
    selected = SELECTED.findall(shown.split("</fieldset>")[0])
    return list(zip(selected[::2], selected[1::2], strict=True))


def is_checked(form: str, control: str) -> bool:
    return re.search(rf'id="{control}"[^>]* checked', form) is not None


def test_the_form_comes_back_as_the_last_match_was_created(anna: Caller, services: Services) -> None:
    assert seats_in(form_of(anna)) == [("me", "3"), ("opponent", "1")]
    assert "As last time" not in form_of(anna)
    anna.create(ME, opponent(1))
    anna.create(
        opponent(2), ME, OPEN, opponent(5), game="towers", setup="four-player", private=True, rated=True,
        terms={"control": "days-per-move", "bank": 5 * 86_400, "takebacks": True},
    )  # fmt: skip
    project(services)
    form = form_of(anna)
    assert form.index("As last time") < form.index('value="bashni"')
    assert seats_in(form) == [("opponent", "2"), ("me", "3"), ("open", "3"), ("opponent", "5")]
    assert re.search(r'value="four-player" checked', form)
    assert is_checked(form, "private")
    assert re.search(r'name="preset" value="" checked', form)
    assert re.search(r'data-part="bank"[^>]* value="5"', form)
    assert re.search(r'data-part="takebacks" checked', form)


def test_what_the_address_asks_for_comes_before_the_last_match(anna: Caller, services: Services) -> None:
    anna.create(OPEN, ME, game="tower-game", setup="alternate")
    project(services)
    assert 'value="fourplay" checked' in form_of(anna, "?game=fourplay")
    assert 'value="alternate" checked' in form_of(anna, "?game=tower-game")
    assert seats_in(form_of(anna, "?game=tower-game"))[0] == ("open", "3")
    assert seats_in(form_of(anna, "?game=tower-game&level=1")) == [("me", "3"), ("opponent", "1")]


def test_matches_against_the_computer_are_rated_by_default_from_the_third_on(anna: Caller, services: Services) -> None:
    defaults = []
    for _ in range(4):
        project(services)
        defaults.append(is_checked(form_of(anna), "rated"))
        anna.create(ME, opponent(1), rated=defaults[-1])
    assert defaults == [False, False, True, True]
    assert is_checked(form_of(anna, "?invite=boris"), "rated")


def test_a_limit_that_is_reached_is_said_beside_the_button(app: Flask, services: Services) -> None:
    guest = Caller(app).play_as_guest()
    assert "data-limit" not in form_of(guest)
    for _ in range(5):
        guest.create(ME, opponent(1))
    project(services)
    limit = "You are playing 5 matches against the computer: end one before you begin another"
    assert re.search(rf'<p data-limit="any">{limit}', form_of(guest))
    assert re.search(rf'<p data-limit="any" hidden>{limit}', form_of(guest, "?invite=anna"))


@pytest.mark.parametrize("game", ["bashni", "tower-game"])
def test_the_picture_of_a_game_stays_in_the_cache(anna: Caller, game: str) -> None:
    picture = anna.client.get(f"/games/{game}/small.svg")
    assert (picture.status_code, picture.mimetype) == (200, "image/svg+xml")
    assert "max-age=86400" in picture.headers["Cache-Control"]
    assert anna.client.get("/games/chess/small.svg").status_code == 404
