"""The audit replay: what it tells of each event, and that it stops at the first one that the rules do not give."""

from collections.abc import Callable
from typing import Any

import pytest

from domain.game import Game, Outcome
from domain.games import GAMES
from domain.match.audit import Deviation, Examination
from domain.match.commands import AcceptDraw, JoinMatch, OfferDraw, Resign
from domain.match.events import DrawOffered, MatchFinished, MoveSubmitted, PlayerJoined, PlayerResigned
from domain.match.state import Seat
from events.audit import Record, audit
from tests.support.bundles import against_an_opponent, envelopes, repeated, resigned
from tests.support.matches import FOUR, NOON, PlayedMatch, creation, started

Change = Callable[[list[Any]], Any]


def records(match: PlayedMatch, change: Change = list) -> list[Record]:
    """Return the audit of ``match`` after ``change`` to its events."""
    events = list(match.events)
    change(events)
    return list(audit(match.name, envelopes(events, match.name)))


def test_every_event_has_a_record_with_the_match_before_and_after_it() -> None:
    found = records(resigned())
    assert [record.envelope.version for record in found] == [1, 2, 3, 4, 5, 6, 7]
    assert found[0].before is None
    assert [record.after for record in found[:-1]] == [record.before for record in found[1:]]
    assert found[-1].after == resigned().state
    assert not any(record.fault for record in found)


def test_a_ply_tells_who_moved_and_what_changed() -> None:
    plies = [record.ply for record in records(resigned()) if record.ply is not None]
    assert [(ply.event.ply, ply.seat_name, ply.event.move, ply.channel) for ply in plies] == [
        (1, "White", "c3-d4", "player"),
        (2, "Black", "b6-a5", "player"),
    ]
    assert plies[0].legal_moves == len(started().legal_moves())
    assert plies[0].positions[1] == plies[1].positions[0] == GAMES["bashni"].format_position(plies[1].before.position)
    assert plies[0].diagrams[0] == GAMES["bashni"].diagram(GAMES["bashni"].initial("start"))


def test_the_move_of_an_opponent_is_computed_again() -> None:
    ply = records(against_an_opponent())[-1].ply
    assert ply is not None
    assert ply.computable
    assert ply.channel.startswith("opponent of level 1, seed ")
    assert ply.recompute() is None
    other = ply._replace(event=ply.event._replace(move="h6-g5"))
    assert other.recompute() == f"the opponent plays {ply.event.move}, and h6-g5 is recorded"


def replaced(place: int, **fields: Any) -> Change:
    """Return the change of some fields of an event."""
    return lambda events: events.__setitem__(place, events[place]._replace(**fields))


@pytest.mark.parametrize(
    ("change", "version", "said"),
    [
        (replaced(3, move="c3-e5"), 4, "it cannot be replayed: a man"),
        (replaced(3, move="nonsense"), 4, "it cannot be replayed: "),
        (replaced(3, move="c3-d4" * 2001), 4, "a move has at most 10000 characters"),
        (replaced(3, seat=1), 4, "seat 0 is to move, and a move of seat 1 is recorded"),
        (replaced(3, seat=-1), 4, "the match has seats 0 to 1, not -1"),
        (replaced(3, ply=2), 4, "this is ply 1, and 2 is recorded"),
        (replaced(4, at=NOON), 5, "it is dated 3000 ms before the event in front of it"),
        (replaced(0, ruleset=9), 1, "it cannot be replayed: this installation does not know ruleset 9 of 'bashni'"),
        (replaced(0, setup="other"), 1, "it cannot be replayed: KeyError: 'other'"),
        (replaced(0, seats=(Seat.taken("alice"),)), 1, "it cannot be replayed: the setup 'start' does not have"),
        (replaced(1, seat=7), 2, "the match has seats 0 to 1, not 7"),
        (lambda events: events.insert(3, events[0]), 4, "it is dated 1000 ms before"),
        (lambda events: events.pop(0), 1, "it cannot be replayed: the stream of match 'm' does not begin with its"),
        (lambda events: events.pop(2), 3, "a move is recorded in a match that is open"),
        (lambda events: events.append(MoveSubmitted(NOON + 9000, 0, 3, "d4-c5")), 8, "a move is recorded in a match"),
        (replaced(6, scores=(0.0, 1.0)), 7, "the rules give 1 - 0 (resignation), and 0 - 1 (resignation) is recorded"),
        (replaced(6, scores=(0.5, 0.5)), 7, "the rules give 1 - 0 (resignation), and 0.5 - 0.5 (resignation) is rec"),
        (lambda events: events.pop(5), 6, "the rules give no result here, and 1 - 0 (resignation) is recorded"),
    ],
)  # fmt: skip
def test_the_first_event_that_the_rules_do_not_give_ends_it(change: Change, version: int, said: str) -> None:
    *good, last = records(resigned(), change)
    assert not any(record.fault for record in good)
    assert (len(good) + 1, (last.fault or "")[: len(said)]) == (version, said)


def test_a_game_that_is_over_must_be_recorded_as_over_with_the_result_of_the_rules() -> None:
    def go_on(events: list[Any]) -> None:
        events[-1] = DrawOffered(events[-1].at, 0)

    over = "the match is over by the rules: 0.5 - 0.5 (repetition); that is not recorded"
    assert records(repeated(), go_on)[-1].fault == over
    cut_off = records(repeated(), lambda events: events.pop())
    assert (cut_off[-1].fault, [record.fault for record in cut_off[:-1]]) == (over, [None] * (len(cut_off) - 1))
    wrong = records(repeated(), replaced(-1, scores=(1.0, 0.0)))
    assert wrong[-1].fault == "the rules give 0.5 - 0.5 (repetition), and 1 - 0 (repetition) is recorded"


def test_an_agreed_draw_is_decided_by_the_last_who_agreed() -> None:
    match = started()
    match.do(OfferDraw("alice"))
    match.do(AcceptDraw("bob"))
    last = records(match)[-1]
    assert last.fault is None
    assert last.proof is not None
    assert (last.proof.ply, last.proof.decided_by) == (0, 5)
    assert records(match, replaced(-1, scores=(1.0, 0.0)))[-1].fault is not None


def test_seats_that_leave_a_game_of_four_one_by_one_leave_the_result_to_the_rules() -> None:
    seats = (Seat.taken(FOUR[0]), Seat.open(), Seat.open(), Seat.open())
    match = PlayedMatch(creation(*seats, creator=FOUR[0], game="fourplay", setup="standard"))
    for player in FOUR[1:]:
        match.do(JoinMatch(player))
    for player in FOUR[:3]:
        match.do(Resign(player))
    last = records(match)[-1]
    assert last.fault is None
    assert last.proof is not None
    assert last.proof.decided_by is None
    assert match.state.reason == "last-king"


def test_a_result_that_no_seat_has_brought_about_is_taken_at_its_word() -> None:
    examination = Examination("m")
    for event in started().events:
        examination.take(event)
    examination.take(MatchFinished(NOON + 9000, (1.0, 0.0), "ruling"))
    assert examination.proof is not None
    assert examination.proof.decided_by == 3


def test_whatever_a_broken_ruleset_raises_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Game[Any, Any], position: Any, history: Any) -> Outcome:
        raise ZeroDivisionError("division by zero")

    match = resigned()
    monkeypatch.setattr(type(GAMES["bashni"]), "outcome", broken)
    *_, last = records(match)
    assert (last.envelope.version, last.fault) == (4, "it cannot be replayed: ZeroDivisionError: division by zero")


def test_after_a_deviation_an_examination_stands_where_it_stood() -> None:
    examination = Examination("m")
    match = resigned()
    for event in match.events[:4]:
        examination.take(event)
    before = examination.state
    with pytest.raises(Deviation):
        examination.take(PlayerJoined(NOON + 9000, 3, "eve"))
    assert examination.state is before
    for event in match.events[4:]:
        examination.take(event)
    assert examination.state == match.state
    assert isinstance(match.events[5], PlayerResigned)
