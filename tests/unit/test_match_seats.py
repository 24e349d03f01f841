"""How a match and the one that follows it are created, and how seats are taken."""

from dataclasses import replace

import pytest

from domain.match import events as e
from domain.match.commands import AbortMatch, Command, JoinMatch, Resign, SubmitMove
from domain.match.decide import decide
from domain.match.decisions.creation import rematch
from domain.match.enums import OccasionKind, Status
from domain.match.refusals import CommandError
from domain.match.state import Occasion, Seat
from domain.match.terms import STANDARD, days_per_move
from tests.support.cases import refusal
from tests.support.matches import T0, PlayedMatch, creation, started_by_four


def test_a_match_is_created_with_its_game_ruleset_setup_and_seats() -> None:
    match = PlayedMatch(creation(private=True, seed="99"))
    assert match.events == [
        e.MatchCreated(
            at=T0 + 1000, creator="alice", game="bashni", ruleset=1, setup="start",
            seats=(Seat.taken("alice"), Seat.open()), rated=True, private=True, seed="99", terms=STANDARD,
        )
    ]  # fmt: skip
    assert match.state.status == Status.OPEN


def test_the_occasion_of_a_match_is_recorded_and_nothing_else_depends_on_it() -> None:
    occasion = Occasion(kind=OccasionKind.TOURNAMENT, id="t1", pairing="4")
    match, plain = PlayedMatch(replace(creation(), occasion=occasion)), PlayedMatch(creation())
    (created,) = match.events
    assert isinstance(created, e.MatchCreated)
    assert created.occasion == occasion
    assert match.state == plain.state


PARTING = "c3-b4 b6-c5 b4-a5 c7-b6 a5xc7xe5 f6xd4 e3-f4 b8-c7"
"""After these moves of Bashni the rulesets part: whoever captures d6 and c7 may, then must, capture d6 once more."""


@pytest.mark.parametrize(
    ("ruleset", "legal", "illegal"), [(1, "f4xd6xb8", "f4xd6xb8xf4"), (2, "f4xd6xb8xf4", "f4xd6xb8")]
)
def test_a_match_is_played_by_the_ruleset_that_was_asked_for(ruleset: int, legal: str, illegal: str) -> None:
    match = PlayedMatch(creation(ruleset=ruleset))
    match.do(JoinMatch(player="bob"))
    for number, move in enumerate(PARTING.split()):
        match.move(("alice", "bob")[number % 2], move)
    assert match.state.ruleset == ruleset
    assert refusal(match, SubmitMove(player="alice", move=illegal)).code == "illegal-move"
    match.move("alice", legal)
    assert match.state.play.moves[8] == legal


def test_a_ruleset_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(CommandError, match="Bashni has no ruleset 9, only 1, 2"):
        decide(None, creation(ruleset=9), T0)


def test_who_has_said_before_to_accept_is_seated_at_the_creation_and_no_one_else() -> None:
    seats = (Seat.taken("alice"), Seat.invited("bob"), Seat.invited("carol"), Seat.open())
    four = creation(*seats, game="towers", setup="four-player")
    match = PlayedMatch(replace(four, accepting=frozenset({"bob", "alice", "dave"})))
    assert match.events[1:] == [e.PlayerJoined(at=T0 + 1000, seat=1, player="bob")]
    assert [seat.joined for seat in match.state.seats] == [True, True, False, False]
    match = PlayedMatch(replace(creation(*seats[:2]), accepting=frozenset({"bob"})))
    assert [type(event) for event in match.events] == [e.MatchCreated, e.PlayerJoined, e.MatchStarted]


def test_a_match_may_be_created_between_others() -> None:
    match = PlayedMatch(creation(Seat.open(), Seat.invited("bob"), creator="carol"))
    assert match.do(JoinMatch(player="dave"))[0] == e.PlayerJoined(at=match.now, seat=0, player="dave")


@pytest.mark.parametrize(
    ("create", "code", "field"),
    [
        (creation(ruleset=0), "unknown-ruleset", "ruleset"),
        (creation(game="towers", setup="two-player", ruleset=2), "unknown-ruleset", "ruleset"),
        (creation(Seat.taken("alice"), Seat.taken("bob")), "invalid-seats", "seats"),
        (creation(rated=True, guest=True), "guests-play-unrated", "rated"),
    ],
)
def test_a_match_that_cannot_be_is_refused(create: Command, code: str, field: str) -> None:
    with pytest.raises(CommandError) as refused:
        decide(None, create, T0)
    assert (refused.value.code, refused.value.field) == (code, field)


def test_a_match_is_created_once() -> None:
    assert refusal(PlayedMatch(), creation()).code == "match-exists"


def test_a_player_may_choose_among_the_free_seats() -> None:
    seats = (Seat.taken("alice"), Seat.open(), Seat.open(), Seat.open())
    match = PlayedMatch(creation(*seats, game="towers", setup="four-player"))
    match.do(JoinMatch(player="bob", seat=2))
    assert match.state.seat_of("bob") == 2
    assert refusal(match, JoinMatch(player="carol", seat=2)).code == "seat-taken"
    assert refusal(match, JoinMatch(player="carol", seat=0)).code == "seat-taken"
    for nowhere in (-1, 4):
        with pytest.raises(CommandError, match="seats 0 to 3") as refused:
            match.do(JoinMatch(player="carol", seat=nowhere))
        assert refused.value.code == "invalid-seats"


def test_an_invited_player_takes_no_other_seat() -> None:
    seats = (Seat.taken("alice"), Seat.invited("bob"), Seat.open(), Seat.open())
    match = PlayedMatch(creation(*seats, game="towers", setup="four-player"))
    denied = refusal(match, JoinMatch(player="bob", seat=2))
    assert (denied.code, denied.field) == ("seat-taken", "seat")
    match.do(JoinMatch(player="bob", seat=1))
    assert match.state.seat_of("bob") == 1


def test_everybody_moves_on_by_one_seat_and_the_others_are_invited() -> None:
    match = started_by_four()
    for player in ("wendy", "blue", "rita"):
        if not match.state.ended:
            match.do(Resign(player=player))
    proposed = rematch(match.state, "rita", "m2", "5", guest=False)
    assert proposed.seats == (Seat.invited("blue"), Seat.taken("rita"), Seat.invited("bob"), Seat.invited("wendy"))
    assert (proposed.game, proposed.setup, proposed.creator) == ("towers", "four-player", "rita")
    assert (proposed.match, proposed.rematch_of, proposed.seed) == ("m2", "m", "5")


def test_it_is_played_under_the_same_terms_and_rules() -> None:
    create = creation(Seat.taken("alice"), Seat.opponent(3), rated=False, private=True, ruleset=1)
    match = PlayedMatch(replace(create, terms=days_per_move(3)))
    match.do(Resign(player="alice"))
    proposed = rematch(match.state, "alice", "m2", "5", guest=False)
    assert (proposed.terms, proposed.rated, proposed.private, proposed.ruleset) == (days_per_move(3), False, True, 1)
    assert proposed.seats == (Seat.opponent(3), Seat.taken("alice"))


def test_there_is_none_of_a_match_that_never_began() -> None:
    match = PlayedMatch()
    match.do(AbortMatch(player="alice"))
    with pytest.raises(CommandError, match="never began"):
        rematch(match.state, "alice", "m2", "5", guest=False)
