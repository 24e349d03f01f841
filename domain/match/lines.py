"""Conditional lines: answers that a seat lays down beforehand to moves that others may make, and forced moves.

A line is a tree of moves from one position on: after each move of another seat the moves that may follow it, after each
own move the answers to it. Nothing in it ever changes by being played out: where the match stands in it is found by
following the moves that were made, so that a line that no longer fits is still there to be looked at.

Lines are private. They are no events; the moves made by them are, in the append of the move that set them off.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from domain.errors import OutcomeUnknownError, RulesError, StepBudget
from domain.game import AnyGame
from domain.games import find_ruleset
from domain.history import History
from domain.match import commands as c
from domain.match.decisions.moves import resign, submit_move
from domain.match.decisions.offers import accept_draw
from domain.match.enums import Channel, LineAction, LineStatus, Status
from domain.match.evolve import Decision
from domain.match.guards import active_seat, refuse_if_ended
from domain.match.player_signatures import MAX_EVENTS_AFTER_SIGNING, PlayerPublicKey, PlayerSignature
from domain.match.refusals import CommandError
from domain.match.state import MatchState

_SIGNED_ACTIONS = (LineAction.RESIGN, LineAction.ACCEPT_DRAW)

ANY = "*"
"""In place of a move of another seat: whatever else it plays."""

MAX_LINE_MOVES = 300
MAX_LINE_DEPTH = 60
MAX_ANSWERS_PER_APPEND = 64
"""In one append; moves that would be due beyond wait for the next event of the match."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """After ``move``, do ``then`` (one of ACTIONS; None: just go on), and go on with one of ``next``.

    ``then`` may stand only after a move of another seat. "wait" lays down that nothing is to be done.
    "accept-draw" is done if a draw is on offer then; if not, ``next`` counts. ``signature`` (64 bytes, hexadecimal) is
    the player's under the own ``move``, or under ``then``: under this one answer and the moves that lead to it.
    """

    move: str
    then: LineAction | None = None
    next: tuple["Line", ...] = ()
    signature: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """The moves that may follow the ``position`` (notation) after ``ply`` plies; ``taken_back`` is that of the match.

    Once moves are taken back all lines are dead: who took a move back would have it played again at once. Signatures in
    them are by ``key``, over the match as it stood after ``version``; without any these are None.
    """

    ply: int
    position: str
    first: tuple[Line, ...]
    taken_back: int = 0
    key: PlayerPublicKey | None = None
    version: int | None = None

    def signed(self, line: Line, version: int) -> PlayerSignature | None:
        """Return the signature under the answer of ``line`` to the match at ``version``; None without one."""
        if line.signature is None or self.key is None or self.version is None:
            return None
        if version - self.version > MAX_EVENTS_AFTER_SIGNING:
            return None
        return PlayerSignature(key=self.key, signature=line.signature, version=self.version)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionalMoves:
    """All that a seat has laid down: lines, and whether its only legal move is to be played for it."""

    lines: Lines | None = None
    forced: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """Where the match stands in the lines of a seat: the last move made of them, and those that may follow it."""

    last: Line | None
    following: tuple[Line, ...]


def laid_down(
    state: MatchState,
    player: str,
    orders: ConditionalMoves,
    first: Sequence[Line] | None,
    forced: bool | None,
    now: int,
    key: PlayerPublicKey | None = None,
    version: int | None = None,
) -> ConditionalMoves:
    """Return ``orders`` with ``first`` as its lines (empty: none) and ``forced``; None leaves them as they are.

    Raises CommandError when the match is over or its terms do not allow lines, and as ``arranged`` does.
    """
    refuse_if_ended(state)
    if first or forced:
        refuse_if_lines_off(state)
    if first is not None:
        lines = replace(arranged(state, player, first, now), key=key, version=version) if first else None
        orders = replace(orders, lines=lines)
    return orders if forced is None else replace(orders, forced=forced)


def arranged(state: MatchState, player: str, first: Sequence[Line], now: int) -> Lines:
    """Return ``first`` as lines from where the match stands, with all moves in canonical form.

    Raises CommandError, with the place as the field ("lines.0.next.1.move"), when the player has no say in this match,
    a move is not legal where it stands, or an own turn has more than one answer.
    """
    seat = active_seat(state, player, now)
    game = find_ruleset(state.game, state.ruleset)
    arranger = _Arranger(game, state, seat)
    lines = arranger.arrange(state.play.position, state.play.history, first, 0, "lines")
    return Lines(
        ply=len(state.play.moves),
        position=game.format_position(state.play.position),
        first=lines,
        taken_back=state.play.taken_back,
    )


def refuse_if_lines_off(state: MatchState) -> None:
    """Raise CommandError when the terms of the match do not allow anything to be laid down."""
    if not state.terms.lines:
        raise CommandError(
            "lines-not-allowed", "the terms of this match do not allow conditional lines or forced moves"
        )


class _Arranger:
    def __init__(self, game: AnyGame, state: MatchState, seat: int) -> None:
        self._game, self._state, self._seat = game, state, seat
        self._moves = 0

    def arrange(
        self, position: Any, history: History, lines: Sequence[Line], depth: int, place: str
    ) -> tuple[Line, ...]:
        own = self._game.to_move(position) == self._seat
        if depth >= MAX_LINE_DEPTH and lines:
            raise CommandError("invalid-lines", f"a line has at most {MAX_LINE_DEPTH} moves", place)
        if own and depth and len(lines) > 1:
            raise CommandError("invalid-lines", "lay down one answer only: it will be played for you", place)
        merged: dict[str, Line] = {}
        for number, line in enumerate(lines):
            arranged = self._line(position, history, line, own, depth, f"{place}.{number}")
            if arranged.move in merged:
                raise CommandError("invalid-lines", f"{arranged.move} stands here twice", f"{place}.{number}.move")
            merged[arranged.move] = arranged
        return tuple(merged.values())

    def _line(self, position: Any, history: History, line: Line, own: bool, depth: int, place: str) -> Line:
        self._moves += 1
        if self._moves > MAX_LINE_MOVES:
            raise CommandError("invalid-lines", f"at most {MAX_LINE_MOVES} moves can be laid down", place)
        if own and line.then is not None:
            raise CommandError("invalid-lines", "this can only follow a move of another seat", f"{place}.then")
        if line.then in (LineAction.RESIGN, LineAction.WAIT) and line.next:
            raise CommandError("invalid-lines", "nothing can follow this", f"{place}.next")
        if line.signature is not None and not (own or line.then in _SIGNED_ACTIONS):
            raise CommandError("invalid-lines", "only an answer of your own is signed", f"{place}.signature")
        if line.move == ANY:
            return self._any(line, own, place)
        try:
            move = self._game.read_move(position, line.move, self._state.setup)
        except RulesError as error:
            raise CommandError("illegal-move", str(error), f"{place}.move") from error
        canonical = self._game.format_move(position, move)
        if canonical != line.move and _has_signature(line):
            raise CommandError("illegal-move", f"before a signature moves are canonical: {canonical}", f"{place}.move")
        after, before = self._game.play(position, move), history.with_position(position)
        if line.next and is_seen_over(self._game, after, before):
            raise CommandError("invalid-lines", "the game is over here: nothing can follow", f"{place}.next")
        following = self.arrange(after, before, line.next, depth + 1, f"{place}.next") if line.next else ()
        return Line(move=canonical, then=line.then, next=following, signature=line.signature)

    def _any(self, line: Line, own: bool, place: str) -> Line:
        """Take an answer to whatever is played; whether it is legal then shows only then."""
        if own:
            raise CommandError("invalid-lines", "your own move cannot be any move", f"{place}.move")
        if len(line.next) > 1 or any(answer.next or answer.then or answer.move == ANY for answer in line.next):
            raise CommandError(
                "invalid-lines", "after any move there can be one answer, and nothing after it", f"{place}.next"
            )
        if _has_signature(line):
            raise CommandError("invalid-lines", "an answer to any move cannot be signed: it names no move", place)
        return line


def _has_signature(line: Line) -> bool:
    return line.signature is not None or any(map(_has_signature, line.next))


def is_seen_over(game: AnyGame, position: Any, history: History) -> bool:
    """Tell whether the game is over, as far as that is seen at once: where moves follow, they show that it is not."""
    try:
        return game.bounded_outcome(position, history, StepBudget(0)) is not None
    except OutcomeUnknownError:
        return False


def reached(state: MatchState, lines: Lines) -> Reached | None:
    """Return where the match stands in ``lines``; None when it went another way, so that they are dead."""
    if state.play.broken is not None or lines.ply > len(state.play.moves) or lines.taken_back != state.play.taken_back:
        return None
    if lines.ply < state.play.left_ply:
        # A seat has left since: others are to move than the lines were laid down for.
        return None
    game = find_ruleset(state.game, state.ruleset)
    if game.format_position(state.play.position_after(lines.ply)) != lines.position:
        return None
    last, following = None, lines.first
    for move in state.play.moves[lines.ply :]:
        named = [line for line in following if line.move == move] or [line for line in following if line.move == ANY]
        if not named:
            return None
        last, following = named[0], named[0].next
    return Reached(last=last, following=following)


def standing(state: MatchState, seat: int, lines: Lines) -> tuple[LineStatus, str]:
    """Return where the ``lines`` of ``seat`` stand (ARMED, WAITING, DONE or DEAD), and why, as a sentence."""
    place = reached(state, lines)
    if place is None:
        return LineStatus.DEAD, _why_dead(state, lines)
    if not place.following:
        return LineStatus.DONE, "All that was laid down for this course of the match has been played."
    if state.status != Status.PLAYING:
        return LineStatus.DEAD, "The match is over."
    if find_ruleset(state.game, state.ruleset).to_move(state.play.position) == seat:
        return LineStatus.WAITING, "It is your own move that comes next."
    return LineStatus.ARMED, "They answer when the other side plays one of their moves."


def _why_dead(state: MatchState, lines: Lines) -> str:
    if state.play.broken is not None:
        return "The match cannot be replayed."
    for ply in range(lines.ply, len(state.play.moves) + 1):
        play = replace(state.play, moves=state.play.moves[:ply], position=state.play.position_after(ply))
        if reached(replace(state, play=play), lines) is None:
            if ply == lines.ply:
                break
            return f"Move {ply} was {state.play.moves[ply - 1]}, for which nothing is laid down."
    return "The position for which they were laid down no longer stands in the match."


def with_answers(decision: Decision, orders: Mapping[int, ConditionalMoves], now: int) -> Decision:
    """Return ``decision`` followed by the moves that are due of the ``orders`` by seat, and by those due in turn."""
    for _ in range(MAX_ANSWERS_PER_APPEND):
        answer = answer_due(decision.state, orders, now)
        if not answer.events:
            break
        decision = Decision(state=answer.state, events=decision.events + answer.events)
    return decision


def answer_due(state: MatchState, orders: Mapping[int, ConditionalMoves], now: int) -> Decision:
    """Return the next move or answer that is due of the orders; one that is refused is not due."""
    if state.status != Status.PLAYING or state.cases.frozen or state.play.broken is not None:
        return Decision(state=state)
    for seat, order in sorted(orders.items()):
        player = state.seats[seat].player
        if player is None:
            continue
        try:
            answer = _answer(state, seat, player, order, now)
        except CommandError:
            # Laid down for a match that went another way: not legal here, or the seat has no say any more.
            continue
        if answer.events:
            return answer
    return Decision(state=state)


def _answer(state: MatchState, seat: int, player: str, order: ConditionalMoves, now: int) -> Decision:
    game, nothing = find_ruleset(state.game, state.ruleset), Decision(state=state)
    lines = order.lines
    place = None if lines is None else reached(state, lines)
    offered = bool(state.offers.draw_agreed) and seat not in state.offers.draw_agreed
    if lines is not None and place is not None and place.last is not None:
        signed = lines.signed(place.last, state.version)
        if place.last.then == LineAction.RESIGN:
            resignation = c.Resign(player=player, channel=Channel.CONDITIONAL, signed=signed)
            return nothing.then(*resign(state, resignation, now))
        if place.last.then == LineAction.ACCEPT_DRAW and offered:
            agreement = c.AcceptDraw(player=player, channel=Channel.CONDITIONAL, signed=signed)
            return nothing.then(*accept_draw(state, agreement, now))
    # An offer or a request is news that was not there when the line was laid down: it is answered first.
    if game.to_move(state.play.position) != seat or offered or state.offers.takeback is not None:
        return nothing
    if lines is not None and place is not None and place.last is not None and place.following:
        answer = place.following[0]
        command = c.SubmitMove(
            player=player, move=answer.move, channel=Channel.CONDITIONAL, signed=lines.signed(answer, state.version)
        )
        return submit_move(state, command, now)
    if order.forced and (place is None or place.last is None or place.last.then != LineAction.WAIT):
        only = list(islice(game.legal_moves(state.play.position), 2))
        if len(only) == 1 and not game.compositions(state.play.position):
            move = game.format_move(state.play.position, only[0])
            return submit_move(state, c.SubmitMove(player=player, move=move, channel=Channel.FORCED), now)
    return nothing
