"""A match examined: whether each recorded event is one that the rules allow there, and the proof of the result.

``decide`` has the rules of today, which may change; recorded events stay. So nothing is decided again here: moves are
checked against the ruleset of the match, results against its outcomes, flags against the clocks.
"""

from dataclasses import dataclass, replace

from domain.errors import OutcomeUnknownError, StepBudget
from domain.game import Outcome
from domain.games import find_ruleset
from domain.match import events as e, terms
from domain.match.clock import Forecast, falls_at, forecast
from domain.match.decide import needs_fresh_seed
from domain.match.decisions.moves import MAX_MOVE_CHARACTERS
from domain.match.enums import Status
from domain.match.evolve import evolve
from domain.match.refusals import CommandError
from domain.match.state import MatchState


class DeviationError(Exception):
    """A recorded event that does not follow from the rules; ``str(deviation)`` names the one that does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """The proof of a result: the ``position`` (a position string) that stood after ``ply`` plies when it came about.

    There is no position when the rules could not follow the match. ``decided_by`` is the version of the event that
    decided, a resignation for example; it is None when the rules alone did. Then, of a repetition, ``key`` is the part
    of the position string that was repeated and ``plies`` the numbers of plies after which it stood.
    """

    ply: int
    position: str | None = None
    key: str | None = None
    plies: tuple[int, ...] | None = None
    decided_by: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditStep:
    """The match after an event, and why that event cannot follow from the rules; None when it can."""

    after: MatchState
    deviation: str | None


_IMPOSSIBLE = (ValueError, IndexError, KeyError, TypeError)
"""The errors that ``evolve`` raises for an event that has no place in a match."""

MAX_PAUSES = 1000
"""That a clock can hold at once: far more than a player has vacations ahead, or a server outages in a turn."""


class Examination:
    """Takes the events of one match in order. ``state`` is the match after them, ``proof`` that of its result.

    Telling whether the game has ended may take ``budget`` in all (None: whatever it takes).
    """

    def __init__(self, match: str, budget: StepBudget | None = None) -> None:
        self.state: MatchState | None = None
        self.proof: Proof | None = None
        self._match = match
        self._budget = budget
        self._last: e.Event | None = None
        self._ahead: tuple[e.Event, MatchState] | None = None
        self._due: Outcome | None = None
        self._proved: dict[tuple[tuple[float, ...], str | None], Proof] = {}

    def take(self, event: e.Event, following: e.Event | None = None, decided: MatchState | None = None) -> AuditStep:
        """Return the match after ``event``, the next one; ``following`` is the event after it, where it is known.

        ``decided`` is the match that ``decide`` gives after a move, where it gives exactly ``event`` and the match goes
        on: then the move need not be played a second time.

        An event that deviates from the rules counts all the same, as it does in the match. Raises DeviationError for
        one that no match can take at all, and stands where it stood. A move that follows shows that the position could
        be played on, so that this does not have to be found out.
        """
        before = self.state
        _refuse_absurd_times(before, event)
        deviation = None if before is None else self._deviation(before, event)
        try:
            after = self._evolved(before, event) if decided is None else decided
        except _IMPOSSIBLE as error:
            raise DeviationError(deviation or f"it has no place here: {error}") from error
        if after.play.broken is not None and (before is None or before.play.broken is None):
            deviation = deviation or f"it cannot be replayed: {after.play.broken}"
        due, wrong = (None, None) if decided is not None else self._outcome_due(before, after, following)
        self.proof = self._proof_of(before, after, event)
        self.state, self._last, self._due = after, event, due
        return AuditStep(after=after, deviation=deviation or wrong)

    def end(self) -> str | None:
        """Return why the events cannot end here: the match is over by the rules, and that is not recorded."""
        if self._due is None:
            return None
        return f"the match is over by the rules: {outcome_words(self._due)}; that is not recorded"

    def _evolved(self, before: MatchState | None, event: e.Event) -> MatchState:
        """Return the match after ``event``, which may have been looked at already as the one that follows."""
        ahead, self._ahead = self._ahead, None
        if ahead is not None and ahead[0] is event:
            return ahead[1]
        return evolve(before, event, self._match)

    def _played_on(self, after: MatchState, following: e.Event | None) -> bool:
        """Tell whether ``following`` is a move that the rules allow in the position reached."""
        if not isinstance(following, e.MoveSubmitted):
            return False
        try:
            ahead = evolve(after, following, self._match)
        except _IMPOSSIBLE:
            return False
        self._ahead = following, ahead
        return ahead.play.broken is None

    def _deviation(self, before: MatchState, event: e.Event) -> str | None:
        if isinstance(event, e.TimeCorrected):
            return None if event.at < before.updated_at else "the time is corrected, and no event is dated after that"
        if event.at < before.updated_at:
            return f"it is dated {before.updated_at - event.at} ms before the event in front of it"
        seat = getattr(event, "seat", None)
        if seat is not None and not 0 <= seat < len(before.seats):
            return f"the match has seats 0 to {len(before.seats) - 1}, not {seat}"
        if isinstance(event, e.MatchFinished):
            return self._wrong_result(before, event)
        if isinstance(event, e.MoveSubmitted):
            return self.end() or _wrong_move(before, event)
        if isinstance(event, e.FlagFell):
            return self.end() or _wrong_flag(before, event)
        if isinstance(event, e.SeedDrawn) and not needs_fresh_seed(before, self._last):
            return "a seed is drawn where the match against an opponent was not taken up again"
        return self.end()

    def _wrong_result(self, before: MatchState, event: e.MatchFinished) -> str | None:
        due, recorded = self._due, Outcome(event.scores, event.reason)
        if due is None and isinstance(self._last, e.MoveSubmitted) and before.play.broken is None:
            return f"the rules give no result here, and {outcome_words(recorded)} is recorded"
        if due is None:
            # Decided by the event in front of it. One of a seat either has all seats agree or gives that seat up.
            seat = getattr(self._last, "seat", None)
            if seat is None or before.play.broken is not None:
                return None
            game = find_ruleset(before.game, before.ruleset)
            agreeing = len(before.offers.draw_agreed) == len(before.seats) - len(game.eliminated(before.play.position))
            due = Outcome(game.scores_after_leaving(before.play.position, () if agreeing else (seat,)), event.reason)
        return (
            None
            if due == recorded
            else f"the rules give {outcome_words(due)}, and {outcome_words(recorded)} is recorded"
        )

    def _outcome_due(
        self, before: MatchState | None, after: MatchState, following: e.Event | None
    ) -> tuple[Outcome | None, str | None]:
        """Return how the match must end now (None: it goes on, or no position was reached), and the failure of that."""
        if after.play.broken is not None:
            return None, None
        try:
            game = find_ruleset(after.game, after.ruleset)
            if before is None:
                names = game.setups[after.setup].seat_names
                fits = len(names) == len(after.seats)
                return None, None if fits else f"the setup {after.setup!r} has {len(names)} seats"
            reached = after.play.position is not before.play.position and after.play.plies >= before.play.plies
            if not reached or after.status != Status.PLAYING or after.ruleset != before.ruleset:
                return None, None
            if self._played_on(after, following):
                return game.outcome_by_history(after.play.position, after.play.history), None
            if self._budget is not None:
                return game.bounded_outcome(after.play.position, after.play.history, self._budget), None
            return game.outcome(after.play.position, after.play.history), None
        except OutcomeUnknownError:
            raise
        except Exception as error:
            # A ruleset that is at fault may raise anything: that is a finding too, not the end of the examination.
            return None, f"the rules fail: {type(error).__name__}: {error}"

    def _proof_of(self, before: MatchState | None, after: MatchState, event: e.Event) -> Proof | None:
        if after.result.scores is None:
            return None
        result = after.result.scores, after.result.reason
        finished = isinstance(event, e.MatchFinished)
        if before is not None and result == (before.result.scores, before.result.reason) and not finished:
            return self.proof
        if not finished and result in self._proved:
            return self._proved[result]
        # A match is finished by the event right before; any other event that sets a result decides it itself.
        proof = Proof(ply=after.play.plies, decided_by=after.version - 1 if finished else after.version)
        if after.play.broken is None:
            game = find_ruleset(after.game, after.ruleset)
            proof = replace(proof, position=game.format_position(after.play.position))
            if self._due is not None:
                proof = replace(proof, decided_by=None)
                if after.result.reason == "repetition":
                    key = game.key(after.play.position)
                    played = enumerate((*after.play.history, after.play.position))
                    plies = tuple(ply for ply, position in played if game.key(position) == key)
                    proof = replace(proof, key=game.key_string(after.play.position), plies=plies)
        self._proved[result] = proof
        return proof


def _refuse_absurd_times(before: MatchState | None, event: e.Event) -> None:
    """Raise DeviationError for values that no match has ever recorded, and no clock can compute in reasonable time."""
    try:
        if isinstance(event, e.MatchCreated):
            terms.check(event.terms)
    except CommandError as refused:
        raise DeviationError(str(refused)) from None
    if isinstance(event, e.ClockPaused) and before is not None and len(before.clock.pauses) >= MAX_PAUSES:
        raise DeviationError(f"more than {MAX_PAUSES} pauses of a clock at once")


def _wrong_move(before: MatchState, event: e.MoveSubmitted) -> str | None:
    if before.status != Status.PLAYING:
        return f"a move is recorded in a match that is {before.status}"
    if len(event.move) > MAX_MOVE_CHARACTERS:
        return f"a move has at most {MAX_MOVE_CHARACTERS} characters"
    if event.ply != before.play.plies + 1:
        return f"this is ply {before.play.plies + 1}, and {event.ply} is recorded"
    if before.play.broken is not None:
        return None
    seat = find_ruleset(before.game, before.ruleset).to_move(before.play.position)
    if event.seat != seat:
        return f"seat {seat} is to move, and a move of seat {event.seat} is recorded"
    if event.level != before.seats[seat].level:
        return (
            f"{_sitting(before.seats[seat].level)} has seat {seat}, and a move of {_sitting(event.level)} is recorded"
        )
    instant = falls_at(before.clock)
    if instant is not None and event.at >= instant:
        return f"the time of seat {seat} was up {event.at - instant} ms before"
    return None


def _sitting(level: int | None) -> str:
    return "a person" if level is None else f"an opponent of level {level}"


def _wrong_flag(before: MatchState, event: e.FlagFell) -> str | None:
    expected = forecast(before.clock)
    if expected is None:
        return "no clock runs"
    recorded = Forecast(seat=event.seat, at=event.deadline, limit=event.limit)
    if expected != recorded:
        return f"the clock gives {_flag(expected)}, and {_flag(recorded)} is recorded"
    return None if event.at >= event.deadline else f"the flag falls {event.deadline - event.at} ms later"


def _flag(forecast: Forecast) -> str:
    return f"the flag of seat {forecast.seat} at {forecast.at} ({forecast.limit})"


def outcome_words(outcome: Outcome | None) -> str:
    """Return the scores and the reason of ``outcome``, in words; None: the game goes on."""
    return (
        "it goes on"
        if outcome is None
        else f"{' - '.join(f'{score:g}' for score in outcome.scores)} ({outcome.reason})"
    )
