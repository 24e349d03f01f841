"""What time does in a match: flags by themselves and by claim, forgiveness, gifts, pauses, calendars, late moves."""

import pytest

from domain.match import events as e
from domain.match.clock import Forecast, falls_at, forecast
from domain.match.commands import (
    AbortMatch,
    AcceptDraw,
    AcceptTakeback,
    CallTime,
    Command,
    ForgiveFlag,
    GiveTime,
    JoinMatch,
    OfferDraw,
    PauseClock,
    RequestTakeback,
    Resign,
    ResumeClock,
    SubmitMove,
)
from domain.match.decisions.timekeeping import MAX_FORGIVING_MS, MAX_GIFT_MS
from domain.match.due import deadline_of
from domain.match.enums import FlagRule, Limit, PauseReason, Status
from domain.match.evolve import replay
from domain.match.refusals import CommandError
from domain.match.state import CLOCK, Fallen
from domain.match.terms import DAY, HOUR, MAX_OPEN_MS, MAX_UNCLAIMED_MS, STANDARD, Terms, days_per_move
from tests.support.matches import PlayedMatch, creation, started, started_by_four

BY_CLAIM = STANDARD._replace(flag=FlagRule.CLAIM)


def under_way(terms: Terms = STANDARD) -> PlayedMatch:
    """Return a match in which alice and bob have made their first moves, alice to move."""
    match = started(terms)
    match.move("alice", "c3-d4")
    match.move("bob", "b6-a5")
    return match


def deadline(match: PlayedMatch) -> int:
    """Return when time itself will change ``match``."""
    at = deadline_of(match.state)
    assert at is not None
    return at


def code_of(match: PlayedMatch, command: Command, at: int | None = None) -> str:
    """Return the code of the refusal of ``command``; the match must be as before."""
    before = match.state
    with pytest.raises(CommandError) as refused:
        match.do(command, at)
    assert match.state == before
    assert str(refused.value)
    return refused.value.code


def test_a_flag_falls_at_its_instant_and_not_a_millisecond_before() -> None:
    match = under_way()
    at = deadline(match)
    assert at == match.now + 11 * DAY - 1000
    assert code_of(match, CallTime(), at - 1) == "time-not-up"
    assert match.do(CallTime(), at) == (
        e.FlagFell(at=at, seat=0, deadline=at, limit=Limit.TIME),
        e.MatchFinished(at=at, scores=(0.0, 1.0), reason="flag"),
    )
    assert match.state.result.fallen == Fallen(seat=0, deadline=at, at=at)
    assert deadline_of(match.state) is None


def test_a_flag_that_is_recorded_late_fell_at_its_instant_all_the_same() -> None:
    match = under_way()
    at = deadline(match)
    (fell, _) = match.do(CallTime(), at + 5 * HOUR)
    assert fell == e.FlagFell(at=at + 5 * HOUR, seat=0, deadline=at, limit=Limit.TIME)


@pytest.mark.parametrize("late", [0, 1, DAY])
def test_a_late_move_never_counts_whether_the_flag_is_recorded_or_not(late: int) -> None:
    match = under_way()
    at = deadline(match)
    for command in (
        SubmitMove(player="alice", move="g3-h4"),
        OfferDraw(player="alice"),
        Resign(player="alice"),
        RequestTakeback(player="alice"),
        GiveTime(player="bob", seat=0, time=DAY),
    ):
        assert code_of(match, command, at + late) == "time-up"
    match.do(CallTime(), at + late)
    assert code_of(match, SubmitMove(player="alice", move="g3-h4")) == "match-over"


def test_a_move_in_the_last_millisecond_counts_and_then_no_flag_falls() -> None:
    match = under_way()
    at = deadline(match)
    match.do(SubmitMove(player="alice", move="g3-h4"), at - 1)
    assert code_of(match, CallTime(), at) == "time-not-up"
    assert match.state.clock is not None
    assert match.state.clock.remaining[0] == DAY + 1


def test_a_late_move_is_refused_with_the_name_of_the_seat_whose_time_is_up() -> None:
    match = under_way()
    match.move("alice", "g3-h4")
    with pytest.raises(CommandError, match="the time of Black is up"):
        match.do(SubmitMove(player="bob", move="h6-g5"), deadline(match))


def test_a_draw_is_not_agreed_after_the_flag() -> None:
    match = under_way()
    match.do(OfferDraw(player="bob"))
    assert code_of(match, AcceptDraw(player="alice"), deadline(match)) == "time-up"


def test_who_does_not_make_a_first_move_calls_the_match_off_without_losing() -> None:
    match = started()
    at = deadline(match)
    assert at == match.now + 7 * DAY
    assert match.do(CallTime(), at) == (
        e.FlagFell(at=at, seat=0, deadline=at, limit=Limit.FIRST_MOVE),
        e.MatchAborted(at=at, player=CLOCK),
    )
    assert (match.state.status, match.state.result.scores) == (Status.ABORTED, None)
    assert code_of(match, ForgiveFlag(player="bob")) == "nothing-to-forgive"


def test_a_match_whose_seats_stay_open_is_called_off() -> None:
    match = PlayedMatch(creation())
    at = deadline(match)
    assert at == match.state.created_at + MAX_OPEN_MS
    assert code_of(match, CallTime(), at - 1) == "match-not-started"
    assert code_of(match, CallTime(player="alice"), at) == "match-not-started"
    assert match.do(CallTime(), at) == (e.MatchAborted(at=at, player=CLOCK),)


def test_a_flag_by_claim_waits_for_the_claim_and_until_then_moves_count() -> None:
    match = under_way(BY_CLAIM)
    up = deadline(match) - MAX_UNCLAIMED_MS
    assert code_of(match, CallTime(player="bob"), up - 1) == "time-not-up"
    assert code_of(match, CallTime(), up + DAY) == "time-not-up"
    assert code_of(match, CallTime(player="alice"), up + DAY) == "time-not-up"
    assert code_of(match, CallTime(player="carol"), up + DAY) == "not-your-seat"
    match.do(SubmitMove(player="alice", move="g3-h4"), up + DAY)
    assert match.state.clock is not None
    assert match.state.clock.remaining[0] == DAY
    match = under_way(BY_CLAIM)
    assert match.do(CallTime(player="bob"), up + DAY)[0] == e.FlagFell(
        at=up + DAY, seat=0, deadline=up, limit=Limit.TIME, claimed_by=1
    )


def test_a_flag_that_nobody_claims_falls_by_itself_in_the_end() -> None:
    match = under_way(BY_CLAIM)
    at = deadline(match)
    assert code_of(match, SubmitMove(player="alice", move="g3-h4"), at) == "time-up"
    assert match.do(CallTime(), at)[0] == e.FlagFell(at=at, seat=0, deadline=at - MAX_UNCLAIMED_MS, limit=Limit.TIME)


def test_a_first_move_is_due_at_once_in_a_match_by_claim_too() -> None:
    match = started(BY_CLAIM)
    assert deadline(match) == match.now + 7 * DAY


def test_among_four_who_is_flagged_leaves_and_the_match_goes_on() -> None:
    match = started_by_four(game="fourplay", setup="standard")
    for player, move in zip(("wendy", "blue", "rita", "bob"), ("a1-a2", "a12-b8", "j14-i13", "j2-i1"), strict=True):
        match.move(player, move)
    at = deadline(match)
    assert match.do(CallTime(), at) == (e.FlagFell(at=at, seat=0, deadline=at, limit=Limit.TIME),)
    assert match.state.status == Status.PLAYING
    assert match.state.clock is not None
    assert forecast(match.state.clock) == Forecast(seat=1, at=at + 11 * DAY - 1000, limit=Limit.TIME)
    assert code_of(match, CallTime(player="wendy"), deadline(match)) == "no-longer-playing"
    assert code_of(match, ForgiveFlag(player="blue")) == "nothing-to-forgive"
    assert replay("m", match.events) == match.state
    match.do(CallTime(player="rita"), deadline(match))
    match.do(CallTime(), deadline(match))
    assert match.state.status == Status.FINISHED
    assert match.state.result.scores == (0.0, 0.3333, 0.6667, 1.0)


def test_when_another_seat_leaves_the_turn_goes_on_as_it_was() -> None:
    match = started_by_four(days_per_move(3), "fourplay", "standard")
    at = deadline(match)
    match.do(Resign(player="rita"), match.now + DAY)
    assert deadline(match) == at


def test_the_winner_forgives_and_the_match_goes_on() -> None:
    match = under_way()
    match.do(CallTime(), deadline(match))
    assert code_of(match, ForgiveFlag(player="alice")) == "nothing-to-forgive"
    assert code_of(match, ForgiveFlag(player="carol")) == "not-your-seat"
    assert match.state.result.fallen is not None
    at = match.state.result.fallen.at + MAX_FORGIVING_MS
    assert code_of(match, ForgiveFlag(player="bob"), at + 1) == "too-late-to-forgive"
    assert match.do(ForgiveFlag(player="bob"), at) == (e.FlagForgiven(at=at, seat=1),)
    assert (match.state.status, match.state.result.scores, match.state.result.fallen) == (Status.PLAYING, None, None)
    assert deadline(match) == at + 3 * DAY
    match.move("alice", "g3-h4")
    assert code_of(match, ForgiveFlag(player="bob")) == "nothing-to-forgive"
    assert replay("m", match.events) == match.state


def test_only_a_flag_can_be_forgiven() -> None:
    match = under_way()
    match.do(Resign(player="alice"))
    assert code_of(match, ForgiveFlag(player="bob")) == "nothing-to-forgive"


def test_a_match_taken_back_to_its_start_is_not_aborted_once_time_is_up() -> None:
    match = started(STANDARD._replace(takebacks=True))
    match.move("alice", "c3-d4")
    match.do(RequestTakeback(player="alice"))
    match.do(AcceptTakeback(player="bob"))
    assert code_of(match, AbortMatch(player="alice"), deadline(match)) == "time-up"
    match.do(CallTime(), deadline(match))
    assert match.state.result.scores == (0.0, 1.0)


def test_time_is_given_to_another_seat_while_the_match_is_played() -> None:
    match = under_way()
    at = deadline(match)
    assert match.do(GiveTime(player="bob", seat=0, time=2 * DAY)) == (
        e.TimeGiven(at=match.now, seat=1, to=0, time=2 * DAY),
    )
    assert deadline(match) == at + 2 * DAY
    for smallest_and_largest in (HOUR, MAX_GIFT_MS):
        assert match.do(GiveTime(player="alice", seat=1, time=smallest_and_largest))


@pytest.mark.parametrize(
    ("command", "code", "field"),
    [
        (GiveTime(player="bob", seat=1, time=DAY), "invalid-seats", "seat"),
        (GiveTime(player="bob", seat=2, time=DAY), "invalid-seats", "seat"),
        (GiveTime(player="bob", seat=-1, time=DAY), "invalid-seats", "seat"),
        (GiveTime(player="bob", seat=0, time=HOUR - 1), "invalid-gift", "seconds"),
        (GiveTime(player="bob", seat=0, time=MAX_GIFT_MS + 1), "invalid-gift", "seconds"),
        (GiveTime(player="carol", seat=0, time=DAY), "not-your-seat", None),
    ],
)
def test_a_gift_that_cannot_be_given_is_refused(command: Command, code: str, field: str | None) -> None:
    match = under_way()
    with pytest.raises(CommandError) as refused:
        match.do(command)
    assert (refused.value.code, refused.value.field) == (code, field)


def test_gifts_are_not_piled_up_for_ever() -> None:
    match = under_way()
    match.do(GiveTime(player="bob", seat=0, time=MAX_GIFT_MS))
    match.do(GiveTime(player="bob", seat=0, time=9 * DAY))
    assert code_of(match, GiveTime(player="bob", seat=0, time=HOUR)) == "invalid-gift"


def test_nobody_gives_time_to_a_seat_that_has_left() -> None:
    match = started_by_four(game="fourplay", setup="standard")
    match.do(Resign(player="rita"))
    assert code_of(match, GiveTime(player="bob", seat=2, time=DAY)) == "invalid-seats"


def test_a_vacation_stops_the_clock_if_the_terms_allow_it_and_is_recorded_once() -> None:
    match = under_way()
    at = deadline(match)
    pause = PauseClock(reason=PauseReason.VACATION, player="alice", since=match.now, until=match.now + 5 * DAY)
    assert match.do(pause) == (
        e.ClockPaused(
            at=match.now, reason=PauseReason.VACATION, since=match.now - 1000, seat=0, until=match.now - 1000 + 5 * DAY
        ),
    )
    assert deadline(match) == at + 5 * DAY
    assert match.do(pause) == ()
    strict = under_way(STANDARD._replace(vacations=False))
    assert (
        strict.do(PauseClock(reason=PauseReason.VACATION, player="alice", since=strict.now, until=strict.now + 5 * DAY))
        == ()
    )


def test_a_pause_that_has_no_length_is_none() -> None:
    match = under_way()
    assert match.do(PauseClock(reason=PauseReason.VACATION, player="alice", since=match.now, until=match.now)) == ()


def test_coming_back_starts_the_clock_again() -> None:
    match = under_way()
    at = deadline(match)
    match.do(
        PauseClock(reason=PauseReason.VACATION, player="alice", since=match.now, until=match.now + 9 * DAY), match.now
    )
    since = match.now
    match.do(ResumeClock(reason=PauseReason.VACATION, player="alice"), since + 2 * DAY)
    assert deadline(match) == at + 2 * DAY
    assert match.do(ResumeClock(reason=PauseReason.VACATION, player="alice")) == ()


def test_pauses_may_be_known_before_the_start() -> None:
    match = PlayedMatch()
    match.do(PauseClock(reason=PauseReason.VACATION, player="alice", since=match.now, until=match.now + 20 * DAY))
    match.do(JoinMatch(player="bob"))
    assert match.state.clock is not None
    assert falls_at(match.state.clock) == match.events[0].at + 27 * DAY


def test_no_pause_is_recorded_in_a_match_that_is_over() -> None:
    match = under_way()
    match.do(Resign(player="alice"))
    for command in (
        PauseClock(reason=PauseReason.VACATION, player="alice", since=match.now, until=match.now + DAY),
        ResumeClock(reason=PauseReason.VACATION, player="alice"),
    ):
        assert match.do(command) == ()


def test_while_a_clock_stands_still_without_end_no_time_can_be_called() -> None:
    match = under_way()
    match.do(PauseClock(reason=PauseReason.ARBITER, player=None, since=match.now))
    assert deadline_of(match.state) is None
    for player in (None, "bob"):
        assert code_of(match, CallTime(player=player), match.now + 900 * DAY) == "time-not-up"
