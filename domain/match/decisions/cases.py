"""Cases: disputes of players and rulings of arbiters. No ruling asks the rules of the game, which may be at fault.

A player, or an arbiter who plays no part in the match, opens a case on a ply; while the match is played that freezes
it, unless the case is about conduct: then it is up to the arbiter. Both sides say their part, an arbiter rules, and the
consequences of the ruling are further events: the past is never edited. A ruling may be appealed once, within a week,
and is then up to an arbiter who has not acted in the case. The arbiter who opened a case rules on it only if nobody
else could. That settles the match as it stands then: no new case and no other appeal is about anything before. Only the
arbiter of the appeal, or an operator, can reopen the case.
"""

import re
from dataclasses import replace
from typing import assert_never

from domain.match import commands as c, events as e, positions
from domain.match.enums import EndReason, Ground, RulingKind, Status
from domain.match.guards import refuse_if_ended, seat_of
from domain.match.refusals import CommandError
from domain.match.state import Dispute, MatchState, is_person
from domain.match.terms import DAY, duration

MAX_APPEAL_DELAY_MS = 7 * DAY
MAX_DISPUTE_DELAY_MS = 30 * DAY
"""After the end of a match."""

MAX_DISPUTES_PER_SEAT = 3
"""That one seat may raise in one match."""

_SHA256 = re.compile("[0-9a-f]{64}")


MAX_SCORE_DECIMALS = 3
"""Of the scores of a ruling."""


def raise_dispute(state: MatchState, command: c.RaiseDispute, now: int) -> tuple[e.Event, ...]:
    """Return a case that a seat opens."""
    seat = seat_of(state, command.player)
    if sum(dispute.seat == seat for dispute in state.cases.disputes) >= MAX_DISPUTES_PER_SEAT:
        raise CommandError(
            "too-many-disputes", f"you have raised {MAX_DISPUTES_PER_SEAT} disputes in this match already"
        )
    if state.result.ended_at is not None and now > state.result.ended_at + MAX_DISPUTE_DELAY_MS:
        raise CommandError(
            "too-late-to-dispute", f"a match can be disputed for {duration(MAX_DISPUTE_DELAY_MS)} after its end"
        )
    return (replace(_opened(state, command, now), seat=seat),)


def open_case(state: MatchState, command: c.OpenCase, now: int) -> tuple[e.Event, ...]:
    """Return a case that an arbiter opens."""
    refuse_party(state, command.arbiter)
    return (replace(_opened(state, command, now), arbiter=command.arbiter),)


def _opened(state: MatchState, command: c.RaiseDispute | c.OpenCase, now: int) -> e.DisputeRaised:
    ply, ground = command.ply, command.ground
    if not all(seat.joined for seat in state.seats):
        raise CommandError("match-not-started", "this match has not started: there is nothing to dispute")
    if state.cases.open is not None:
        raise CommandError("dispute-open", "there is an open case about this match already: file a statement in it")
    if not 0 <= ply <= state.play.plies:
        raise CommandError("invalid-dispute", f"this match has moves 0 to {state.play.plies}", "ply")
    _refuse_settled(state, ply)
    _check_digest(command.statement)
    freezes = state.status == Status.PLAYING and ground != Ground.CONDUCT
    return e.DisputeRaised(
        at=now,
        dispute=len(state.cases.disputes) + 1,
        ply=ply,
        ground=ground,
        statement=command.statement,
        freezes=freezes,
    )


def file_statement(state: MatchState, command: c.FileStatement, now: int) -> tuple[e.Event, ...]:
    """Return the statement of a seat in the open case, once before each ruling."""
    seat = seat_of(state, command.player)
    dispute = _the_open_case(state)
    if dispute.stated.count(seat) > dispute.appealed:
        raise CommandError("statement-already-filed", "you have said your part in this case")
    _check_digest(command.statement)
    return (e.StatementFiled(at=now, dispute=dispute.number, seat=seat, statement=command.statement),)


def freeze(state: MatchState, command: c.Freeze, now: int) -> tuple[e.Event, ...]:
    """Return the freeze of the match while its case is open, or the end of the freeze."""
    refuse_party(state, command.arbiter)
    dispute = _the_open_case(state)
    refuse_if_ended(state)
    if state.cases.frozen == command.frozen:
        raise CommandError(
            "nothing-to-freeze", f"this match is {'frozen already' if state.cases.frozen else 'not frozen'}"
        )
    if command.frozen:
        return (e.MatchFrozen(at=now, dispute=dispute.number, arbiter=command.arbiter),)
    return (e.MatchUnfrozen(at=now, dispute=dispute.number, arbiter=command.arbiter),)


def rule(state: MatchState, command: c.Rule, now: int) -> tuple[e.Event, ...]:
    """Return a ruling on the open case and its consequences."""
    refuse_party(state, command.arbiter)
    dispute = _the_open_case(state)
    refuse_involved(state, dispute, command.arbiter, command.sole_arbiter)
    _check_scores(command.scores or ())
    _refuse_taking_back_settled(state, command)
    _check_reason("reason", command.reason)
    _check_reason("rule", command.rule)
    given = {
        field
        for field, value in (("ply", command.ply), ("scores", command.scores), ("remaining", command.remaining))
        if value is not None
    }
    wanted = {
        RulingKind.TAKE_BACK: {"ply"},
        RulingKind.DECIDE: {"scores"},
        RulingKind.ADJUST_CLOCKS: {"remaining"},
    }.get(command.ruling, set())
    for field in sorted(given ^ wanted):
        reason = "say it" if field in wanted else f"it does not belong to the ruling {command.ruling}"
        raise CommandError("invalid-ruling", f"{field}: {reason}", field)
    made = e.RulingMade(
        at=now,
        dispute=dispute.number,
        arbiter=command.arbiter,
        ruling=command.ruling,
        reason=command.reason,
        rule=command.rule,
        appeal=dispute.appealed,
        sole_arbiter=True if command.arbiter == dispute.opener else None,
    )
    return (made, *_brought_about(state, command, now))


def _brought_about(state: MatchState, command: c.Rule, now: int) -> tuple[e.Event, ...]:
    match command.ruling:
        case RulingKind.TAKE_BACK:
            return (_take_back(state, command.ply or 0, now),)
        case RulingKind.DECIDE:
            scores = command.scores or ()
            if len(scores) != len(state.seats) or any(not 0 <= score <= 1 for score in scores):
                raise CommandError("invalid-ruling", f"say {len(state.seats)} scores from 0 to 1, by seat", "scores")
            if abs(sum(scores) - 1) > 1e-9:
                raise CommandError("invalid-ruling", "the scores of all seats together are 1", "scores")
            return (e.MatchFinished(at=now, scores=tuple(float(score) for score in scores), reason=EndReason.RULING),)
        case RulingKind.ADJUST_CLOCKS:
            remaining = command.remaining or ()
            if state.status != Status.PLAYING:
                raise CommandError("invalid-ruling", "no clock runs in this match", "remaining")
            if len(remaining) != len(state.seats) or any(not 0 < time <= 365 * DAY for time in remaining):
                reason = f"say {len(state.seats)} times, by seat, each more than nothing and at most a year"
                raise CommandError("invalid-ruling", reason, "remaining")
            return (e.ClocksAdjusted(at=now, remaining=remaining),)
        case RulingKind.ANNUL:
            if state.result.annulled is not None:
                raise CommandError("invalid-ruling", "this match is annulled already", "ruling")
            return (e.MatchAnnulled(at=now),)
        case RulingKind.RESTORE:
            if state.result.annulled is None:
                raise CommandError("invalid-ruling", "this match is not annulled", "ruling")
            return (e.MatchRestored(at=now),)
        case RulingKind.LET_STAND:
            return ()
        case _:
            assert_never(command.ruling)


def _take_back(state: MatchState, ply: int, now: int) -> e.MovesTakenBack:
    if state.result.annulled is not None:
        raise CommandError("invalid-ruling", "this match is annulled: restore it first", "ruling")
    if not 0 <= ply <= state.play.plies or (state.status == Status.PLAYING and ply == state.play.plies):
        raise CommandError(
            "invalid-ruling",
            f"take back to a move from 0 to {state.play.plies - (state.status == Status.PLAYING)}",
            "ply",
        )
    if positions.is_over(state, ply):
        raise CommandError(
            "invalid-ruling", f"after move {ply} the game is over by the rules: take back further", "ply"
        )
    return e.MovesTakenBack(at=now, ply=ply)


def appeal(state: MatchState, command: c.Appeal, now: int) -> tuple[e.RulingAppealed]:
    """Return the appeal of a seat against the last ruling that was not appealed yet.

    While another case is open the appeal has to wait for it, and the week begins again with the ruling there: nobody
    can keep others from appealing by raising one dispute more. Doubt about the state of a match that is being played
    freezes it: an appeal does so unless the case is about conduct and the ruling has changed nothing.
    """
    seat = seat_of(state, command.player)
    ruled = [dispute for dispute in state.cases.disputes if dispute.rulings]
    if not ruled:
        raise CommandError("nothing-to-appeal", "there is no ruling in this match")
    unappealed = [dispute for dispute in ruled if not dispute.appealed]
    if not unappealed:
        raise CommandError("nothing-to-appeal", "this case was appealed already: the second ruling is the last")
    if state.cases.open is not None:
        raise CommandError("dispute-open", "there is an open case about this match: appeal when it has been ruled on")
    dispute = unappealed[-1]
    until = dispute.rulings[-1].at + MAX_APPEAL_DELAY_MS
    for later in state.cases.disputes[dispute.number :]:
        if later.raised_at <= until:
            until = later.rulings[-1].at + MAX_APPEAL_DELAY_MS
    if now > until:
        raise CommandError("too-late-to-appeal", f"a ruling can be appealed for {duration(MAX_APPEAL_DELAY_MS)}")
    _refuse_settled(state, dispute.ply)
    _check_digest(command.statement)
    as_it_was = dispute.ground == Ground.CONDUCT and dispute.rulings[-1].ruling == RulingKind.LET_STAND
    freezes = state.status == Status.PLAYING and not as_it_was
    return (
        e.RulingAppealed(
            at=now,
            dispute=dispute.number,
            seat=seat,
            statement=command.statement,
            freezes=freezes,
            signed=command.signed,
        ),
    )


def reopen_case(state: MatchState, command: c.ReopenCase, now: int) -> tuple[e.Event, ...]:
    """Return the reopening, for one more ruling, of a case that an appeal has settled."""
    refuse_party(state, command.person)
    if (
        not 0 < command.dispute <= len(state.cases.disputes)
        or state.cases.disputes[command.dispute - 1].settled is None
    ):
        raise CommandError(
            "nothing-to-reopen", f"no appeal has settled a case {command.dispute} of this match", "dispute"
        )
    if state.cases.open is not None:
        raise CommandError("dispute-open", "there is an open case about this match: reopen this one after its ruling")
    dispute = state.cases.disputes[command.dispute - 1]
    if not command.operator and command.person != dispute.rulings[-1].arbiter:
        raise CommandError(
            "not-your-case", "only the arbiter who ruled on the appeal, or an operator, can reopen this case"
        )
    _check_digest(command.statement)
    freezes = state.status == Status.PLAYING
    return (
        e.CaseReopened(
            at=now,
            dispute=dispute.number,
            arbiter=command.person,
            operator=command.operator,
            statement=command.statement,
            freezes=freezes,
        ),
    )


def propose_ruleset(state: MatchState, command: c.ProposeRuleset, now: int) -> tuple[e.Event, ...]:
    """Return the proposal of an arbiter to go on from the same position under another ruleset."""
    refuse_party(state, command.arbiter)
    _refuse_unless_changeable(state, command.ruleset, now)
    _check_reason("reason", command.reason)
    return (e.RulesetProposed(at=now, arbiter=command.arbiter, ruleset=command.ruleset, reason=command.reason),)


def accept_ruleset(state: MatchState, command: c.AcceptRuleset, now: int) -> tuple[e.Event, ...]:
    """Return the agreement of a seat, and the change when it is the last one; opponents agree to everything."""
    seat = seat_of(state, command.player)
    if state.cases.proposal is None:
        raise CommandError("no-proposal", "no other ruleset is proposed")
    if seat in state.cases.proposal.agreed:
        raise CommandError("no-proposal", "you have agreed already; the others have to answer")
    _refuse_unless_changeable(state, state.cases.proposal.ruleset, now)
    accepted = e.RulesetAccepted(at=now, seat=seat)
    agreed = {*state.cases.proposal.agreed, seat}
    waiting = [other for other, who in enumerate(state.seats) if other not in agreed and who.level is None]
    return (accepted,) if waiting else (accepted, e.RulesetChanged(at=now, ruleset=state.cases.proposal.ruleset))


def decline_ruleset(state: MatchState, command: c.DeclineRuleset, now: int) -> tuple[e.Event, ...]:
    """Return the refusal of a seat."""
    seat = seat_of(state, command.player)
    if state.cases.proposal is None:
        raise CommandError("no-proposal", "no other ruleset is proposed")
    return (e.RulesetDeclined(at=now, seat=seat),)


def _refuse_unless_changeable(state: MatchState, ruleset: int, now: int) -> None:
    if state.status != Status.PLAYING:
        raise CommandError("match-over", "only a match that is being played can go on under another ruleset")
    if ruleset == state.ruleset:
        raise CommandError("invalid-ruleset", f"this match is played under ruleset {ruleset} already", "ruleset")
    after = positions.under_ruleset(state, ruleset, now)
    if after.play.broken is not None:
        reason = f"this match cannot go on under ruleset {ruleset}: {after.play.broken}"
        raise CommandError("invalid-ruleset", reason, "ruleset")
    if positions.is_over(after, len(after.play.moves)):
        raise CommandError("invalid-ruleset", f"under ruleset {ruleset} this game is over already", "ruleset")


def _the_open_case(state: MatchState) -> Dispute:
    dispute = state.cases.open
    if dispute is None:
        settled = "it has been ruled on" if state.cases.disputes else "nobody has raised one"
        raise CommandError("no-open-dispute", f"there is no open case about this match: {settled}")
    return dispute


def refuse_involved(state: MatchState, dispute: Dispute, arbiter: str, sole_arbiter: bool = False) -> None:
    """Raise CommandError when ``arbiter`` may not rule on ``dispute``: opened by them, appealed, or settled before.

    An arbiter who has opened a case rules on it only as the ``sole_arbiter`` who may.
    Who acted before an appeal is not asked again, in any case of the match: it would be a way round the appeal.
    """
    if arbiter == dispute.opener and not dispute.appealed and not sole_arbiter:
        raise CommandError("own-case", "you have opened this case: another arbiter has to rule on it")
    if dispute.appealed and any(ruling.arbiter == arbiter for ruling in dispute.rulings[:1]):
        raise CommandError("own-ruling", "your ruling was appealed: another arbiter has to rule now")
    if dispute.appealed and arbiter in dispute.involved:
        raise CommandError("own-ruling", "you have acted in this case before: another arbiter has to rule now")
    for other in state.cases.disputes:
        if other.settled is not None and arbiter in other.involved:
            reason = f"you acted in case {other.number} of this match, which was appealed: another arbiter has to rule"
            raise CommandError("own-ruling", reason)


def _refuse_settled(state: MatchState, ply: int) -> None:
    """Raise CommandError when an appeal has settled how the match stood after ``ply`` plies."""
    for dispute in state.cases.disputes:
        if dispute.settled is not None and ply <= dispute.settled:
            reason = (
                f"case {dispute.number} was settled on appeal, and with it the match up to move {dispute.settled}: "
                "only the arbiter of the appeal or an operator can reopen it"
            )
            raise CommandError("already-settled", reason, "ply")


def _refuse_taking_back_settled(state: MatchState, command: c.Rule) -> None:
    for dispute in state.cases.disputes:
        if command.ply is not None and dispute.settled is not None and command.ply < dispute.settled:
            reason = f"case {dispute.number}, settled on appeal, let the match stand up to move {dispute.settled}"
            raise CommandError("already-settled", f"{reason}: take back to move {dispute.settled} or later", "ply")


def _check_scores(scores: tuple[float, ...]) -> None:
    for seat, score in enumerate(scores):
        if round(score, MAX_SCORE_DECIMALS) != score:
            reason = f"the score of seat {seat} has more than {MAX_SCORE_DECIMALS} decimals: say thousandths"
            raise CommandError("invalid-ruling", reason, "scores")


def refuse_party(state: MatchState, arbiter: str) -> None:
    """Raise CommandError unless the arbiter is a person without a part in the match."""
    if not is_person(arbiter):
        raise CommandError("conflict-of-interest", f"{arbiter} is no person, and only people judge matches")
    if state.has_part(arbiter):
        raise CommandError("conflict-of-interest", "you have a part in this match: another arbiter has to judge it")


def _check_digest(statement: str) -> None:
    if not _SHA256.fullmatch(statement):
        raise CommandError("invalid-dispute", "a statement is recorded by its SHA-256 in hexadecimal", "statement")


def _check_reason(field: str, digest: str) -> None:
    if not _SHA256.fullmatch(digest):
        raise CommandError("invalid-ruling", f"a ruling needs a {field}, recorded by its SHA-256 in hexadecimal", field)
