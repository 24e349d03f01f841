"""What people are told of seeks and tournaments."""

from domain.contest.aggregate import replay
from domain.contest.seek import events as e
from domain.contest.seek.decide import SEEK
from domain.contest.tournament import commands as c
from domain.contest.wishes import Interval, SeekTerms
from domain.match.terms import DAY
from events.notify.contest_facts import facts_of_seek, facts_of_tournament
from tests.support.tournaments import FIVE, PlayedTournament, finish

TERMS = SeekTerms(games=("bashni/start",), seats=2, days=Interval(2, 5), rated=False)
POSTED = e.SeekPosted(at=1, author="ann", terms=TERMS)
TAKEN = e.SeekTaken(at=2, player="bob", game="bashni/start", days=Interval(2, 5), rating=1500)


def told(*events: e.Event) -> dict[str, tuple[str, ...]]:
    """Return who is told of what, by the names of the facts."""
    seek = replay(SEEK, "seek-a", events)
    assert seek is not None
    return {fact.name: fact.players for fact in facts_of_seek(seek, events)}


def test_the_author_is_told_of_an_expiry_but_not_after_a_match_has_come_of_it() -> None:
    assert told(POSTED, e.SeekExpired(at=9)) == {"seek-expired:seek-a:2": ("ann",)}
    assert told(POSTED, TAKEN, e.TableStarted(at=3, match="m1")) == {}


def test_all_who_sat_at_a_table_without_a_match_are_told() -> None:
    cleared = e.TableCleared(at=3, players=("bob",), reason="bob has no place")
    assert told(POSTED, TAKEN, cleared) == {"seek-cleared:seek-a:3": ("ann", "bob")}


def told_of_tournament(tournament: PlayedTournament) -> dict[str, tuple[str, ...]]:
    """Return who is told of what in a tournament, by what it is."""
    facts = facts_of_tournament(tournament.state, tournament.events)
    return {fact.name.partition(":")[0]: fact.players for fact in facts}


def test_those_who_have_entered_are_told_that_the_start_is_put_off_and_that_it_is_cancelled() -> None:
    tournament = PlayedTournament()
    tournament.enter("ann", "bob", "cyd")
    tournament.do(c.LeaveTournament(player="cyd"))
    tournament.begin()
    assert told_of_tournament(tournament) == {"tournament-postponed": ("ann", "bob")}
    tournament.begin()
    assert told_of_tournament(tournament)["tournament-cancelled"] == ("olga", "ann", "bob")
    *_, last = facts_of_tournament(tournament.state, tournament.events)
    assert last.summary == '"Autumn round" was cancelled because only 2 had entered at the start.'


def test_those_who_play_are_told_of_the_start_and_the_end_and_of_several_corrections_on_a_day_once() -> None:
    tournament = PlayedTournament(most=5)
    tournament.begin(*FIVE, "fay")
    tournament.do(c.LeaveTournament(player="ann"))
    finish(tournament)
    tournament.record(1, None, version=20, ended=True, annulled=True)
    on_the_day = told_of_tournament(tournament)
    assert "tournament-ended" in on_the_day
    assert "tournament-corrected" not in on_the_day, "the notice of the end leads to the table as it stands"
    tournament.now += DAY
    for number in (2, 3):
        tournament.record(number, None, version=20, ended=True, annulled=True)
    told = told_of_tournament(tournament)
    assert set(told["tournament-started"]) == set(FIVE)
    assert told["tournament-place"] == ("fay",)
    assert set(told["tournament-ended"]) == set(told["tournament-corrected"]) == {*FIVE[1:], "fay"}
    names = [fact.name for fact in facts_of_tournament(tournament.state, tournament.events)]
    assert len({name for name in names if name.startswith("tournament-corrected")}) == 1
