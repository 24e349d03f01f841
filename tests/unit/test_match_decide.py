"""Who may do what in a match, and what comes of it."""

import pytest

from domain.match import events as e
from domain.match.commands import (
    AbortMatch,
    AcceptDraw,
    Command,
    DeclineDraw,
    JoinMatch,
    OfferDraw,
    Resign,
    SubmitMove,
)
from domain.match.decide import decide
from domain.match.refusals import Refused
from domain.match.state import ABORTED, FINISHED, OPEN, PLAYING, Seat
from domain.match.terms import STANDARD
from tests.support.matches import FOUR, NOON, SHORT_GAME, PlayedMatch, creation, started, started_by_four


def refusal(match: PlayedMatch, command: Command) -> Refused:
    """Return why ``command`` is refused; the match must be as before."""
    before = (match.state, list(match.events))
    with pytest.raises(Refused) as refused:
        match.do(command)
    assert (match.state, match.events) == before
    assert str(refused.value)
    return refused.value


def test_a_match_is_created_with_its_game_ruleset_setup_and_seats() -> None:
    match = PlayedMatch(creation(private=True, seed=99))
    assert match.events == [
        e.MatchCreated(
            at=NOON + 1000,
            creator="alice",
            game="bashni",
            ruleset=1,
            setup="start",
            seats=(Seat.taken("alice"), Seat.open()),
            rated=True,
            private=True,
            seed=99,
            terms=STANDARD,
        )
    ]
    assert match.state.status == OPEN


PARTING = "c3-b4 b6-c5 b4-a5 c7-b6 a5xc7xe5 f6xd4 e3-f4 b8-c7"
"""After these moves of Bashni the rulesets part: whoever captures d6 and c7 may, then must, capture d6 once more."""


@pytest.mark.parametrize(
    ("ruleset", "legal", "illegal"), [(1, "f4xd6xb8", "f4xd6xb8xf4"), (2, "f4xd6xb8xf4", "f4xd6xb8")]
)
def test_a_match_is_played_by_the_ruleset_that_was_asked_for(ruleset: int, legal: str, illegal: str) -> None:
    match = PlayedMatch(creation(ruleset=ruleset))
    match.do(JoinMatch("bob"))
    for number, move in enumerate(PARTING.split()):
        match.move(("alice", "bob")[number % 2], move)
    assert match.state.ruleset == ruleset
    assert refusal(match, SubmitMove("alice", illegal)).code == "illegal-move"
    match.move("alice", legal)
    assert match.state.moves[8] == legal


def test_a_ruleset_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(Refused, match="Bashni has no ruleset 9, only 1, 2"):
        decide(None, creation(ruleset=9), NOON)


def test_a_match_whose_seats_are_all_taken_starts_at_once() -> None:
    match = PlayedMatch(creation(Seat.taken("alice"), Seat.opponent(3)))
    assert match.events[1:] == [e.MatchStarted(NOON + 1000)]
    assert match.state.status == PLAYING


def test_opponents_of_one_level_may_sit_on_several_seats() -> None:
    seats = (Seat.opponent(2), Seat.opponent(2), Seat.opponent(2), Seat.taken("alice"))
    match = PlayedMatch(creation(*seats, game="towers", setup="four-player"))
    assert match.state.status == PLAYING


def test_a_match_may_be_created_between_others() -> None:
    match = PlayedMatch(creation(Seat.open(), Seat.invited("bob"), creator="carol"))
    assert match.do(JoinMatch("dave"))[0] == e.PlayerJoined(match.now, 0, "dave")


@pytest.mark.parametrize(
    ("create", "code", "field"),
    [
        (creation(game="chess"), "unknown-game", "game"),
        (creation(setup="960"), "unknown-setup", "setup"),
        (creation(ruleset=9), "unknown-ruleset", "ruleset"),
        (creation(ruleset=0), "unknown-ruleset", "ruleset"),
        (creation(game="towers", setup="two-player", ruleset=2), "unknown-ruleset", "ruleset"),
        (creation(Seat.taken("alice")), "wrong-seats", "seats"),
        (creation(Seat.taken("alice"), Seat.open(), Seat.open()), "wrong-seats", "seats"),
        (creation(Seat.taken("alice"), Seat.taken("alice")), "wrong-seats", "seats"),
        (creation(Seat.taken("alice"), Seat.invited("alice")), "wrong-seats", "seats"),
        (creation(Seat.taken("alice"), Seat.taken("bob")), "wrong-seats", "seats"),
        (creation(rated=True, guest=True), "guests-play-unrated", "rated"),
    ],
)
def test_a_match_that_cannot_be_is_refused(create: Command, code: str, field: str) -> None:
    with pytest.raises(Refused) as refused:
        decide(None, create, NOON)
    assert (refused.value.code, refused.value.field) == (code, field)


def test_a_match_is_created_once() -> None:
    assert refusal(PlayedMatch(), creation()).code == "match-exists"


@pytest.mark.parametrize(
    "command",
    [
        JoinMatch("a"),
        SubmitMove("a", "c3-d4"),
        Resign("a"),
        AbortMatch("a"),
        OfferDraw("a"),
        AcceptDraw("a"),
        DeclineDraw("a"),
    ],
)
def test_nothing_can_be_done_in_a_match_that_does_not_exist(command: Command) -> None:
    with pytest.raises(Refused) as refused:
        decide(None, command, NOON)
    assert refused.value.code == "no-such-match"


def test_taking_the_last_seat_starts_the_match() -> None:
    match = PlayedMatch()
    assert match.do(JoinMatch("bob")) == (e.PlayerJoined(match.now, 1, "bob"), e.MatchStarted(match.now))


def test_a_four_player_match_starts_when_the_fourth_has_joined() -> None:
    match = started_by_four()
    kinds = [type(event) for event in match.events]
    assert kinds == [e.MatchCreated, e.PlayerJoined, e.PlayerJoined, e.PlayerJoined, e.MatchStarted]
    assert [seat.player for seat in match.state.seats] == list(FOUR)


def test_a_player_may_choose_among_the_free_seats() -> None:
    seats = (Seat.taken("alice"), Seat.open(), Seat.open(), Seat.open())
    match = PlayedMatch(creation(*seats, game="towers", setup="four-player"))
    match.do(JoinMatch("bob", seat=2))
    assert match.state.seat_of("bob") == 2
    assert refusal(match, JoinMatch("carol", seat=2)).code == "seat-taken"
    assert refusal(match, JoinMatch("carol", seat=0)).code == "seat-taken"
    for nowhere in (-1, 4):
        assert refusal(match, JoinMatch("carol", seat=nowhere)).code == "wrong-seats"


def test_an_invited_player_gets_the_seat_that_is_kept_for_them() -> None:
    match = PlayedMatch(creation(Seat.taken("alice"), Seat.invited("bob")))
    assert refusal(match, JoinMatch("mallory")).code == "seats-taken"
    assert refusal(match, JoinMatch("mallory", seat=1)).code == "seat-taken"
    match.do(JoinMatch("bob"))
    assert match.state.seats[1] == Seat.taken("bob")
    assert match.state.status == PLAYING


def test_an_invited_player_takes_no_other_seat() -> None:
    seats = (Seat.taken("alice"), Seat.invited("bob"), Seat.open(), Seat.open())
    match = PlayedMatch(creation(*seats, game="towers", setup="four-player"))
    denied = refusal(match, JoinMatch("bob", seat=2))
    assert (denied.code, denied.field) == ("seat-taken", "seat")
    match.do(JoinMatch("bob", seat=1))
    assert match.state.seat_of("bob") == 1


def test_nobody_joins_twice_nor_a_match_that_has_started() -> None:
    match = PlayedMatch()
    assert refusal(match, JoinMatch("alice")).code == "already-seated"
    match.do(JoinMatch("bob"))
    assert refusal(match, JoinMatch("carol")).code == "seats-taken"


def test_a_guest_joins_unrated_matches_only() -> None:
    assert refusal(PlayedMatch(creation(rated=True)), JoinMatch("visitor", guest=True)).code == "guests-play-unrated"
    unrated = PlayedMatch(creation(rated=False))
    unrated.do(JoinMatch("visitor", guest=True))
    assert unrated.state.status == PLAYING


def test_a_guest_may_create_an_unrated_match() -> None:
    assert PlayedMatch(creation(rated=False, guest=True)).state.status == OPEN


def test_a_move_is_recorded_with_its_seat_and_ply() -> None:
    match = started()
    assert match.move("alice", "c3-d4") == (e.MoveSubmitted(match.now, 0, 1, "c3-d4"),)
    assert match.move("bob", "b6-a5") == (e.MoveSubmitted(match.now, 1, 2, "b6-a5"),)


def test_an_opponents_move_says_how_it_can_be_computed_again() -> None:
    match = PlayedMatch(creation(Seat.opponent(3), Seat.taken("alice")))
    happened = match.do(SubmitMove("opponent-3", "c3-d4", level=3, seed=12, engine="e1"))
    assert happened == (e.MoveSubmitted(match.now, 0, 1, "c3-d4", 3, 12, "e1"),)


def test_a_move_out_of_turn_is_refused_with_the_seat_whose_turn_it_is() -> None:
    match = started()
    denied = refusal(match, SubmitMove("bob", "b6-a5"))
    assert denied.code == "not-your-turn"
    assert "White" in str(denied)


def test_a_move_on_a_foreign_seat_is_refused() -> None:
    match = started()
    for stranger in ("carol", "", "opponent-1"):
        assert refusal(match, SubmitMove(stranger, "c3-d4")).code == "not-your-seat"


def test_one_opponent_on_several_seats_moves_for_each_in_turn() -> None:
    match = PlayedMatch(creation(*[Seat.opponent(1)] * 4, game="towers", setup="four-player", rated=False))
    for ply in range(1, 6):
        game_moves = match.legal_moves()
        (moved, *_) = match.do(SubmitMove("opponent-1", game_moves[0], 1, 1, "e"))
        assert isinstance(moved, e.MoveSubmitted)
        assert (moved.seat, moved.ply) == ((ply - 1) % 4, ply)


@pytest.mark.parametrize("text", ["", "e9-e10", "c3", "move", "c3-d4;", "x" * 10_001, "c3-d4\x00", "♞"])
def test_what_is_no_move_at_all_is_malformed(text: str) -> None:
    denied = refusal(started(), SubmitMove("alice", text))
    assert (denied.code, denied.field) == ("malformed-move", "move")


@pytest.mark.parametrize("text", ["c3-e5", "b6-a5", "d4-e5", "c3xe5"])
def test_a_move_against_the_rules_is_illegal(text: str) -> None:
    denied = refusal(started(), SubmitMove("alice", text))
    assert (denied.code, denied.field) == ("illegal-move", "move")


def test_nothing_is_played_before_all_seats_are_taken() -> None:
    for command in (SubmitMove("alice", "c3-d4"), Resign("alice"), OfferDraw("alice"), AcceptDraw("alice")):
        assert refusal(PlayedMatch(), command).code == "match-not-started"


def test_a_match_finishes_by_rule_with_the_move_that_ends_it() -> None:
    match = started()
    for number, move in enumerate(SHORT_GAME.split()):
        happened = match.move(("alice", "bob")[number % 2], move)
    assert happened == (
        e.MoveSubmitted(match.now, 0, 27, "f4xh6"),
        e.MatchFinished(match.now, (1.0, 0.0), "no-moves"),
    )
    assert match.state.status == FINISHED


def test_resigning_gives_the_point_to_the_other() -> None:
    match = started()
    assert match.do(Resign("bob")) == (
        e.PlayerResigned(match.now, 1),
        e.MatchFinished(match.now, (1.0, 0.0), "resignation"),
    )


def test_one_may_resign_out_of_turn_but_not_for_others() -> None:
    match = started()
    match.move("alice", "c3-d4")
    assert refusal(match, Resign("carol")).code == "not-your-seat"
    match.do(Resign("alice"))
    assert match.state.scores == (0.0, 1.0)


def test_resigning_in_a_two_player_setup_of_a_game_for_four_scores_two_seats() -> None:
    seats = (Seat.taken("alice"), Seat.open())
    match = PlayedMatch(creation(*seats, game="towers", setup="two-player"))
    match.do(JoinMatch("bob"))
    match.do(Resign("alice"))
    assert match.state.scores == (0.0, 1.0)


def test_resigning_among_four_lets_the_others_share_when_they_cannot_go_on() -> None:
    match = started_by_four()
    match.do(Resign("rita"))
    assert match.state.scores == pytest.approx((1 / 3, 1 / 3, 0.0, 1 / 3))
    assert match.state.reason == "resignation"


@pytest.mark.parametrize("player", ["alice", "bob"])
def test_either_player_may_abort_until_the_second_ply(player: str) -> None:
    match = started()
    match.move("alice", "c3-d4")
    assert match.do(AbortMatch(player)) == (e.MatchAborted(match.now, player),)
    assert (match.state.status, match.state.scores) == (ABORTED, None)


def test_after_the_second_ply_a_match_cannot_be_aborted() -> None:
    match = started()
    match.move("alice", "c3-d4")
    match.move("bob", "b6-a5")
    for player in ("alice", "bob"):
        assert refusal(match, AbortMatch(player)).code == "too-late-to-abort"


def test_an_open_match_is_called_off_by_its_creator_and_an_invitation_by_the_invited() -> None:
    seats = (Seat.open(), Seat.invited("bob"))
    for player in ("carol", "bob"):
        match = PlayedMatch(creation(*seats, creator="carol"))
        match.do(AbortMatch(player))
        assert match.state.status == ABORTED
    assert refusal(PlayedMatch(creation(*seats, creator="carol")), AbortMatch("dave")).code == "not-your-seat"


def test_a_draw_is_agreed_when_the_other_accepts() -> None:
    match = started()
    assert match.do(OfferDraw("alice")) == (e.DrawOffered(match.now, 0),)
    assert match.do(AcceptDraw("bob")) == (
        e.DrawAccepted(match.now, 1),
        e.MatchFinished(match.now, (0.5, 0.5), "draw-agreed"),
    )


def test_offering_a_draw_to_one_who_offers_it_accepts() -> None:
    match = started()
    match.do(OfferDraw("alice"))
    match.do(OfferDraw("bob"))
    assert match.state.reason == "draw-agreed"


def test_a_declined_offer_is_gone_and_comes_again_only_after_another_move() -> None:
    match = started()
    match.do(OfferDraw("alice"))
    assert match.do(DeclineDraw("bob")) == (e.DrawDeclined(match.now, 1),)
    assert refusal(match, AcceptDraw("bob")).code == "no-draw-offer"
    assert refusal(match, OfferDraw("alice")).code == "draw-already-offered"
    match.move("alice", "c3-d4")
    assert match.do(OfferDraw("alice")) == (e.DrawOffered(match.now, 0),)


def test_an_offer_lapses_when_the_other_moves_but_not_when_the_offering_player_does() -> None:
    match = started()
    match.do(OfferDraw("alice"))
    match.move("alice", "c3-d4")
    assert match.state.draw_agreed == (0,)
    match.move("bob", "b6-a5")
    assert match.state.draw_agreed == ()
    assert refusal(match, AcceptDraw("bob")).code == "no-draw-offer"


def test_nobody_answers_their_own_offer() -> None:
    match = started()
    match.do(OfferDraw("alice"))
    for command, code in (
        (AcceptDraw("alice"), "no-draw-offer"),
        (DeclineDraw("alice"), "no-draw-offer"),
        (OfferDraw("alice"), "draw-already-offered"),
        (AcceptDraw("carol"), "not-your-seat"),
        (OfferDraw("carol"), "not-your-seat"),
        (DeclineDraw("carol"), "not-your-seat"),
    ):
        assert refusal(match, command).code == code


def test_all_four_must_agree_to_a_draw() -> None:
    match = started_by_four()
    match.do(OfferDraw("bob"))
    for player in ("wendy", "rita"):
        assert match.do(AcceptDraw(player)) == (e.DrawAccepted(match.now, FOUR.index(player)),)
        assert refusal(match, AcceptDraw(player)).code == "no-draw-offer"
    assert match.state.draw_agreed == (3, 0, 2)
    assert match.do(AcceptDraw("blue"))[1] == e.MatchFinished(match.now, (0.25,) * 4, "draw-agreed")


def test_one_of_four_who_declines_ends_the_offer() -> None:
    match = started_by_four()
    match.do(OfferDraw("bob"))
    match.do(AcceptDraw("wendy"))
    match.do(DeclineDraw("rita"))
    assert match.state.draw_agreed == ()
    assert refusal(match, AcceptDraw("blue")).code == "no-draw-offer"


def test_an_offer_among_four_outlives_the_moves_of_those_who_agree() -> None:
    match = started_by_four()
    match.do(OfferDraw("bob"))
    match.do(AcceptDraw("wendy"))
    match.move("wendy", match.legal_moves()[0])
    assert match.state.draw_agreed == (3, 0)
    match.move("blue", match.legal_moves()[0])
    assert match.state.draw_agreed == ()


@pytest.mark.parametrize("ending", [Resign("alice"), AbortMatch("alice")])
def test_nothing_happens_in_a_match_that_is_over(ending: Command) -> None:
    match = started()
    match.do(ending)
    for command in (
        JoinMatch("carol"),
        SubmitMove("alice", "c3-d4"),
        Resign("bob"),
        AbortMatch("bob"),
        OfferDraw("bob"),
        AcceptDraw("bob"),
        DeclineDraw("bob"),
    ):
        assert refusal(match, command).code == "match-over"


def test_time_never_runs_backwards_within_a_match() -> None:
    match = started()
    before = match.state.updated_at
    (moved,) = match.do(SubmitMove("alice", "c3-d4"), at=before - 5000)
    assert moved.at == before
    (moved,) = match.do(SubmitMove("bob", "b6-a5"), at=before + 5)
    assert moved.at == before + 5
