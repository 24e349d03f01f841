"""What people are told of seeks."""

from domain.contest.aggregate import replay
from domain.contest.seek import events as e
from domain.contest.seek.decide import SEEK
from domain.contest.wishes import Interval, SeekTerms
from events.notify.contest_facts import facts_of_seek

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
