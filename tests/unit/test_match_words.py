"""What the page of a match says of its clocks and its moves, and what it lets its viewer do."""

from dataclasses import asdict, replace

from api.pages.available_actions import available_actions
from api.pages.clocks import describe_deadline, seat_clocks, upcoming_vacations
from api.pages.match_page import describe_tree
from api.pages.played_moves import Played, played_moves, rounds, runs_since
from domain.games import find_ruleset
from domain.match import commands as c
from domain.match.commands import SubmitMoves
from domain.match.enums import FlagRule, LineAction, PauseReason
from domain.match.lines import ANY, Line, arranged
from domain.match.state import MatchState, Seat
from domain.match.terms import DAY, HOUR, STANDARD, Terms, days_per_move
from tests.support.matches import FOUR, PlayedMatch, creation, started, started_by_four


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
    assert (white.words, white.purpose, white.runs) == ("6 days 23 hours", "to begin", True)
    assert (black.words, black.purpose, black.runs) == ("10 days", "left", False)


def test_the_page_says_until_when_what_happens_otherwise_and_by_which_term() -> None:
    match = match_on(days_per_move(3))
    deadline = describe_deadline(match.state, match.now)
    assert (deadline.seat, deadline.at, deadline.past) == (0, match.now + 3 * DAY, False)
    assert deadline.consequence == "White loses at that instant"
    assert deadline.rule == "3 days for every move; what is not used is not saved."
    assert (deadline.falls_at, deadline.changes_at) == (None, deadline.at)


def test_the_term_that_is_named_is_the_one_that_ends_the_time() -> None:
    capped = match_on(replace(STANDARD, ceiling=2 * DAY))
    assert describe_deadline(capped.state, capped.now).rule == "No single move may take longer than 2 days."
    beginning = PlayedMatch(replace(creation(Seat.taken("alice"), Seat.open()), terms=replace(STANDARD, ceiling=DAY)))
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
    match = match_on(replace(days_per_move(1), flag=FlagRule.CLAIM))
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
    match = match_on(replace(days_per_move(3), takebacks=True))
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
    assert [turn.count("@") for turn in first] == [16] * 4
    assert {turn.split()[-1] for turn in first} == {"done"}
    assert second == ["a1-a2", "", "", ""]


def test_moves_since_the_own_last_one_are_told_by_seat_and_an_army_by_its_last_move() -> None:
    match = drafted(4)
    played = played_moves(match.state)
    assert [(run.seat, run.moves, [move.move for move in run.named]) for run in runs_since(played, 0)] == [
        (1, 17, ["done"]),
        (2, 17, ["done"]),
        (3, 17, ["done"]),
    ]
    assert runs_since(played, 3) == []
    bashni = started()
    bashni.move("alice", "c3-d4")
    assert [(run.seat, run.moves, run.named) for run in runs_since(played_moves(bashni.state), 1)] == [
        (0, 1, [Played(1, 0, "c3-d4", None)])
    ]
