"""How events make the state of a match. Who may do what is decided elsewhere (``domain.match.decide``)."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import assert_never

from domain.match import events as e
from domain.match.evolutions import cases, creation, endings, moves, offers, timekeeping
from domain.match.state import MatchState


def evolve(state: MatchState | None, event: e.Event, match_id: str = "") -> MatchState:
    """Return the state after ``event``; ``match_id`` is the id that the first event of a stream belongs to.

    A match that the rules cannot follow (a ruleset that is not installed, a recorded move that is not legal) is not an
    error: it is ``broken`` from there on. Raises ValueError when the first event is not the creation of a match or a
    later one is.
    """
    if isinstance(event, e.MatchCreated):
        if state is not None:
            raise ValueError(f"match {state.match_id} is created a second time at version {state.version + 1}")
        return creation.match_created(event, match_id)
    if state is None:
        raise ValueError(f"the stream of match {match_id!r} does not begin with its creation")
    if isinstance(event, e.MoveSubmitted):
        return moves.move_submitted(state, event)
    return replace(_evolved(state, event), version=state.version + 1, updated_at=event.at)


def replay(match_id: str, events: Iterable[e.Event], state: MatchState | None = None) -> MatchState | None:
    """Return the state after ``events``, which follow ``state``; None when there are none at all."""
    for event in events:
        state = evolve(state, event, match_id)
    return state


def _evolved(state: MatchState, event: e.LaterEvent) -> MatchState:  # noqa: C901 - one case for each event
    match event:
        case e.PlayerJoined():
            return creation.player_joined(state, event)
        case e.MatchStarted():
            return creation.match_started(state, event)
        case e.SeedDrawn():
            return creation.seed_drawn(state, event)
        case e.DrawOffered():
            return offers.draw_offered(state, event)
        case e.DrawAccepted():
            return offers.draw_accepted(state, event)
        case e.DrawDeclined():
            return offers.draw_declined(state, event)
        case e.TakebackRequested():
            return offers.takeback_requested(state, event)
        case e.TakebackAccepted():
            return offers.takeback_accepted(state, event)
        case e.TakebackDeclined():
            return offers.takeback_declined(state, event)
        case e.MovesTakenBack():
            return moves.moves_taken_back(state, event)
        case e.PlayerResigned():
            return moves.player_resigned(state, event)
        case e.MatchFinished():
            return endings.match_finished(state, event)
        case e.MatchAborted():
            return endings.match_aborted(state, event)
        case e.MatchAnnulled():
            return endings.match_annulled(state, event)
        case e.MatchRestored():
            return endings.match_restored(state, event)
        case e.ClockPaused():
            return timekeeping.clock_paused(state, event)
        case e.ClockResumed():
            return timekeeping.clock_resumed(state, event)
        case e.TimeCorrected():
            return timekeeping.time_corrected(state, event)
        case e.TimeGiven():
            return timekeeping.time_given(state, event)
        case e.ClocksAdjusted():
            return timekeeping.clocks_adjusted(state, event)
        case e.FlagFell():
            return timekeeping.flag_fell(state, event)
        case e.FlagForgiven():
            return timekeeping.flag_forgiven(state, event)
        case e.DisputeRaised():
            return cases.dispute_raised(state, event)
        case e.StatementFiled():
            return cases.statement_filed(state, event)
        case e.MatchFrozen():
            return cases.match_frozen(state, event)
        case e.MatchUnfrozen():
            return cases.match_unfrozen(state, event)
        case e.RulingMade():
            return cases.ruling_made(state, event)
        case e.RulingAppealed():
            return cases.ruling_appealed(state, event)
        case e.CaseReopened():
            return cases.case_reopened(state, event)
        case e.RulesetProposed():
            return cases.ruleset_proposed(state, event)
        case e.RulesetAccepted():
            return cases.ruleset_accepted(state, event)
        case e.RulesetDeclined():
            return cases.ruleset_declined(state, event)
        case e.RulesetChanged():
            return cases.ruleset_changed(state, event)
        case _:
            assert_never(event)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The ``events`` that a command causes, and the match after them."""

    state: MatchState
    events: tuple[e.Event, ...] = ()

    def then(self, *events: e.Event) -> "Decision":
        """Return this decision with ``events`` following."""
        state = self.state
        for event in events:
            state = evolve(state, event)
        return Decision(state=state, events=self.events + events)
