"""Conditional lines as a mail writes them, brought into the tree of the conditional moves of a seat."""

from collections.abc import Sequence
from dataclasses import replace

from domain.errors import RulesError
from domain.games import find_ruleset
from domain.match.lines import ANY, Line, Lines
from domain.match.refusals import CommandError
from domain.match.state import MatchState
from events.notify.mail.language import LineStep


def refuse_own_turn(state: MatchState, seat: int) -> None:
    """Raise CommandError while it is the turn of ``seat``: nothing of another seat can be answered yet."""
    if state.play.position is not None and not state.ended:
        game = find_ruleset(state.game, state.ruleset)
        if game.to_move(state.play.position) == seat:
            reason = 'it is your turn: write your move, and below it the "if" lines about what follows'
            raise CommandError("not-your-turn", reason)


def line_of(steps: Sequence[LineStep]) -> Line:
    """Return the conditional line of ``steps``, which has one course."""
    moves = [move for step in steps for move in (*step.after, step.answer)]
    line = Line(move=moves[-1])
    for move in reversed(moves[:-1]):
        line = Line(move=move, next=(line,))
    return line


def merged(existing: Sequence[Line], added: Line, steps: Sequence[LineStep]) -> tuple[Line, ...]:
    """Return ``existing`` with the course of ``added``; of two answers to the same moves the added one counts."""
    is_answer = [own for step in steps for own in (*(False for _ in step.after), True)]
    return _merged(tuple(existing), added, is_answer)


def _merged(existing: tuple[Line, ...], added: Line, is_answer: Sequence[bool]) -> tuple[Line, ...]:
    same = next((line for line in existing if line.move == added.move), None)
    others = () if is_answer[0] else tuple(line for line in existing if line.move != added.move)
    if same is None:
        return (*others, added)
    if not added.next:
        return (*others, same)
    return (*others, replace(same, then=None, next=_merged(same.next, added.next[0], is_answer[1:])))


def has_course(state: MatchState, lines: Lines | None, steps: Sequence[LineStep]) -> bool:
    """Tell whether the course of ``steps`` is among ``lines``, wherever the match stands by now."""
    if lines is None or lines.ply > len(state.play.moves):
        return False
    game, position = find_ruleset(state.game, state.ruleset), state.play.position_after(lines.ply)
    following, sought = lines.first, line_of(steps)
    while True:
        written = sought.move
        if position is not None and written != ANY:
            try:
                move = game.read_move(position, written, state.setup)
            except RulesError:
                return False
            written, position = game.format_move(position, move), game.play(position, move)
        else:
            position = None  # after any move; the answer stands there as it was written
        next_line = next((line for line in following if line.move == written), None)
        if next_line is None or not sought.next:
            return next_line is not None
        following, sought = next_line.next, sought.next[0]
