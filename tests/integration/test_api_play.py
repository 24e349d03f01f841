"""Terms, clocks, draws with a move, taking back and rematches through the API."""

from typing import Any

import pytest
from flask import Flask

from domain.match.terms import DAY, HOUR
from tests.support.callers import ME, OPEN, Caller, app_on, opponent, started
from tests.support.server import RealServer
from tests.support.tables import table
from tests.support.watch import Watch

THREE_DAYS = {"control": "days-per-move", "bank": 3 * 86_400}


@pytest.fixture
def app(server: RealServer, watch: Watch) -> Flask:
    """Return the product's app on the emptied server, with a clock that stands still."""
    return app_on(server.url, now=watch)


@pytest.fixture
def match_id(anna: Caller, boris: Caller) -> str:
    """Return an unrated match of anna (to move) and boris that has just started."""
    return started(anna, boris)


def created(anna: Caller, **more: Any) -> dict[str, Any]:
    made = anna.post("/matches", {"game": "bashni", "setup": "start", "seats": [ME, OPEN], **more})
    assert made.status_code == 201, made.text
    return dict(made.json)


def test_terms_are_agreed_when_a_match_is_created_and_said_in_words(anna: Caller) -> None:
    terms = created(anna, terms={**THREE_DAYS, "ceiling": None, "first_move": 86_400, "weekends": False})["terms"]
    assert terms.pop("words")[0] == "3 days for every move; what is not used is not saved."
    assert terms == {
        "control": "days-per-move", "bank": 259_200, "increment": 0, "cap": 259_200, "ceiling": None,
        "first_move": 86_400, "flag": "automatic", "vacations": True, "weekends": False, "takebacks": True,
        "lines": True, "aids": None,
    }  # fmt: skip


def test_terms_that_are_not_sent_are_the_usual_ones(anna: Caller) -> None:
    usual = anna.get("/terms").json["items"][0]["terms"]
    unrated, rated = created(anna)["terms"], created(anna, rated=True)["terms"]
    assert (usual["bank"], usual["increment"], usual["cap"]) == (864_000, 86_400, 1_728_000)
    assert rated == usual
    assert (unrated["takebacks"], rated["takebacks"]) == (True, False)
    assert created(anna, terms={"control": "bank", "bank": 60 * 86_400})["terms"]["cap"] == 60 * 86_400


def test_every_preset_can_be_sent_as_it_is_shown(anna: Caller) -> None:
    for preset in anna.get("/terms").json["items"]:
        words = preset["terms"].pop("words")
        assert created(anna, terms=preset["terms"])["terms"] == {**preset["terms"], "words": words}


@pytest.mark.parametrize(("terms", "code", "field"), table(__file__, "unplayable terms are refused at their field"))
def test_unplayable_terms_are_refused_at_their_field(anna: Caller, terms: object, code: str, field: str) -> None:
    body = {"game": "bashni", "setup": "start", "seats": [ME, OPEN], "terms": terms}
    refused = anna.post("/matches", body)
    assert (refused.status_code, refused.json["code"], list(refused.json["errors"])) == (422, code, [field])


def test_a_clock_says_who_has_how_long_and_what_happens_when(anna: Caller, boris: Caller, watch: Watch) -> None:
    match_id = started(anna, boris)
    watch.advance(2 * DAY)
    first = anna.get(f"/matches/{match_id}").json
    assert first["clock"]["forecast"] == {
        "seat": 0, "at": "2023-11-21T22:13:20.000Z", "limit": "first-move", "verdict": "abort",
        "by_itself_at": "2023-11-21T22:13:20.000Z",
    }  # fmt: skip
    assert first["deadline"] == first["clock"]["forecast"]["at"]
    anna.move(match_id)
    boris.move(match_id)
    watch.advance(HOUR)
    clock = boris.get(f"/matches/{match_id}").json["clock"]
    assert [(seat["left"], seat["running"]) for seat in clock["seats"]] == [
        (9 * 86_400 - 3_600, True),
        (11 * 86_400, False),
    ]
    assert (clock["forecast"]["limit"], clock["forecast"]["verdict"]) == ("time", "flag")
    assert clock["as_of"] == "2023-11-16T23:13:20.000Z"
    assert clock["words"] == ["White has 8 days 23 hours left and gets 1 day more after moving."]


def test_an_open_match_says_when_it_will_be_called_off_and_runs_no_clock(anna: Caller) -> None:
    shown = created(anna)
    assert shown["deadline"] == "2023-12-14T22:13:20.000Z"
    assert shown["clock"]["forecast"] is None
    assert (shown["takeback"], shown["fallen"], shown["rematch_of"], shown["rematch"]) == (None, None, None, None)


def test_an_event_says_whether_page_or_program_sent_the_move(anna: Caller, boris: Caller, match_id: str) -> None:
    (by_hand,) = anna.move(match_id).json["events"]
    move = boris.legal_move(match_id)
    (by_program,) = Caller(boris.client.application).move(match_id, move, Authorization=boris.token()).json["events"]
    assert (by_hand["data"]["channel"], by_program["data"]["channel"]) == ("web", "api")


def test_a_draw_is_offered_with_a_move(anna: Caller, boris: Caller, match_id: str) -> None:
    moved = anna.post(f"/matches/{match_id}/moves", {"move": "c3-d4", "offer_draw": True})
    assert [event["type"] for event in moved.json["events"]] == ["move-submitted", "draw-offered"]
    assert boris.get(f"/matches/{match_id}").json["draw_agreed"] == [0]
    assert boris.post(f"/matches/{match_id}/draw-acceptance").status_code == 201


def test_a_move_is_taken_back_when_the_other_agrees(anna: Caller, boris: Caller, match_id: str) -> None:
    before = anna.get(f"/matches/{match_id}").json["position"]
    anna.move(match_id, "c3-d4")
    assert anna.post(f"/matches/{match_id}/takeback-requests").status_code == 201
    assert boris.get(f"/matches/{match_id}").json["takeback"] == {"seat": 0, "ply": 0, "agreed": [0]}
    agreed = boris.post(f"/matches/{match_id}/takeback-acceptance")
    assert [event["type"] for event in agreed.json["events"]] == ["takeback-accepted", "moves-taken-back"]
    shown = anna.get(f"/matches/{match_id}").json
    assert (shown["position"], shown["moves"], shown["to_move"], shown["takeback"]) == (before, [], 0, None)


def test_a_request_to_take_back_is_refused_or_withdrawn(anna: Caller, boris: Caller, match_id: str) -> None:
    for refusing in (boris, anna):
        anna.move(match_id)
        assert anna.post(f"/matches/{match_id}/takeback-requests").status_code == 201
        assert refusing.post(f"/matches/{match_id}/takeback-refusal").status_code == 201
        assert anna.get(f"/matches/{match_id}").json["takeback"] is None
        boris.move(match_id)


def test_taking_back_is_refused_in_words(anna: Caller, boris: Caller, match_id: str) -> None:
    rated = started(anna, boris, rated=True)
    attempts = [
        ("takebacks-not-allowed", anna, rated, "takeback-requests"),
        ("nothing-to-take-back", anna, match_id, "takeback-requests"),
        ("no-takeback-request", boris, match_id, "takeback-acceptance"),
        ("no-takeback-request", boris, match_id, "takeback-refusal"),
    ]
    for code, who, where, act in attempts:
        refused = who.post(f"/matches/{where}/{act}")
        assert (refused.status_code, refused.json["code"]) == (409, code)
        assert refused.json["detail"]
    anna.move(match_id)
    anna.post(f"/matches/{match_id}/takeback-requests")
    again = anna.post(f"/matches/{match_id}/takeback-requests")
    assert again.json["code"] == "takeback-already-requested"


def test_the_proposals_of_both_players_meet_in_one_rematch(anna: Caller, boris: Caller) -> None:
    match_id = started(anna, boris, private=True, terms=THREE_DAYS)
    early = anna.post(f"/matches/{match_id}/rematches")
    assert (early.status_code, early.json["code"]) == (409, "match-not-over")
    anna.post(f"/matches/{match_id}/resignation")
    over = anna.get(f"/matches/{match_id}")
    proposed = anna.post(f"/matches/{match_id}/rematches")
    assert proposed.status_code == 201
    assert proposed.headers["Location"] == f"/api/v1/matches/{proposed.json['id']}"
    assert (proposed.json["status"], proposed.json["rematch_of"]) == ("open", match_id)
    agreed = boris.post(f"/matches/{match_id}/rematches").json
    assert (agreed["id"], agreed["status"], agreed["private"]) == (proposed.json["id"], "playing", True)
    assert [seat["player"]["name"] for seat in agreed["seats"]] == ["boris", "anna"]
    assert agreed["terms"] == over.json["terms"]
    for again in (anna, boris):
        assert again.post(f"/matches/{match_id}/rematches").json["version"] == agreed["version"]
    told = anna.get(f"/matches/{match_id}", If_None_Match=over.headers["ETag"])
    assert (told.status_code, told.json["rematch"]) == (200, agreed["id"])


def test_a_rematch_is_for_those_who_played(app: Flask, anna: Caller, boris: Caller) -> None:
    clara = Caller(app).sign_up("clara")
    public, private = started(anna, boris), started(anna, boris, private=True)
    for match_id, status, code in ((public, 403, "not-your-seat"), (private, 404, "no-such-match")):
        anna.post(f"/matches/{match_id}/resignation")
        refused = clara.post(f"/matches/{match_id}/rematches")
        assert (refused.status_code, refused.json["code"]) == (status, code)
    declined = anna.post(f"/matches/{public}/rematches").json["id"]
    assert boris.post(f"/matches/{declined}/abortion").status_code == 201
    refused = boris.post(f"/matches/{public}/rematches")
    assert (refused.status_code, refused.json["code"]) == (409, "match-over")


def test_an_opponent_plays_again_at_once_at_its_level(app: Flask) -> None:
    guest = Caller(app).play_as_guest()
    match_id = guest.create(ME, opponent(3))
    guest.post(f"/matches/{match_id}/resignation")
    again = guest.post(f"/matches/{match_id}/rematches").json
    assert (again["status"], again["seats"][0]["player"]["level"]) == ("playing", 3)


def test_the_form_of_a_new_match_says_what_ratings_reveal_about_private_matches(anna: Caller) -> None:
    page = anna.client.get("/matches/new?game=bashni").text
    assert "anyone who watches them may conclude that these players have met" in page
