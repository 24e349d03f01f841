"""How the events of cases make the state of a match: disputes, rulings, and what rulings bring about."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from domain.match import clock as clocks
from domain.match import events as e
from domain.match import positions
from domain.match.enums import EndReason, PauseReason, Status
from domain.match.state import Dispute, Ended, MatchState, Proposal, Ruling, replaced


def _raised(state: MatchState, event: e.DisputeRaised) -> MatchState:
    stated = () if event.seat is None else (event.seat,)
    involved = () if event.arbiter is None else (event.arbiter,)
    dispute = Dispute(
        number=event.dispute,
        seat=event.seat,
        ply=event.ply,
        ground=event.ground,
        raised_at=event.at,
        stated=stated,
        involved=involved,
    )
    state = state._replace(disputes=(*state.disputes, dispute))
    return _frozen(state, event.at) if event.freezes else state


def _stated(state: MatchState, event: e.StatementFiled) -> MatchState:
    dispute = _case(state, event.dispute)
    return _with(state, replace(dispute, stated=(*dispute.stated, event.seat)))


def _froze(state: MatchState, event: e.MatchFrozen) -> MatchState:
    return _frozen(_with(state, _involving(_case(state, event.dispute), event.arbiter)), event.at)


def _unfroze(state: MatchState, event: e.MatchUnfrozen) -> MatchState:
    return _thawed(_with(state, _involving(_case(state, event.dispute), event.arbiter)), event.at)


def _ruled(state: MatchState, event: e.RulingMade) -> MatchState:
    dispute = _involving(_case(state, event.dispute), event.arbiter)
    ruling = Ruling(arbiter=event.arbiter, ruling=event.ruling, at=event.at)
    dispute = replace(
        dispute, rulings=(*dispute.rulings, ruling), settled=state.plies if dispute.appealed else dispute.settled
    )
    return _thawed(_with(state, dispute), event.at)


def _reopened(state: MatchState, event: e.CaseReopened) -> MatchState:
    dispute = _case(state, event.dispute)
    dispute = replace(dispute, reopened=dispute.reopened + 1, settled=None)
    if event.operator:
        dispute = replace(dispute, involved=(*dispute.involved, event.arbiter))
    state = _with(state, dispute)
    return _frozen(state, event.at) if event.freezes else state


def _appealed(state: MatchState, event: e.RulingAppealed) -> MatchState:
    state = _with(state, replace(_case(state, event.dispute), appealed=True))
    return _frozen(state, event.at) if event.freezes and state.status == Status.PLAYING else state


def _adjusted(state: MatchState, event: e.ClocksAdjusted) -> MatchState:
    return state.on_clock(clocks.adjusted, event.remaining, event.at)


def _annulled(state: MatchState, event: e.MatchAnnulled) -> MatchState:
    before = Ended(status=state.status, scores=state.scores, reason=state.reason, ended_at=state.ended_at)
    state = state._replace(
        status=Status.ABORTED,
        scores=None,
        reason=EndReason.ANNULLED,
        ended_at=event.at if state.ended_at is None else state.ended_at,
        annulled=before,
        draw_agreed=(),
        takeback=None,
    )
    return state.on_clock(clocks.stopped, event.at)


def _restored(state: MatchState, event: e.MatchRestored) -> MatchState:
    if state.annulled is None:
        raise ValueError(f"match {state.match} is restored at version {state.version + 1} but was not annulled")
    before = state.annulled
    state = state._replace(
        status=before.status, scores=before.scores, reason=before.reason, ended_at=before.ended_at, annulled=None
    )
    return (
        state.on_clock(clocks.started, positions.to_move(state), event.at) if state.status == Status.PLAYING else state
    )


def _proposed(state: MatchState, event: e.RulesetProposed) -> MatchState:
    return state._replace(proposal=Proposal(ruleset=event.ruleset))


def _accepted(state: MatchState, event: e.RulesetAccepted) -> MatchState:
    if state.proposal is None:
        raise ValueError(f"match {state.match} accepts at version {state.version + 1} a ruleset that nobody proposed")
    return state._replace(proposal=replace(state.proposal, agreed=(*state.proposal.agreed, event.seat)))


def _declined(state: MatchState, _: e.RulesetDeclined) -> MatchState:
    return state._replace(proposal=None)


def _changed(state: MatchState, event: e.RulesetChanged) -> MatchState:
    state = positions.under_ruleset(state._replace(proposal=None), event.ruleset, event.at)
    return state.on_clock(clocks.passed, positions.to_move(state), event.at)


def _frozen(state: MatchState, at: int) -> MatchState:
    state = state._replace(frozen=True)
    return state.on_clock(clocks.paused, clocks.Pause(reason=PauseReason.DISPUTE, seat=None, since=at, until=None))


def _thawed(state: MatchState, at: int) -> MatchState:
    return state._replace(frozen=False).on_clock(clocks.resumed, PauseReason.DISPUTE, None, at)


def _case(state: MatchState, number: int) -> Dispute:
    if not 0 < number <= len(state.disputes):
        raise ValueError(f"match {state.match} has no case {number} at version {state.version + 1}")
    return state.disputes[number - 1]


def _involving(dispute: Dispute, arbiter: str) -> Dispute:
    """Return ``dispute`` with ``arbiter`` as one who acted in it, unless that is after an appeal."""
    if dispute.appealed or arbiter in dispute.involved:
        return dispute
    return replace(dispute, involved=(*dispute.involved, arbiter))


def _with(state: MatchState, dispute: Dispute) -> MatchState:
    return state._replace(disputes=replaced(state.disputes, dispute.number - 1, dispute))


CASEWORK: dict[type[e.Event], Callable[[MatchState, Any], MatchState]] = {
    e.DisputeRaised: _raised,
    e.StatementFiled: _stated,
    e.MatchFrozen: _froze,
    e.MatchUnfrozen: _unfroze,
    e.RulingMade: _ruled,
    e.RulingAppealed: _appealed,
    e.CaseReopened: _reopened,
    e.ClocksAdjusted: _adjusted,
    e.MatchAnnulled: _annulled,
    e.MatchRestored: _restored,
    e.RulesetProposed: _proposed,
    e.RulesetAccepted: _accepted,
    e.RulesetDeclined: _declined,
    e.RulesetChanged: _changed,
}
