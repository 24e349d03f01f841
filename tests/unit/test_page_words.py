"""How pages describe results, ratings and events."""

import pytest

from api.pages.player_page import rating_chart
from api.pages.record_page import EventWording, people_named
from api.pages.wording import Result, change, rating_with_margin, reason_words, result_of
from api.representations.ratings import PublicChange, represent_rating
from domain.match.commands import Resign
from domain.match.terms import DAY
from domain.rating import Rating
from events.people.person import Person
from events.proof.player_signatures import Statement
from events.readmodels import summarise
from events.store.converter import write_value
from tests.support.matches import FOUR, T0, started, started_by_four
from tests.support.player_keys import SIGNER

NAMES = ("White", "Black")
ALICE = Person("alice", "Alice", "person", T0)


def words(type: str, **content: object) -> dict[str, str]:
    """Return the description of an event of a match between White and Black."""
    return dict(EventWording(NAMES, "bashni", {"alice": ALICE}).describe(type, content))


def test_an_event_is_described_in_words() -> None:
    seats = [{"player": "alice", "joined": True}, {"player": "opponent-3", "joined": True, "level": 3}]
    assert words("match-created", creator="alice", setup="start", seats=seats, rated=True) == {
        "created by": "Alice",
        "start": "Start",
        "seats": "White: Alice; Black: Opponent 3",
        "rated": "yes",
    }
    occasion = {"kind": "tournament", "id": "t1", "pairing": "4"}
    assert words("match-created", occasion=occasion) == {"occasion": "tournament t1, pairing 4"}
    assert words("time-given", seat=0, to=1, time=3 * DAY) == {"seat": "White", "to": "Black", "time": "3 days"}
    assert words("match-finished", scores=[0.0, 1.0], reason="resignation")["reason"] == "by resignation"
    assert words("clock-paused", reason="vacation", since=T0)["reason"] == "on vacation"


def test_a_signature_of_a_player_is_described_by_its_key_and_a_mail_says_that_it_has_none() -> None:
    signed = write_value(SIGNER.signed(Statement("draw-offered", "0" * 64, "m", (), 0, 5)))
    assert words("draw-offered", signed=signed)["signed"] == f"by the player's key {SIGNER.id}, over version 5"
    by_mail = words("move-submitted", move="c3-d4", channel="mail")
    assert by_mail["signed"] == "no, for a mail carries no signature of a key"
    assert "signed" not in words("move-submitted", move="c3-d4", channel="web")


def test_texts_of_people_and_unknown_values_are_shown_as_recorded() -> None:
    assert (
        words("ruling-made", ruling="annul", reason="re-played the game-point")["reason"] == "re-played the game-point"
    )
    assert words("move-submitted", seat=7, terms={"bank": "much"}) == {"seat": "7", "terms": '{"bank": "much"}'}
    assert people_named({"seats": [{"player": "alice"}, {}, "nonsense"], "arbiter": 5}) == {"alice"}


def test_a_result_is_described_from_the_viewers_side() -> None:
    match = started()
    match.do(Resign(player="alice"))
    summary = summarise(match.state)
    results = [result_of(summary, viewer) for viewer in ("alice", "bob", "carol", None)]
    assert results == [Result.LOST, Result.WON, None, None]
    among_four = summarise(started_by_four().state)._replace(scores=(0.5, 0.5, 0.0, 0.0))
    assert [result_of(among_four, viewer) for viewer in FOUR[1:3]] == [Result.SHARED, Result.LOST]
    assert result_of(among_four._replace(scores=(0.25,) * 4), FOUR[0]) is Result.DRAWN


@pytest.mark.parametrize(
    ("before", "after", "shown"), [(1500, 1512.4, "+12"), (1500, 1493, "−7"), (1500, 1500.2, "±0")]
)
def test_the_change_of_a_rating_is_the_difference_of_the_numbers_shown(before: float, after: float, shown: str) -> None:
    assert change(before, after) == shown


def test_a_rating_has_one_margin_and_a_provisional_one_is_an_interval() -> None:
    assert rating_with_margin(represent_rating(Rating(1712.3, 50, 0.06))) == "1712 ± 98"
    assert rating_with_margin(represent_rating(Rating(1500, 350, 0.06))) == "810–2190"


def test_an_undeclared_reason_is_spelled_out() -> None:
    assert reason_words("some-new-reason", "bashni") == "some new reason"


def test_a_chart_joins_the_ratings_in_the_order_of_time_and_needs_two() -> None:
    first, second = PublicChange("m1", T0, 1500, 1580, 90), PublicChange("m2", T0 + DAY, 1580, 1460, 80)
    assert rating_chart([first], "Bashni") == ""
    chart = rating_chart([first, second], "Bashni <2>")
    points = [point.split(",") for point in chart.split('points="')[1].split('"')[0].split()]
    assert len(points) == 3
    across, down = zip(*((float(x), float(y)) for x, y in points), strict=True)
    assert list(across) == sorted(across)
    assert down[1] < down[0] < down[2]
    assert "Bashni &lt;2&gt;: from 1500 to 1460 in 2 changes" in chart
