"""What opponents do follows from a seed, and a match never goes on with one that may be known."""

from dataclasses import replace

import pytest

from domain.match import events as e
from domain.match.commands import (
    AcceptTakeback,
    CallTime,
    Command,
    ForgiveFlag,
    JoinMatch,
    OpenCase,
    RequestTakeback,
    Resign,
)
from domain.match.decide import decide
from domain.match.enums import Ground, Status
from domain.match.opponents import takes_draw
from domain.match.state import Seat
from domain.match.terms import DAY, STANDARD
from tests.support.bundles import against_an_opponent, answered, flagged, resigned
from tests.support.cases import WORDS, ruling
from tests.support.matches import PlayedMatch, creation, started

TAKEBACKS = replace(STANDARD, takebacks=True)


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
    assert not takes_draw(match.state, 1)
    with pytest.raises(ValueError, match="no opponent has seat 0"):
        takes_draw(match.state, 0)
