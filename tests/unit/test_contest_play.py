"""Tournaments that are played: results in any order, leaving, the latest end, and corrections after it."""

import json

import pytest

from domain.contest.aggregate import replay
from domain.contest.points import PointsRule
from domain.contest.standings import MatchRecord, TieBreak, standings
from domain.contest.starting import Obstacle, next_matches
from domain.contest.tournament import commands as c, events as e
from domain.contest.tournament.decide import TOURNAMENTS, deadline, due
from domain.contest.tournament.state import Correction, NoResult, PairingState, PairingStatus, TournamentStatus
from domain.contest.tournament.terms import DropOut, TournamentTerms
from domain.contest.tournament.words import contract, standing_in_words
from domain.match.refusals import CommandError
from tests.support.tournaments import FIVE, FOUR_SEATS, TWO_SEATS, PlayedTournament, finish, number_of

# Which matches start


def room(tournament: PlayedTournament, places: int = 10) -> dict[str, int]:
    return {entrant.player: places for entrant in tournament.state.entrants}


def test_matches_start_while_all_have_room_and_each_of_the_others_says_why_it_waits() -> None:
    tournament = PlayedTournament(at_once=2)
    tournament.begin(*FIVE)
    first = next_matches(tournament.state, room(tournament))
    assert len(first.starting) == 5, "five people with two matches each"
    assert {waits.obstacle for waits in first.waiting} == {Obstacle.AT_ONCE}
    for number in first.starting:
        tournament.start(number)
    assert next_matches(tournament.state, room(tournament)).starting == ()
    over = first.starting[0]
    tournament.record(over, (1.0, 0.0))
    free = set(tournament.state.pairings[over - 1].entrants)
    waiting = next_matches(tournament.state, room(tournament))
    assert all(set(tournament.state.pairings[number - 1].entrants) <= free for number in waiting.starting)
    assert all(waits.entrants for waits in waiting.waiting)


def test_nobody_gets_more_matches_than_there_is_room_for() -> None:
    tournament = PlayedTournament()
    tournament.begin(*FIVE)
    places = room(tournament) | {"ann": 0, "bob": 1}
    starts = next_matches(tournament.state, places)
    playing = [tournament.state.entrants[one].player for n in starts.starting for one in pairing_of(tournament, n)]
    assert playing.count("ann") == 0
    assert playing.count("bob") == 1
    ann = number_of(tournament, "ann")
    reasons = {waits.pairing: waits for waits in starts.waiting}
    for number, pairing in tournament.state.pairings_of(ann):
        assert reasons[number].obstacle == Obstacle.NO_ROOM
        assert ann in reasons[number].entrants
        assert pairing.status == PairingStatus.WAITING


def pairing_of(tournament: PlayedTournament, number: int) -> tuple[int, ...]:
    return tournament.state.pairings[number - 1].entrants


def test_two_who_cannot_be_placed_together_wait_and_are_not_named() -> None:
    tournament = PlayedTournament()
    tournament.begin(*FIVE)
    starts = next_matches(tournament.state, room(tournament), {frozenset({"ann", "bob"})})
    (apart,) = [waits for waits in starts.waiting if waits.obstacle == Obstacle.APART]
    assert {tournament.state.entrants[one].player for one in pairing_of(tournament, apart.pairing)} == {"ann", "bob"}
    assert apart.entrants == ()


def test_who_has_most_matches_left_comes_first() -> None:
    tournament = PlayedTournament(at_once=1)
    tournament.begin(*FIVE)
    for number, _ in list(tournament.state.pairings_of(number_of(tournament, "ann")))[:3]:
        tournament.record(number, (1.0, 0.0))
    (first, *_) = next_matches(tournament.state, room(tournament)).starting
    assert number_of(tournament, "ann") not in pairing_of(tournament, first)


# Results


def test_a_result_counts_once_whatever_the_order_and_however_often_it_is_recorded() -> None:
    tournament = PlayedTournament()
    tournament.begin(*FIVE)
    tournament.record(1, (1.0, 0.0), version=10)
    tournament.record(1, (0.5, 0.5), version=12)
    before = len(tournament.events)
    tournament.record(1, (1.0, 0.0), version=10)
    tournament.record(1, (0.5, 0.5), version=12)
    tournament.record(1, None, version=11, ended=True, annulled=True)
    assert len(tournament.events) == before
    assert tournament.state.pairings[0].scores == (0.5, 0.5)


def test_an_annulment_takes_the_result_back_and_a_restoration_brings_it_again() -> None:
    tournament = PlayedTournament()
    tournament.begin(*FIVE)
    tournament.record(1, (1.0, 0.0), version=10)
    tournament.record(1, None, version=12, ended=True, annulled=True)
    assert tournament.state.pairings[0].status == PairingStatus.VOID
    assert all(row.points == 0 for row in tournament.state.rows())
    tournament.record(1, (1.0, 0.0), version=14)
    assert sum(row.points for row in tournament.state.rows()) == 2


def test_a_match_that_goes_on_after_its_end_runs_again() -> None:
    tournament = PlayedTournament()
    tournament.begin(*FIVE)
    tournament.record(1, (1.0, 0.0), version=10, flags=(1,))
    tournament.record(1, None, version=11)
    assert tournament.state.pairings[0].status == PairingStatus.RUNNING
    assert tournament.state.pairings[0].flags == ()


@pytest.mark.parametrize(("terms", "points"), [(TWO_SEATS, [2, 0]), (FOUR_SEATS, [4, 4, 4, 0])])
def test_who_calls_a_match_off_loses_it_and_the_others_share_the_first_place(
    terms: TournamentTerms, points: list[int]
) -> None:
    tournament = PlayedTournament(terms)
    tournament.begin(*FIVE)
    tournament.record(1, None, ended=True, forfeit=1)
    loser = pairing_of(tournament, 1)[1]
    rows = {row.entrant: row.points for row in tournament.state.rows()}
    assert rows[loser] == 0
    assert sorted((rows[one] for one in pairing_of(tournament, 1)), reverse=True) == points


def test_a_match_of_something_else_is_refused() -> None:
    tournament = PlayedTournament()
    tournament.begin(*FIVE)
    tournament.start(1)
    for command in (
        c.StartPairing(pairing=1, match="another"),
        c.StartPairing(pairing=99, match="match-99"),
        c.RecordMatch(pairing=2, match="match-2", version=3, head="h", scores=None),
    ):
        with pytest.raises(CommandError):
            tournament.do(command)


def test_it_ends_with_the_last_result_and_the_table_is_recorded() -> None:
    tournament = PlayedTournament()
    tournament.begin(*FIVE)
    assert standing_in_words(tournament.state) == "provisional: 10 not started"
    finish(tournament)
    assert isinstance(tournament.events[-1], e.TournamentEnded)
    assert tournament.state.status == TournamentStatus.ENDED
    assert standing_in_words(tournament.state) == "final"
    assert [(line.place, line.sharing, line.points) for line in tournament.state.table] == [(1, 5, 4)] * 5


def test_an_annulment_after_the_end_corrects_the_table() -> None:
    tournament = PlayedTournament()
    tournament.begin(*FIVE)
    finish(tournament)
    tournament.record(1, None, version=20, ended=True, annulled=True)
    correction = tournament.events[-1]
    assert isinstance(correction, e.TableCorrected)
    assert (correction.pairing, correction.reason) == (1, NoResult.ANNULLED)
    assert tournament.state.corrections == (Correction(at=tournament.now, pairing=1, reason=NoResult.ANNULLED),)
    assert sum(line.points for line in tournament.state.table) == 18
    assert tournament.state.status == TournamentStatus.ENDED


# Leaving, and the latest end


def test_who_leaves_early_is_struck_and_who_leaves_late_stays_in_the_table() -> None:
    tournament = PlayedTournament()
    tournament.begin(*FIVE)
    ann, bob = number_of(tournament, "ann"), number_of(tournament, "bob")
    for number, pairing in list(tournament.state.pairings_of(ann))[:2]:
        tournament.record(number, tuple(float(one == ann) for one in pairing.entrants))
    tournament.do(c.LeaveTournament(player="ann"))
    tournament.do(c.LeaveTournament(player="bob", reason=e.Leaving.ERASURE))
    assert not tournament.state.entrants[ann].struck
    assert tournament.state.entrants[bob].struck
    rows = {row.entrant: row for row in tournament.state.rows()}
    assert bob not in rows
    assert rows[ann].points == 2 * sum(bob not in pairing.entrants for _, pairing in finished(tournament, ann))


def test_where_the_terms_say_so_the_results_of_who_leaves_early_stand() -> None:
    tournament = PlayedTournament(drop_out=DropOut.RESULTS_STAND)
    tournament.begin(*FIVE)
    bob = number_of(tournament, "bob")
    number, pairing = next(iter(tournament.state.pairings_of(bob)))
    tournament.record(number, tuple(float(one == bob) for one in pairing.entrants))
    tournament.do(c.LeaveTournament(player="bob"))
    assert not tournament.state.entrants[bob].struck
    assert {row.entrant: row.points for row in tournament.state.rows()}[bob] == 2
    (sentence,) = [words for words in contract(tournament.state.terms, 5) if "takes over" in words]
    assert sentence.startswith("The results of who leaves stand, in the table too.")


def finished(tournament: PlayedTournament, entrant: int) -> list[tuple[int, PairingState]]:
    return [
        (number, pairing)
        for number, pairing in tournament.state.pairings_of(entrant)
        if pairing.status == PairingStatus.FINISHED
    ]


def test_what_a_leaver_can_no_longer_play_is_lost() -> None:
    tournament = PlayedTournament()
    tournament.begin(*FIVE)
    tournament.do(c.LeaveTournament(player="ann"))
    ann = number_of_left(tournament, "ann")
    assert {pairing.status for _, pairing in tournament.state.pairings_of(ann)} == {PairingStatus.FORFEITED}
    for player in FIVE[1:4]:
        tournament.do(c.LeaveTournament(player=player))
    assert tournament.state.status == TournamentStatus.ENDED


def number_of_left(tournament: PlayedTournament, player: str) -> int:
    return [entrant.player for entrant in tournament.state.entrants].index(player)


def test_the_first_who_waits_takes_over_what_has_not_started() -> None:
    tournament = PlayedTournament(most=5)
    tournament.begin(*FIVE, "fay", "gus")
    ann = number_of(tournament, "ann")
    number, pairing = next(tournament.state.pairings_of(ann))
    tournament.record(number, tuple(float(one == ann) for one in pairing.entrants))
    tournament.do(c.LeaveTournament(player="ann"))
    fay = number_of(tournament, "fay")
    assert tournament.state.entries == ("gus",)
    assert len([pairing for _, pairing in tournament.state.pairings_of(fay)]) == 3
    statuses = [pairing.status for _, pairing in tournament.state.pairings_of(ann)]
    assert statuses.count(PairingStatus.VOID) == 3
    with pytest.raises(CommandError, match="have left"):
        tournament.enter("ann")
    finish(tournament)
    assert tournament.state.status == TournamentStatus.ENDED


def test_a_match_that_had_begun_when_its_pairing_was_given_up_counts() -> None:
    tournament = PlayedTournament()
    tournament.begin(*FIVE)
    tournament.do(c.LeaveTournament(player="ann"))
    number, _ = next(tournament.state.pairings_of(number_of_left(tournament, "ann")))
    tournament.start(number)
    assert tournament.state.pairings[number - 1].status == PairingStatus.RUNNING


def test_at_four_seats_a_result_with_somebody_who_is_struck_counts_for_the_others() -> None:
    tournament = PlayedTournament(FOUR_SEATS)
    tournament.begin(*FIVE)
    tournament.record(1, (1.0, 2 / 3, 1 / 3, 0.0))
    winner, second, *_ = pairing_of(tournament, 1)
    tournament.do(c.LeaveTournament(player=tournament.state.entrants[winner].player))
    rows = {row.entrant: row.points for row in tournament.state.rows()}
    assert winner not in rows
    assert rows[second] >= 4


def test_at_the_latest_end_what_has_not_started_expires_and_what_runs_is_played_on() -> None:
    tournament = PlayedTournament()
    tournament.begin(*FIVE)
    tournament.start(1)
    tournament.start(2)
    assert deadline(tournament.state) == tournament.state.terms.latest_end
    with pytest.raises(CommandError, match="has not come"):
        tournament.do(c.ExpirePairings())
    tournament.now = tournament.state.terms.latest_end
    tournament.do(due(tournament.state, tournament.now))
    assert standing_in_words(tournament.state) == "provisional: 2 running"
    assert deadline(tournament.state) is None
    tournament.record(1, (1.0, 0.0))
    tournament.record(2, (1.0, 0.0))
    assert tournament.state.status == TournamentStatus.ENDED


def test_the_organiser_may_leave_and_the_tournament_goes_on() -> None:
    tournament = PlayedTournament()
    tournament.begin("olga", *FIVE)
    tournament.do(c.LeaveTournament(player="olga", reason=e.Leaving.ERASURE))
    finish(tournament)
    assert tournament.state.status == TournamentStatus.ENDED


# Every event follows from a command


def test_every_event_is_caused_again_by_the_command_behind_it() -> None:
    tournament = PlayedTournament(most=5)
    tournament.enter("zoe")
    tournament.do(c.LeaveTournament(player="zoe"))
    tournament.begin(*FIVE, "fay", "gus")
    tournament.record(1, (1.0, 0.0), version=4, flags=(1,))
    tournament.record(1, None, version=6)
    tournament.record(2, None, version=6, ended=True, forfeit=0)
    tournament.record(3, None, version=6, ended=True, annulled=True)
    for player in FIVE[:3]:
        tournament.do(c.LeaveTournament(player=player))
    tournament.record(1, (1.0, 0.0), version=8)
    tournament.now = tournament.state.terms.latest_end
    tournament.do(c.ExpirePairings())
    tournament.record(2, (1.0, 0.0), version=9)
    state = tournament.state
    playing = {number for number, entrant in enumerate(state.entrants) if entrant.left_at is None}
    expired = [n for n in state.numbers(PairingStatus.VOID) if n > 3 and set(state.pairings[n - 1].entrants) <= playing]
    tournament.record(expired[0], (0.5, 0.5))
    state = None
    recorded = list(tournament.events)
    while recorded:
        event = recorded[0]
        caused = TOURNAMENTS.decide(state, TOURNAMENTS.command_behind(state, event, "t"), event.at)
        assert list(caused) == recorded[: len(caused)]
        state = replay(TOURNAMENTS, "tournament-test", caused, state)
        recorded = recorded[len(caused) :]
    assert state == tournament.state
    assert {type(event) for event in tournament.events} >= {e.PlaceFilled, e.PairingForfeited, e.TableCorrected}


# Tables


def test_tie_breaks_are_asked_in_their_order_and_who_is_still_equal_shares_the_place() -> None:
    circle = [MatchRecord((0, 1), (1, 0)), MatchRecord((1, 2), (1, 0)), MatchRecord((2, 0), (1, 0))]
    everything = tuple(TieBreak)
    assert [row.places for row in standings(range(3), circle, PointsRule.PLACES, everything)] == [(1, 3)] * 3
    flagged = [circle[0]._replace(flags=(1,)), *circle[1:]]
    rows = standings(range(3), flagged, PointsRule.PLACES, everything)
    assert [(row.entrant, row.places) for row in rows] == [(0, (1, 2)), (2, (1, 2)), (1, (3, 3))]
    assert rows[2].breaks == (1, 4, 2, 1, -1)


def test_a_table_is_the_same_however_its_results_are_ordered() -> None:
    records = [MatchRecord((0, 1), (1, 0)), MatchRecord((1, 2), (0.5, 0.5)), MatchRecord((2, 0), (1, 0))]
    tables = [standings(range(3), order, PointsRule.PLACES, tuple(TieBreak)) for order in (records, records[::-1])]
    assert json.dumps(tables[0]) == json.dumps(tables[1])
