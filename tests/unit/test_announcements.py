"""What the live region of the match page says of what has happened: a sentence for every type of event."""

from dataclasses import replace

import pytest

from api.pages.announcements import WORDS, Audience, describe_events, describe_rematch, last_move
from api.pages.available_actions import find_consequences
from domain.match import commands as c, events as e
from domain.match.enums import Ground
from domain.match.event_types import TYPES
from domain.match.lines import ConditionalMoves, Line, arranged
from domain.match.state import MatchState, Seat
from domain.match.terms import days_per_move
from events.store.codec import event_of
from events.store.envelope import Envelope
from tests.support.matches import T0, PlayedMatch, creation, started, started_by_four
from tests.support.tables import table

ALICE, BOB, ONLOOKER = 0, 1, None
NEVER_TOLD = {e.SeedDrawn}


def audience(state: MatchState, seat: int | None, *names: str) -> Audience:
    """Return the listener at ``seat`` of a match in which the players are called by their ids, or by ``names``."""
    called = names or tuple(str(each.player) for each in state.seats)
    seat_names = ("White", "Black") if len(called) == 2 else ("White", "Blue", "Red", "Black")
    return Audience(state, seat, called, seat_names, tuple(state.play.moves))


def told(event: e.Event, seat: int | None) -> str:
    """Return what the listener at ``seat`` is told of ``event`` in a match of alice and bob that waits for nobody."""
    state = started().state
    state = replace(state, cases=replace(state.cases, frozen=True))
    return " ".join(describe_events((), (event,), audience(state, seat)))


SAID = [
    (event_of(Envelope("", "m", 1, kind, 1, T0, "", content)), said)
    for kind, content, said in table(__file__, "what alice is told")
]
"""Events and what alice is told of them, who plays White."""


@pytest.mark.parametrize(("event", "words"), SAID)
def test_alice_is_told_of_an_event_in_a_sentence(event: e.Event, words: str) -> None:
    assert told(event, ALICE) == words


def test_every_type_of_event_has_words() -> None:
    assert set(WORDS) == set(TYPES.values())
    assert {type(event) for event, _ in SAID} == set(TYPES.values()) - NEVER_TOLD
    assert told(e.SeedDrawn(at=T0, seed="8"), ALICE) == ""


def test_nobody_but_the_player_is_addressed() -> None:
    for event, _ in SAID:
        assert "you" not in told(event, ONLOOKER).lower().split()
    assert told(e.MoveSubmitted(at=T0, seat=ALICE, ply=1, move="c3-d4"), BOB) == "alice played c3-d4."


def test_several_events_are_one_text_that_ends_with_the_turn() -> None:
    match = started()
    seen = len(match.events)
    match.move("alice", "c3-d4")
    match.move("bob", "b6-a5")
    news = match.events[seen:]
    assert describe_events((), news, audience(match.state, ALICE)) == [
        "You played c3-d4.",
        "bob played b6-a5.",
        "It is your turn.",
    ]
    assert describe_events((), news, audience(match.state, BOB)) == ["alice played c3-d4.", "You played b6-a5."]
    assert describe_events((), (), audience(match.state, ALICE)) == []
    assert last_move(audience(match.state, ALICE)) == "bob played b6-a5."
    assert last_move(audience(started().state, ALICE)) == "No move has been played."


def test_moves_in_a_row_are_one_sentence_and_many_are_counted() -> None:
    state = started_by_four(game="fourplay", setup="draft").state
    placed = [
        e.MoveSubmitted(at=T0, seat=0, ply=ply, move=move) for ply, move in enumerate(("K@a1", "R@a2", "done"), 1)
    ]
    assert describe_events((), placed, audience(state, 1)) == ["wendy played K@a1, R@a2 and done."]
    army = [*placed[:1] * 8, placed[-1]]
    assert describe_events((), army, audience(state, 2)) == ["wendy played 9 moves, the last one done."]


def test_a_check_is_a_word_and_a_demand_of_the_rules_follows_the_turn() -> None:
    match = started()
    match.move("alice", "c3-d4")
    listener = audience(match.state, BOB)
    for spelled, words in (("Kd4+", "alice played Kd4. Check."), ("Kd4#", "alice played Kd4.")):
        assert describe_events((), match.events[-1:], listener._replace(spelled=(spelled,)))[0] == words
    match.move("bob", "b6-a5")
    seen = len(match.events)
    match.move("alice", "d4-c5")
    *_, turn, demand = describe_events((), match.events[seen:], audience(match.state, BOB))
    assert (turn, demand) == ("It is your turn.", "You must capture: d6 can.")


def test_a_result_is_told_after_what_brought_it_about() -> None:
    match = started()
    resigned = match.do(c.Resign(player="bob"))
    assert describe_events((), resigned, audience(match.state, ALICE)) == [
        "bob resigned.",
        "White has won by resignation.",
    ]


def test_a_frozen_match_is_nobodys_turn() -> None:
    match = started()
    raised = match.do(c.RaiseDispute(player="bob", ply=0, ground=Ground.CLOCK, statement="0" * 64))
    assert "turn" not in " ".join(describe_events((), raised, audience(match.state, ALICE)))


def test_who_withdraws_a_request_does_not_refuse_it() -> None:
    match = started(days_per_move(3)._replace(takebacks=True))
    match.move("alice", "c3-d4")
    asked = match.do(c.RequestTakeback(player="alice"))
    withdrawn = match.do(c.DeclineTakeback(player="alice"))
    expected = ["alice withdrew the request to take back a move.", "It is your turn."]
    assert describe_events(asked, withdrawn, audience(match.state, BOB)) == expected


def test_players_of_the_same_name_are_told_apart_by_their_seats() -> None:
    state = started_by_four().state
    move = e.MoveSubmitted(at=T0, seat=1, ply=2, move="a6")
    listener = audience(state, 3, "Computer, level 3", "Computer, level 3", "rita", "bob")
    assert describe_events((), (move,), listener) == ["Computer, level 3 (Blue) played a6."]


def test_a_move_is_told_as_the_list_spells_it_and_one_taken_back_as_it_was_recorded() -> None:
    match = started()
    match.move("alice", "c3-d4")
    listener = audience(match.state, BOB)._replace(spelled=("c3 to d4",))
    assert describe_events((), match.events[-1:], listener)[0] == "alice played c3 to d4."
    other = e.MoveSubmitted(at=T0, seat=ALICE, ply=1, move="g3-h4")
    assert describe_events((), (other,), listener)[0] == "alice played g3-h4."


def test_an_invitation_and_a_rematch_are_answered_in_words_of_their_own() -> None:
    invited = PlayedMatch(creation(Seat.taken("alice"), Seat.invited("bob")))
    off = invited.do(c.AbortMatch(player="bob"))
    assert describe_events((), off, audience(invited.state, ALICE)) == ["bob declined the invitation."]
    assert describe_rematch(invited.events, audience(invited.state, ALICE)) == [
        "You proposed a rematch.",
        "bob declined the rematch.",
    ]
    match = started()
    assert describe_rematch(match.events, audience(match.state, BOB)) == [
        "alice proposes a rematch.",
        "You accepted the rematch.",
        "The rematch has begun.",
    ]


def laid_down(match: PlayedMatch, player: str, line: Line) -> ConditionalMoves:
    """Return ``line`` as what ``player`` lays down in the match as it stands."""
    return ConditionalMoves(lines=arranged(match.state, player, (line,), match.now))


def test_declining_a_draw_says_which_conditional_move_is_played_then() -> None:
    match = started()
    orders = laid_down(match, "bob", Line(move="c3-d4", then=None, next=(Line(move="b6-a5"),)))
    match.do(c.SubmitMove(player="alice", move="c3-d4", offer_draw=True))
    match.orders[1] = orders
    found = find_consequences(match.state, "bob", orders, match.now)
    assert found == {"draw-refusal": "Your conditional move b6-a5 is then played."}
    declined = match.do(c.DeclineDraw(player="bob"))
    assert [event.move for event in declined if isinstance(event, e.MoveSubmitted)] == ["b6-a5"]
    assert find_consequences(match.state, "alice", None, match.now) == {}


def test_refusing_to_take_back_says_which_conditional_move_is_played_then() -> None:
    match = started(days_per_move(3)._replace(takebacks=True))
    orders = laid_down(match, "bob", Line(move="c3-d4", then=None, next=(Line(move="b6-a5"),)))
    match.move("alice", "c3-d4")
    match.do(c.RequestTakeback(player="alice"))
    found = find_consequences(match.state, "bob", orders, match.now)
    assert found == {"takeback-refusal": "Your conditional move b6-a5 is then played."}


def test_after_a_move_it_is_told_what_the_rules_demand_and_who_is_in_check() -> None:
    match = started()
    for player, move in zip(("alice", "bob") * 2, ("c3-d4", "b6-a5", "b2-c3", "d6-c5"), strict=True):
        match.move(player, move)
    last = match.events[-1:]
    assert describe_events((), last, audience(match.state, ALICE))[1:] == [
        "It is your turn.",
        "You must capture: d4 can.",
    ]
    assert describe_events((), last, audience(match.state, BOB)) == ["You played d6-c5."]
    match = started_by_four(game="fourplay", setup="standard")
    match.move("wendy", "b3-n15")
    told = describe_events((), match.events[-1:], audience(match.state, 2))
    assert told == ["wendy played b3-n15.", "Your king on n14 is in check."]
