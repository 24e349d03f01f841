"""Room for matches that the server starts: one limit for seeks and tournaments, of bots and people."""

import re
from typing import Any

import pytest
from flask import Flask

from api.services import Services
from domain.contest.seek.state import SeekStatus
from domain.contest.starting import Obstacle
from domain.contest.tournament.commands import EnterTournament
from domain.match.commands import AbortMatch, JoinMatch, Resign
from domain.match.enums import Status
from domain.match.refusals import CommandError
from domain.match.state import Seat
from domain.match.terms import DAY, MAX_OPEN_MS
from events.operations.personal_data import erase
from events.people.places import StartLimit, Starts
from tests.integration import test_seeks as seeks, test_tournaments as tournaments
from tests.support.callers import Caller
from tests.support.projected import project
from tests.support.stepped_installation import SteppedInstallation


def limited(shop: SteppedInstallation, concurrent: int = 10, starts: Starts = Starts.YES) -> str:
    """Return a person with this limit."""
    person = shop.parts.people.guest().id
    assert shop.parts.places.set_limit(person, StartLimit(concurrent, starts))
    return person


def tournament(shop: SteppedInstallation, *players: str, **more: Any) -> str:
    return tournaments.begin(shop, *players, "bob", "cyd", "dan", "eve", **more)


def test_matches_start_up_to_the_limit_of_everybody_and_further_ones_as_others_end(shop: SteppedInstallation) -> None:
    ann = limited(shop, 2)
    id = tournament(shop, ann)
    mine = [match for match in tournaments.running(shop, id) if shop.state(match).seat_of(ann) is not None]
    waiting = shop.parts.tournaments.next_matches(tournaments.state(shop, id)).waiting
    assert len(mine) == 2
    assert {each.obstacle for each in waiting} == {Obstacle.NO_ROOM}
    shop.do(mine[0], Resign(player=ann))
    tournaments.follow(shop)
    mine = [match for match in tournaments.running(shop, id) if shop.state(match).seat_of(ann) is not None]
    assert len(mine) == 2


def test_two_tournaments_at_once_do_not_exceed_the_limit_together(shop: SteppedInstallation) -> None:
    ann = limited(shop, 3)
    ids = [tournaments.announce(shop) for _ in range(2)]
    for id in ids:
        tournaments.enter(shop, id, ann, "bob", "cyd", "dan", "eve")
    shop.now += DAY
    shop.heartbeat.beat(shop.now, shop.now)
    for id in ids:
        assert shop.parts.tournaments.settle(id)
        shop.parts.tournaments.start_matches(id)  # before the read models have any of them
    tournaments.follow(shop)
    mine = [
        match for id in ids for match in tournaments.running(shop, id) if shop.state(match).seat_of(ann) is not None
    ]
    assert len(mine) == 3


def test_who_wants_to_be_asked_is_invited_and_the_match_begins_by_accepting(shop: SteppedInstallation) -> None:
    ann = limited(shop, starts=Starts.ASK)
    id = seeks.post(shop, ann)
    seeks.take(shop, id, "bob")
    seeks.follow(shop)
    (match,) = seeks.matches(shop)
    asked = shop.state(match)
    assert (asked.status, asked.creator) == (Status.OPEN, "bob")
    assert {seat.player: seat.joined for seat in asked.seats} == {ann: False, "bob": True}
    shop.do(match, JoinMatch(player=ann))
    assert shop.state(match).status == Status.PLAYING


def test_who_takes_a_seek_by_hand_is_neither_asked_nor_limited(shop: SteppedInstallation) -> None:
    bob, ann = limited(shop, 0, Starts.ASK), limited(shop)
    id = seeks.post(shop, ann)
    seeks.take(shop, id, bob)
    seeks.follow(shop)
    (match,) = seeks.matches(shop)
    assert shop.state(match).status == Status.PLAYING


def test_a_seek_whose_author_has_no_room_meets_no_other_until_there_is_some(shop: SteppedInstallation) -> None:
    ann = limited(shop, 1)
    playing = shop.start(ann, "dan")
    shop.project_all()
    first, second = seeks.post(shop, ann), seeks.post(shop, "bob")
    seeks.follow(shop)
    assert seeks.state(shop, second).status == SeekStatus.OPEN
    shop.do(playing, Resign(player="dan"))
    shop.project_all()
    shop.sweeper().sweep()
    seeks.follow(shop)
    assert seeks.state(shop, first).status == seeks.state(shop, second).status == SeekStatus.ANSWERED


def test_a_seek_whose_match_another_declines_or_does_not_answer_stands_again(shop: SteppedInstallation) -> None:
    ann, cyd = limited(shop, starts=Starts.ASK), limited(shop, starts=Starts.ASK)
    of_ann, of_bob = seeks.post(shop, ann), seeks.post(shop, "bob")
    seeks.follow(shop)
    (declined,) = seeks.matches(shop)
    shop.do(declined, AbortMatch(player=ann))
    seeks.follow(shop)
    assert seeks.state(shop, of_bob).status == SeekStatus.OPEN
    of_cyd = seeks.post(shop, cyd)
    seeks.follow(shop)
    (silent,) = set(seeks.matches(shop)) - {declined}
    shop.now = shop.state(silent).created_at + MAX_OPEN_MS
    shop.timekeeper.settle(silent, shop.now)
    seeks.follow(shop)
    seek = seeks.state(shop, of_bob)
    assert (seek.status, seek.matches, seek.called_off) == (SeekStatus.OPEN, (), (declined, silent))
    assert seek.standing_since == shop.now, "it waits for its whole time again"
    assert seeks.state(shop, of_ann).matches == (declined,), "the player who declines has used up the wish"
    assert seeks.state(shop, of_cyd).matches == (silent,)
    assert [seek.id for seek in shop.parts.seeks.listed()] == [of_bob]


def test_a_pairing_whose_invitation_is_declined_or_not_answered_is_lost_by_who_was_asked(
    shop: SteppedInstallation,
) -> None:
    ann = limited(shop, starts=Starts.ASK)
    id = tournament(shop, ann, at_once=2)
    declined, silent = (match for match in tournaments.running(shop, id) if shop.state(match).seat_of(ann) is not None)
    shop.do(declined, AbortMatch(player=ann))
    shop.now = shop.state(silent).created_at + MAX_OPEN_MS
    shop.timekeeper.settle(silent, shop.now)
    tournaments.follow(shop)
    state = tournaments.state(shop, id)
    number = state.entrant_of(ann)
    for match in (declined, silent):
        assert shop.state(match).status == Status.ABORTED
        (pairing,) = (each for each in state.pairings if each.match == match)
        assert pairing.scores[pairing.entrants.index(number)] == 0


def test_who_lets_nothing_start_can_enter_no_tournament(shop: SteppedInstallation) -> None:
    person = shop.parts.people.sign_up("nora", "a fine secret")
    shop.parts.places.set_limit(person.id, StartLimit(10, Starts.NO))
    id = tournaments.announce(shop)
    facts = shop.parts.tournaments.entry_facts(person, tournaments.state(shop, id))
    with pytest.raises(CommandError, match="may start no matches for you"):
        tournaments.execute(shop, id, EnterTournament(player=person.id, facts=facts), person.id)


def test_the_room_is_a_setting_that_seeks_respect_and_pages_say(
    anna: Caller, boris: Caller, services: Services
) -> None:
    assert anna.get("/me/room").json == {"concurrent": 10, "starts": "yes", "playing": 0, "free": 10, "reason": None}
    seek = anna.post("/seeks", {"games": ["bashni/start"], "seats": 2}).json["id"]
    services.seeks.follow(seek)
    assert boris.get(f"/seeks/{seek}").json["author_record"]["free"] == 10
    changed = anna.put("/me/room", {"concurrent": 0, "starts": "yes"}).json
    assert (changed["free"], changed["reason"]) == (0, "0 matches are played, of 0 at most")
    assert boris.get("/seeks").json["hidden"] == {"no-room": 1}
    assert boris.post(f"/seeks/{seek}/taking", {}).json["code"] == "seek-refused"
    assert "has no room for another match" in boris.client.get(f"/seeks/{seek}").text
    assert "You have no room for a match at present" in anna.client.get("/seeks").text
    settings = anna.client.get("/settings").text
    assert re.search('id="concurrent"[^>]*value="0"', settings)
    anna.put("/me/room", {"concurrent": 3, "starts": "no"})
    assert "may start no matches" in anna.post("/seeks", {"games": ["bashni/start"], "seats": 2}).json["detail"]
    anna.put("/me/room", {"concurrent": 3, "starts": "ask"})
    assert "is asked first" in boris.client.get(f"/seeks/{seek}").text


def test_the_room_of_a_bot_is_its_capacity(app: Flask) -> None:
    bot = Caller(app).sign_up("Mr-Tower")
    bot.put("/me/bot", {"games": ["bashni"], "concurrent": 4})
    assert bot.get("/me/room").json["free"] == 4
    assert bot.put("/me/room", {"concurrent": 9, "starts": "yes"}).json["code"] == "account-kind-fixed"


def test_the_room_of_a_person_is_erased_with_the_account(anna: Caller, services: Services) -> None:
    anna.put("/me/room", {"concurrent": 2, "starts": "ask"})
    person = services.people.person(anna.id)
    assert person is not None
    erase(services, person)
    project(services)
    assert services.places.limits_of([anna.id]) == {anna.id: StartLimit()}
    assert not services.places.set_limit(anna.id, StartLimit())


def test_an_invitation_of_somebody_counts_against_the_room(shop: SteppedInstallation) -> None:
    ann = limited(shop, 2)
    shop.create(Seat.taken("dan"), Seat.invited(ann), creator="dan")
    shop.project_all()
    assert shop.parts.match_starter.room_of([ann], shop.now)[ann].room == 1
