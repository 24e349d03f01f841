"""The audit replay: what it tells of each event, and that it stops at the first one that the rules do not give."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest

from domain.four_towers.legal_moves import MoveGenerator
from domain.game import Outcome
from domain.games import GAMES
from domain.match.audit import MAX_PAUSES, DeviationError, Examination, Proof
from domain.match.commands import AcceptDraw, JoinMatch, OfferDraw, Resign
from domain.match.enums import PauseReason
from domain.match.events import (
    ClockPaused,
    DrawAccepted,
    DrawDeclined,
    DrawOffered,
    MatchFinished,
    MoveSubmitted,
    PlayerJoined,
    SeedDrawn,
)
from domain.match.opponents import move_of
from domain.match.state import Seat
from domain.match.terms import DAY, STANDARD
from domain.search import ENGINE_VERSION, LEVELS
from events.proof.audit import OpponentAnswer, Record, audit
from tests.support import bundles
from tests.support.long_games import events_of
from tests.support.matches import FOUR, T0, PlayedMatch, creation, started
from tests.support.rulesets import register, variant
from tests.support.tables import table

Change = Callable[[list[Any]], Any]


def records(match: PlayedMatch, change: Change = list) -> list[Record]:
    """Return the audit of ``match`` after ``change`` to its events."""
    events = list(match.events)
    change(events)
    return list(audit(match.name, bundles.envelopes(events, match.name)))


def test_every_event_has_a_record_with_the_match_before_and_after_it() -> None:
    found = records(bundles.resigned())
    assert [record.envelope.version for record in found] == [1, 2, 3, 4, 5, 6, 7]
    assert found[0].before is None
    assert [record.after for record in found[:-1]] == [record.before for record in found[1:]]
    assert found[-1].after == bundles.resigned().state
    assert not any(record.fault for record in found)


def test_a_ply_tells_who_moved_and_what_changed() -> None:
    plies = [record.ply for record in records(bundles.resigned()) if record.ply is not None]
    assert [(ply.event.ply, ply.seat_name, ply.event.move, ply.channel) for ply in plies] == [
        (1, "White", "c3-d4", "channel not recorded"),
        (2, "Black", "b6-a5", "channel not recorded"),
    ]
    assert plies[0].legal_moves == len(started().legal_moves())
    assert (
        plies[0].positions[1] == plies[1].positions[0] == GAMES["bashni"].format_position(plies[1].before.play.position)
    )
    assert plies[0].diagrams[0] == GAMES["bashni"].diagram(GAMES["bashni"].initial("start"))


def answers(match: PlayedMatch, change: Change = list) -> list[OpponentAnswer]:
    """Return what opponents have done in ``match`` after ``change`` to its events."""
    return [record.answer for record in records(match, change) if record.answer is not None]


def test_the_move_of_an_opponent_is_computed_again() -> None:
    ply = records(bundles.against_an_opponent())[-1].ply
    assert ply is not None
    assert ply.channel.startswith("opponent of level 1, seed ")
    assert ply.channel.endswith(f", engine {ENGINE_VERSION}, 400 nodes")
    assert ply._replace(event=replace(ply.event, nodes=None)).channel.endswith(f", engine {ENGINE_VERSION}")
    found = answers(bundles.against_an_opponent())[-1]
    assert found.computable
    assert found.recompute() is None
    other = found._replace(event=replace(ply.event, move="h6-g5"))
    assert other.recompute() == f"the opponent plays {ply.event.move}, and h6-g5 is recorded"


def test_the_move_of_an_opponent_is_computed_again_with_the_node_budget_that_is_recorded() -> None:
    match = bundles.against_an_opponent(5)
    played = match.events[3]
    assert isinstance(played, MoveSubmitted)
    assert played.seed is not None
    assert played.nodes == LEVELS[5].nodes
    hasty = replace(played, nodes=1, move=move_of(answers(match)[0].before, 5, played.seed, 1))
    assert hasty.move != played.move
    refused = "it cannot be computed again: ValueError: an opponent of level 5 visits 1 to 2000 nodes, not "
    for recorded, nodes, said in (
        (played, None, None),
        (hasty, 1, None),
        (hasty, None, f"the opponent plays {played.move}, and {hasty.move} is recorded"),
        (played, 1, f"the opponent plays {hasty.move}, and {played.move} is recorded"),
        (played, 0, f"{refused}0"),
        (played, 2**50, f"{refused}{2**50}"),
    ):
        (found,) = answers(match, lambda events: events.__setitem__(3, replace(recorded, nodes=nodes)))  # noqa: B023
        assert found.recompute() == said


def test_the_word_of_an_opponent_on_a_draw_is_computed_again() -> None:
    match = bundles.draw_refused()
    *_, last = answers(match)
    assert isinstance(last.event, DrawDeclined)
    assert last.computable
    assert last.recompute() is None
    said = "the opponent turns the draw down, and that it agrees to the draw is recorded"
    agreed = DrawAccepted(at=last.event.at, seat=last.event.seat, engine=last.event.engine)
    assert answers(match, lambda events: events.__setitem__(-1, agreed))[-1].recompute() == said


def test_the_node_budget_of_a_word_on_a_draw_is_one_of_its_level() -> None:
    most = LEVELS[1].nodes
    for nodes, fault in ((1, None), (most, None), (0, most), (most + 1, most)):
        last = answers(bundles.draw_refused(), replaced(-1, nodes=nodes))[-1]
        refused = f"an opponent of level 1 visits 1 to {most} nodes, not {nodes}"
        assert last.recompute() == (None if fault is None else f"it cannot be computed again: ValueError: {refused}")


def test_an_answer_from_before_engines_were_recorded_cannot_be_computed_again() -> None:
    older = answers(bundles.draw_refused(), replaced(-1, engine=None))[-1]
    assert (older.computable, older.engine) == (False, "an engine that is not recorded")


def test_rules_that_fail_when_an_answer_is_computed_are_told() -> None:
    found = answers(bundles.against_an_opponent())[-1]
    unheard_of = found._replace(event=replace(cast(Any, found.event), level=99))
    assert unheard_of.recompute() == "it cannot be computed again: KeyError: 99"


def replaced(place: int, **fields: Any) -> Change:
    return lambda events: events.__setitem__(place, replace(events[place], **fields))


@pytest.mark.parametrize(
    ("change", "version", "said"),
    [
        (replaced(3, move="c3-e5"), 4, "it cannot be replayed: ply 1, c3-e5: a man"),
        (replaced(3, move="nonsense"), 4, "it cannot be replayed: ply 1, nonsense: "),
        (replaced(3, move="c3-d4" * 2001), 4, "a move has at most 10000 characters"),
        (replaced(3, seat=1), 4, "seat 0 is to move, and a move of seat 1 is recorded"),
        (replaced(3, seat=-1), 4, "the match has seats 0 to 1, not -1"),
        (replaced(3, ply=2), 4, "this is ply 1, and 2 is recorded"),
        (replaced(4, at=T0), 5, "it is dated 3000 ms before the event in front of it"),
        (replaced(0, ruleset=9), 1, "it cannot be replayed: the start: this installation does not know ruleset 9"),
        (replaced(0, setup="other"), 1, "it cannot be replayed: the start: 'other'"),
        (replaced(0, seats=(Seat.taken("alice"),)), 1, "the setup 'start' has 2 seats"),
        (replaced(1, seat=7), 2, "the match has seats 0 to 1, not 7"),
        (lambda events: events.insert(3, events[0]), 4, "it is dated 1000 ms before"),
        (lambda events: events.pop(0), 1, "it has no place here: the stream of match 'm' does not begin"),
        (lambda events: events.pop(2), 3, "a move is recorded in a match that is open"),
        (
            lambda events: events.append(MoveSubmitted(at=T0 + 9000, seat=0, ply=3, move="d4-c5")),
            8,
            "a move is recorded in a match",
        ),
        (replaced(6, scores=(0.0, 1.0)), 7, "the rules give 1 - 0 (resignation), and 0 - 1 (resignation) is recorded"),
        (replaced(6, scores=(0.5, 0.5)), 7, "the rules give 1 - 0 (resignation), and 0.5 - 0.5 (resignation) is rec"),
        (lambda events: events.pop(5), 6, "the rules give no result here, and 1 - 0 (resignation) is recorded"),
        (replaced(3, level=8), 4, "a person has seat 0, and a move of an opponent of level 8 is recorded"),
        (lambda events: events.insert(4, SeedDrawn(at=T0 + 4000, seed="1")), 5, "a seed is drawn where the match "),
    ],
)
def test_an_event_that_the_rules_do_not_give_is_told_with_the_reason(change: Change, version: int, said: str) -> None:
    first = next(record for record in records(bundles.resigned(), change) if record.fault)
    assert (first.envelope.version, (first.fault or "")[: len(said)]) == (version, said)


def test_a_move_of_an_opponent_that_does_not_say_its_level_is_told() -> None:
    found = records(bundles.against_an_opponent(), replaced(3, level=None))[3]
    assert found.fault == "an opponent of level 1 has seat 1, and a move of a person is recorded"


OUTAGE = ClockPaused(at=T0 + 3000, reason=PauseReason.OUTAGE, since=T0 + DAY, seat=None, until=T0 + 2 * DAY)


@pytest.mark.parametrize(
    ("change", "version", "said"),
    [
        (replaced(0, terms=STANDARD._replace(bank=10**15)), 1, "bank must be "),
        (
            lambda events: events.__setitem__(slice(3, 3), [OUTAGE] * (MAX_PAUSES + 1)),
            MAX_PAUSES + 4,
            "more than 1000 pauses",
        ),
    ],
    ids=["long", "pauses"],
)
def test_what_no_clock_can_reckon_with_is_the_last_thing_judged(change: Change, version: int, said: str) -> None:
    last = records(bundles.resigned(), change)[-1]
    assert (last.envelope.version, last.after, (last.fault or "")[: len(said)]) == (version, None, said)


def test_the_answer_of_a_seat_that_there_is_not_is_none() -> None:
    found = records(bundles.draw_refused(), replaced(-1, seat=7))[-1]
    assert (found.answer, found.fault) == (None, "the match has seats 0 to 1, not 7")


@pytest.mark.parametrize("made", bundles.STORIES.values(), ids=list(bundles.STORIES))
def test_whatever_can_happen_in_a_match_is_as_the_rules_give_it(made: Callable[[], PlayedMatch]) -> None:
    match = made()
    found = records(match)
    assert [record.fault for record in found] == [None] * len(match.events)
    assert found[-1].after == match.state


def deciding(match: PlayedMatch) -> str | None:
    """Return the type of the event that decided the result of ``match``, None when it has no result."""
    found = records(match)
    proof = found[-1].proof
    return None if proof is None or proof.decided_by is None else found[proof.decided_by - 1].envelope.type


def test_a_result_is_decided_by_the_event_that_brought_it_about() -> None:
    assert deciding(bundles.flagged()) == "flag-fell"
    assert deciding(bundles.forgiven()) == "player-resigned"
    assert deciding(bundles.disputed()) == "ruling-made"
    assert deciding(bundles.restored()) == "player-resigned"
    assert deciding(bundles.annulled()) is None
    assert deciding(bundles.taken_back_by_ruling()) is None


@pytest.mark.parametrize(("change", "said"), table(__file__, "a flag that the clock does not give is told"))
def test_a_flag_that_the_clock_does_not_give_is_told(change: dict[str, Any], said: str) -> None:
    found = records(bundles.flagged(), replaced(5, **change))
    assert (found[5].fault or "").startswith(said)


def test_a_move_after_the_flag_has_fallen_is_told() -> None:
    match = bundles.after_two_plies()
    late = MoveSubmitted(at=match.now + 30 * DAY, seat=0, ply=3, move="d4-c5")
    fault = records(match, lambda events: events.append(late))[-1].fault
    assert (fault or "").startswith("the time of seat 0 was up ")


def test_what_an_arbiter_does_after_a_fault_is_still_told() -> None:
    found = records(bundles.disputed(), replaced(4, move="h6-a1"))
    assert [record.fault is None for record in found] == [True] * 4 + [False] + [True] * 3
    assert found[-1].after is not None
    assert found[-1].after.result.scores == (0.0, 1.0)
    assert found[-1].proof == Proof(ply=2, decided_by=7)
    assert found[4].ply is None


def test_the_time_of_a_seat_is_told_before_and_after_its_move() -> None:
    ply = records(bundles.resigned())[3].ply
    assert ply is not None
    assert ply.clocks == ("9 days 23 hours", "10 days 23 hours")


def test_a_game_that_is_over_must_be_recorded_as_over_with_the_result_of_the_rules() -> None:
    def go_on(events: list[Any]) -> None:
        events[-1] = DrawOffered(at=events[-1].at, seat=0)

    over = "the match is over by the rules: 0.5 - 0.5 (repetition); that is not recorded"
    assert records(bundles.repeated(), go_on)[-1].fault == over
    cut_off = records(bundles.repeated(), lambda events: events.pop())
    assert (cut_off[-1].fault, [record.fault for record in cut_off[:-1]]) == (over, [None] * (len(cut_off) - 1))
    wrong = records(bundles.repeated(), replaced(-1, scores=(1.0, 0.0)))
    assert wrong[-1].fault == "the rules give 0.5 - 0.5 (repetition), and 1 - 0 (repetition) is recorded"


def test_an_agreed_draw_is_decided_by_the_last_who_agreed() -> None:
    match = started()
    match.do(OfferDraw(player="alice"))
    match.do(AcceptDraw(player="bob"))
    last = records(match)[-1]
    assert last.fault is None
    assert last.proof is not None
    assert (last.proof.ply, last.proof.decided_by) == (0, 5)
    assert records(match, replaced(-1, scores=(1.0, 0.0)))[-1].fault is not None


def test_seats_that_leave_a_game_of_four_one_by_one_leave_the_result_to_the_rules() -> None:
    seats = (Seat.taken(FOUR[0]), Seat.open(), Seat.open(), Seat.open())
    match = PlayedMatch(creation(*seats, creator=FOUR[0], game="fourplay", setup="standard"))
    for player in FOUR[1:]:
        match.do(JoinMatch(player=player))
    for player in FOUR[:3]:
        match.do(Resign(player=player))
    last = records(match)[-1]
    assert last.fault is None
    assert last.proof is not None
    assert last.proof.decided_by is None
    assert match.state.result.reason == "last-king"


def test_a_result_that_no_seat_has_brought_about_is_taken_at_its_word() -> None:
    examination = Examination("m")
    for event in started().events:
        examination.take(event)
    examination.take(MatchFinished(at=T0 + 9000, scores=(1.0, 0.0), reason="ruling"))
    assert examination.proof is not None
    assert examination.proof.decided_by == 3


def test_whatever_a_broken_ruleset_raises_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(position: Any, history: Any) -> Outcome:
        raise ZeroDivisionError("division by zero")

    match = bundles.resigned()
    register(monkeypatch, variant(GAMES["bashni"], outcome=broken))
    said = "the rules fail: ZeroDivisionError: division by zero"
    assert [record.fault for record in records(match)[3:5]] == [said, said]


def test_no_legal_move_is_searched_for_where_the_match_shows_one(monkeypatch: pytest.MonkeyPatch) -> None:
    searched = []
    any_move = MoveGenerator.any_move

    def counted(turn: MoveGenerator) -> bool:
        searched.append(turn)
        return any_move(turn)

    events = events_of(GAMES["four-towers"], "standard", 12, ("alice", "bob"), T0)
    monkeypatch.setattr(MoveGenerator, "any_move", counted)
    found = list(audit("m", bundles.envelopes(events, "m")))
    assert [record.fault for record in found] == [None] * len(events)
    assert len(searched) == 1


def test_an_event_that_was_not_the_one_announced_is_examined_for_its_own_sake() -> None:
    match = bundles.after_two_plies()
    events = match.events
    examination = Examination("m")
    for event in events[:3]:
        examination.take(event)
    examination.take(events[3], events[4])
    other = DrawOffered(at=events[4].at, seat=1)
    assert examination.take(other).after.version == 5
    after = examination.take(events[4]).after
    assert (after.version, after.play.plies) == (6, 2)


def test_after_an_event_that_no_match_can_take_an_examination_stands_where_it_stood() -> None:
    examination = Examination("m")
    match = bundles.resigned()
    for event in match.events[:4]:
        examination.take(event)
    before = examination.state
    with pytest.raises(DeviationError, match="the match has seats 0 to 1, not 3"):
        examination.take(PlayerJoined(at=T0 + 9000, seat=3, player="eve"))
    assert examination.state is before
    for event in match.events[4:]:
        examination.take(event)
    assert examination.state == match.state
