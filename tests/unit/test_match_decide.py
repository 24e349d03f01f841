"""How matches are created and seated, who may do what in them, and what comes of it."""

from collections import Counter
from dataclasses import replace

import pytest

from domain.match import events as e
from domain.match.commands import (
    AbortMatch,
    AcceptDraw,
    CallTime,
    Command,
    DeclineDraw,
    JoinMatch,
    OfferDraw,
    Resign,
    SubmitMove,
)
from domain.match.decide import decide
from domain.match.decisions.creation import rematch
from domain.match.enums import OccasionKind, Status
from domain.match.refusals import CommandError
from domain.match.state import Occasion, Seat
from domain.match.terms import STANDARD, days_per_move
from tests.support.cases import refusal
from tests.support.matches import SHORT_GAME, T0, PlayedMatch, creation, started, started_by_four


def test_a_move_is_recorded_with_its_seat_and_ply() -> None:
    match = started()
    assert match.move("alice", "c3-d4") == (e.MoveSubmitted(at=match.now, seat=0, ply=1, move="c3-d4"),)
    assert match.move("bob", "b6-a5") == (e.MoveSubmitted(at=match.now, seat=1, ply=2, move="b6-a5"),)


def test_an_opponents_move_says_how_it_can_be_computed_again() -> None:
    match = PlayedMatch(creation(Seat.opponent(3), Seat.taken("alice")))
    happened = match.do(SubmitMove(player="opponent-3", move="c3-d4", level=3, seed=12, engine="e1", nodes=600))
    assert happened == (
        e.MoveSubmitted(at=match.now, seat=0, ply=1, move="c3-d4", level=3, seed=12, engine="e1", nodes=600),
    )


def test_a_move_out_of_turn_is_refused_with_the_seat_whose_turn_it_is() -> None:
    match = started()
    denied = refusal(match, SubmitMove(player="bob", move="b6-a5"))
    assert denied.code == "not-your-turn"
    assert "White" in str(denied)


def test_one_opponent_on_several_seats_moves_for_each_in_turn() -> None:
    match = PlayedMatch(creation(*[Seat.opponent(1)] * 4, game="towers", setup="four-player", rated=False))
    for ply in range(1, 6):
        game_moves = match.legal_moves()
        (moved, *_) = match.do(SubmitMove(player="opponent-1", move=game_moves[0], level=1, seed=1, engine="e"))
        assert isinstance(moved, e.MoveSubmitted)
        assert (moved.seat, moved.ply) == ((ply - 1) % 4, ply)


@pytest.mark.parametrize("text", ["", "e9-e10", "c3", "move", "c3-d4;", "x" * 10_001, "c3-d4\x00", "♞"])
def test_what_is_no_move_at_all_is_malformed(text: str) -> None:
    denied = refusal(started(), SubmitMove(player="alice", move=text))
    assert (denied.code, denied.field) == ("malformed-move", "move")
    assert ("at most 10000 characters" in str(denied)) == (len(text) > 10_000)


def test_nothing_is_played_before_all_seats_are_taken() -> None:
    for command in (
        SubmitMove(player="alice", move="c3-d4"),
        Resign(player="alice"),
        OfferDraw(player="alice"),
        AcceptDraw(player="alice"),
    ):
        assert refusal(PlayedMatch(), command).code == "match-not-started"


def test_a_match_finishes_by_rule_with_the_move_that_ends_it() -> None:
    match = started()
    for number, move in enumerate(SHORT_GAME.split()):
        happened = match.move(("alice", "bob")[number % 2], move)
    assert happened == (
        e.MoveSubmitted(at=match.now, seat=0, ply=27, move="f4xh6"),
        e.MatchFinished(at=match.now, scores=(1.0, 0.0), reason="no-moves"),
    )
    assert match.state.status == Status.FINISHED


def test_one_may_resign_out_of_turn_but_not_for_others() -> None:
    match = started()
    match.move("alice", "c3-d4")
    assert refusal(match, Resign(player="carol")).code == "not-your-seat"
    match.do(Resign(player="alice"))
    assert match.state.result.scores == (0.0, 1.0)


def test_resigning_in_a_two_player_setup_of_a_game_for_four_scores_two_seats() -> None:
    seats = (Seat.taken("alice"), Seat.open())
    match = PlayedMatch(creation(*seats, game="towers", setup="two-player"))
    match.do(JoinMatch(player="bob"))
    match.do(Resign(player="alice"))
    assert match.state.result.scores == (0.0, 1.0)


def test_resigning_among_four_lets_the_others_share_when_they_cannot_go_on() -> None:
    match = started_by_four()
    match.do(Resign(player="rita"))
    assert match.state.result.scores == pytest.approx((1 / 3, 1 / 3, 0.0, 1 / 3))
    assert match.state.result.reason == "resignation"


@pytest.mark.parametrize("player", ["alice", "bob"])
def test_either_player_may_abort_until_the_second_ply(player: str) -> None:
    match = started()
    match.move("alice", "c3-d4")
    assert match.do(AbortMatch(player=player)) == (e.MatchAborted(at=match.now, player=player),)
    assert (match.state.status, match.state.result.scores) == (Status.ABORTED, None)


def test_an_open_match_is_called_off_by_its_creator_and_an_invitation_by_the_invited() -> None:
    seats = (Seat.open(), Seat.invited("bob"))
    for player in ("carol", "bob"):
        match = PlayedMatch(creation(*seats, creator="carol"))
        match.do(AbortMatch(player=player))
        assert match.state.status == Status.ABORTED
    assert refusal(PlayedMatch(creation(*seats, creator="carol")), AbortMatch(player="dave")).code == "not-your-seat"


@pytest.mark.parametrize(
    ("ending", "words"),
    [(Resign(player="alice"), "is over: by resignation"), (AbortMatch(player="alice"), "was cancelled")],
)
def test_nothing_happens_in_a_match_that_is_over(ending: Command, words: str) -> None:
    match = started()
    match.do(ending)
    for command in (
        JoinMatch(player="carol"),
        SubmitMove(player="alice", move="c3-d4"),
        Resign(player="bob"),
        AbortMatch(player="bob"),
        OfferDraw(player="bob"),
        AcceptDraw(player="bob"),
        DeclineDraw(player="bob"),
        CallTime(player="bob"),
    ):
        refused = refusal(match, command)
        assert (refused.code, words in str(refused)) == ("match-over", True)


def test_time_never_runs_backwards_within_a_match() -> None:
    match = started()
    before = match.state.updated_at
    (moved,) = match.do(SubmitMove(player="alice", move="c3-d4"), at=before - 5000)
    assert moved.at == before
    (moved,) = match.do(SubmitMove(player="bob", move="b6-a5"), at=before + 5)
    assert moved.at == before + 5


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
    assert match.state == replace(plain.state, occasion=occasion)


PARTING = "c3-b4 b6-c5 b4-a5 c7-b6 a5xc7xe5 f6xd4 e3-f4 b8-c7"
"""After these moves of Bashni the rulesets part: a capture of d6 and c7 may, then must, capture d6 once more."""


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


def test_four_change_their_circle_and_the_others_are_invited() -> None:
    match = started_by_four()
    for player in ("wendy", "blue", "rita"):
        if not match.state.ended:
            match.do(Resign(player=player))
    proposed = rematch(match.state, "rita", "m2", "5", guest=False)
    assert proposed.seats == (Seat.taken("rita"), Seat.invited("wendy"), Seat.invited("bob"), Seat.invited("blue"))
    assert (proposed.game, proposed.setup, proposed.creator) == ("towers", "four-player", "rita")
    assert (proposed.match, proposed.rematch_of, proposed.seed) == ("m2", "m", "5")


def test_in_four_matches_of_four_everybody_has_each_seat_once_and_nobody_always_plays_before_the_same() -> None:
    match = started_by_four()
    for player in ("wendy", "blue", "rita"):
        if not match.state.ended:
            match.do(Resign(player=player))
    seats: Counter[tuple[int, str]] = Counter()
    before: Counter[tuple[str, str]] = Counter()
    state = match.state
    for _ in range(4):
        players = [seat.player for seat in state.seats]
        seats.update(enumerate(players))
        before.update(zip(players, players[1:] + players[:1], strict=True))
        following = rematch(state, "rita", "m2", "5", guest=False).seats
        state = replace(state, seats=tuple(Seat.taken(seat.player) for seat in following))
    assert state.seats == match.state.seats
    assert set(seats.values()) == {1}
    assert (len(before), set(before.values())) == (12, {1, 2})


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
