"""How pages describe results, ratings, events, clocks and moves, and what they let their viewer do."""

from dataclasses import asdict, replace

import pytest

from api.pages.available_actions import available_actions
from api.pages.clocks import describe_deadline, seat_clocks, upcoming_vacations
from api.pages.match_page import describe_tree
from api.pages.played_moves import Played, played_moves, rounds, runs_since
from api.pages.player_page import rating_chart
from api.pages.record_page import EventWording, people_named
from api.pages.wording import PlayerResult, change, rating_with_margin, result_of
from api.representations.ratings import PublicChange, represent_rating
from domain.games import find_ruleset
from domain.match import commands as c
from domain.match.commands import Resign, SubmitMoves
from domain.match.endings import reason_words
from domain.match.enums import FlagRule, LineAction, PauseReason
from domain.match.lines import ANY, Line, arranged
from domain.match.state import MatchState, Seat
from domain.match.terms import DAY, HOUR, STANDARD, Terms, days_per_move
from domain.rating import Rating
from events.matches.readmodels import summarise
from events.people.person import Person
from events.proof.player_signatures import SignedStatement
from events.store.converter import write_value
from tests.support.matches import FOUR, T0, PlayedMatch, creation, started, started_by_four
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
        "seats": "White: Alice; Black: Computer, level 3",
        "rated": "yes",
    }
    occasion = {"kind": "tournament", "id": "t1", "pairing": "4"}
    assert words("match-created", occasion=occasion) == {"occasion": "tournament t1, pairing 4"}
    assert words("time-given", seat=0, to=1, time=3 * DAY) == {"seat": "White", "to": "Black", "time": "3 days"}
    assert words("match-finished", scores=[0.0, 1.0], reason="resignation")["reason"] == "by resignation"
    assert words("clock-paused", reason="vacation", since=T0)["reason"] == "on vacation"


def test_a_signature_of_a_player_is_described_by_its_key_and_a_mail_says_that_it_has_none() -> None:
    signed = write_value(SIGNER.signed(SignedStatement("draw-offered", "0" * 64, "m", (), 0, 5)))
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
    assert results == [PlayerResult.LOST, PlayerResult.WON, None, None]
    among_four = summarise(started_by_four().state)._replace(scores=(0.5, 0.5, 0.0, 0.0))
    assert [result_of(among_four, viewer) for viewer in FOUR[1:3]] == [PlayerResult.SHARED, PlayerResult.LOST]
    assert result_of(among_four._replace(scores=(0.25,) * 4), FOUR[0]) is PlayerResult.DRAWN


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


def match_on(terms: Terms) -> PlayedMatch:
    """Return a match of alice and bob on ``terms``, in which both have made their first move."""
    match = PlayedMatch(replace(creation(Seat.taken("alice"), Seat.open()), terms=terms))
    match.do(c.JoinMatch(player="bob"))
    match.move("alice", "c3-d4")
    match.move("bob", "b6-a5")
    return match


def test_only_the_clock_of_the_seat_to_move_runs_and_says_what_the_time_is_for() -> None:
    match = started()
    white, black = seat_clocks(match.state, match.now + HOUR)
    assert (white.words, white.purpose, white.runs) == ("6 days 23 hours", "first move within", True)
    assert (black.words, black.purpose, black.runs) == ("10 days", "left", False)


def test_the_page_says_until_when_what_happens_otherwise_and_by_which_term() -> None:
    match = match_on(days_per_move(3))
    deadline = describe_deadline(match.state, match.now)
    assert (deadline.seat, deadline.at, deadline.past) == (0, match.now + 3 * DAY, False)
    assert deadline.consequence == "White loses at that instant"
    assert deadline.rule == "3 days for every move; what is not used is not saved."
    assert (deadline.falls_at, deadline.changes_at) == (None, deadline.at)


def test_the_term_that_is_named_is_the_one_that_ends_the_time() -> None:
    capped = match_on(STANDARD._replace(ceiling=2 * DAY))
    assert describe_deadline(capped.state, capped.now).rule == "No single move may take longer than 2 days."
    beginning = PlayedMatch(replace(creation(Seat.taken("alice"), Seat.open()), terms=STANDARD._replace(ceiling=DAY)))
    beginning.do(c.JoinMatch(player="bob"))
    assert describe_deadline(beginning.state, beginning.now).rule.startswith(
        "Each player's first move must come within 1 day;"
    )


def test_a_pause_stops_the_clock_on_the_page_and_moves_the_instant() -> None:
    match = match_on(days_per_move(3))
    match.do(c.PauseClock(reason=PauseReason.VACATION, player="alice", since=match.now, until=match.now + DAY))
    clock, deadline = seat_clocks(match.state, match.now)[0], describe_deadline(match.state, match.now)
    assert (clock.words, clock.runs, clock.paused) == ("3 days", False, "on vacation")
    assert deadline.pauses == (("on vacation", match.now + DAY - 1000),)
    assert deadline.changes_at == match.now + DAY - 1000


def test_a_vacation_that_lies_ahead_is_announced_to_both_sides() -> None:
    match = match_on(days_per_move(3))
    match.do(c.PauseClock(reason=PauseReason.VACATION, player="bob", since=match.now + DAY, until=match.now + 3 * DAY))
    assert [(pause.seat, pause.since) for pause in upcoming_vacations(match.state, match.now)] == [
        (1, match.now - 1000 + DAY)
    ]
    assert upcoming_vacations(match.state, match.now + 2 * DAY) == []


def test_while_a_pause_has_no_end_there_is_no_deadline() -> None:
    match = match_on(days_per_move(3))
    match.do(c.PauseClock(reason=PauseReason.OUTAGE, player=None, since=match.now))
    deadline = describe_deadline(match.state, match.now)
    assert (deadline.at, deadline.changes_at, deadline.pauses) == (None, None, (("the server was down", None),))


def test_time_that_must_be_claimed_can_be_claimed_by_the_other_side_only() -> None:
    match = match_on(days_per_move(1)._replace(flag=FlagRule.CLAIM))
    late = match.now + 2 * DAY
    deadline = describe_deadline(match.state, late)
    assert (deadline.past, deadline.consequence) == (True, "the others may claim that time is up")
    assert deadline.falls_at > late
    assert [
        available_actions(match.state, player, seat, late).claim for seat, player in enumerate(("alice", "bob"))
    ] == [False, True]


def test_who_loses_on_time_among_four_only_leaves() -> None:
    match = PlayedMatch(creation(*[Seat.taken("alice"), *[Seat.open()] * 3], game="fourplay", setup="standard"))
    for player in FOUR[1:]:
        match.do(c.JoinMatch(player=player))
    for player in ("alice", *FOUR[1:]):
        match.move(player, match.legal_moves()[0])
    assert describe_deadline(match.state, match.now).consequence == "Red leaves the game at that instant"


def test_the_page_offers_what_would_be_accepted() -> None:
    match = match_on(days_per_move(3)._replace(takebacks=True))
    alice = available_actions(match.state, "alice", 0, match.now)
    assert [name for name, can in asdict(alice).items() if can] == [
        "move", "give_time", "resign", "offer_draw", "ask_takeback", "conditional_moves",
    ]  # fmt: skip
    assert alice.give_time == (1,)
    stranger = available_actions(match.state, "somebody", None, match.now)
    assert not any(asdict(stranger).values())


def test_a_tree_of_lines_marks_what_has_been_played_also_by_any_move() -> None:
    match = started()
    match.move("alice", "c3-d4")
    first = (
        Line(move="b6-a5", then=None, next=(Line(move="d4-c5"),)),
        Line(move=ANY, then=None, next=(Line(move="g3-h4"),)),
        Line(move="h6-g5", then=LineAction.RESIGN),
    )
    lines = arranged(match.state, "alice", first, match.now)
    match.move("bob", "f6-e5")
    named, other, resigned = describe_tree(match.state, lines)
    assert (named.played, other.played, resigned.played) == (False, True, False)
    assert (named.seat, named.next[0].seat, other.next[0].seat) == (1, 0, None)
    assert resigned.then == LineAction.RESIGN


def listed(state: MatchState) -> list[list[str]]:
    """Return the rounds with the moves of each turn as one text."""
    game = find_ruleset(state.game, state.ruleset)
    return [
        [" ".join(move.move for move in turn) for turn in cells] for cells in rounds(state, game, played_moves(state))
    ]


def drafted(armies: int) -> PlayedMatch:
    """Return a match of Fourplay in which that many armies have been set up."""
    match = started_by_four(game="fourplay", setup="draft")
    for player in FOUR[:armies]:
        draft = find_ruleset("fourplay", 1).draft(match.state.play.position)
        assert draft is not None
        match.do(SubmitMoves(player=player, moves=(*draft.ready, draft.done)))
    return match


def test_moves_are_listed_in_rounds() -> None:
    match = started()
    match.move("alice", "c3-d4")
    match.move("bob", "b6-a5")
    match.move("alice", "d4-c5")
    assert listed(match.state) == [["c3-d4", "b6-a5"], ["d4-c5", ""]]


def test_an_army_is_one_turn_of_a_round() -> None:
    match = drafted(4)
    match.move(FOUR[0], "a1-a2")
    first, second = listed(match.state)
    assert [turn.count(" on ") for turn in first] == [16] * 4
    assert {turn.split()[-1] for turn in first} == {"complete"}
    assert second == ["a1-a2", "", "", ""]


def test_moves_since_the_own_last_one_are_told_by_seat_and_an_army_by_its_last_move() -> None:
    match = drafted(4)
    played = played_moves(match.state)
    assert [(run.seat, run.moves, [move.move for move in run.named]) for run in runs_since(played, 0)] == [
        (1, 17, ["army complete"]),
        (2, 17, ["army complete"]),
        (3, 17, ["army complete"]),
    ]
    assert runs_since(played, 3) == []
    bashni = started()
    bashni.move("alice", "c3-d4")
    assert [(run.seat, run.moves, run.named) for run in runs_since(played_moves(bashni.state), 1)] == [
        (0, 1, [Played(1, 0, "c3-d4", None)])
    ]
