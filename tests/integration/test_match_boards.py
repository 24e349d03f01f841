"""How the page of a match shows its board: turned to the own seat, with all moves since the own last one marked."""

import re

import pytest
from flask import Flask

from tests.support.callers import ME, Caller, invited, started

MARK = re.compile(r'<rect class="mark ([^"]+)"')
PLACE = r'data-square="{}" [^>]*>(?:<desc[^>]*>[^<]*</desc>)*<rect x="([0-9.]+)" y="([0-9.]+)"'


def shown(caller: Caller, match_id: str, query: str = "") -> str:
    answer = caller.client.get(f"/matches/{match_id}{query}", headers={"Accept": "text/html"})
    assert answer.status_code == 200
    return answer.text


def place(page: str, square: str) -> tuple[float, float]:
    found = re.search(PLACE.format(square), page)
    assert found is not None
    return float(found[1]), float(found[2])


Four = tuple[list[Caller], str]


@pytest.fixture
def four(app: Flask) -> Four:
    people = [Caller(app).play_as_guest() for _ in range(4)]
    others = [invited(person.name) for person in people[1:]]
    match_id = people[0].create(ME, *others, game="towers", setup="four-player")
    for person in people[1:]:
        assert person.post(f"/matches/{match_id}/joins").status_code == 201
    return people, match_id


def test_each_of_four_players_sees_the_own_corner_and_an_onlooker_the_first(four: Four, stranger: Caller) -> None:
    people, match = four
    lower_left = place(shown(stranger, match), "a1")
    for person, corner in zip(people, ("a7", "g7", "g1", "a1"), strict=True):
        assert place(shown(person, match), corner) == lower_left


def test_a_board_of_four_is_turned_by_quarters_of_two_by_halves(four: Four, anna: Caller, boris: Caller) -> None:
    people, match = four
    lower_left = place(shown(people[3], match), "a1")
    for turned, corner in enumerate(("a1", "g1", "g7", "a7")):
        page = shown(people[0], match, f"?turned={turned}")
        assert place(page, corner) == lower_left
        assert f'data-turned="{turned}" data-turns="4"' in page
    pair = started(anna, boris)
    near = place(shown(anna, pair, "?turned=0"), "a1")
    assert place(shown(anna, pair, "?turned=1"), "h8") == near
    assert place(shown(boris, pair), "h8") == near
    assert 'data-turned="1" data-turns="2"' in shown(boris, pair)
    assert place(shown(anna, pair, "?turned=2"), "a1") == near


def test_all_moves_since_the_own_last_one_are_marked_each_as_that_of_its_seat(four: Four, stranger: Caller) -> None:
    people, match = four
    for person in people:
        assert person.move(match).status_code == 201
    ages = {name: " ".join(classes) for name, classes in _latest_marks(shown(people[0], match)).items()}
    assert ages == {"blue": "age-2", "red": "age-1", "black": ""}
    assert set(_latest_marks(shown(people[2], match))) == {""}
    assert set(_latest_marks(shown(people[1], match))) == {"red", "black"}
    assert set(_latest_marks(shown(stranger, match))) == {"blue", "red", "black"}
    assert set(_latest_marks(shown(people[0], match, "?ply=2"))) == {""}
    assert MARK.findall(shown(people[0], match, "?ply=0")) == []


def _latest_marks(page: str) -> dict[str, list[str]]:
    """Return the further classes of the marks where moves ended, by the colour of their seat."""
    ends = [classes.split() for classes in MARK.findall(page) if "mark-to" in classes]
    return {
        next((name[3:] for name in classes if name.startswith("by-")), ""): [
            name for name in classes if name.startswith("age-")
        ]
        for classes in ends
    }


def test_a_conditional_move_of_its_player_is_marked_with_the_answer_to_it(anna: Caller, boris: Caller) -> None:
    match_id = started(anna, boris)
    lines = {"lines": [{"move": "c3-d4", "next": [{"move": "b6-a5"}]}]}
    answer = boris.put(f"/matches/{match_id}/lines", lines)
    assert answer.status_code == 200, answer.text
    assert anna.move(match_id, "c3-d4").status_code == 201
    assert set(_latest_marks(shown(boris, match_id))) == {"white", "black"}
    assert set(_latest_marks(shown(anna, match_id))) == {""}
