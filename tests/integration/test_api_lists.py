"""What lists say: matches by view, what awaits somebody, ratings, leaderboards; page by page, also behind the store."""

from typing import Any

import pytest

from api.operations import lists
from api.services import Services
from events.matches.matches import Loaded
from tests.support.callers import ME, OPEN, Caller, invited, started
from tests.support.projected import project


def all_pages(caller: Caller, path: str, limit: int) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    cursor = ""
    while True:
        page = caller.get(f"{path}limit={limit}{cursor}")
        assert page.status_code == 200, page.text
        assert len(page.json["items"]) <= limit
        items += page.json["items"]
        if page.json["next"] is None:
            return items
        cursor = f"&cursor={page.json['next']}"


def test_what_awaits_somebody_is_moves_first_then_by_age(anna: Caller, boris: Caller, services: Services) -> None:
    invitation = boris.create(invited("anna"), ME)
    first = started(anna, boris)
    offer = started(boris, anna)
    second = started(anna, boris)
    waiting = started(boris, anna)
    assert boris.post(f"/matches/{offer}/draw-offers").status_code == 201
    project(services)
    for limit in (1, 2, 3, 50):
        items = all_pages(anna, "/me/pending?", limit)
        assert [(item["owed"], item["match"]["id"]) for item in items] == [
            ("move", first),
            ("move", second),
            ("invitation", invitation),
            ("draw-answer", offer),
        ]
    assert waiting in [item["match"]["id"] for item in all_pages(boris, "/me/pending?", 1)]


def test_the_queue_begins_with_the_first_deadline_of_all(anna: Caller, boris: Caller, services: Services) -> None:
    days = {name: {"control": "days-per-move", "bank": days * 86_400} for name, days in (("5", 5), ("3", 3), ("4", 4))}
    later, sooner = (started(anna, boris, terms=days[name]) for name in "53")
    invitation = boris.create(invited("anna"), ME)
    asked = started(boris, anna, terms=days["4"])
    boris.move(asked, "c3-d4")
    anna.move(asked)
    assert anna.post(f"/matches/{asked}/takeback-requests").status_code == 201
    project(services)
    for limit in (1, 50):
        items = all_pages(anna, "/me/queue?", limit)
        assert [(item["owed"], item["match"]["id"]) for item in items] == [
            ("move", sooner),
            ("move", later),
            ("invitation", invitation),
        ]
    deadlines = [item["match"]["deadline"] for item in items]
    assert deadlines == sorted(deadlines)
    assert [(item["owed"], item["match"]["id"]) for item in all_pages(boris, "/me/queue?", 1)] == [("move", asked)]
    boris.post(f"/matches/{asked}/takeback-refusal")
    for player in (boris, anna):
        player.move(asked)
    assert boris.post(f"/matches/{asked}/takeback-requests").status_code == 201
    anna.move(later)
    assert boris.post(f"/matches/{later}/draw-offers").status_code == 201
    project(services)
    owed = {item["match"]["id"]: item["owed"] for item in all_pages(anna, "/me/queue?", 50)}
    assert (owed[asked], owed[later]) == ("takeback-answer", "draw-answer")


@pytest.mark.parametrize("cursor", ["nonsense", "moves:nonsense", "rest:nonsense", ":"])
def test_a_cursor_of_nobody_is_refused(anna: Caller, cursor: str) -> None:
    for path in ("/me/pending", "/me/queue", "/me/notices", "/bots"):
        refused = anna.get(f"{path}?cursor={cursor}")
        assert (refused.status_code, list(refused.json["errors"])) == (422, ["cursor"]), path


def test_open_matches_are_listed_until_they_are_joined(anna: Caller, boris: Caller, services: Services) -> None:
    match_id = anna.create(ME, OPEN)
    hidden = anna.create(ME, OPEN, private=True)
    project(services)
    assert [item["id"] for item in all_pages(boris, "/matches?view=open&", 1)] == [match_id]
    assert boris.post(f"/matches/{match_id}/joins").status_code == 201
    project(services)
    assert all_pages(boris, "/matches?view=open&", 1) == []
    assert hidden not in [item["id"] for item in all_pages(boris, "/matches?", 50)]


def test_the_lobby_names_rulesets_where_several_are(anna: Caller, stranger: Caller, services: Services) -> None:
    anna.create(ME, OPEN)
    anna.create(ME, OPEN, ruleset=2)
    anna.create(ME, OPEN, game="towers", setup="two-player")
    project(services)
    lobby = stranger.client.get("/lobby").text
    assert [lobby.count(f"Bashni, ruleset {ruleset}") for ruleset in (1, 2)] == [1, 1]
    assert "Towers, ruleset" not in lobby


def test_finished_matches_are_found_by_game_and_result(anna: Caller, boris: Caller, services: Services) -> None:
    won, lost = started(anna, boris), started(anna, boris)
    boris.post(f"/matches/{won}/resignation")
    anna.post(f"/matches/{lost}/resignation")
    project(services)

    def found(page: str, query: str) -> set[str]:
        text = anna.client.get(f"{page}?view=finished&{query}").text
        return {match for match in (won, lost) if match in text}

    assert found("/matches", "") == {won, lost}
    assert found("/matches", "result=won") == {won}
    assert found("/players/boris", "result=won") == {lost}
    assert found("/matches", "result=lost&against=Boris&game=bashni") == {lost}
    assert found("/matches", "game=towers") == found("/matches", "against=opponent-3") == set()
    assert "There is no player of this name." in anna.client.get("/matches?view=finished&against=nobody").text


def test_a_listed_match_says_what_the_match_itself_says(anna: Caller, boris: Caller, services: Services) -> None:
    match_id = started(anna, boris)
    anna.move(match_id)
    project(services)
    (listed,) = all_pages(boris, "/matches?game=bashni&player=anna&", 50)
    shown = boris.get(f"/matches/{match_id}").json
    assert listed == {name: shown[name] for name in listed}


def test_only_players_list_private_matches(anna: Caller, boris: Caller, stranger: Caller, services: Services) -> None:
    public, private = started(anna, boris), started(anna, boris, private=True)
    project(services)
    for insider in (anna, boris):
        assert {item["id"] for item in all_pages(insider, "/me/matches?view=active&", 1)} == {public, private}
    for visitor in (stranger, boris):
        for view in ("recent", "active"):
            listed = all_pages(visitor, f"/players/anna/matches?view={view}&", 1)
            assert [item["id"] for item in listed] == [public]


def test_ratings_follow_a_rated_match(anna: Caller, boris: Caller, stranger: Caller, services: Services) -> None:
    match_id = started(anna, boris, rated=True)
    for player in (anna, boris, anna, boris):
        assert player.move(match_id).status_code == 201
    assert anna.post(f"/matches/{match_id}/resignation").status_code == 201
    project(services)
    assert services.ratings.rate(match_id)
    (mine,) = stranger.get("/players/anna/ratings").json["items"]
    assert stranger.get("/players/anna").json["ratings"] == [mine]
    assert (mine["pool"], mine["matches"], mine["provisional"]) == ("bashni-2", 1, True)
    (change,) = stranger.get("/players/boris/ratings/bashni-2/history").json["items"]
    assert change["match"] == match_id
    assert change["after"] > change["before"]
    assert stranger.get("/players/boris/head-to-head/anna").json["items"] == [
        {"pool": "bashni-2", "wins": 1, "draws": 0, "losses": 0}
    ]
    assert stranger.get("/leaderboards").json["items"] == ["bashni-2"]
    assert all_pages(stranger, "/leaderboards/bashni-2?", 1) == [], "after one match no rating is certain"
    assert stranger.get("/leaderboards/chess-2").status_code == 404


def test_ratings_are_explained_by_results(anna: Caller, boris: Caller, stranger: Caller, services: Services) -> None:
    counted, short, unrated = (started(anna, boris, rated=rated) for rated in (True, True, False))
    for player in (anna, boris):
        assert player.move(counted).status_code == 201
    for match_id in (counted, short, unrated):
        assert anna.post(f"/matches/{match_id}/resignation").status_code == 201
    project(services)
    assert [services.ratings.rate(match_id) for match_id in (counted, short, unrated)] == [True, False, False]
    answer = stranger.get("/players/boris/ratings/bashni-2/matches").json
    (entry,) = answer["items"]
    (against,) = entry["results"]
    assert (answer["next"], entry["match"], entry["rested"]) == (None, counted, None)
    assert (against["player"]["name"], against["score"], against["expected"], entry["weight"]) == ("anna", 1, 0.5, 1)
    (shown,) = stranger.get("/players/boris/ratings").json["items"]
    assert (entry["after"]["rating"], entry["before"]["rating"]) == (shown["rating"], 1500)
    assert shown["low"] < 1500 < shown["rating"] < shown["high"]
    reasons = stranger.get("/players/boris/ratings/bashni-2/unrated-matches").json["items"]
    assert {each["match"]: each["reason"] for each in reasons} == {short: "too-short", unrated: "agreed"}
    page = stranger.client.get("/players/boris/ratings/bashni-2").text
    for words in (
        "Provisional: ",
        ", after 1 match",
        "1500" not in page and "810–2190",
        "agreed to be unrated",
        "every seat",
    ):
        assert words
        assert words in page
    assert "± " not in page  # an interval has no other margin
    for view in ("/players/boris", f"/matches/{counted}"):
        assert f"{shown['rating']:.0f}?" in stranger.client.get(view).text, view
    assert stranger.get("/players/boris/ratings/bashni-2/matches?cursor=x").status_code == 422
    for unknown in ("chess-2", "bashni-0", "bashni", "bashni-9" + "9" * 5000):
        found = stranger.get(f"/players/boris/ratings/{unknown}/matches")
        assert (found.status_code, found.json["items"]) == (200, [])
    assert stranger.client.get("/players/boris/ratings/chess-2").status_code == 404


def test_a_small_club_lists_uncertain_ratings_after_three_matches(
    anna: Caller, boris: Caller, stranger: Caller, services: Services
) -> None:
    def play_rated() -> str:
        match_id = started(anna, boris, rated=True)
        assert [each.move(match_id).status_code for each in (anna, boris)] == [201, 201]
        assert anna.post(f"/matches/{match_id}/resignation").status_code == 201
        project(services)
        assert services.ratings.rate(match_id)
        return stranger.client.get("/leaderboards?pool=bashni-2").text

    for _ in range(2):
        assert "Nobody has three rated matches yet." in play_rated()
    listed = play_rated()
    ratings = {each: stranger.get(f"/players/{each}/ratings").json["items"][0]["rating"] for each in ("anna", "boris")}
    marked = [f">{ratings[each]:.0f}?</a>" for each in ("boris", "anna")]
    assert 0 < listed.index(marked[0]) < listed.index(marked[1])


def test_private_matches_leave_no_trail(anna: Caller, boris: Caller, stranger: Caller, services: Services) -> None:
    match_id = started(anna, boris, rated=True, private=True)
    for player in (anna, boris, anna, boris):
        assert player.move(match_id).status_code == 201
    assert anna.post(f"/matches/{match_id}/resignation").status_code == 201
    project(services)
    services.ratings.rate(match_id)
    history, score = "/players/boris/ratings/bashni-2/history", "/players/boris/head-to-head/anna"
    won = [{"pool": "bashni-2", "wins": 1, "draws": 0, "losses": 0}]
    for visitor, told, counted in ((anna, match_id, won), (boris, match_id, won), (stranger, None, [])):
        assert [change["match"] for change in visitor.get(history).json["items"]] == [told]
        assert visitor.get(score).json["items"] == counted
        (entry,) = visitor.get("/players/boris/ratings/bashni-2/matches").json["items"]
        assert (entry["match"], len(entry["results"])) == (told, 0 if told is None else 1)
        for page in ("/players/boris", "/players/boris/ratings/bashni-2"):
            assert (match_id in visitor.client.get(page).text) == (told is not None)


def listed(caller: Caller, path: str, **page: Any) -> list[str]:
    """Return the ids of the matches on a page of ``path``."""
    query = "&".join(f"{name}={value}" for name, value in page.items())
    return [item["match"]["id"] for item in caller.get(f"{path}?{query}").json["items"]]


def test_an_acknowledged_move_awaits_its_maker_no_more(anna: Caller, boris: Caller, services: Services) -> None:
    moved, waiting = started(anna, boris), started(anna, boris)
    project(services)
    assert set(listed(anna, "/me/pending")) == set(listed(anna, "/me/queue")) == {moved, waiting}
    assert anna.move(moved).status_code == 201
    assert listed(anna, "/me/pending") == listed(anna, "/me/queue") == [waiting]
    page = anna.client.get("/matches").text
    awaiting, _, others = page.partition("Waiting for others")
    assert (moved in awaiting, waiting in awaiting, moved in others) == (False, True, True)
    assert "1 waiting for you" in page
    assert moved not in anna.client.get(f"/matches/{waiting}").text


def test_what_a_listed_match_says_is_what_the_store_says(anna: Caller, boris: Caller, services: Services) -> None:
    match_id = started(anna, boris)
    project(services)
    anna.move(match_id)
    boris.move(match_id)
    (item,) = anna.get("/me/pending").json["items"]
    shown = anna.get(f"/matches/{match_id}").json
    assert item["match"] == {name: shown[name] for name in item["match"]}
    boris.post(f"/matches/{match_id}/resignation")
    assert listed(anna, "/me/pending") == listed(anna, "/me/queue") == []


def test_the_matches_that_a_page_loads_are_bounded_and_the_next_page_goes_on(
    anna: Caller, boris: Caller, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "MAX_LOADED_MATCHES", 2)
    matches = [started(anna, boris) for _ in range(5)]
    project(services)
    for match in matches[:4]:
        anna.move(match)
    loads: list[str] = []
    load = services.matches.load

    def counted(match_id: str) -> Loaded:
        loads.append(match_id)
        return load(match_id)

    monkeypatch.setattr(services.matches, "load", counted)
    for path in ("/me/pending", "/me/queue"):
        found, cursor, pages = [], "", 0
        while True:
            page = anna.get(f"{path}?limit=5{cursor}").json
            found += [item["match"]["id"] for item in page["items"]]
            pages += 1
            assert len(loads) <= 2
            loads.clear()
            if page["next"] is None:
                break
            cursor = f"&cursor={page['next']}"
        assert found == matches[4:]
        assert pages > 2
