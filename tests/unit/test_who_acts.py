"""People act only in their own name."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from domain.match import commands as c, events as e
from domain.match.enums import Channel, RulingKind
from domain.match.refusals import CommandError
from domain.match.state import CLOCK, CONSOLE, Seat, opponent_id
from events.store.codec import draft_of
from events.store.envelope import Draft
from tests.support.bundles import STORIES, after_two_plies, against_an_opponent, bundle_of, resigned, ruled
from tests.support.forging import Forgery, forged, read_forgery, saying
from tests.support.matches import PlayedMatch, creation
from tests.support.tables import named_cases
from tests.support.verifying import fault, steps

WORDS = "0" * 64
NO_PEOPLE = (CLOCK, CONSOLE, opponent_id(1))


def ended(*events: tuple[e.Event, str]) -> Forgery:
    """Return the forgery by which the first ply of a match is followed by ``events`` and no others."""

    def forge(drafts: list[Draft]) -> None:
        del drafts[3:]
        drafts += [draft_of(replace(event, at=drafts[2].at), actor) for event, actor in events]

    return forge


AT = 0
"""Replaced: what was laid down is dated like the event in front of it."""


@pytest.mark.parametrize(
    ("forgery", "version", "said"),
    [
        pytest.param(
            ended(
                (e.PlayerResigned(at=AT, seat=1, channel=Channel.CONDITIONAL), opponent_id(1)),
                (e.MatchFinished(at=AT, scores=(1.0, 0.0), reason="resignation"), "alice"),
            ),
            4,
            "an opponent moves and answers draw offers, and a player-resigned",
            id="its resignation",
        ),
        pytest.param(
            ended(
                (e.DrawOffered(at=AT, seat=0), "alice"),
                (e.DrawAccepted(at=AT, seat=1, channel=Channel.CONDITIONAL), opponent_id(1)),
                (e.MatchFinished(at=AT, scores=(0.5, 0.5), reason="draw-agreed"), "alice"),
            ),
            5,
            "nothing can have been laid down by opponent-1",
            id="that it accepts a draw",
        ),
    ],
)
def test_an_opponent_has_laid_nothing_down(forgery: Forgery, version: int, said: str) -> None:
    found = fault(forged(against_an_opponent(), forgery))
    assert (found.place, found.reason[: len(said)]) == (f"version {version}", said)


MATCHES: dict[str, Callable[[], PlayedMatch]] = STORIES | {
    "after-two-plies": after_two_plies,
    "opened": PlayedMatch,
    "invited": lambda: PlayedMatch(creation(Seat.taken("alice"), Seat.invited("bob"))),
    "beside-an-opponent": lambda: PlayedMatch(creation(Seat.taken("alice"), Seat.opponent(1))),
}


@pytest.mark.parametrize(("made", "forgeries", "version", "said"), named_cases(__file__, "forged events"))
def test_what_cannot_have_been_done_is_refused(made: str, forgeries: list[list[Any]], version: int, said: str) -> None:
    assert steps(bundle_of(MATCHES[made]()))["authority"].proved
    found = fault(forged(MATCHES[made](), *(read_forgery(*row) for row in forgeries)))
    assert (found.place, found.reason[: len(said)]) == (f"version {version}", said)


@pytest.mark.parametrize("who", NO_PEOPLE)
def test_only_people_create_join_and_judge_matches(who: str) -> None:
    with pytest.raises(CommandError, match="people create matches"):
        PlayedMatch(creation(Seat.taken(who), Seat.open(), creator=who))
    with pytest.raises(CommandError, match="only people join matches"):
        PlayedMatch().do(c.JoinMatch(player=who))
    with pytest.raises(CommandError, match="only people judge matches"):
        ruled(after_two_plies(), c.Rule(arbiter=who, ruling=RulingKind.ANNUL, reason=WORDS, rule=WORDS))


def test_a_level_that_there_is_not_has_no_opponent() -> None:
    with pytest.raises(CommandError, match="no opponent opponent-99 of level 99"):
        PlayedMatch(creation(Seat.taken("alice"), Seat.opponent(99)))


def test_a_result_that_no_rules_can_follow_is_not_proved() -> None:
    found = steps(forged(resigned(), saying(4, move="a1-b2"), saying(7, reason="checkmate", scores=[0.0, 1.0])))
    assert not found["result"].proved
    assert found["result"].finding.startswith("0 - 1 by checkmate")
