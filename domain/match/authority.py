"""Whether recorded events are such as ``decide`` gives for the recorded actor at that time.

For every event, or for the group of events that one decision makes, the command behind it is reconstructed from the
event and its actor, and decided again on the match before it: ``decide`` alone has the rules about who may do what. The
grounds of a decision besides the match (that an arbiter had the role, that a vacation was booked) no event shows: it
must be done by the right actor and within bounds, and ``taken_on_trust`` names it.
"""

from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any

from domain.games import find_ruleset
from domain.match import events as e
from domain.match.calendar import MAX_FREE_DAYS
from domain.match.decide import decide
from domain.match.enums import Channel, LineAction, PauseReason
from domain.match.event_types import TYPES
from domain.match.guards import refuse_excess
from domain.match.lines import ConditionalMoves, Line, Lines, answer_due, refuse_if_lines_off
from domain.match.reconstruction import BY_ONE_SEAT, UnauthorizedError, command_of, creation_of, refuse_unless
from domain.match.refusals import CommandError
from domain.match.state import CLOCK, CONSOLE, MatchState
from domain.match.terms import DAY, duration
from domain.match.vacation import ALLOWANCE, MAX_BOOKED_AHEAD_MS, MIN_VACATION_MS, year_of

MAX_VACATION_PER_YEAR_MS = 2 * ALLOWANCE
"""Of one seat in one match. A vacation that ends early gives days back, which a match may follow late."""


MAX_FREE_DAYS_AHEAD_MS = (MAX_FREE_DAYS + 1) * DAY
"""How far free days may reach beyond the event that records them: local days are not always 24 hours long."""


MAX_FREE_STRETCH_MS = 2 * MAX_FREE_DAYS_AHEAD_MS
"""How long free days may be in one piece: a calendar is changed once a week at most, and two may meet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """An event and who acted in it."""

    event: e.Event
    actor: str


class Authority:
    """Takes the recorded events of one match in order and says which of them cannot have come about.

    ``taken_on_trust`` names the facts that could not be checked, with the versions of the events that rest on them.
    """

    def __init__(self, match: str) -> None:
        self.taken_on_trust: dict[str, list[int]] = {}
        self._match = match
        self._due: tuple[e.Event, ...] = ()
        self._initiator = ""
        self._vacations: dict[tuple[int, int], int] = {}
        self.decided_move: MatchState | None = None
        """The match after the last event, where that is a move, nothing objects to it and nothing follows from it."""

    @property
    def is_open(self) -> bool:
        """Whether the next event is one that somebody decides: none of an earlier decision is due."""
        return not self._due

    def objection(self, before: MatchState | None, recorded: Recorded, following: e.Event | None) -> str | None:
        """Return why ``recorded`` cannot have been brought about in the match ``before`` it; None when it can.

        ``following`` is the event after it, None for the last. In a match that the rules cannot follow (``broken``)
        only events that need none of them are judged.
        """
        self.decided_move = None
        try:
            if self._due:
                self._follow(recorded)
            else:
                self._lead(before, recorded, following)
        except UnauthorizedError as unauthorized:
            self._due, self.decided_move = (), None
            return str(unauthorized)
        return None

    def end(self) -> str | None:
        """Return why the events cannot end here: the last decision gives more than is recorded."""
        return f"a {_name(self._due[0])} must follow, and nothing does" if self._due else None

    def _follow(self, recorded: Recorded) -> None:
        expected, *rest = self._due
        _refuse_difference(expected, recorded.event)
        if recorded.actor != self._initiator:
            words = f"it follows from what {self._initiator} did, and {recorded.actor} is recorded as its actor"
            raise UnauthorizedError(words)
        self._due = tuple(rest)

    def _lead(self, before: MatchState | None, recorded: Recorded, following: e.Event | None) -> None:
        event, actor = recorded.event, recorded.actor
        if event.at <= 0:
            raise UnauthorizedError(f"it is dated {event.at} ms, which is not after 1970 began")
        try:
            decided = self._decided(before, event, actor, following)
        except CommandError as refused:
            raise UnauthorizedError(f"{actor} could not do this: {refused}") from None
        except UnauthorizedError:
            raise
        except Exception as error:
            # Rules may fail in any way on forged events.
            raise UnauthorizedError(f"it cannot be decided again: {type(error).__name__}: {error}") from None
        if not decided:
            raise UnauthorizedError(f"what {actor} did changes nothing here, and a {_name(event)} is recorded")
        _refuse_difference(decided[0], event)
        self._due = decided[1:]
        if not _is_laid_down(event):
            # Events that follow from something laid down are acts of the player who triggered it.
            self._initiator = actor
        self._trust(before, event, actor)

    def _decided(
        self, before: MatchState | None, event: e.Event, actor: str, following: e.Event | None
    ) -> tuple[e.Event, ...]:
        """Return the events that ``decide`` gives for the command by which ``actor`` brought ``event`` about."""
        if before is not None and before.play.broken is not None and type(event) not in _WITHOUT_RULES:
            _refuse_other_seat(before, event, actor)
            return (event,)
        if isinstance(event, e.MatchCreated):
            return decide(before, creation_of(self._match, event, actor), event.at).events
        if before is None:
            raise UnauthorizedError("the stream does not begin with the creation of the match")
        _refuse_opponent(before, event, actor)
        if _is_laid_down(event):
            return _answer_laid_down(before, event, actor)
        command = command_of(before, event, actor, following)
        if command is None:
            raise UnauthorizedError(f"nothing that happened before brings a {_name(event)} about")
        refuse_excess(before, command)
        # Of a seed that was drawn only that there is one follows from the match.
        decision = decide(before, command, event.at, fresh_seed="")
        if isinstance(event, e.MoveSubmitted) and decision.events == (event,):
            self.decided_move = decision.state
        return decision.events

    def _trust(self, before: MatchState | None, event: e.Event, actor: str) -> None:
        """Note the hidden grounds of ``event``; raises UnauthorizedError where that is out of bounds."""
        words = None
        if isinstance(event, e.ClockPaused) and event.reason == PauseReason.OUTAGE:
            words = "that the server was away"
        elif isinstance(event, e.ClockPaused):
            self._bound_pause(event)
            words = "that vacations and free days stood in the availability of the players"
        elif isinstance(event, e.TimeCorrected) or (isinstance(event, e.ClockResumed) and actor == CONSOLE):
            words = "that the operator corrected a clock that was wrong"
        elif isinstance(event, e.ClockResumed) and event.reason == PauseReason.VACATION and before is not None:
            self._count_return(before, event)
        elif isinstance(event, e.CaseReopened) and event.operator:
            words = f"that {actor} was an operator"
        elif getattr(event, "arbiter", None) is not None:
            words = f"that {actor} was an arbiter"
        elif _is_laid_down(event):
            words = "that the players had laid down what was done for them"
        if words is not None:
            self.taken_on_trust.setdefault(words, []).append(1 if before is None else before.version + 1)

    def _bound_pause(self, event: e.ClockPaused) -> None:
        if event.seat is None or event.until is None:
            raise UnauthorizedError(f"a {event.reason} is that of one seat, and has an end")
        if event.reason == PauseReason.WEEKEND:
            if not event.since <= event.at or event.until > event.at + MAX_FREE_DAYS_AHEAD_MS:
                raise UnauthorizedError(f"free days are recorded when they count, {MAX_FREE_DAYS} in a row at most")
            if event.until - event.since > MAX_FREE_STRETCH_MS:
                raise UnauthorizedError(f"free days last at most {duration(MAX_FREE_STRETCH_MS)} in one piece")
            return
        length = event.until - event.since
        if event.automatic and length > MIN_VACATION_MS:
            raise UnauthorizedError(f"an automatic vacation lasts at most {duration(MIN_VACATION_MS)}")
        if length > ALLOWANCE:
            raise UnauthorizedError(
                f"a vacation lasts at most {duration(ALLOWANCE)}, and {duration(length)} are recorded"
            )
        if event.since > event.at + MAX_BOOKED_AHEAD_MS:
            raise UnauthorizedError(f"a vacation begins within {duration(MAX_BOOKED_AHEAD_MS)}")
        self._add_vacation(event.seat, event.since, length)

    def _count_return(self, before: MatchState, event: e.ClockResumed) -> None:
        for pause in before.clock.pauses:
            if (pause.reason, pause.seat) == (PauseReason.VACATION, event.seat) and pause.seat is not None:
                until = pause.until or event.at
                self._add_vacation(pause.seat, pause.since, -max(0, until - max(event.at, pause.since)))

    def _add_vacation(self, seat: int, since: int, length: int) -> None:
        place = seat, year_of(since)
        taken = self._vacations[place] = self._vacations.get(place, 0) + length
        if taken > MAX_VACATION_PER_YEAR_MS:
            raise UnauthorizedError(f"seat {seat} has {duration(taken)} of vacation in {place[1]}")


def _answer_laid_down(before: MatchState, event: Any, actor: str) -> tuple[e.Event, ...]:
    """Return the act done for ``actor`` if exactly ``event`` was laid down for where the match stands."""
    refuse_if_lines_off(before)
    if event.at != before.updated_at:
        raise UnauthorizedError(
            "what was laid down is done together with the event in front of it, and this is dated later"
        )
    if before.seats[event.seat].player != actor:
        raise UnauthorizedError(f"{actor} does not have seat {event.seat}, for which this was laid down")
    if isinstance(event, e.MoveSubmitted) and event.channel == Channel.FORCED:
        orders = ConditionalMoves(forced=True)
    elif before.play.moves and (
        isinstance(event, e.MoveSubmitted) or before.play.last_ply[event.seat] != len(before.play.moves)
    ):
        # The shortest line that does it, laid down before the last move. A signature is checked elsewhere.
        last, signature = before.play.moves[-1], None if event.signed is None else event.signed.signature
        if isinstance(event, e.MoveSubmitted):
            line = Line(move=last, next=(Line(move=event.move, signature=signature),))
        else:
            action = LineAction.RESIGN if isinstance(event, e.PlayerResigned) else LineAction.ACCEPT_DRAW
            line = Line(move=last, then=action, signature=signature)
        ply = len(before.play.moves) - 1
        position = find_ruleset(before.game, before.ruleset).format_position(before.play.position_after(ply))
        lines = Lines(ply=ply, position=position, first=(line,), taken_back=before.play.taken_back)
        if event.signed is not None:
            lines = replace(lines, key=event.signed.key, version=event.signed.version)
        orders = ConditionalMoves(lines=lines)
    else:
        raise UnauthorizedError("nothing can have been laid down for it: it would be after a move of another seat")
    return answer_due(before, {event.seat: orders}, event.at).events


def _is_laid_down(event: e.Event) -> bool:
    return getattr(event, "channel", None) in (Channel.CONDITIONAL, Channel.FORCED)


def _refuse_opponent(before: MatchState, event: e.Event, actor: str) -> None:
    """Raise UnauthorizedError when an opponent acts as only people do, or a person as only opponents do."""
    seat = before.seat_of(actor)
    level = None if seat is None else before.seats[seat].level
    if level is not None and not isinstance(event, e.MoveSubmitted | e.DrawAccepted | e.DrawDeclined):
        raise UnauthorizedError(
            f"an opponent moves and answers draw offers, and a {_name(event)} of {actor} is recorded"
        )
    if level is not None and _is_laid_down(event):
        raise UnauthorizedError(f"nothing can have been laid down by {actor}, which is an opponent")
    answer = (getattr(event, field, None) for field in ("engine", "level", "nodes", "seed"))
    if level is None and (
        any(said is not None for said in answer) or getattr(event, "channel", None) == Channel.OPPONENT
    ):
        raise UnauthorizedError(f"{actor} is a person, and an answer of an opponent is recorded")


def _refuse_other_seat(before: MatchState, event: e.Event, actor: str) -> None:
    """Raise UnauthorizedError when ``actor`` does not have the seat that acts in ``event``."""
    seat = event.claimed_by if isinstance(event, e.FlagFell) else getattr(event, "seat", None)
    if isinstance(event, e.FlagFell) and seat is None:
        refuse_unless(CLOCK, actor)
    acts = isinstance(event, (e.FlagFell, *BY_ONE_SEAT))
    if acts and seat is not None and not (0 <= seat < len(before.seats) and before.seats[seat].player == actor):
        raise UnauthorizedError(f"{actor} does not have seat {seat}, which did this")


_WITHOUT_RULES = frozenset(
    {
        e.PlayerJoined,
        e.DisputeRaised,
        e.StatementFiled,
        e.MatchFrozen,
        e.MatchUnfrozen,
        e.RulingMade,
        e.RulingAppealed,
        e.CaseReopened,
    }
)
"""The events judged in a match that the rules cannot follow: all others depend on positions that are unknown."""


def _refuse_difference(expected: e.Event, recorded: e.Event) -> None:
    """Raise UnauthorizedError when ``recorded`` differs from the decision; only the seed of a match is not decided."""
    if type(expected) is not type(recorded):
        raise UnauthorizedError(f"a {_name(expected)} must follow here, and a {_name(recorded)} is recorded")
    if isinstance(expected, e.SeedDrawn) and isinstance(recorded, e.SeedDrawn):
        expected = recorded
    for field in fields(expected):
        given, stored = getattr(expected, field.name), getattr(recorded, field.name)
        if given != stored:
            raise UnauthorizedError(
                f"{field.name}: {_shown(given)} follows from what was done, and {_shown(stored)} is recorded"
            )


def _shown(value: object) -> str:
    return f"{value.value if isinstance(value, StrEnum) else value!r:.60}"


def _name(event: e.Event) -> str:
    return _NAMES[type(event)]


_NAMES = {made: name for name, made in TYPES.items()}
