"""People act only in their own name."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from domain.match import commands as c
from domain.match import events as e
from domain.match.enums import Channel, PauseReason, RulingKind
from domain.match.refusals import CommandError
from domain.match.state import CLOCK, CONSOLE, Seat, opponent_id
from domain.match.terms import DAY, HOUR
from events.store.codec import draft_of
from events.store.envelope import Draft
from tests.support.bundles import SIGNED_AT, after_two_plies, against_an_opponent, bundle_of, disputed, resigned, ruled
from tests.support.forging import Forgery, adding, by, forged, saying
from tests.support.matches import PlayedMatch, creation
from tests.support.verifying import fault, steps

LATER = SIGNED_AT - 1
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
    ("made", "forgeries", "version", "said"),
    [
        pytest.param(
            against_an_opponent,
            [
                ended(
                    (e.PlayerResigned(at=AT, seat=1, channel=Channel.CONDITIONAL), opponent_id(1)),
                    (e.MatchFinished(at=AT, scores=(1.0, 0.0), reason="resignation"), "alice"),
                )
            ],
            4,
            "an opponent moves and answers draw offers, and a player-resigned",
            id="an opponent has laid down its resignation",
        ),
        pytest.param(
            against_an_opponent,
            [
                ended(
                    (e.DrawOffered(at=AT, seat=0), "alice"),
                    (e.DrawAccepted(at=AT, seat=1, channel=Channel.CONDITIONAL), opponent_id(1)),
                    (e.MatchFinished(at=AT, scores=(0.5, 0.5), reason="draw-agreed"), "alice"),
                )
            ],
            5,
            "nothing can have been laid down by opponent-1",
            id="an opponent has laid down that it accepts a draw",
        ),
        pytest.param(
            against_an_opponent,
            [
                adding(
                    5,
                    e.ClockPaused(
                        at=LATER, reason=PauseReason.VACATION, since=LATER, seat=1, until=LATER + DAY, automatic=True
                    ),
                    CLOCK,
                )
            ],
            5,
            "opponent-1 is an opponent, which has no vacations",
            id="an opponent on vacation",
        ),
        pytest.param(
            after_two_plies,
            [
                adding(
                    6,
                    e.ClockPaused(
                        at=LATER,
                        reason=PauseReason.VACATION,
                        since=LATER,
                        seat=0,
                        until=LATER + 2 * DAY,
                        automatic=True,
                    ),
                    CLOCK,
                )
            ],
            6,
            "an automatic vacation lasts at most 1 day",
            id="an automatic vacation of two days",
        ),
        pytest.param(
            resigned,
            [saying(4, seed=5)],
            4,
            "alice is a person, and an answer of an opponent",
            id="a person with the seed of an opponent",
        ),
        pytest.param(
            PlayedMatch,
            [
                adding(2, e.PlayerJoined(at=LATER, seat=1, player=opponent_id(8)), opponent_id(8)),
                adding(3, e.MatchStarted(at=LATER), opponent_id(8)),
            ],
            2,
            "opponent-8 could not do this: only people join matches",
            id="an opponent joins",
        ),
        pytest.param(
            lambda: PlayedMatch(creation(Seat.taken("alice"), Seat.invited("bob"))),
            [saying(1, seats=[{"player": "alice", "joined": True}, {"player": "opponent-3", "joined": False}])],
            1,
            "alice could not do this: people create matches and are seated by their ids",
            id="an opponent is invited like a person",
        ),
        pytest.param(
            lambda: PlayedMatch(creation(Seat.taken("alice"), Seat.opponent(1))),
            [saying(1, seats=[{"player": "alice", "joined": True}, {"player": "bob", "joined": True, "level": 1}])],
            1,
            "alice could not do this: there is no opponent bob of level 1",
            id="a person is seated as an opponent",
        ),
        pytest.param(
            disputed,
            [saying(7, arbiter=CLOCK), by(7, CLOCK), by(8, CLOCK)],
            7,
            "clock could not do this: clock is no person",
            id="the clock judges",
        ),
        pytest.param(
            after_two_plies,
            [adding(6, e.TimeGiven(at=LATER, seat=1, to=0, time=HOUR), "bob") for _ in range(4)],
            9,
            "bob could not do this: you have given time 3 times since the last move",
            id="four gifts in a turn",
        ),
        pytest.param(
            resigned,
            [saying(4, move="a1-b2"), by(6, "eve")],
            6,
            "eve does not have seat 1, which did this",
            id="a stranger resigns a match that no rules can follow",
        ),
    ],
)
def test_what_cannot_have_been_done_is_refused(
    made: Callable[[], PlayedMatch], forgeries: list[Forgery], version: int, said: str
) -> None:
    assert steps(bundle_of(made()))["authority"].proved
    found = fault(forged(made(), *forgeries))
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
    assert found["result"].found.startswith("0 - 1 by checkmate")
