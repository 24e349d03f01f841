"""Where a match would have gone otherwise under another ruleset: the first place, and how."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import pytest

from domain import bashni, fourplay
from domain.game import Outcome
from domain.games import UnknownRulesetError
from domain.match.commands import AcceptRuleset, AcceptTakeback, JoinMatch, ProposeRuleset, RequestTakeback, Resign
from domain.match.impact import Difference, UnplayableError, impact
from domain.match.state import Seat
from domain.match.terms import days_per_move
from tests.support.cases import REASON
from tests.support.matches import FOUR, PlayedMatch, creation, started
from tests.support.rulesets import register, variant

PARTING = "c3-b4 b6-c5 b4-a5 c7-b6 a5xc7xe5 f6xd4 e3-f4 b8-c7"
"""After these moves the rulesets of Bashni part."""
PEOPLE = ("alice", "bob")


def sooner(position: Any, history: Sequence[Any]) -> Outcome | None:
    """Draw the game after three plies."""
    return Outcome((0.5, 0.5), "too-long") if len(history) == 3 else bashni.GAME.outcome(position, history)


def slower(position: Any, move: Any) -> Any:
    """Play a move that counts as one without progress whatever it is."""
    return bashni.GAME.play(position, move)._replace(halfmove_clock=position.halfmove_clock + 1)


SOONER = variant(bashni.GAME, ruleset=3, outcome=sooner)
SLOWER = variant(bashni.GAME, ruleset=3, play=slower)
ELSEWHERE = variant(
    bashni.GAME, ruleset=3, setups={"corner": bashni.GAME.setups["start"]._replace(name="corner", title="Corner")}
)
BLACK_BEGINS = variant(bashni.GAME, ruleset=3, to_move=lambda position: 1 - bashni.GAME.to_move(position))
NOBODY_LEAVES = variant(fourplay.GAME, ruleset=3, without_seat=lambda position, seat: None)


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    """Return how a third ruleset becomes known."""
    return partial(register, monkeypatch)


def played(moves: str, ruleset: int = 1) -> PlayedMatch:
    match = PlayedMatch(creation(ruleset=ruleset))
    match.do(JoinMatch(player="bob"))
    for number, move in enumerate(moves.split()):
        match.move(PEOPLE[number % 2], move)
    return match


def difference(match: PlayedMatch, ruleset: int) -> Difference | None:
    return impact(match.name, match.events, match.state.ruleset, ruleset)


def test_a_match_goes_as_it_went_under_its_own_ruleset() -> None:
    assert difference(played(f"{PARTING} f4xd6xb8"), 1) is None


def test_a_match_in_which_nothing_turned_on_the_difference_goes_as_it_went() -> None:
    assert difference(played(PARTING), 2) is None
    assert difference(played(f"{PARTING} f4xd6xb4"), 2) is None
    assert difference(played(PARTING, ruleset=2), 1) is None


@pytest.mark.parametrize(
    ("ruleset", "move", "other", "refusal"),
    [
        (1, "f4xd6xb8", 2, "the capture must go on from b8"),
        (2, "f4xd6xb8xf4", 1, "the capture ends on b8: nothing can be captured from there"),
    ],
)
def test_illegal_moves_are_named_by_ply_and_reason(ruleset: int, move: str, other: int, refusal: str) -> None:
    found = difference(played(f"{PARTING} {move}", ruleset), other)
    assert found == Difference(ply=9, version=12, kind="illegal-move", recorded=move, instead=refusal)


def test_a_game_that_ends_sooner_is_told_where_it_ends(known: Any) -> None:
    known(SOONER)
    assert difference(played("c3-d4 d6-c5"), 3) is None
    found = difference(played("c3-d4 d6-c5 b2-c3"), 3)
    assert found == Difference(ply=3, version=6, kind="outcome", recorded="it goes on", instead="0.5 - 0.5 (too-long)")


def test_a_game_that_ends_otherwise_or_not_at_all_is_told_so(known: Any) -> None:
    known(SOONER)
    match = PlayedMatch(creation(ruleset=3))
    match.do(JoinMatch(player="bob"))
    for player, move in zip(("alice", "bob", "alice"), ("c3-d4", "d6-c5", "b2-c3"), strict=True):
        match.move(player, move)
    assert match.state.result.reason == "too-long"
    assert difference(match, 1) == Difference(
        ply=3, version=6, kind="outcome", recorded="0.5 - 0.5 (too-long)", instead="it goes on"
    )


def test_another_position_is_shown_beside_that_of_the_match(known: Any) -> None:
    known(SLOWER)
    match = played("c3-d4")
    found = difference(match, 3)
    assert found is not None
    assert (found.ply, found.kind) == (1, "position")
    assert (found.recorded[-3:], found.instead[-3:]) == ("b 0", "b 1")


def test_another_seat_to_move_is_a_difference_before_the_first_move(known: Any) -> None:
    known(BLACK_BEGINS)
    assert difference(played(""), 3) == Difference(ply=0, version=1, kind="turn", recorded="0", instead="1")


def test_a_match_that_could_not_begin_like_that_is_told_what_could(known: Any) -> None:
    known(ELSEWHERE)
    assert difference(played("c3-d4"), 3) == Difference(
        ply=0, version=1, kind="setup", recorded="start for 2", instead="corner for 2"
    )


def test_what_follows_when_a_seat_leaves_is_compared_too(known: Any) -> None:
    known(NOBODY_LEAVES)
    seats = (Seat.taken(FOUR[0]), Seat.open(), Seat.open(), Seat.open())
    match = PlayedMatch(creation(*seats, creator=FOUR[0], game="fourplay", setup="standard"))
    for player in FOUR[1:]:
        match.do(JoinMatch(player=player))
    assert difference(match, 3) is None
    match.do(Resign(player=FOUR[1]))
    found = difference(match, 3)
    assert found is not None
    assert (found.ply, found.version, found.kind) == (0, 6, "position")


def test_moves_that_were_taken_back_count_where_they_were_played() -> None:
    match = PlayedMatch(replace(creation(), terms=days_per_move(3)._replace(takebacks=True)))
    match.do(JoinMatch(player="bob"))
    for number, move in enumerate(f"{PARTING} f4xd6xb8".split()):
        match.move(PEOPLE[number % 2], move)
    match.do(RequestTakeback(player="alice"))
    match.do(AcceptTakeback(player="bob"))
    match.move("alice", "f4xd6xb4")
    found = difference(match, 2)
    assert found is not None
    assert (found.ply, found.version) == (9, 12)


def moved_to_ruleset_2_and_on(last: str) -> PlayedMatch:
    """A match that goes on under ruleset 2 before the ninth ply, with that ply."""
    match = played(PARTING)
    match.do(ProposeRuleset(arbiter="arthur", ruleset=2, reason=REASON))
    for person in PEOPLE:
        match.do(AcceptRuleset(player=person))
    assert match.state.ruleset == 2
    match.move("alice", last)
    return match


def test_only_what_was_played_under_a_ruleset_is_asked_of_it() -> None:
    match = moved_to_ruleset_2_and_on("f4xd6xb8xf4")
    assert impact(match.name, match.events, 1, 2) is None
    found = impact(match.name, match.events, 2, 1)
    assert found is not None
    assert (found.ply, found.kind, found.recorded) == (9, "illegal-move", "f4xd6xb8xf4")
    assert impact(match.name, moved_to_ruleset_2_and_on("f4xd6xb4").events, 2, 1) is None


def test_a_ruleset_that_does_not_exist_is_no_answer() -> None:
    with pytest.raises(UnknownRulesetError):
        difference(started(), 9)


def test_a_match_that_cannot_be_replayed_as_it_is_says_so() -> None:
    match = played("c3-d4")
    broken = [*match.events[:-1], replace(cast(Any, match.events[-1]), move="c3-e5")]
    with pytest.raises(UnplayableError, match="ply 1, c3-e5: a man moves one square at a time"):
        impact("m", broken, 1, 2)
