"""How events make the state of a match, and that a replay makes the same one."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.games import GAMES
from domain.match import events as e
from domain.match.clock import new_clock
from domain.match.commands import (
    AbortMatch,
    AcceptDraw,
    Command,
    CreateMatch,
    DeclineDraw,
    JoinMatch,
    OfferDraw,
    Resign,
    SubmitMove,
)
from domain.match.enums import RulingKind, Status
from domain.match.evolve import evolve, replay
from domain.match.refusals import CommandError
from domain.match.state import MatchState, Offers, Play, Seat
from domain.match.terms import STANDARD
from tests.support.draws import draws
from tests.support.matches import FOUR, T0, PlayedMatch, creation, started

BASHNI = GAMES["bashni"]


def test_a_created_match_stands_at_the_start_of_its_setup() -> None:
    state = PlayedMatch(creation(seed="5")).state
    assert state == MatchState(
        match_id="m", version=1, creator="alice", game="bashni", ruleset=1, setup="start",
        seats=(Seat.taken("alice"), Seat.open()), rated=True, private=False, seed="5", status=Status.OPEN,
        created_at=T0 + 1000, updated_at=T0 + 1000, play=Play(position=BASHNI.initial("start"), last_ply=(0, 0)),
        offers=Offers(draw_offered_at=(None, None), takeback_asked_at=(None, None), requests=(0, 0), gifts=(0, 0)),
        clock=new_clock(STANDARD, 2),
    )  # fmt: skip


def test_a_move_changes_the_position_and_keeps_the_earlier_one() -> None:
    match = started()
    start = match.state.play.position
    match.move("alice", "c3-d4")
    state = match.state
    assert state.play.position == BASHNI.play(start, BASHNI.parse_move(start, "c3-d4"))
    assert (state.play.history, state.play.moves, state.play.last_ply) == ((start,), ("c3-d4",), (1, 0))
    assert (state.version, state.updated_at) == (4, match.now)
    assert state.created_at == match.events[0].at


def test_a_draw_offer_is_kept_with_the_ply_it_was_made_at() -> None:
    match = started()
    match.move("alice", "c3-d4")
    match.do(OfferDraw(player="bob"))
    assert (match.state.offers.draw_agreed, match.state.offers.draw_offered_at) == ((1,), (None, 1))
    match.do(DeclineDraw(player="alice"))
    assert (match.state.offers.draw_agreed, match.state.offers.draw_offered_at) == ((), (None, 1))


@pytest.mark.parametrize("command", [Resign(player="alice"), AbortMatch(player="bob"), AcceptDraw(player="alice")])
def test_no_offer_is_left_when_a_match_has_ended(command: Command) -> None:
    match = started()
    match.do(OfferDraw(player="bob"))
    match.do(command)
    assert match.state.ended
    assert match.state.offers.draw_agreed == ()


def test_a_stream_begins_with_the_creation_and_has_only_one() -> None:
    match = started()
    with pytest.raises(ValueError, match="does not begin with its creation"):
        evolve(None, e.MatchStarted(at=T0), "m")
    with pytest.raises(ValueError, match="created a second time at version 4"):
        evolve(match.state, match.events[0], "m")


def test_a_match_under_a_ruleset_that_is_not_installed_is_broken_and_says_which() -> None:
    created = PlayedMatch().events[0]
    assert isinstance(created, e.MatchCreated)
    state = evolve(None, replace(created, ruleset=99), "m")
    assert state.play.position is None
    assert "ruleset 99 of 'bashni'" in str(state.play.broken)


def test_a_recorded_move_that_the_rules_forbid_leaves_a_broken_match_at_the_position_before() -> None:
    match = started()
    state = evolve(match.state, e.MoveSubmitted(at=T0, seat=0, ply=1, move="c3xe5"), "m")
    assert str(state.play.broken).startswith("ply 1, c3xe5: ")
    assert (state.play.position, state.play.moves, state.play.unplayed, state.play.plies) == (
        match.state.play.position,
        (),
        ("c3xe5",),
        1,
    )
    assert state.clock is not None
    assert state.clock.seat is None


def test_a_replay_of_nothing_is_nothing() -> None:
    assert replay("m", []) is None
    assert replay("m", [], started().state) == started().state


def play_at_random(create: CreateMatch, draw: st.DataObject) -> PlayedMatch:
    """Return a match in which players, strangers among them, have tried things in an order that hypothesis chooses."""
    match = PlayedMatch(create)
    people = st.sampled_from([*FOUR, "stranger", "opponent-1"])
    verbs = st.sampled_from([AcceptDraw, DeclineDraw, OfferDraw, JoinMatch, JoinMatch, JoinMatch])
    for _ in range(draw.draw(st.integers(0, 40))):
        kind = draw.draw(st.integers(0, 19))
        command: Command
        if kind == 0:
            command = draw.draw(st.sampled_from([Resign, AbortMatch]))(player=draw.draw(people))
        elif kind < 8:
            command = draw.draw(verbs)(player=draw.draw(people))
        elif moves := match.legal_moves():
            to_move = match.state.seats[GAMES[create.game].to_move(match.state.play.position)].player
            command = SubmitMove(player=to_move or "nobody", move=moves[draw.draw(st.integers(0, len(moves) - 1))])
        else:
            continue
        before = (match.state, list(match.events))
        try:
            match.do(command, at=match.now + draw.draw(st.integers(-5000, 5000)))
        except CommandError:
            assert (match.state, match.events) == before
    return match


OPEN = Seat.open()
CREATIONS = [
    creation(Seat.taken("wendy"), OPEN, creator="wendy"),
    creation(OPEN, Seat.invited("bob"), creator="rita", rated=False),
    creation(Seat.opponent(1), Seat.taken("bob"), creator="bob"),
    creation(Seat.taken("wendy"), OPEN, creator="wendy", game="towers", setup="two-player"),
    creation(
        Seat.taken("wendy"), OPEN, Seat.invited("rita"), OPEN, creator="wendy", game="towers", setup="four-player"
    ),
]


@draws(60)
@given(create=st.sampled_from(CREATIONS), draw=st.data())
def test_a_replay_makes_the_state_that_play_made(create: CreateMatch, draw: st.DataObject) -> None:
    match = play_at_random(create, draw)
    assert replay("m", match.events) == match.state
    half = len(match.events) // 2
    assert replay("m", match.events[half:], replay("m", match.events[:half])) == match.state


@draws(60)
@given(create=st.sampled_from(CREATIONS), draw=st.data())
def test_whatever_players_try_a_match_stays_sound(create: CreateMatch, draw: st.DataObject) -> None:
    match = play_at_random(create, draw)
    state = match.state
    assert [event.at for event in match.events] == sorted(event.at for event in match.events)
    assert state.version == len(match.events)
    moves = [event for event in match.events if isinstance(event, e.MoveSubmitted)]
    assert [move.ply for move in moves] == list(range(1, len(moves) + 1))
    endings = [event for event in match.events if isinstance(event, e.MatchFinished | e.MatchAborted)]
    assert len(endings) == state.ended
    assert not endings or match.events[-1] == endings[0]
    people = [seat.player for seat in state.seats if seat.player is not None and seat.level is None]
    assert len(people) == len(set(people))
    if state.result.scores is not None:
        assert sum(state.result.scores) == pytest.approx(1)
        assert len(state.result.scores) == len(state.seats)


@pytest.mark.parametrize(
    "event",
    [
        e.TakebackAccepted(at=T0, seat=1),
        e.FlagForgiven(at=T0, seat=1),
        e.MatchRestored(at=T0),
        e.RulesetAccepted(at=T0, seat=1),
        e.RulingMade(
            at=T0, dispute=1, arbiter="ann", ruling=RulingKind.LET_STAND, reason="0" * 64, rule="1" * 64, appeal=False
        ),
    ],
    ids=lambda event: type(event).__name__,
)
def test_an_event_that_answers_what_never_was_is_no_part_of_a_match_and_named_by_its_version(event: e.Event) -> None:
    match = started()
    with pytest.raises(ValueError, match=f"match m .*at version {match.state.version + 1}"):
        evolve(match.state, event, "m")
