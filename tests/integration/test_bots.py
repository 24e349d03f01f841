"""Accounts that are bots: how they become so, where that is seen, and the capacity that the server keeps to."""

import io
import re
import zipfile
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask

from api.services import Services
from domain.match.authority import Authority
from domain.match.enums import Status
from events.operations.personal_archive import make_archive
from events.operations.personal_data import erase
from events.people.person import Person, Suspension
from events.people.places import MAX_PLACE_AGE_MS
from events.proof.audit import audit
from tests.support.callers import ME, OPEN, Answer, Caller, invited, opponent, started
from tests.support.projected import project

CAPACITY = {"games": ["bashni", "towers"], "concurrent": 1}


def as_bot(app: Flask, name: str, **capacity: Any) -> Caller:
    bot = Caller(app).sign_up(name)
    declared = bot.put("/me/bot", {**CAPACITY, **capacity})
    assert declared.status_code == 200, declared.text
    return bot


def offer(person: Caller, *names: str, game: str = "bashni", setup: str = "start", **more: Any) -> Answer:
    seats = [ME, *map(invited, names)]
    return person.post("/matches", {"game": game, "setup": setup, "seats": seats, **more})


def refusal(answer: Answer) -> tuple[int, str, str | None]:
    return answer.status_code, answer.json["code"], answer.json.get("limit")


FULL = (409, "beyond-capacity", "concurrent")
FIXED = (409, "account-kind-fixed", None)


def person_of(services: Services, caller: Caller) -> Person:
    person = services.people.person(caller.id)
    assert person is not None
    return person


def test_an_account_becomes_a_bot_for_sessions_and_tokens_wherever_it_is_shown(app: Flask, anna: Caller) -> None:
    bot = Caller(app).sign_up("Mr-Tower")
    token = bot.token()
    declared = bot.put("/me/bot", {**CAPACITY, "min_move_time": 3600})
    assert declared.json["capacity"] == {
        **CAPACITY,
        **{"rated": True, "private": True, "min_move_time": 3600, "max_move_time": None},
        **{"invitations": "anyone", "accepts_at_once": False},
    }
    assert (declared.json["matches"], declared.json["free"]) == (0, 1)
    assert bot.get("/me").json["kind"] == Caller(app).get("/me", Authorization=token).json["kind"] == "bot"
    match_id = started(anna, bot)
    assert anna.get(f"/matches/{match_id}").json["seats"][1]["player"]["kind"] == "bot"
    profile = anna.get("/players/Mr-Tower").json
    assert (profile["kind"], profile["capacity"]) == ("bot", declared.json["capacity"])
    assert 'for this account">bot</span>' in anna.client.get(f"/matches/{match_id}").text
    assert "It plays 1 match at once" in anna.client.get("/players/Mr-Tower").text
    assert anna.get("/players/anna").json["capacity"] is None


def test_a_renamed_bot_stays_a_bot(app: Flask, services: Services) -> None:
    bot = Caller(app).sign_up("Tower-One")
    before = person_of(services, bot)
    bot.put("/me/bot", CAPACITY)
    services.people.rename(before, "Tower-Two")
    me = bot.get("/me").json
    assert (me["name"], me["kind"]) == ("Tower-Two", "bot")


def test_bots_play_for_no_rating_of_people(app: Flask, services: Services, anna: Caller, boris: Caller) -> None:
    assert refusal(Caller(app).play_as_guest().put("/me/bot", CAPACITY)) == FIXED
    bot = as_bot(app, "Mr-Tower")
    for person in (anna, bot):
        match_id = started(boris, person, rated=True)
        services.projector.project([match_id])
    assert refusal(anna.put("/me/bot", CAPACITY)) == FIXED
    refused = bot.delete("/me/bot")
    assert refusal(refused) == FIXED
    assert refused.json["detail"] == "The bot has matches that are not over: end them first."
    bot.post(f"/matches/{match_id}/abortion")
    services.projector.project([match_id])
    assert bot.delete("/me/bot").status_code == 204
    assert (bot.get("/me").json["kind"], bot.get("/me/bot").status_code) == ("person", 404)
    assert anna.get("/bots").json["items"] == []


@pytest.mark.parametrize("projected", [True, False], ids=["with read models", "before the read models have it"])
def test_bots_declare_a_capacity(app: Flask, services: Services, anna: Caller, boris: Caller, projected: bool) -> None:
    bot = as_bot(app, "Mr-Tower", concurrent=2)
    first, second = offer(anna, bot.name), offer(boris, bot.name)
    assert first.status_code == second.status_code == 201
    if projected:
        project(services)
        [shown] = anna.get("/bots").json["items"]
        assert (shown["player"]["name"], shown["matches"], shown["free"]) == ("Mr-Tower", 2, 0)
    refused = offer(anna, bot.name)
    assert refusal(refused) == FULL
    assert refused.json["detail"] == (
        "Mr-Tower plays 2 matches at once at most, invitations included, and has none free."
    )
    assert bot.post(f"/matches/{first.json['id']}/joins").status_code == 201, "its own invitation has its place"
    bot.post(f"/matches/{second.json['id']}/abortion")
    project(services)
    assert offer(anna, bot.name).status_code == 201


def test_what_a_bot_does_itself_is_within_its_capacity_too(app: Flask, anna: Caller) -> None:
    bot = as_bot(app, "Mr-Tower", invitations="nobody")
    open_match = anna.create(ME, OPEN)
    assert refusal(offer(anna, bot.name)) == (409, "beyond-capacity", "invitations")
    assert refusal(bot.post("/matches", {"game": "fourplay", "setup": "draft", "seats": [ME] + [OPEN] * 3})) == (
        *(409, "beyond-capacity", "games"),
    )
    assert bot.post(f"/matches/{open_match}/joins").status_code == 201
    assert refusal(bot.post("/matches", {"game": "bashni", "seats": [ME, OPEN]})) == FULL
    assert refusal(bot.post(f"/matches/{anna.create(ME, OPEN)}/joins")) == FULL


def test_nobody_can_invite_a_bot_that_is_suspended(app: Flask, services: Services, anna: Caller) -> None:
    bot = as_bot(app, "Mr-Tower", accepts_at_once=True)
    services.people.suspend(person_of(services, bot), Suspension("it floods the chat", None))
    refused = offer(anna, bot.name)
    assert refusal(refused) == (409, "beyond-capacity", "invitations")
    assert refused.json["detail"] == "Mr-Tower is suspended and takes no new matches."
    assert [each["free"] for each in anna.get("/bots").json["items"]] == [0]


def test_a_creation_that_is_refused_takes_no_place(app: Flask, anna: Caller) -> None:
    bot = as_bot(app, "Mr-Tower")
    assert offer(anna, bot.name, setup="no-such-setup").status_code == 422
    assert offer(anna, bot.name, bot.name).status_code == 422
    full = as_bot(app, "No-Places", concurrent=0)
    seats = [ME, invited(bot.name), invited(full.name), OPEN]
    assert refusal(anna.post("/matches", {"game": "towers", "setup": "four-player", "seats": seats})) == FULL
    assert offer(anna, bot.name).status_code == 201


def test_unused_places_are_freed(app: Flask, anna: Caller, services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    bot = as_bot(app, "Mr-Tower")
    services.places.take(bot.id, "mkilled", 1, projected=[], counted=[])
    assert refusal(offer(anna, bot.name)) == FULL
    later = services.now() + MAX_PLACE_AGE_MS
    monkeypatch.setattr(services.places, "_now", lambda: later)
    assert offer(anna, bot.name).status_code == 201


def test_matches_created_at_once_do_not_exceed_together(app: Flask) -> None:
    bot = as_bot(app, "Mr-Tower", concurrent=3)
    people = [Caller(app).sign_up(f"person-{number}") for number in range(8)]
    with ThreadPoolExecutor(len(people)) as pool:
        answers = list(pool.map(lambda person: offer(person, bot.name), people))
    assert sorted(answer.status_code for answer in answers) == [201] * 3 + [409] * 5


def test_a_repeated_creation_gets_its_first_answer_though_the_bot_is_full_by_now(app: Flask, anna: Caller) -> None:
    bot = as_bot(app, "Mr-Tower")
    seats = {"game": "bashni", "seats": [ME, invited(bot.name)]}
    first = anna.post("/matches", seats, Idempotency_Key="once")
    bot.put("/me/bot", {**CAPACITY, "concurrent": 0})
    again = anna.post("/matches", seats, Idempotency_Key="once")
    assert (again.status_code, again.json) == (201, first.json)


def test_a_bot_that_accepts_at_once_plays_from_the_creation_on(app: Flask, services: Services, anna: Caller) -> None:
    bot = as_bot(app, "Mr-Tower", accepts_at_once=True, concurrent=2)
    made = offer(anna, bot.name)
    assert (made.json["status"], made.json["version"]) == (Status.PLAYING, 3)
    events = anna.get(f"/matches/{made.json['id']}/events").json["items"]
    assert [(each["type"], each["actor"]) for each in events] == [
        ("match-created", anna.id),
        ("player-joined", bot.id),
        ("match-started", bot.id),
    ]
    other = as_bot(app, "Mrs-Tower", accepts_at_once=True)
    seats = [ME, invited(other.name), opponent(1), invited(bot.name)]
    four = anna.post("/matches", {"game": "towers", "setup": "four-player", "seats": seats})
    assert (four.json["status"], four.json["version"]) == (Status.PLAYING, 4)
    for match_id in (made.json["id"], four.json["id"]):
        records = list(audit(match_id, services.store.read(match_id), authority=Authority(match_id)))
        assert {(each.fault, each.unauthorized) for each in records} == {(None, None)}


def test_a_bot_that_accepts_at_once_accepts_rematches_and_where_others_are_still_missing(
    app: Flask, services: Services, anna: Caller, boris: Caller
) -> None:
    bot = as_bot(app, "Mr-Tower", accepts_at_once=True, concurrent=2)
    made = offer(anna, bot.name)
    again = anna.post(f"/matches/{made.json['id']}/resignation") and anna.post(f"/matches/{made.json['id']}/rematches")
    assert again.json["status"] == Status.PLAYING
    four = [ME, invited(bot.name), invited(boris.name), OPEN]
    services.projector.project([made.json["id"]])
    made = anna.post("/matches", {"game": "towers", "setup": "four-player", "seats": four})
    assert [seat["state"] for seat in made.json["seats"]] == ["taken", "taken", "invited", "open"]


def test_bots_are_listed_page_by_page(app: Flask, anna: Caller) -> None:
    names = {as_bot(app, f"Tower-{number}").name for number in "abc"}
    first = anna.get("/bots?limit=2").json
    second = anna.get(f"/bots?limit=2&cursor={first['next']}").json
    assert {each["player"]["name"] for each in first["items"] + second["items"]} == names
    assert (len(first["items"]), second["next"]) == (2, None)


def test_the_pages_offer_bots_with_a_free_place_and_show_the_owner_what_is_declared(app: Flask, anna: Caller) -> None:
    bot = as_bot(app, "Mr-Tower")
    as_bot(app, "No-Places", concurrent=0)
    form = anna.client.get("/matches/new").text
    assert re.findall('<option value="([^"]*)">[^<]*, a bot', form) == ["Mr-Tower"]
    settings = bot.client.get("/settings").text
    chosen = re.search('<select id="bot-games".*?</select>', settings)
    assert chosen is not None
    assert re.findall('value="([^"]*)" selected', chosen[0]) == CAPACITY["games"]
    assert "Make this account a bot" in anna.client.get("/settings").text


def test_the_capacity_of_a_bot_is_in_its_archive_and_erased_with_it(app: Flask, services: Services) -> None:
    bot = as_bot(app, "Mr-Tower")
    person = person_of(services, bot)
    assert b"towers" in _unzipped(make_archive(services, person), "person.json")
    offer(Caller(app).sign_up("clara"), bot.name)
    erase(services, person)
    client: Any = services.client
    assert [*client.scan_iter("*bot*"), *client.scan_iter("*places*")] == []
    assert services.bots.among([bot.id]) == {}


def _unzipped(archive: bytes, name: str) -> bytes:
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        return files.read(name)
