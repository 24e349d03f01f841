"""The terms of a match: what can be agreed on, and how it is told before it is."""

from typing import Any

import pytest

from domain.match.commands import JoinMatch, RequestTakeback, SubmitMove
from domain.match.decide import decide
from domain.match.enums import FlagRule
from domain.match.refusals import CommandError
from domain.match.state import Seat
from domain.match.terms import DAY, STANDARD, check, days_per_move, duration, in_short, in_words
from tests.support.matches import T0, PlayedMatch, creation, started
from tests.support.tables import table


@pytest.mark.parametrize(("changes", "field", "reason"), table(__file__, "unplayable terms are refused with their"))
def test_unplayable_terms_are_refused_with_their_place(changes: dict[str, Any], field: str, reason: str) -> None:
    with pytest.raises(CommandError, match=reason) as refused:
        decide(None, creation(terms=STANDARD._replace(**changes)), T0)
    assert (refused.value.code, refused.value.field) == ("invalid-terms", field)


def test_what_is_offered_ready_made_can_be_played() -> None:
    for terms in (STANDARD, *map(days_per_move, range(1, 121))):
        check(terms)
        assert started(terms).move("alice", "c3-d4")


def test_lists_tell_the_time_control_in_a_few_words() -> None:
    assert in_short(STANDARD) == "10 days, 1 day more for every move"
    assert in_short(days_per_move(3)) == "3 days for every move"
    assert in_short(STANDARD._replace(increment=0)) == "10 days for all moves"


def test_all_of_the_terms_is_told() -> None:
    assert in_words(STANDARD) == (
        "10 days at the start and 1 day more after every move, never more than 20 days in all.",
        "Each player's first move must come within 7 days; if one does not, the match is cancelled without a result.",
        "Who runs out of time loses at that instant.", "Vacation stops a player's clock.",
        "So do the free days of the week that a player has set.", "Moves cannot be taken back.",
    )  # fmt: skip
    strict = days_per_move(3)._replace(
        ceiling=2 * DAY, flag=FlagRule.CLAIM, vacations=False, weekends=False, takebacks=True,
        lines=False,
    )  # fmt: skip
    assert in_words(strict) == (
        "3 days for every move; what is not used is not saved.",
        "No single move may take longer than 2 days.",
        "Each player's first move must come within 2 days; if one does not, the match is cancelled without a result.",
        "Who runs out of time may still move until somebody claims the win; unclaimed for 30 days, the flag falls by "
        "itself.",
        "Vacation does not stop the clocks of this match.",
        "Free days of the week do not stop the clocks.",
        "Moves may be taken back when all agree.",
        "Conditional lines are not allowed: every move is made by hand.",
    )
    assert "The free days of the week" in in_words(STANDARD._replace(vacations=False))[4]


@pytest.mark.parametrize(("time", "words"), table(__file__, "a duration is told in its two largest units"))
def test_a_duration_is_told_in_its_two_largest_units(time: int, words: str) -> None:
    assert duration(time) == words


TAKEBACKS = STANDARD._replace(takebacks=True)


def test_a_rated_match_against_opponents_alone_is_played_without_taking_back() -> None:
    seats = (Seat.taken("alice"), Seat.opponent(3))
    with pytest.raises(CommandError) as refused:
        decide(None, creation(*seats, terms=TAKEBACKS), T0)
    assert refused.value.field == "terms.takebacks"
    unrated = PlayedMatch(creation(*seats, terms=TAKEBACKS, rated=False))
    unrated.move("alice", "c3-d4")
    unrated.do(RequestTakeback(player="alice"))
    assert unrated.state.play.moves == ()
    between_people = PlayedMatch(creation(terms=TAKEBACKS))
    between_people.do(JoinMatch(player="bob"))
    assert between_people.do(SubmitMove(player="alice", move="c3-d4"))
