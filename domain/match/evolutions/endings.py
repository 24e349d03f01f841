"""How a match ends and goes on: the only place where what an ending sets is set, and reset."""

from dataclasses import replace

from domain.match import clock as clocks
from domain.match import events as e
from domain.match import positions
from domain.match.enums import EndReason, Status
from domain.match.state import Ended, MatchState, Offers, Result


def match_finished(state: MatchState, event: e.MatchFinished) -> MatchState:
    """Return the match with its result."""
    result = Result(
        scores=event.scores,
        reason=event.reason,
        ended_at=event.at,
        fallen=None if event.reason == EndReason.RULING else state.result.fallen,
    )
    return _ended(state, Status.FINISHED, result, event.at)


def match_aborted(state: MatchState, event: e.MatchAborted) -> MatchState:
    """Return the match called off."""
    result = replace(state.result, reason=EndReason.ABORTED, ended_at=event.at)
    return _ended(state, Status.ABORTED, result, event.at)


def match_annulled(state: MatchState, event: e.MatchAnnulled) -> MatchState:
    """Return the match without a result, and with how it stood before."""
    before = state.result
    result = Result(
        reason=EndReason.ANNULLED,
        ended_at=event.at if before.ended_at is None else before.ended_at,
        fallen=before.fallen,
        annulled=Ended(status=state.status, scores=before.scores, reason=before.reason, ended_at=before.ended_at),
    )
    return _ended(state, Status.ABORTED, result, event.at)


def match_restored(state: MatchState, event: e.MatchRestored) -> MatchState:
    """Return the match as it stood before it was annulled."""
    before = state.result.annulled
    if before is None:
        raise ValueError(f"match {state.match_id} is restored at version {state.version + 1} but was not annulled")
    result = Result(scores=before.scores, reason=before.reason, ended_at=before.ended_at, fallen=state.result.fallen)
    state = replace(state, status=before.status, result=result)
    if state.status != Status.PLAYING:
        return state
    return state.on_clock(clocks.start, positions.to_move(state), event.at)


def reopened(state: MatchState) -> MatchState:
    """Return the match as one that is played on after its end; an annulment stays."""
    return replace(state, status=Status.PLAYING, result=Result(annulled=state.result.annulled))


def without_proposals(offers: Offers) -> Offers:
    """Return ``offers`` with neither a draw on offer nor a request to take moves back."""
    return replace(offers, draw_agreed=(), takeback=None)


def _ended(state: MatchState, status: Status, result: Result, at: int) -> MatchState:
    state = replace(state, status=status, result=result, offers=without_proposals(state.offers))
    return state.on_clock(clocks.stop, at)
