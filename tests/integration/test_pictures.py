"""Pictures of matches that are opened by themselves, in lists and by those who show links."""

import re
from html import unescape

import pytest

from api.services import Services
from domain.games import GAMES
from events.pictures.standalone import PNG_HEIGHT, PNG_WIDTH
from tests.e2e.png import size_of
from tests.support.callers import ME, OPEN, Caller, invited, started
from tests.support.projected import project

PICTURES = ("board.svg", "small.svg", "board.png")


def page(caller: Caller, path: str) -> str:
    answer = caller.client.get(path, headers={"Accept": "text/html"})
    assert answer.status_code == 200, answer.text
    return answer.text


def shared(text: str) -> dict[str, str]:
    """Return what a page says of itself to those who show links."""
    named = re.findall(r'<meta (?:property|name)="((?:og|twitter):[a-z_:]+)" content="([^"]*)">', text)
    return {name: unescape(content) for name, content in named}


def small_boards(text: str) -> list[tuple[str, str]]:
    """Return address and text of the small boards of a list, all of which are loaded when they come into view."""
    images = re.findall(r"<img [^>]*>", text)
    assert all(' width="96" height="96" loading="lazy"' in image for image in images)
    return [
        (unescape(address), alt)
        for image in images
        for address, alt in re.findall(r'src="([^"]+)" alt="([^"]+)"', image)
    ]


def test_pictures_of_private_matches_are_for_players(anna: Caller, boris: Caller, stranger: Caller) -> None:
    public, private = started(anna, boris), started(anna, boris, private=True)
    for picture in PICTURES:
        seen = stranger.client.get(f"/matches/{public}/{picture}")
        assert (seen.status_code, seen.headers.get("Set-Cookie")) == (200, None)
        assert seen.headers["Cache-Control"] == "public, no-cache"
        own = anna.client.get(f"/matches/{private}/{picture}")
        assert (own.status_code, own.headers["Cache-Control"]) == (200, "private, no-cache")
        refused = stranger.client.get(f"/matches/{private}/{picture}")
        assert (refused.status_code, refused.json["code"]) == (404, "no-such-match")
        hidden = stranger.client.get(f"/matches/{private}/{picture}", headers={"If-None-Match": own.headers["ETag"]})
        assert hidden.status_code == 404


@pytest.mark.parametrize("picture", PICTURES)
def test_a_known_picture_is_not_sent_again(anna: Caller, boris: Caller, stranger: Caller, picture: str) -> None:
    address = f"/matches/{started(anna, boris)}/{picture}"
    first = stranger.client.get(address)
    known = {"If-None-Match": first.headers["ETag"]}
    again = stranger.client.get(address, headers=known)
    assert (again.status_code, again.data) == (304, b"")
    assert anna.move(address.split("/")[2]).status_code == 201
    after = stranger.client.get(address, headers=known)
    assert after.status_code == 200
    assert after.data != first.data


def test_a_picture_is_kept_for_ever_under_its_version_only(anna: Caller, boris: Caller, stranger: Caller) -> None:
    match_id = started(anna, boris)
    anna.move(match_id, "c3-d4")
    picture = shared(page(stranger, f"/matches/{match_id}"))["og:image"].removeprefix("http://127.0.0.1:8000")
    before = stranger.client.get(picture)
    assert before.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert anna.post(f"/matches/{match_id}/takeback-requests").status_code == 201
    assert boris.post(f"/matches/{match_id}/takeback-acceptance").status_code == 201
    anna.move(match_id, "e3-f4")
    after = stranger.client.get(picture)
    assert after.headers["Cache-Control"] == "public, no-cache"
    assert after.data != before.data


def test_a_picture_by_itself_may_use_its_own_style_alone(anna: Caller, boris: Caller, stranger: Caller) -> None:
    match_id = started(anna, boris)
    alone = stranger.client.get(f"/matches/{match_id}/board.svg?ply=0")
    policies = alone.headers.getlist("Content-Security-Policy")
    assert len(policies) == 1
    assert re.fullmatch(
        r"default-src 'none'; style-src 'sha256-[A-Za-z0-9+/=]{44}'; frame-ancestors 'none'; sandbox", policies[0]
    )
    assert "<style>" in alone.text
    assert "<title>Bashni, at the start</title>" in alone.text
    assert 'class="square"' not in alone.text
    inline = stranger.client.get(f"/matches/{match_id}/board.svg?ply=0&inline=1")
    assert "<style>" not in inline.text
    assert inline.text.count('class="square"') == 64
    tried = stranger.client.get(f"/matches/{match_id}/board.svg?try=c3-d4")
    assert tried.headers["Rookery-Move"] == "c3-d4"
    assert "<style>" in tried.text


@pytest.mark.parametrize("game", GAMES)
def test_the_pictures_of_links_are_pngs_of_the_size_announced(anna: Caller, stranger: Caller, game: str) -> None:
    setup = next(iter(GAMES[game].setups))
    match_id = anna.create(ME, *[OPEN] * (len(GAMES[game].setups[setup].seat_names) - 1), game=game, setup=setup)
    for path in (f"/matches/{match_id}", f"/games/{game}"):
        said = shared(page(stranger, path))
        assert said["og:url"] == f"http://127.0.0.1:8000{path}"
        assert (said["og:image:width"], said["og:image:height"]) == (str(PNG_WIDTH), str(PNG_HEIGHT))
        picture = stranger.client.get(said["og:image"].removeprefix("http://127.0.0.1:8000"))
        assert picture.content_type == "image/png"
        assert size_of(picture.data) == (PNG_WIDTH, PNG_HEIGHT)
        assert picture.headers["Cache-Control"].startswith("public, max-age=")


def test_public_pages_say_what_they_are_and_private_ones_not(anna: Caller, boris: Caller, stranger: Caller) -> None:
    public, private = started(anna, boris), started(anna, boris, private=True)
    anna.move(public, "c3-d4")
    said = shared(page(stranger, f"/matches/{public}"))
    assert said["og:title"] == "Bashni: anna – boris"
    assert said["og:description"] == "After 1 move, Black to move."
    assert said["og:image:alt"] == "Bashni, after 1 move"
    assert said["twitter:card"] == "summary_large_image"
    past = shared(page(stranger, f"/matches/{public}?ply=0"))
    assert past["og:url"].endswith(f"/matches/{public}?ply=0")
    assert past["og:image:alt"] == "Bashni, at the start"
    boris.post(f"/matches/{public}/resignation")
    assert shared(page(stranger, f"/matches/{public}"))["og:description"] == "White has won, after 1 move."
    home = shared(page(stranger, "/"))
    assert home["og:title"].startswith("Rookery")
    assert home["og:image"].endswith("/games/bashni/board.png")
    assert shared(page(anna, f"/matches/{private}")) == {}
    for path in ("/lobby", "/players/anna", "/matches"):
        assert shared(page(anna, path)) == {}, path


def test_lists_show_each_match_by_its_board_and_its_last_move_and_load_none(
    anna: Caller, boris: Caller, stranger: Caller, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, other = started(anna, boris), anna.create(invited("boris"), ME, game="tower-game", setup="original")
    boris.post(f"/matches/{other}/joins")
    anna.move(mine, "c3-d4")
    boris.move(other)
    spelled = boris.get(f"/matches/{other}").json["spelled"][0]
    waiting = boris.create(ME, OPEN, game="towers", setup="two-player")
    project(services)

    def loaded(match_id: str) -> None:
        raise AssertionError(f"{match_id} was loaded for a list")

    with monkeypatch.context() as patched:
        patched.setattr(services.matches, "load", loaded)
        for path in ("/matches", "/players/anna"):
            text = page(anna, path)
            boards = dict(small_boards(text))
            addresses = {address.split("/")[2]: address for address in boards}
            assert addresses.keys() == {mine, other}
            assert "turned" not in addresses[mine], "White sits below"
            assert "turned=1" in addresses[other], "Black is turned to the bottom"
            assert set(boards.values()) == {"The board after 1 move"}
            assert 'the last <span class="last-move">c3-d4</span>' in text
            assert f'the last <span class="last-move">{spelled}</span>' in text
        lobby = small_boards(page(stranger, "/lobby"))
    assert [address.split("/")[2] for address, _ in lobby] == [waiting, other, mine]
    assert lobby[0][1] == "The board at the start"
    for address in (*boards, *(address for address, _ in lobby)):
        picture = stranger.client.get(address)
        assert (picture.status_code, picture.content_type) == (200, "image/svg+xml")
        assert picture.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert 'class="label"' not in picture.text


def test_a_match_whose_ruleset_is_not_installed_is_listed_without_a_board(
    anna: Caller, boris: Caller, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    match_id = started(anna, boris)
    project(services)
    monkeypatch.setitem(GAMES.rulesets, "bashni", GAMES.rulesets["bashni"][1:])
    text = page(anna, "/matches")
    assert f"/matches/{match_id}" in text
    assert small_boards(text) == []
