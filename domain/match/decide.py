"""Who may do what in a match, and when: state and command in, events and the state after them out."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import assert_never

from domain.match import commands as c
from domain.match import events as e
from domain.match import opponents
from domain.match.decisions import cases, creation, moves, offers, timekeeping
from domain.match.evolve import Decision, evolve
from domain.match.lines import ConditionalMoves, with_answers
from domain.match.refusals import CommandError
from domain.match.state import MatchState


def decide(
    state: MatchState | None,
    command: c.Command,
    now: int,
    orders: Mapping[int, ConditionalMoves] = MappingProxyType({}),
    fresh_seed: str | None = None,
) -> Decision:
    """Return the events that ``command`` causes at ``now`` (milliseconds since 1970 UTC), and the match after them.

    ``state`` is None for a match that does not exist yet. Time never runs backwards within a match: an event is never
    dated before the one in front of it, unless it corrects the time. ``orders`` are the conditional moves by seat: what
    the command makes due of them follows at once. ``fresh_seed`` is a secret one, for a match against opponents that
    goes on with known ones. Raises CommandError when the command is not allowed, ValueError when there is no seed and
    one is needed.
    """
    if isinstance(command, c.CreateMatch):
        if state is not None:
            raise CommandError("match-exists", "this match has been created already")
        created, *others = creation.create_match(command, now)
        return Decision(state=evolve(None, created, command.match), events=(created,)).then(*others)
    if state is None:
        raise CommandError("no-such-match", "there is no such match")
    now = now if isinstance(command, c.CorrectTime) else max(now, state.updated_at)
    if isinstance(command, c.SubmitMove):
        decision = moves.submit_move(state, command, now)
    elif isinstance(command, c.SubmitMoves):
        decision = moves.submit_moves(state, command, now)
    else:
        decision = Decision(state=state).then(*_events(state, command, now))
    if not decision.events:
        return decision
    if opponents.needs_fresh_seed(decision.state, decision.events[-1]):
        if fresh_seed is None:
            raise ValueError(f"match {state.match_id} goes on with seeds that are known, and there is no other")
        decision = decision.then(e.SeedDrawn(at=now, seed=fresh_seed))
    return with_answers(decision, orders, now) if orders else decision


def _events(  # noqa: C901 - one case for each command
    state: MatchState, command: c.PlainCommand, now: int
) -> tuple[e.Event, ...]:
    match command:
        case c.JoinMatch():
            return creation.join_match(state, command, now)
        case c.AbortMatch():
            return creation.abort_match(state, command, now)
        case c.Resign():
            return moves.resign(state, command, now)
        case c.OfferDraw():
            return offers.offer_draw(state, command, now)
        case c.AcceptDraw():
            return offers.accept_draw(state, command, now)
        case c.DeclineDraw():
            return offers.decline_draw(state, command, now)
        case c.RequestTakeback():
            return offers.request_takeback(state, command, now)
        case c.AcceptTakeback():
            return offers.accept_takeback(state, command, now)
        case c.DeclineTakeback():
            return offers.decline_takeback(state, command, now)
        case c.CallTime():
            return timekeeping.call_time(state, command, now)
        case c.ForgiveFlag():
            return timekeeping.forgive_flag(state, command, now)
        case c.GiveTime():
            return timekeeping.give_time(state, command, now)
        case c.PauseClock():
            return timekeeping.pause_clock(state, command, now)
        case c.ResumeClock():
            return timekeeping.resume_clock(state, command, now)
        case c.CorrectTime():
            return timekeeping.correct_time(state, command, now)
        case c.RaiseDispute():
            return cases.raise_dispute(state, command, now)
        case c.OpenCase():
            return cases.open_case(state, command, now)
        case c.FileStatement():
            return cases.file_statement(state, command, now)
        case c.Freeze():
            return cases.freeze(state, command, now)
        case c.Rule():
            return cases.rule(state, command, now)
        case c.Appeal():
            return cases.appeal(state, command, now)
        case c.ReopenCase():
            return cases.reopen(state, command, now)
        case c.ProposeRuleset():
            return cases.propose_ruleset(state, command, now)
        case c.AcceptRuleset():
            return cases.accept_ruleset(state, command, now)
        case c.DeclineRuleset():
            return cases.decline_ruleset(state, command, now)
        case _:
            assert_never(command)
