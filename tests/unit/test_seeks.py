"""Seeks: what may become of them, one match for each wish; terms as intervals, on which two wishes agree or not."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from domain.contest.aggregate import replay
from domain.contest.seek import commands as c, events as e
from domain.contest.seek.decide import SEEK, deadline, decide, due
from domain.contest.seek.evolve import evolve
from domain.contest.seek.state import Joining, Seek, SeekStatus, Taker
from domain.contest.wishes import (
    ANY_RATING,
    Common,
    Interval,
    SeekObstacle,
    SeekTerms,
    Wish,
    compatible,
    games_of,
    terms_of_match,
    usual_wait_days,
)
from domain.match.enums import Aids
from domain.match.refusals import CommandError
from domain.match.terms import DAY
from tests.support.draws import draws

TWO = SeekTerms(games=("bashni/start", "towers/two-player"), seats=2, days=Interval(2, 5), rated=True)
FOUR = replace(TWO, games=("fourplay/standard", "towers/four-player"), seats=4)
T0 = 1_000_000_000_000


class PlayedSeek:
    """A seek to which commands are given."""

    def __init__(self, terms: SeekTerms = TWO) -> None:
        self.seek: Seek | None = None
        self.events: list[e.Event] = []
        self.do(c.PostSeek("ann", terms))

    @property
    def state(self) -> Seek:
        assert self.seek is not None
        return self.seek

    def do(self, command: c.Command, at: int = T0) -> Seek:
        """Carry a command out; raises CommandError."""
        decided = decide(self.seek, command, at)
        self.events += decided
        self.seek = replay(SEEK, "seek-a", decided, self.seek)
        return self.state

    def take(self, player: str, **more: Any) -> Seek:
        terms = self.state.terms
        return self.do(
            c.TakeSeek(**{"player": player, "game": terms.games[0], "days": terms.days, "rating": 1500, **more})
        )

    def refusal(self, command: c.Command, at: int = T0) -> str:
        before = self.seek
        with pytest.raises(CommandError) as refused:
            self.do(command, at)
        assert self.seek == before
        return refused.value.code


def take(player: str = "bob", **more: Any) -> c.TakeSeek:
    return c.TakeSeek(**{"player": player, "game": "bashni/start", "days": Interval(2, 5), "rating": 1500, **more})


def test_the_last_seat_taken_makes_the_table_full_and_its_match_answers_the_seek() -> None:
    played = PlayedSeek()
    assert played.take("bob").status == SeekStatus.FULL
    assert played.refusal(take("cyd")) == "seek-refused"
    answered = played.do(c.StartTable(1, "m1"))
    assert answered.status == SeekStatus.ANSWERED
    assert answered.matches == ("m1",)
    assert played.refusal(take("cyd")) == "seek-over"


def test_a_table_of_four_fills_and_agrees_on_the_game_and_pace_of_its_first_takers() -> None:
    played = PlayedSeek(FOUR)
    played.take("bob", game="towers/four-player", days=Interval(4, 9))
    assert played.state.table.days == Interval(4, 5)
    assert played.refusal(take("cyd", game="fourplay/standard")) == "seek-refused"
    assert played.refusal(take("cyd", game="towers/four-player", days=Interval(2, 3))) == "seek-refused"
    played.take("cyd", game="towers/four-player")
    played.do(c.LeaveTable("bob"))
    assert [each.player for each in played.state.table.takers] == ["cyd"]
    played.take("dan", game="towers/four-player")
    assert played.take("eve", game="towers/four-player").status == SeekStatus.FULL


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (take("ann"), "seek-refused"),
        (take(game="four_towers/standard"), "seek-refused"),
        (take(days=Interval(6, 9)), "seek-refused"),
        (take(guest=True), "guests-play-unrated"),
        (take(rating=1399), "seek-refused"),
        (c.LeaveTable("bob"), "seek-refused"),
        (c.CloseSeek("bob"), "not-your-seek"),
        (c.SeatOpponents("ann", 3, "bashni/start"), "seek-refused"),
        (c.JoinSeek("seek-a"), "seek-refused"),
        (c.PostSeek("ann", TWO), "seek-refused"),
    ],
)
def test_what_a_seek_is_not_for_is_refused_and_changes_nothing(command: c.Command, code: str) -> None:
    assert PlayedSeek(replace(TWO, rating=Interval(1400, 1800))).refusal(command) == code


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"games": ()}, "games"),
        ({"games": ("bashni/start", "bashni/start")}, "games"),
        ({"games": ("fourplay/standard",)}, "games"),
        ({"seats": 3}, "seats"),
        ({"days": Interval(5, 2)}, "days"),
        ({"days": Interval(1, 31)}, "days"),
        ({"rating": Interval(1800, 1400)}, "rating"),
        ({"count": 11}, "count"),
        ({"count": 0}, "count"),
    ],
)
def test_terms_of_which_no_match_can_come_are_refused_with_their_field(change: dict[str, Any], field: str) -> None:
    with pytest.raises(CommandError) as refused:
        decide(None, c.PostSeek("ann", replace(TWO, **change)), T0)
    assert refused.value.field == field


def test_a_standing_seek_goes_on_until_all_its_matches_have_begun_each_against_another_person() -> None:
    played = PlayedSeek(replace(TWO, count=2))
    played.take("bob")
    assert played.do(c.StartTable(1, "m1")).status == SeekStatus.OPEN
    assert played.refusal(take("bob")) == "seek-refused"
    played.take("cyd")
    assert played.do(c.StartTable(2, "m2")).status == SeekStatus.ANSWERED


def test_a_seek_that_waits_at_another_table_cannot_be_taken_until_it_comes_back() -> None:
    played = PlayedSeek()
    played.do(c.JoinSeek("seek-b"))
    assert played.refusal(take()) == "seek-refused"
    assert played.do(c.ReturnSeek(Joining("seek-b", 2))).status == SeekStatus.JOINED
    assert played.do(c.ReturnSeek(Joining("seek-b", 1))).status == SeekStatus.OPEN
    played.do(c.JoinSeek("seek-c"))
    assert played.do(c.AnswerSeek(Joining("seek-b", 1), "m1")).status == SeekStatus.JOINED
    assert played.do(c.AnswerSeek(Joining("seek-c", 2), "m1")).status == SeekStatus.ANSWERED


def test_a_seek_with_others_at_its_table_joins_no_other() -> None:
    played = PlayedSeek(FOUR)
    played.take("bob")
    assert played.refusal(c.JoinSeek("seek-b")) == "seek-refused"


def test_a_withdrawn_seek_is_not_revived_by_what_comes_of_its_joining() -> None:
    played = PlayedSeek()
    played.do(c.JoinSeek("seek-b"))
    played.do(c.CloseSeek("ann"))
    assert played.do(c.AnswerSeek(Joining("seek-b", 1), "m1")).status == SeekStatus.WITHDRAWN


def test_a_full_table_is_not_withdrawn_and_one_without_a_match_is_cleared() -> None:
    played = PlayedSeek()
    played.take("bob", seek="seek-b", joining=1)
    assert played.refusal(c.CloseSeek("ann")) == "seek-refused"
    cleared = played.do(c.ClearTable(1, ("bob",), "bob has no place"))
    assert (cleared.status, cleared.table.takers, cleared.table.number) == (SeekStatus.OPEN, (), 2)
    assert cleared.gone == (Taker("bob", "seek-b", 1),)


def test_a_seek_expires_after_fourteen_days_and_not_while_it_waits_elsewhere() -> None:
    played = PlayedSeek()
    assert deadline(played.state) == T0 + 14 * DAY
    assert due(played.state, T0 + 14 * DAY - 1) is None
    played.do(c.JoinSeek("seek-b"))
    assert due(played.state, T0 + 20 * DAY) is None
    played.do(c.ReturnSeek(Joining("seek-b", 1)), T0 + 20 * DAY)
    expiry = due(played.state, T0 + 20 * DAY)
    assert expiry == c.ExpireSeek()
    assert played.do(expiry, T0 + 20 * DAY).status == SeekStatus.EXPIRED


def test_after_a_week_the_author_may_seat_opponents_in_the_empty_seats() -> None:
    played = PlayedSeek(FOUR)
    played.take("bob", game="towers/four-player")
    seating = c.SeatOpponents("ann", 3, "towers/four-player")
    assert played.refusal(seating, T0 + 7 * DAY - 1) == "seek-refused"
    assert played.refusal(c.SeatOpponents("ann", 3, "fourplay/standard"), T0 + 7 * DAY) == "seek-refused"
    full = played.do(seating, T0 + 7 * DAY)
    assert (full.status, full.table.level) == (SeekStatus.FULL, 3)


@pytest.mark.parametrize(
    ("other", "found"),
    [
        (TWO, Common("bashni/start", Interval(2, 5))),
        (replace(TWO, days=Interval(5, 9)), Common("bashni/start", Interval(5, 5))),
        (replace(TWO, days=Interval(6, 9)), SeekObstacle.PACE),
        (replace(TWO, games=("towers/two-player",)), Common("towers/two-player", Interval(2, 5))),
        (replace(TWO, games=("four_towers/standard",)), SeekObstacle.GAMES),
        (replace(TWO, rated=False), SeekObstacle.RATED),
        (replace(TWO, aids=Aids.BOOKS), SeekObstacle.AIDS),
        (FOUR, SeekObstacle.SEATS),
        (replace(TWO, rating=Interval(1700, 4000)), Common("towers/two-player", Interval(2, 5))),
        (replace(TWO, rating=Interval(1900, 4000)), SeekObstacle.RATING),
    ],
)
def test_two_wishes_agree_on_what_their_intervals_have_in_common(
    other: SeekTerms, found: Common | SeekObstacle
) -> None:
    ratings = {"bashni/start": 1600, "towers/two-player": 1800}
    assert compatible(Wish("ann", TWO, ratings, TWO.days), Wish("bob", other, {}, other.days)) == found


def test_nobody_agrees_with_oneself_and_the_slowest_common_pace_is_played() -> None:
    wish = Wish("ann", TWO, {}, TWO.days)
    assert compatible(wish, wish) == SeekObstacle.SAME_PERSON
    assert terms_of_match(TWO, Interval(2, 4)).bank == 4 * DAY


def _intervals(most: int) -> st.SearchStrategy[Interval]:
    return st.tuples(st.integers(0, most), st.integers(0, most)).map(lambda pair: Interval(min(pair), max(pair)))


_TERMS = st.builds(
    SeekTerms,
    games=st.lists(st.sampled_from(games_of(2)), min_size=1, unique=True).map(tuple),
    seats=st.sampled_from((2, 4)),
    days=_intervals(6),
    rated=st.booleans(),
    rating=_intervals(3) | st.just(ANY_RATING),
    aids=st.sampled_from((None, Aids.BOOKS)),
)
_WISHES = st.tuples(_TERMS, st.dictionaries(st.sampled_from(games_of(2)), st.integers(0, 3)))


@draws(200)
@given(_WISHES, _WISHES)
def test_wishes_agree_in_both_orders_and_only_on_what_each_accepts(one: Any, two: Any) -> None:
    first, second = Wish("ann", one[0], one[1], one[0].days), Wish("bob", two[0], two[1], two[0].days)
    forth, back = compatible(first, second), compatible(second, first)
    assert isinstance(forth, SeekObstacle) == isinstance(back, SeekObstacle)
    if isinstance(forth, Common):
        assert forth.game in {*one[0].games} & {*two[0].games}
        assert {*range(forth.days.least, forth.days.most + 1)} == {*range(one[0].days.least, one[0].days.most + 1)} & {
            *range(two[0].days.least, two[0].days.most + 1)
        }
        assert one[0].rating.contains(second.rating_in(forth.game))
        assert two[0].rating.contains(first.rating_in(forth.game))


_PEOPLE = st.sampled_from(("ann", "bob", "cyd", "dan", "eve"))
_COMMANDS = st.one_of(
    st.builds(
        c.TakeSeek,
        player=_PEOPLE,
        game=st.sampled_from(FOUR.games),
        days=st.just(FOUR.days),
        rating=st.just(1500),
        seek=st.none() | st.just("seek-t"),
        joining=st.integers(0, 2),
    ),
    st.builds(c.LeaveTable, player=_PEOPLE),
    st.builds(c.StartTable, number=st.integers(1, 4), match=st.sampled_from(("m1", "m2", "m3"))),
    st.builds(
        c.ClearTable, number=st.integers(1, 4), players=st.lists(_PEOPLE, max_size=2).map(tuple), reason=st.just("")
    ),
    st.builds(c.JoinSeek, seek=st.sampled_from(("seek-b", "seek-c"))),
    st.builds(c.ReturnSeek, joining=st.builds(Joining, seek=st.just("seek-b"), number=st.integers(1, 3))),
    st.builds(
        c.AnswerSeek,
        joining=st.builds(Joining, seek=st.just("seek-b"), number=st.integers(1, 3)),
        match=st.sampled_from(("m4", "m5")),
    ),
    st.builds(c.SeatOpponents, player=st.just("ann"), level=st.just(2), game=st.sampled_from(FOUR.games)),
    st.builds(c.CloseSeek, player=_PEOPLE),
    st.just(c.ExpireSeek()),
)


@draws(200)
@given(st.lists(st.tuples(_COMMANDS, st.integers(0, 3 * DAY)), max_size=25), st.integers(1, 3))
def test_whatever_is_asked_of_a_seek_it_gives_no_more_matches_than_it_was_for(steps: list[Any], wanted: int) -> None:
    played, at = PlayedSeek(replace(FOUR, count=wanted)), T0
    for command, passed in steps:
        at += passed
        before = played.state
        try:
            played.do(command, at)
        except CommandError:
            assert played.state == before
        seek = played.state
        seated = [each.player for each in seek.table.takers]
        assert len(seek.matches) <= wanted
        assert len(set(seated)) == len(seated) < seek.terms.seats
        assert seek.author not in seated
        assert not before.is_over or seek == before
        assert (seek.status == SeekStatus.JOINED) <= (not seated)
    # Each event is what its command decides again, and the whole is what its events say.
    state = None
    for event in played.events:
        command = SEEK.command_behind(state, event, "seek-a")
        assert decide(state, command, event.at) == (event,)
        state = evolve(state, event, "seek-a")
    assert state == played.state


def test_events_without_a_posting_or_with_a_second_one_are_no_seek() -> None:
    played = PlayedSeek()
    with pytest.raises(ValueError, match="does not begin"):
        evolve(None, e.SeekExpired(at=T0), "seek-a")
    with pytest.raises(ValueError, match="second time"):
        evolve(played.state, played.events[0], "seek-a")


@pytest.mark.parametrize(
    ("waits", "days"),
    [
        ((), None),
        ((1, 1), None),
        ((1, 1, 1), 1),
        ((DAY, 2 * DAY, 9 * DAY), 2),
        ((DAY, 2 * DAY + 1, None), 3),
        ((DAY, None, None), None),
        ((DAY, 2 * DAY, None, None), 2),
    ],
)
def test_the_usual_wait_is_that_within_which_half_were_answered_those_in_vain_included(
    waits: tuple[int | None, ...], days: int | None
) -> None:
    assert usual_wait_days(waits) == days


def test_the_first_match_answers_a_seek_and_later_ones_do_not_change_that() -> None:
    played = PlayedSeek(replace(TWO, count=2))
    for number, player in enumerate(("bob", "cyd"), 1):
        played.take(player)
        played.do(c.StartTable(number, f"m{number}"), T0 + number * DAY)
    assert (played.state.status, played.state.answered_at) == (SeekStatus.ANSWERED, T0 + DAY)
