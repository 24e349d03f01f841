"""How events make the state of a match and a replay the same one; what opponents do follows from a seed."""

from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from domain.games import GAMES
from domain.match import events as e
from domain.match.clock import new_clock
from domain.match.commands import (
    AbortMatch,
    AcceptDraw,
    AcceptTakeback,
    CallTime,
    Command,
    CreateMatch,
    DeclineDraw,
    ForgiveFlag,
    JoinMatch,
    OfferDraw,
    OpenCase,
    RequestTakeback,
    Resign,
    SubmitMove,
)
from domain.match.decide import decide
from domain.match.enums import Ground, RulingKind, Status
from domain.match.evolve import evolve, replay
from domain.match.opponents import takes_draw
from domain.match.refusals import CommandError
from domain.match.state import MatchState, Offers, Play, Seat
from domain.match.terms import DAY, STANDARD
from tests.support.bundles import against_an_opponent, answered, flagged, resigned
from tests.support.cases import WORDS, ruling
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


TAKEBACKS = STANDARD._replace(takebacks=True)


def drawn(match: PlayedMatch, *commands: Command) -> bool:
    """Carry ``commands`` out; return whether the match has another seed since."""
    before = match.state.seed
    for command in commands:
        match.do(command)
    seeds = [event.seed for event in match.events if isinstance(event, e.SeedDrawn)]
    assert match.state.seed == (seeds[-1] if seeds else before)
    return match.state.seed != before


def ended(match: PlayedMatch) -> PlayedMatch:
    """Return ``match`` after alice has given it up."""
    match.do(Resign(player="alice"))
    return match


def test_a_match_that_is_taken_back_by_a_ruling_goes_on_with_a_seed_that_nobody_knows() -> None:
    match = ended(against_an_opponent())
    assert drawn(
        match, OpenCase(arbiter="olga", ply=2, ground=Ground.CLOCK, statement=WORDS), ruling("take-back", ply=1)
    )
    assert match.state.status == Status.PLAYING


def test_a_running_match_that_is_taken_back_has_another_seed_for_the_seeds_of_its_moves_are_known() -> None:
    assert drawn(
        against_an_opponent(),
        OpenCase(arbiter="olga", ply=2, ground=Ground.CLOCK, statement=WORDS),
        ruling("take-back", ply=1),
    )


def test_moves_that_are_taken_back_by_request_are_answered_from_another_seed() -> None:
    match = PlayedMatch(creation(Seat.taken("alice"), Seat.opponent(1), rated=False, terms=TAKEBACKS))
    match.move("alice", "c3-d4")
    answered(match)
    assert drawn(match, RequestTakeback(player="alice"))


def test_a_match_that_was_annulled_while_it_was_played_goes_on_with_another_seed() -> None:
    match = against_an_opponent()
    assert not drawn(match, OpenCase(arbiter="olga", ply=2, ground=Ground.CLOCK, statement=WORDS), ruling("annul"))
    assert drawn(match, OpenCase(arbiter="olga", ply=2, ground=Ground.CLOCK, statement=WORDS), ruling("restore"))


def test_a_match_that_is_over_again_once_it_is_restored_needs_no_seed() -> None:
    match = ended(against_an_opponent())
    cases: list[Command] = [
        OpenCase(arbiter="olga", ply=2, ground=Ground.CLOCK, statement=WORDS),
        ruling("annul"),
        OpenCase(arbiter="olga", ply=2, ground=Ground.CLOCK, statement=WORDS),
        ruling("restore"),
    ]
    assert not drawn(match, *cases)
    assert match.state.status == Status.FINISHED


def test_a_flag_of_an_opponent_that_is_forgiven_costs_it_its_seed() -> None:
    match = against_an_opponent()
    match.move("alice", "d4-c5" if "d4-c5" in match.legal_moves() else match.legal_moves()[0])
    match.do(CallTime(), match.now + 30 * DAY)
    assert match.state.status == Status.FINISHED
    assert drawn(match, ForgiveFlag(player="alice"))


def test_people_need_no_seeds() -> None:
    assert not drawn(flagged(), ForgiveFlag(player="bob"))
    assert not drawn(
        resigned(), OpenCase(arbiter="olga", ply=2, ground=Ground.CLOCK, statement=WORDS), ruling("take-back", ply=1)
    )
    match = started(TAKEBACKS)
    match.move("alice", "c3-d4")
    assert not drawn(match, RequestTakeback(player="alice"), AcceptTakeback(player="bob"))


def test_without_a_seed_a_match_does_not_go_on() -> None:
    match = ended(against_an_opponent())
    match.do(OpenCase(arbiter="olga", ply=2, ground=Ground.CLOCK, statement=WORDS))
    with pytest.raises(ValueError, match="goes on with seeds that are known, and there is no other"):
        decide(match.state, ruling("take-back", ply=1), match.now)


def test_an_opponent_on_several_seats_takes_no_draw_and_a_person_is_not_asked() -> None:
    seats = (Seat.taken("wendy"), Seat.opponent(1), Seat.open(), Seat.opponent(1))
    match = PlayedMatch(creation(*seats, creator="wendy", game="towers", setup="four-player"))
    match.do(JoinMatch(player="rita"))
    assert not takes_draw(match.state, 1, None)
    with pytest.raises(ValueError, match="no opponent has seat 0"):
        takes_draw(match.state, 0, None)
