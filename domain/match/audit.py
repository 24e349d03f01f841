"""A match examined: whether each recorded event is one that the rules allow there, and what proves the result.

``decide`` says what may happen now, and may come to say it otherwise; what has happened stays. So it is not decided
again here: the moves are checked against the ruleset of the match, results against its outcomes.
"""

from typing import NamedTuple

from domain.game import Outcome
from domain.games import UnknownRuleset, find_ruleset
from domain.match import events as e
from domain.match.decide import LONGEST_MOVE
from domain.match.evolve import evolve
from domain.match.state import PLAYING, MatchState


class Deviation(Exception):
    """A recorded event that the rules do not give; ``str(deviation)`` says what they give instead."""


class Proof(NamedTuple):
    """What proves a result: the ``position`` (a position string) that stood after ``ply`` plies when it came about.

    ``decided_by`` is the version of the event that decided, a resignation for example; it is None when the rules alone
    did. Then, of a repetition, ``key`` is the part of the position string that was repeated and ``plies`` the numbers
    of plies after which it stood.
    """

    ply: int
    position: str
    key: str | None = None
    plies: tuple[int, ...] | None = None
    decided_by: int | None = None


class Examination:
    """Takes the events of one match in order. ``state`` is the match after them, ``proof`` that of its result."""

    def __init__(self, match: str) -> None:
        self.state: MatchState | None = None
        self.proof: Proof | None = None
        self._match = match
        self._last: e.Event | None = None
        self._due: Outcome | None = None

    def take(self, event: e.Event) -> MatchState:
        """Return the state after ``event``, the next one; raises Deviation, and then stands where it stood."""
        before = self.state
        if before is not None:
            self._check(before, event)
        try:
            after = evolve(before, event, self._match)
            due = self._outcome_due(before, after)
        except Exception as error:
            # A ruleset that is at fault may raise anything: that is a finding too, not the end of the examination.
            kind = "" if isinstance(error, ValueError | UnknownRuleset) else f"{type(error).__name__}: "
            raise Deviation(f"it cannot be replayed: {kind}{error}") from error
        if (after.scores, after.reason) != (before and (before.scores, before.reason)):
            self.proof = self._proof_of(after, event)
        self.state, self._last, self._due = after, event, due
        return after

    def end(self) -> None:
        """Raise Deviation when the events cannot end here, because the rules say that the match is over."""
        if self._due is not None:
            raise Deviation(f"the match is over by the rules: {_said(self._due)}; that is not recorded")

    def _check(self, before: MatchState, event: e.Event) -> None:
        if event.at < before.updated_at:
            raise Deviation(f"it is dated {before.updated_at - event.at} ms before the event in front of it")
        seat = getattr(event, "seat", None)
        if seat is not None and not 0 <= seat < len(before.seats):
            raise Deviation(f"the match has seats 0 to {len(before.seats) - 1}, not {seat}")
        if isinstance(event, e.MatchFinished):
            self._check_result(before, event)
        else:
            self.end()
        if isinstance(event, e.MoveSubmitted):
            _check_turn(before, event)

    def _check_result(self, before: MatchState, event: e.MatchFinished) -> None:
        due, recorded = self._due, Outcome(event.scores, event.reason)
        if due is None and isinstance(self._last, e.MoveSubmitted):
            raise Deviation(f"the rules give no result here, and {_said(recorded)} is recorded")
        if due is None:
            # Decided by the event in front of it. One of a seat either has all seats agree or gives that seat up.
            seat = getattr(self._last, "seat", None)
            if seat is None:
                return
            game = find_ruleset(before.game, before.ruleset)
            agreeing = len(before.draw_agreed) == len(before.seats) - len(game.eliminated(before.position))
            due = Outcome(game.shared(before.position, () if agreeing else (seat,)), event.reason)
        if due != recorded:
            raise Deviation(f"the rules give {_said(due)}, and {_said(recorded)} is recorded")

    def _outcome_due(self, before: MatchState | None, after: MatchState) -> Outcome | None:
        """Return how the match must end now, None when it goes on or the position is as it was."""
        game = find_ruleset(after.game, after.ruleset)
        if before is None and len(after.seats) != len(game.setups[after.setup].seat_names):
            raise ValueError(f"the setup {after.setup!r} does not have {len(after.seats)} seats")
        if before is None or after.status != PLAYING or after.position is before.position:
            return None
        return game.outcome(after.position, after.history)

    def _proof_of(self, after: MatchState, event: e.Event) -> Proof | None:
        if after.scores is None:
            return None
        game = find_ruleset(after.game, after.ruleset)
        proof = Proof(len(after.moves), game.format_position(after.position))
        if self._due is None:
            # A match is finished by what happened right before; any other event that sets a result decides it itself.
            finished = isinstance(event, e.MatchFinished)
            return proof._replace(decided_by=after.version - 1 if finished else after.version)
        if after.reason != "repetition":
            return proof
        key = game.key(after.position)
        plies = (ply for ply, position in enumerate((*after.history, after.position)) if game.key(position) == key)
        return proof._replace(key=game.key_string(after.position), plies=tuple(plies))


def _check_turn(before: MatchState, event: e.MoveSubmitted) -> None:
    if before.status != PLAYING:
        raise Deviation(f"a move is recorded in a match that is {before.status}")
    seat = find_ruleset(before.game, before.ruleset).to_move(before.position)
    if event.seat != seat:
        raise Deviation(f"seat {seat} is to move, and a move of seat {event.seat} is recorded")
    if len(event.move) > LONGEST_MOVE:
        raise Deviation(f"a move has at most {LONGEST_MOVE} characters")
    if event.ply != len(before.moves) + 1:
        raise Deviation(f"this is ply {len(before.moves) + 1}, and {event.ply} is recorded")


def _said(outcome: Outcome) -> str:
    return f"{' - '.join(f'{score:g}' for score in outcome.scores)} ({outcome.reason})"
