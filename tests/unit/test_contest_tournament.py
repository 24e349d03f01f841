"""Tournaments: their terms, entry and the start."""

from dataclasses import replace
from typing import Any

import pytest

from domain.contest.entry import EntryFacts, barred_until
from domain.contest.schedules import Form, schedule
from domain.contest.standings import TieBreak
from domain.contest.tournament import commands as c
from domain.contest.tournament.decide import deadline, draw_lots, due
from domain.contest.tournament.series import next_terms
from domain.contest.tournament.state import TournamentStatus
from domain.contest.tournament.terms import EntryTerms, StartRule, TournamentTerms
from domain.contest.tournament.words import contract
from domain.match.refusals import CommandError
from domain.match.terms import DAY, HOUR, days_per_move
from tests.support.tournaments import ANNOUNCED, FIVE, FOUR_SEATS, START, TWO_SEATS, PlayedTournament

# Terms


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"title": "ab"}, "title"),
        ({"title": " padded"}, "title"),
        ({"game": "go"}, "game"),
        ({"setup": "none"}, "setup"),
        ({"form": Form.PERFECT}, "form"),
        ({"most": 17}, "most"),
        ({"least": 9}, "least"),
        ({"clock": days_per_move(1)._replace(bank=6 * HOUR, cap=6 * HOUR)}, "clock"),
        ({"starts_at": ANNOUNCED - 1}, "starts_at"),
        ({"starts_at": ANNOUNCED + 200 * DAY}, "starts_at"),
        ({"latest_end": START + DAY}, "latest_end"),
        ({"latest_end": START + 4000 * DAY}, "latest_end"),
        ({"at_once": 0}, "at_once"),
        ({"tie_breaks": (TieBreak.WINS, TieBreak.WINS)}, "tie_breaks"),
        ({"entry": EntryTerms(rating_from=1800, rating_to=1700)}, "entry.rating_from"),
        ({"entry": EntryTerms(finished=1000)}, "entry.finished"),
        ({"repeat_weeks": 3}, "repeat_weeks"),
    ],
)
def test_terms_that_cannot_be_played_are_refused_with_their_field(change: dict[str, Any], field: str) -> None:
    with pytest.raises(CommandError) as refused:
        PlayedTournament(**change)
    assert refused.value.field == field


def test_a_form_without_a_schedule_between_least_and_most_is_refused() -> None:
    with pytest.raises(CommandError, match="for 5, 9, 13, 17 people"):
        PlayedTournament(FOUR_SEATS, form=Form.PERFECT, least=6, most=8)


@pytest.mark.parametrize("terms", [TWO_SEATS, FOUR_SEATS, replace(FOUR_SEATS, form=Form.WHIST, least=8, most=8)])
def test_the_contract_names_the_matches_and_what_leaving_costs(terms: TournamentTerms) -> None:
    text = " ".join(contract(terms, 8))
    assert "With 8 people these are" in text
    assert "10 days at the start" in text
    assert "struck from the table" in text
    assert "Bots cannot enter." in text


# Entry


@pytest.mark.parametrize(
    ("entry", "facts", "reason"),
    [
        (EntryTerms(), EntryFacts(bot=True), "bots cannot enter"),
        (EntryTerms(), EntryFacts(guest=True), "guests cannot enter"),
        (EntryTerms(), EntryFacts(barred_until=ANNOUNCED + 3 * DAY - 1), "you can enter again in 3 days"),
        (EntryTerms(), EntryFacts(apart=True), "cannot be placed at one table"),
        (EntryTerms(finished=3), EntryFacts(finished=2), "must have finished 3 matches; you have finished 2"),
        (EntryTerms(flags=1), EntryFacts(flags=2), "may have lost 1 match on time"),
        (EntryTerms(rating_from=1600), EntryFacts(), "not certainly 1600 or more"),
        (EntryTerms(rating_from=1600), EntryFacts(rating_bound=1599), "not certainly 1600 or more"),
        (EntryTerms(rating_to=1600), EntryFacts(rating_bound=1751), "certainly 1751"),
    ],
)
def test_who_may_not_enter_reads_the_reason(entry: EntryTerms, facts: EntryFacts, reason: str) -> None:
    tournament = PlayedTournament(entry=entry)
    with pytest.raises(CommandError, match=reason):
        tournament.do(c.EnterTournament(player="ann", facts=facts))
    assert tournament.state.entries == ()


@pytest.mark.parametrize(
    ("entry", "facts"),
    [
        (EntryTerms(), EntryFacts(barred_until=ANNOUNCED)),
        (EntryTerms(bots=True), EntryFacts(bot=True)),
        (EntryTerms(rating_to=1600, flags=1, finished=3), EntryFacts(1750, 3, 1)),
        (EntryTerms(rating_from=1600), EntryFacts(1600)),
        (EntryTerms(rating_to=1600), EntryFacts()),
    ],
)
def test_who_meets_the_terms_enters(entry: EntryTerms, facts: EntryFacts) -> None:
    tournament = PlayedTournament(entry=entry)
    tournament.do(c.EnterTournament(player="ann", facts=facts))
    assert tournament.state.entries == ("ann",)


def test_entering_twice_is_entering_once_and_an_entry_can_be_taken_back() -> None:
    tournament = PlayedTournament()
    tournament.enter("ann", "ann", "bob")
    assert tournament.state.entries == ("ann", "bob")
    tournament.do(c.LeaveTournament(player="ann"))
    assert tournament.state.entries == ("bob",)
    with pytest.raises(CommandError, match="have not entered"):
        tournament.do(c.LeaveTournament(player="ann"))


@pytest.mark.parametrize(
    ("days", "until"), [([], None), ([0], 30), ([0, 10], 100), ([0, 400], 430), ([0, 1, 2], 92), ([50, 0], 140)]
)
def test_leaving_bars_for_30_days_and_again_within_a_year_for_90(days: list[int], until: int | None) -> None:
    assert barred_until([day * DAY for day in days]) == (None if until is None else until * DAY)


# The start


def test_the_lots_depend_on_the_seed_and_not_on_who_entered_first() -> None:
    assert draw_lots("a", FIVE) == draw_lots("a", reversed(FIVE))
    assert draw_lots("a", FIVE) != draw_lots("b", FIVE)
    tournament = PlayedTournament()
    tournament.begin(*FIVE, seed="a")
    assert tuple(entrant.player for entrant in tournament.state.entrants) == draw_lots("a", FIVE)
    assert tuple(pairing.entrants for pairing in tournament.state.pairings) == schedule(Form.ALL_PLAY_ALL, 2, 5)


def test_a_tournament_starts_at_its_time_and_not_before() -> None:
    tournament = PlayedTournament()
    tournament.enter(*FIVE)
    assert deadline(tournament.state) == START
    assert due(tournament.state, START - 1) is None
    with pytest.raises(CommandError, match="has not come"):
        tournament.do(c.CloseEntries(seed="s"))
    tournament.now = START
    assert due(tournament.state, START) == c.CloseEntries(seed=None)
    with pytest.raises(ValueError, match="no seed"):
        tournament.do(c.CloseEntries(seed=None))


def test_one_that_starts_when_full_does_not_wait_for_its_time() -> None:
    tournament = PlayedTournament(start=StartRule.WHEN_FULL, most=5)
    tournament.enter(*FIVE[:4])
    assert due(tournament.state, ANNOUNCED) is None
    tournament.enter("eve")
    assert due(tournament.state, ANNOUNCED) == c.CloseEntries(seed=None)
    tournament.do(c.CloseEntries(seed="s"))
    assert tournament.state.status == TournamentStatus.RUNNING


def test_with_too_few_it_is_put_off_once_and_then_begins_or_is_called_off() -> None:
    few, none = PlayedTournament(), PlayedTournament()
    few.begin(*FIVE[:3])
    assert few.state.starts_at == START + 14 * DAY
    few.begin()
    assert few.state.status == TournamentStatus.RUNNING
    none.begin("ann", "bob")
    none.begin()
    assert none.state.status == TournamentStatus.CALLED_OFF
    assert none.state.reason == "because only 2 had entered at the start"
    with pytest.raises(CommandError, match="cancelled"):
        none.do(c.CallOffTournament(player="olga"))


def test_who_is_too_many_for_the_form_waits_for_a_place() -> None:
    tournament = PlayedTournament(FOUR_SEATS, form=Form.PERFECT, least=5, most=9)
    tournament.begin(*FIVE, "fay", "gus")
    assert len(tournament.state.entrants) == 5
    assert tournament.state.entries == ("fay", "gus")


def test_before_the_start_it_can_be_called_off_and_then_nothing_more_is_possible() -> None:
    tournament = PlayedTournament()
    tournament.enter("ann")
    tournament.do(c.CallOffTournament(player="olga"))
    assert deadline(tournament.state) is None
    with pytest.raises(CommandError, match="over"):
        tournament.enter("bob")


def test_only_its_organiser_or_an_operator_calls_it_off() -> None:
    tournament = PlayedTournament()
    with pytest.raises(CommandError, match="or an operator"):
        tournament.do(c.CallOffTournament(player="ann"))
    tournament.do(c.CallOffTournament(player="ann", operator=True))
    assert tournament.state.reason == "by an operator"


# Series


def test_the_next_of_a_series_starts_whole_periods_later_and_in_time_to_be_entered() -> None:
    tournament = PlayedTournament(repeat_weeks=4)
    assert next_terms(tournament.state, START) is None
    tournament.begin(*FIVE)
    for now, days in ((START, 28), (START + 20 * DAY, 28), (START + 22 * DAY, 56), (START + 200 * DAY, 224)):
        following = next_terms(tournament.state, now)
        assert following.starts_at == START + days * DAY
        assert following.latest_end - following.starts_at == tournament.state.terms.latest_end - START
    assert next_terms(tournament.state, START - 3 * DAY).starts_at == START + 25 * DAY


def test_the_contract_says_that_a_tournament_repeats() -> None:
    (sentence,) = [words for words in contract(replace(TWO_SEATS, repeat_weeks=6), 8) if "every 6 weeks" in words]
    assert sentence.startswith("When it starts")


@pytest.mark.parametrize("weeks", [None, 4])
def test_a_tournament_that_is_called_off_has_no_next_one(weeks: int | None) -> None:
    tournament = PlayedTournament(repeat_weeks=weeks)
    tournament.do(c.CallOffTournament(player="olga"))
    assert next_terms(tournament.state, START) is None
