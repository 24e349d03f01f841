"""The audit replay: the course of a match, event by event, and whether the rules agree."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from domain.errors import StepBudget
from domain.game import AnyGame
from domain.games import find_ruleset
from domain.match.audit import DeviationError, Examination, Proof
from domain.match.authority import Authority, Recorded
from domain.match.clock import left
from domain.match.events import DrawAccepted, DrawDeclined, Event, MoveSubmitted
from domain.match.opponents import move_of, takes_draw
from domain.match.state import MatchState
from domain.match.terms import duration
from domain.search import ENGINE_VERSION, seed_for
from events.store.codec import UndecodableEventError, event_of
from events.store.envelope import Envelope


class Record(NamedTuple):
    """An event as it was recorded, with the match before and after it (None for the first, and where unreadable).

    ``fault`` says why the rules do not yield it, ``unauthorized`` why its actor cannot have caused it. ``proof`` is
    that of the result after it.
    """

    envelope: Envelope
    event: Event | None
    before: MatchState | None
    after: MatchState | None
    proof: Proof | None = None
    fault: str | None = None
    unauthorized: str | None = None

    @property
    def objection(self) -> str | None:
        """The fault of the event; None when there is none."""
        return self.fault or self.unauthorized

    @property
    def ply(self) -> "Ply | None":
        """The move that the event is; None for any other event, and for a move that the rules cannot follow."""
        if not isinstance(self.event, MoveSubmitted) or self.before is None or self.after is None:
            return None
        if self.before.play.broken is not None or self.after.play.broken is not None:
            return None
        return Ply(self.event, self.before, self.after)

    @property
    def answer(self) -> "OpponentAnswer | None":
        """The move of an opponent, or its reply to a draw offer; None for anything else, and without positions."""
        event, before, after = self.event, self.before, self.after
        if not isinstance(event, MoveSubmitted | DrawAccepted | DrawDeclined) or before is None or after is None:
            return None
        if before.play.broken is not None or after.play.broken is not None:
            return None
        if not 0 <= event.seat < len(before.seats) or before.seats[event.seat].level is None:
            return None
        return OpponentAnswer(event, before)


class Ply(NamedTuple):
    """A recorded move between the match before and after it."""

    event: MoveSubmitted
    before: MatchState
    after: MatchState

    @property
    def game(self) -> AnyGame:
        """The rules that the move was played under."""
        return find_ruleset(self.before.game, self.before.ruleset)

    @property
    def seat_name(self) -> str:
        """The name of the seat that moved."""
        return self.game.setups[self.before.setup].seat_names[self.event.seat]

    @property
    def channel(self) -> str:
        """The channel of the move, and how an opponent's move can be computed again."""
        event, channel = self.event, self.event.channel or "channel not recorded"
        if event.level is None:
            return channel
        budget = "" if event.nodes is None else f", {event.nodes} nodes"
        return f"{channel} of level {event.level}, seed {event.seed}, engine {event.engine}{budget}"

    @property
    def clocks(self) -> tuple[str, str] | None:
        """The time that the seat had when it moved, and after it, in words; None when no clock runs."""
        before, after = self.before.clock, self.after.clock
        return duration(left(before, self.event.seat, self.event.at)), duration(after.remaining[self.event.seat])

    @property
    def positions(self) -> tuple[str, str]:
        """The positions before and after the move as position strings."""
        return self._shown[0][0], self._shown[1][0]

    @property
    def diagrams(self) -> tuple[str, str]:
        """The boards before and after the move as lines of text."""
        return self._shown[0][1], self._shown[1][1]

    @property
    def _shown(self) -> tuple[tuple[str, str], tuple[str, str]]:
        rules = self.before.game, self.before.ruleset
        return _position_shown(*rules, self.before.play.position), _position_shown(*rules, self.after.play.position)

    @property
    def legal_moves(self) -> int:
        """The number of legal moves that there were, without those of kinds too many to list."""
        return sum(1 for _ in self.game.legal_moves(self.before.play.position))


@lru_cache(maxsize=256)
def _position_shown(game: str, ruleset: int, position: Any) -> tuple[str, str]:
    """Return the position string and the diagram; the position after a move is that before the next."""
    rules = find_ruleset(game, ruleset)
    return rules.format_position(position), rules.diagram(position)


class OpponentAnswer(NamedTuple):
    """An act of an opponent, and the match before it."""

    event: MoveSubmitted | DrawAccepted | DrawDeclined
    before: MatchState

    @property
    def engine(self) -> str:
        """The engine that gave it, in words."""
        return "an engine that is not recorded" if self.event.engine is None else f"engine {self.event.engine}"

    @property
    def seeded(self) -> bool:
        """Whether this follows from a seed: it is a move."""
        return isinstance(self.event, MoveSubmitted)

    @property
    def computable(self) -> bool:
        """Whether this can be computed again here: its engine is the present one."""
        return self.event.engine == str(ENGINE_VERSION)

    def wrong_seed(self) -> str | None:
        """Return how the seed of a move differs from the one that follows from the match; None when it does not."""
        event = self.event
        if not isinstance(event, MoveSubmitted):
            return None
        follows = seed_for(self.before.seed, event.ply)
        if event.seed == follows:
            return None
        return f"the seed {follows} follows from the match, and {event.seed} is recorded"

    def recompute(self) -> str | None:
        """Compute the answer again, a move from its own seed; return the difference, None when all is as recorded."""
        try:
            return self._differing()
        except Exception as error:
            # A faulty ruleset may raise anything, which is a finding too.
            return f"it cannot be computed again: {type(error).__name__}: {error}"

    def _differing(self) -> str | None:
        event, before = self.event, self.before
        if not isinstance(event, MoveSubmitted):
            takes = takes_draw(before, event.seat, event.nodes)
            words = ("turns the draw down", "agrees to the draw")
            recorded = isinstance(event, DrawAccepted)
            return (
                None if takes == recorded else f"the opponent {words[takes]}, and that it {words[recorded]} is recorded"
            )
        if event.seed is None or event.level is None:
            return "it does not say from which level and seed it follows"
        computed = move_of(before, event.level, event.seed, event.nodes)
        return None if computed == event.move else f"the opponent plays {computed}, and {event.move} is recorded"


def audit(
    match_id: str, envelopes: Iterable[Envelope], budget: StepBudget | None = None, authority: Authority | None = None
) -> Iterator[Record]:
    """Yield a record for every event of a match from its first; the chain is checked elsewhere.

    A new ``authority`` also checks the actors. Only an event that cannot be read, or that no match can take, is the
    last. Raises OutcomeUnknownError when the outcome takes more than ``budget``.
    """
    examination, held = Examination(match_id, budget), None
    for read in map(_read, envelopes):
        if held is not None:
            record = _examined(examination, authority, held, read.event)
            yield record
            if record.after is None:
                return
        held = read
    if held is not None:
        last = _examined(examination, authority, held, None)
        if last.after is not None:
            missing = None if authority is None else authority.end()
            last = last._replace(fault=last.fault or examination.end(), unauthorized=last.unauthorized or missing)
        yield last


class _Read(NamedTuple):
    """An event as it is stored and as it is read; without an event, why it cannot be read."""

    envelope: Envelope
    event: Event | None
    unreadable: str = ""


def _read(envelope: Envelope) -> _Read:
    try:
        return _Read(envelope, event_of(envelope))
    except UndecodableEventError as error:
        return _Read(envelope, None, str(error))


def _examined(examination: Examination, authority: Authority | None, read: _Read, following: Event | None) -> Record:
    envelope, event, unreadable = read
    before = examination.state
    if event is None:
        return Record(envelope, None, before, None, fault=unreadable)
    after, deviation, unauthorized, decided = None, None, None, None
    recorded = Recorded(event=event, actor=envelope.actor)
    # A move is decided once, and the match after it taken from there: nearly all events are moves.
    first = authority is not None and isinstance(event, MoveSubmitted) and authority.is_open
    if authority is not None and first:
        unauthorized, decided = authority.objection(before, recorded, following), authority.decided_move
    try:
        step = examination.take(event, following, decided)
        after, deviation = step.after, step.deviation
    except DeviationError as impossible:
        deviation = str(impossible)
    # An event that breaks the replay cannot be compared with anything.
    if after is not None and after.play.broken is not None and (before is None or before.play.broken is None):
        unauthorized = None
    elif authority is not None and not first:
        unauthorized = authority.objection(before, recorded, following)
    if after is None:
        return Record(envelope, event, before, None, fault=deviation, unauthorized=unauthorized)
    return Record(envelope, event, before, after, examination.proof, deviation, unauthorized)
