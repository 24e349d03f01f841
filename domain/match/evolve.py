"""How events make the state of a match. Who may do what is decided elsewhere (``domain.match.decide``)."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from domain.match import events as e
from domain.match.evolutions import cases, creation, moves, offers, timekeeping
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
    return replace(_EVOLUTIONS[type(event)](state, event), version=state.version + 1, updated_at=event.at)


def replay(match_id: str, events: Iterable[e.Event], state: MatchState | None = None) -> MatchState | None:
    """Return the state after ``events``, which follow ``state``; None when there are none at all."""
    for event in events:
        state = evolve(state, event, match_id)
    return state


_EVOLUTIONS: Mapping[type[e.LaterEvent], Callable[[MatchState, Any], MatchState]] = {
    e.PlayerJoined: creation.player_joined,
    e.MatchStarted: creation.match_started,
    e.SeedDrawn: creation.seed_drawn,
    e.DrawOffered: offers.draw_offered,
    e.DrawAccepted: offers.draw_accepted,
    e.DrawDeclined: offers.draw_declined,
    e.TakebackRequested: offers.takeback_requested,
    e.TakebackAccepted: offers.takeback_accepted,
    e.TakebackDeclined: offers.takeback_declined,
    e.MovesTakenBack: moves.moves_taken_back,
    e.PlayerResigned: moves.player_resigned,
    e.MatchFinished: moves.match_finished,
    e.MatchAborted: moves.match_aborted,
    e.MatchAnnulled: moves.match_annulled,
    e.MatchRestored: moves.match_restored,
    e.ClockPaused: timekeeping.clock_paused,
    e.ClockResumed: timekeeping.clock_resumed,
    e.TimeCorrected: timekeeping.time_corrected,
    e.TimeGiven: timekeeping.time_given,
    e.ClocksAdjusted: timekeeping.clocks_adjusted,
    e.FlagFell: timekeeping.flag_fell,
    e.FlagForgiven: timekeeping.flag_forgiven,
    e.DisputeRaised: cases.dispute_raised,
    e.StatementFiled: cases.statement_filed,
    e.MatchFrozen: cases.match_frozen,
    e.MatchUnfrozen: cases.match_unfrozen,
    e.RulingMade: cases.ruling_made,
    e.RulingAppealed: cases.ruling_appealed,
    e.CaseReopened: cases.case_reopened,
    e.RulesetProposed: cases.ruleset_proposed,
    e.RulesetAccepted: cases.ruleset_accepted,
    e.RulesetDeclined: cases.ruleset_declined,
    e.RulesetChanged: cases.ruleset_changed,
}


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
