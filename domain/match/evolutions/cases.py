"""The match after disputes, rulings and other rulesets."""

from dataclasses import replace

from domain.match import clock as clocks, events as e, positions
from domain.match.enums import PauseReason, Status
from domain.match.state import Dispute, MatchState, Proposal, Ruling
from domain.vector import with_value


def dispute_raised(state: MatchState, event: e.DisputeRaised) -> MatchState:
    """Return the match with one more case."""
    dispute = Dispute(
        number=event.dispute,
        seat=event.seat,
        ply=event.ply,
        ground=event.ground,
        raised_at=event.at,
        stated=() if event.seat is None else (event.seat,),
        involved=() if event.arbiter is None else (event.arbiter,),
    )
    state = replace(state, cases=replace(state.cases, disputes=(*state.cases.disputes, dispute)))
    return _frozen(state, event.at) if event.freezes else state


def statement_filed(state: MatchState, event: e.StatementFiled) -> MatchState:
    """Return the match with the seat having stated its case once more."""
    dispute = _dispute(state, event.dispute)
    return _with_dispute(state, replace(dispute, stated=(*dispute.stated, event.seat)))


def match_frozen(state: MatchState, event: e.MatchFrozen) -> MatchState:
    """Return the match stopped."""
    return _frozen(_with_dispute(state, _involving(_dispute(state, event.dispute), event.arbiter)), event.at)


def match_unfrozen(state: MatchState, event: e.MatchUnfrozen) -> MatchState:
    """Return the match going on."""
    return _unfrozen(_with_dispute(state, _involving(_dispute(state, event.dispute), event.arbiter)), event.at)


def ruling_made(state: MatchState, event: e.RulingMade) -> MatchState:
    """Return the match going on, with the case ruled on; a ruling on appeal settles the plies on record."""
    dispute = _involving(_dispute(state, event.dispute), event.arbiter)
    ruling = Ruling(arbiter=event.arbiter, ruling=event.ruling, at=event.at)
    dispute = replace(
        dispute, rulings=(*dispute.rulings, ruling), settled=state.play.plies if dispute.appealed else dispute.settled
    )
    return _unfrozen(_with_dispute(state, dispute), event.at)


def ruling_appealed(state: MatchState, event: e.RulingAppealed) -> MatchState:
    """Return the match with its case waiting for a second ruling."""
    state = _with_dispute(state, replace(_dispute(state, event.dispute), appealed=True))
    return _frozen(state, event.at) if event.freezes and state.status == Status.PLAYING else state


def case_reopened(state: MatchState, event: e.CaseReopened) -> MatchState:
    """Return the match with its settled case waiting for one more ruling."""
    dispute = _dispute(state, event.dispute)
    dispute = replace(
        dispute,
        reopened=dispute.reopened + 1,
        settled=None,
        involved=(*dispute.involved, event.arbiter) if event.operator else dispute.involved,
    )
    state = _with_dispute(state, dispute)
    return _frozen(state, event.at) if event.freezes else state


def ruleset_proposed(state: MatchState, event: e.RulesetProposed) -> MatchState:
    """Return the match with another ruleset proposed."""
    return replace(state, cases=replace(state.cases, proposal=Proposal(ruleset=event.ruleset)))


def ruleset_accepted(state: MatchState, event: e.RulesetAccepted) -> MatchState:
    """Return the match with one more seat that agrees to the proposed ruleset."""
    proposal = state.cases.proposal
    if proposal is None:
        raise ValueError(
            f"match {state.match_id} accepts at version {state.version + 1} a ruleset that nobody proposed"
        )
    proposal = replace(proposal, agreed=(*proposal.agreed, event.seat))
    return replace(state, cases=replace(state.cases, proposal=proposal))


def ruleset_declined(state: MatchState, _: e.RulesetDeclined) -> MatchState:
    """Return the match without a proposed ruleset."""
    return replace(state, cases=replace(state.cases, proposal=None))


def ruleset_changed(state: MatchState, event: e.RulesetChanged) -> MatchState:
    """Return the match under the other ruleset, in the same position."""
    state = replace(state, cases=replace(state.cases, proposal=None))
    state = positions.under_ruleset(state, event.ruleset, event.at)
    return state.on_clock(clocks.pass_turn, positions.to_move(state), event.at)


def _frozen(state: MatchState, at: int) -> MatchState:
    state = replace(state, cases=replace(state.cases, frozen=True))
    pause = clocks.Pause(reason=PauseReason.DISPUTE, seat=None, since=at, until=None)
    return state.on_clock(clocks.pause, pause)


def _unfrozen(state: MatchState, at: int) -> MatchState:
    state = replace(state, cases=replace(state.cases, frozen=False))
    return state.on_clock(clocks.resume, PauseReason.DISPUTE, None, at)


def _dispute(state: MatchState, number: int) -> Dispute:
    if not 0 < number <= len(state.cases.disputes):
        raise ValueError(f"match {state.match_id} has no case {number} at version {state.version + 1}")
    return state.cases.disputes[number - 1]


def _with_dispute(state: MatchState, dispute: Dispute) -> MatchState:
    disputes = with_value(state.cases.disputes, dispute.number - 1, dispute)
    return replace(state, cases=replace(state.cases, disputes=disputes))


def _involving(dispute: Dispute, arbiter: str) -> Dispute:
    """Return ``dispute`` with ``arbiter`` among those who acted in it, unless that is after an appeal."""
    if dispute.appealed or arbiter in dispute.involved:
        return dispute
    return replace(dispute, involved=(*dispute.involved, arbiter))
