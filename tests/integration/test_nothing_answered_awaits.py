"""What awaits somebody while the read models are behind: no relay runs here, they change when a test projects them."""

from typing import Any

import pytest

from api.operations import lists
from api.services import Services
from events.service.matches import Loaded
from tests.support.callers import Caller, started
from tests.support.projected import project


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
