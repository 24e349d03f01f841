"""Conditional lines and forced moves: what is laid down fires with its trigger, and never in another match."""

from typing import Any

import pytest

from domain.games import GAMES
from domain.match import commands, events as e
from domain.match.enums import Channel, LineAction
from domain.match.lines import ANY, MAX_LINE_DEPTH, MAX_LINE_MOVES, ConditionalMoves, Line, arranged, laid_down, reached
from domain.match.refusals import CommandError
from domain.match.terms import STANDARD
from tests.support.matches import SHORT_GAME, PlayedMatch, creation, started, started_by_four

BASHNI, TOWERS = GAMES["bashni"], GAMES["towers"]
WITH_TAKEBACKS = STANDARD._replace(takebacks=True)


def chain(*moves: str, then: LineAction | None = None) -> Line:
    """Return a line of moves one after the other; ``then`` follows the last."""
    line = Line(move=moves[-1], then=then)
    for move in reversed(moves[:-1]):
        line = Line(move=move, then=None, next=(line,))
    return line


def lay_down(match: PlayedMatch, player: str, *lines: Line, forced: bool = False) -> None:
    """Lay ``lines`` down for ``player`` from where the match stands; without any, only what is ``forced``."""
    seat = match.state.seat_of(player)
    assert seat is not None
    match.orders[seat] = laid_down(match.state, player, ConditionalMoves(), lines, forced, match.now)


def dead(match: PlayedMatch, player: str) -> bool:
    """Tell whether the match has gone another way than the lines of ``player``."""
    lines = match.orders[match.state.seat_of(player) or 0].lines
    assert lines is not None
    return reached(match.state, lines) is None


def played(events: tuple[e.Event, ...]) -> list[tuple[str, str | None]]:
    """Return the moves among ``events``, each with its channel."""
    return [(event.move, event.channel) for event in events if isinstance(event, e.MoveSubmitted)]


def test_the_answer_comes_in_the_same_breath_as_the_move_and_is_marked() -> None:
    match = started()
    lay_down(match, "bob", chain("c3-d4", "b6-a5"))
    happened = match.move("alice", "c3-d4")
    assert happened == (
        e.MoveSubmitted(at=match.now, seat=0, ply=1, move="c3-d4"),
        e.MoveSubmitted(at=match.now, seat=1, ply=2, move="b6-a5", channel=Channel.CONDITIONAL),
    )
    assert match.state.play.channels == (None, Channel.CONDITIONAL)


def test_a_line_is_a_tree_and_goes_on_from_move_to_move() -> None:
    match = started()
    answers = (chain("d6-e5", "f4xd6", "c7xe5", "c3-d4"), chain("d6-c5", "g3-h4"))
    lay_down(match, "alice", Line(move="e3-f4", then=None, next=answers))
    assert played(match.move("alice", "e3-f4")) == [("e3-f4", None)]
    assert played(match.move("bob", "d6-e5")) == [("d6-e5", None), ("f4xd6", Channel.CONDITIONAL)]
    assert played(match.move("bob", "c7xe5")) == [("c7xe5", None), ("c3-d4", Channel.CONDITIONAL)]


def test_another_move_than_any_that_was_laid_down_kills_the_line_and_it_stays_to_be_seen() -> None:
    match = started()
    lay_down(match, "bob", chain("c3-d4", "b6-a5"))
    before = match.orders[1]
    assert played(match.move("alice", "e3-f4")) == [("e3-f4", None)]
    assert dead(match, "bob")
    assert match.orders[1] == before


def test_lines_of_two_seats_answer_each_other() -> None:
    match = started()
    lay_down(match, "alice", chain("e3-f4", "d6-e5", "f4xd6", "e7xc5", "c3-d4"))
    lay_down(match, "bob", chain("e3-f4", "d6-e5", "f4xd6", "e7xc5"))
    happened = match.move("alice", "e3-f4")
    assert [move for move, _ in played(happened)] == ["e3-f4", "d6-e5", "f4xd6", "e7xc5", "c3-d4"]
    assert [channel for _, channel in played(happened)] == [None] + [Channel.CONDITIONAL] * 4


def test_among_four_a_chain_of_lines_fires_from_seat_to_seat() -> None:
    match = started_by_four()
    lay_down(match, "blue", chain("+a5", "+e7"))
    lay_down(match, "rita", chain("+a5", "+e7", "+e1"))
    lay_down(match, "bob", chain("+a5", "+e7", "+e1", "+a2"))
    happened = match.move("wendy", "+a5")
    assert [(event.seat, event.channel) for event in happened if isinstance(event, e.MoveSubmitted)] == [
        (0, None),
        (1, Channel.CONDITIONAL),
        (2, Channel.CONDITIONAL),
        (3, Channel.CONDITIONAL),
    ]


def test_among_four_a_line_waits_until_its_own_turn() -> None:
    match = started_by_four()
    lay_down(match, "rita", chain("+a5", "+e7", "+e1"))
    assert len(match.move("wendy", "+a5")) == 1
    assert not dead(match, "rita")
    assert played(match.move("blue", "+e7"))[1:] == [("+e1", Channel.CONDITIONAL)]


def test_when_a_seat_leaves_lines_that_counted_on_its_moves_are_dead() -> None:
    match = started_by_four(game="fourplay", setup="standard")
    lay_down(match, "rita", chain("a1-a2", "a12-b8", "j14-i13"))
    match.move("wendy", "a1-a2")
    match.do(commands.Resign(player="blue"))
    assert match.state.seat_of("rita") == match.state.clock.seat
    assert dead(match, "rita")
    assert [type(event) for event in match.events[-2:]] == [e.MoveSubmitted, e.PlayerResigned]


def test_a_line_may_resign() -> None:
    match = started()
    lay_down(match, "bob", chain("c3-d4", then=LineAction.RESIGN))
    happened = match.move("alice", "c3-d4")
    assert happened[1:] == (
        e.PlayerResigned(at=match.now, seat=1, channel=Channel.CONDITIONAL),
        e.MatchFinished(at=match.now, scores=(1.0, 0.0), reason="resignation"),
    )


def test_a_line_may_agree_to_a_draw_when_one_is_offered_and_go_on_when_none_is() -> None:
    line = Line(move="c3-d4", then=LineAction.ACCEPT_DRAW, next=(Line(move="b6-a5"),))
    match = started()
    lay_down(match, "bob", line)
    happened = match.do(commands.SubmitMove(player="alice", move="c3-d4", offer_draw=True))
    assert happened[2:] == (
        e.DrawAccepted(at=match.now, seat=1, channel=Channel.CONDITIONAL),
        e.MatchFinished(at=match.now, scores=(0.5, 0.5), reason="draw-agreed"),
    )
    match = started()
    lay_down(match, "bob", line)
    assert played(match.move("alice", "c3-d4"))[1:] == [("b6-a5", Channel.CONDITIONAL)]


def test_a_draw_offer_is_news_that_holds_a_line_back_until_it_is_answered() -> None:
    match = started()
    lay_down(match, "bob", chain("c3-d4", "b6-a5"))
    assert len(match.do(commands.SubmitMove(player="alice", move="c3-d4", offer_draw=True))) == 2
    assert not dead(match, "bob")
    assert played(match.do(commands.DeclineDraw(player="bob"))) == [("b6-a5", Channel.CONDITIONAL)]


def test_a_takeback_request_holds_a_line_back_until_it_is_answered() -> None:
    match = started(WITH_TAKEBACKS)
    lay_down(match, "bob", chain("c3-d4", "b6-a5"))
    match.do(commands.SubmitMove(player="alice", move="c3-d4", offer_draw=True))
    match.do(commands.RequestTakeback(player="alice"))
    assert played(match.do(commands.DeclineDraw(player="bob"))) == []
    assert played(match.do(commands.DeclineTakeback(player="bob"))) == [("b6-a5", Channel.CONDITIONAL)]


def test_what_a_line_played_is_not_played_again_when_it_was_taken_back() -> None:
    match = started(WITH_TAKEBACKS)
    lay_down(match, "bob", chain("c3-d4", "b6-a5"))
    match.move("alice", "c3-d4")
    match.do(commands.RequestTakeback(player="bob"))
    happened = match.do(commands.AcceptTakeback(player="alice"))
    assert happened[-1] == e.MovesTakenBack(at=match.now, ply=1)
    assert match.state.play.channels == (None,)
    assert dead(match, "bob")
    assert played(match.move("bob", "b6-c5")) == [("b6-c5", None)]


def test_lines_that_are_laid_down_after_a_takeback_fire_again() -> None:
    match = started(WITH_TAKEBACKS)
    match.move("alice", "c3-d4")
    match.do(commands.RequestTakeback(player="alice"))
    match.do(commands.AcceptTakeback(player="bob"))
    lay_down(match, "bob", chain("c3-d4", "b6-a5"))
    assert played(match.move("alice", "c3-d4"))[1:] == [("b6-a5", Channel.CONDITIONAL)]


def test_any_move_may_be_answered_by_one_move_if_it_is_legal_then() -> None:
    match = started()
    lay_down(match, "bob", chain("e3-f4", "f6-e5"), chain(ANY, "b6-a5"))
    assert played(match.move("alice", "a3-b4"))[1:] == [("b6-a5", Channel.CONDITIONAL)]
    match = started()
    lay_down(match, "bob", chain(ANY, "d6-c5"))
    match.move("alice", "c3-b4")
    assert match.state.play.moves == ("c3-b4", "d6-c5")
    match = started()
    match.move("alice", "e3-f4")
    lay_down(match, "alice", chain(ANY, "c3-d4"))
    match.move("bob", "d6-e5")
    assert match.state.play.moves == ("e3-f4", "d6-e5")


def test_a_move_that_was_named_comes_before_any_move() -> None:
    match = started()
    lay_down(match, "bob", chain(ANY, "b6-a5"), chain("c3-b4", "b6-c5"))
    assert played(match.move("alice", "c3-b4"))[1:] == [("b6-c5", Channel.CONDITIONAL)]


def test_the_only_legal_move_is_played_for_who_wants_that() -> None:
    match = started()
    lay_down(match, "alice", forced=True)
    match.move("alice", "e3-f4")
    assert played(match.move("bob", "d6-e5"))[1:] == [("f4xd6", Channel.FORCED)]
    match = started()
    match.move("alice", "e3-f4")
    assert played(match.move("bob", "d6-e5")) == [("d6-e5", None)]


def test_a_line_that_says_wait_keeps_even_a_forced_move_back() -> None:
    match = started()
    match.move("alice", "e3-f4")
    lay_down(match, "alice", chain("d6-e5", then=LineAction.WAIT), forced=True)
    assert played(match.move("bob", "d6-e5")) == [("d6-e5", None)]


def test_a_dead_line_does_not_keep_a_forced_move_back() -> None:
    match = started()
    lay_down(match, "alice", chain("c3-d4", "b6-a5", "g3-h4"), forced=True)
    match.move("alice", "e3-f4")
    assert dead(match, "alice")
    assert played(match.move("bob", "d6-e5"))[1:] == [("f4xd6", Channel.FORCED)]


def test_nothing_fires_for_whose_time_is_up() -> None:
    match = started()
    match.move("alice", "e3-f4")
    match.move("bob", "b6-a5")
    lay_down(match, "bob", chain("c3-d4", "d6-c5"))
    assert match.state.clock is not None
    with pytest.raises(CommandError) as refused:
        match.do(commands.SubmitMove(player="alice", move="c3-d4"), at=match.now + 12 * 86_400_000)
    assert refused.value.code == "time-up"
    assert match.state.play.moves == ("e3-f4", "b6-a5")


def test_a_draw_by_others_is_answered_before_a_line_goes_on() -> None:
    match = started_by_four()
    lay_down(match, "blue", chain("+a5", "+e7"))
    match.do(commands.OfferDraw(player="bob"))
    match.move("wendy", "+a5")
    assert match.state.offers.draw_agreed == ()
    assert match.state.play.moves == ("+a5", "+e7")


@pytest.mark.parametrize(
    ("lines", "field", "reason"),
    [
        ([chain("c3-d4", "b6-a5", "b6-a5")], "lines.0.next.0.next.0.move", "is empty|no piece|not"),
        ([chain("c3-e5")], "lines.0.move", "one square at a time"),
        ([chain("c3-d4", "zz")], "lines.0.next.0.move", "character 1"),
        ([chain("c3-d4"), chain("c3-d4", "b6-a5")], "lines.1.move", "stands here twice"),
        (
            [Line(move="c3-d4", then=None, next=(Line(move="b6-a5"), Line(move="d6-c5")))],
            "lines.0.next",
            "one answer only",
        ),
        (
            [Line(move="c3-d4", then=None, next=(Line(move="b6-a5", then=LineAction.RESIGN),))],
            "lines.0.next.0.then",
            "only follow a move of another",
        ),
        (
            [Line(move="c3-d4", then=LineAction.RESIGN, next=(Line(move="b6-a5"),))],
            "lines.0.next",
            "nothing can follow",
        ),
        ([Line(move="c3-d4", then=LineAction.WAIT, next=(Line(move="b6-a5"),))], "lines.0.next", "nothing can follow"),
        ([Line(move=ANY, then=None, next=(Line(move="b6-a5"), Line(move="d6-c5")))], "lines.0.next", "one answer"),
        ([Line(move=ANY, then=None, next=(chain("b6-a5", "c3-d4"),))], "lines.0.next", "nothing after it"),
        ([Line(move="c3-d4", then=None, next=(Line(move=ANY),))], "lines.0.next.0.move", "cannot be any move"),
    ],
)
def test_a_line_that_cannot_be_is_refused_with_its_place(lines: list[Line], field: str, reason: str) -> None:
    match = started()
    with pytest.raises(CommandError, match=reason) as refused:
        arranged(match.state, "bob", lines, match.now)
    assert refused.value.field == field
    assert str(refused.value)


def test_nothing_is_laid_down_for_after_the_end_of_the_game_nor_of_the_match() -> None:
    match = started()
    *before, last = SHORT_GAME.split()
    for ply, move in enumerate(before[:-1]):
        match.move(("alice", "bob")[ply % 2], move)
    with pytest.raises(CommandError, match="the game is over here") as refused:
        arranged(match.state, "alice", [chain(before[-1], last, "a7-b6")], match.now)
    assert refused.value.field == "lines.0.next.0.next"
    match.do(commands.Resign(player="bob"))
    with pytest.raises(CommandError, match="this match is over"):
        laid_down(match.state, "alice", ConditionalMoves(), None, True, match.now)


def test_on_ones_own_turn_a_line_may_begin_with_several_own_moves() -> None:
    match = started()
    lay_down(match, "alice", chain("c3-d4", "b6-a5", "g3-h4"), chain("e3-f4", "b6-a5", "g3-h4"))
    assert match.move("alice", "e3-f4")
    assert played(match.move("bob", "b6-a5"))[1:] == [("g3-h4", Channel.CONDITIONAL)]


def test_moves_are_kept_in_canonical_form() -> None:
    match = PlayedMatch(creation(game="tower-game", setup="original"))
    match.do(commands.JoinMatch(player="bob"))
    game, position = GAMES["tower-game"], match.state.play.position
    spelled = {
        game.display_move(position, move): game.format_move(position, move) for move in game.legal_moves(position)
    }
    assert spelled.keys() != set(spelled.values())
    laid = arranged(match.state, "bob", [Line(move=text) for text in spelled], match.now)
    assert [line.move for line in laid.first] == list(spelled.values())


def every_continuation(position: Any, depth: int) -> tuple[Line, ...]:
    """Return all moves of the other seat, each with the first answer to it, and so on."""
    lines = []
    for move in BASHNI.legal_moves(position) if depth else ():
        after = BASHNI.play(position, move)
        answer = next(iter(BASHNI.legal_moves(after)))
        following = every_continuation(BASHNI.play(after, answer), depth - 1)
        line = Line(move=BASHNI.format_move(after, answer), then=None, next=following)
        lines.append(Line(move=BASHNI.format_move(position, move), then=None, next=(line,)))
    return tuple(lines)


def test_no_more_moves_can_be_laid_down_than_somebody_can_mean() -> None:
    match = started()
    arranged(match.state, "bob", every_continuation(match.state.play.position, 2), match.now)
    with pytest.raises(CommandError, match=f"at most {MAX_LINE_MOVES} moves"):
        arranged(match.state, "bob", every_continuation(match.state.play.position, 3), match.now)


def test_a_line_has_an_end() -> None:
    match = started_by_four()
    names = []
    position = match.state.play.position
    for _ in range(MAX_LINE_DEPTH + 1):
        move = next(iter(TOWERS.legal_moves(position)))
        names.append(TOWERS.format_move(position, move))
        position = TOWERS.play(position, move)
    arranged(match.state, "blue", [chain(*names[:MAX_LINE_DEPTH])], match.now)
    with pytest.raises(CommandError, match=f"at most {MAX_LINE_DEPTH} moves"):
        arranged(match.state, "blue", [chain(*names)], match.now)


def test_lines_are_refused_where_the_terms_do_not_allow_them_and_to_those_without_a_say() -> None:
    by_hand = started(STANDARD._replace(lines=False))
    with pytest.raises(CommandError) as refused:
        lay_down(by_hand, "bob", chain("c3-d4", "b6-a5"))
    assert refused.value.code == "lines-not-allowed"
    with pytest.raises(CommandError) as refused:
        lay_down(by_hand, "bob", forced=True)
    assert refused.value.code == "lines-not-allowed"
    with pytest.raises(CommandError) as refused:
        arranged(started().state, "carol", [chain("c3-d4", "b6-a5")], by_hand.now)
    assert refused.value.code == "not-your-seat"
    over = started()
    over.do(commands.Resign(player="alice"))
    with pytest.raises(CommandError) as refused:
        arranged(over.state, "bob", [chain("c3-d4", "b6-a5")], over.now)
    assert refused.value.code == "match-over"
