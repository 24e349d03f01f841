"""The pages of cases: the case file of a match, with the actions of the viewer, and the list for arbiters."""

from dataclasses import dataclass, replace
from typing import Any

from flask import render_template, request
from markupsafe import Markup

from api.access.auth import current_person
from api.access.matches import is_sole_arbiter, may_see, visible_match
from api.http.problems import Problem
from api.operations.reports import report_page
from api.pages.available_actions import is_possible
from api.pages.layout import blueprint, signed_in_reader
from api.pages.list_pages import page_of, represented
from api.pages.pictures import TurnedView, board_at
from api.representations.case_file import Dispute, may_read_statements, represent_case_file
from api.representations.matches import people_in, represent_summary
from api.services import services
from domain.games import GAMES, find_ruleset
from domain.match import commands as c
from domain.match.clock import left
from domain.match.decisions.cases import refuse_involved
from domain.match.enums import Ground, RulingKind, Status
from domain.match.refusals import CommandError
from domain.match.state import MatchState
from events.matches.readmodels import summarise
from events.people.administration import ARBITER, OPERATOR
from events.people.person import Person
from events.people.statements import Statement

MAX_REPORTED_MATCHES = 20
"""Matches with reported messages listed at once; when these are dealt with, others follow."""

EMPTY_STATEMENT = Statement("", "").digest
"""Stands for the text of a command that is only tried."""

GROUND_WORDS = {
    Ground.WRONG_RESULT: "the result is wrong",
    Ground.REPETITION: "repetition",
    Ground.CLOCK: "the clock",
    Ground.ILLEGAL_MOVE: "an illegal move, or a legal one that was refused",
    Ground.CONDUCT: "conduct",
}

RULING_WORDS = {
    RulingKind.LET_STAND: "Let it stand",
    RulingKind.ADJUST_CLOCKS: "Adjust the clocks",
    RulingKind.TAKE_BACK: "Take back to an earlier move",
    RulingKind.DECIDE: "Decide the result",
    RulingKind.ANNUL: "Annul the match",
    RulingKind.RESTORE: "Restore the match",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CasePermissions:
    """The actions that the case page offers its viewer; ``reopens`` are the numbers of the cases that can be reopened.

    ``must_recuse``: another arbiter has to rule, because the viewer opened the case or acted before an appeal.
    """

    raise_dispute: bool = False
    file_statement: bool = False
    appeal: bool = False
    agree: bool = False
    open_case: bool = False
    freeze: bool = False
    rule: bool = False
    must_recuse: bool = False
    propose_ruleset: bool = False
    reopens: tuple[int, ...] = ()


@blueprint.get("/matches/<match_id>/case")
def case_page(match_id: str) -> str:
    """Return the case file of a match."""
    loaded = visible_match(match_id)
    state, person = loaded.state, current_person()
    summary = summarise(state)
    cases = represent_case_file(state, person)
    open_case = next((case for case in cases.disputes if case.open), None)
    may = _permissions(state, person, open_case) if person else CasePermissions()
    return render_template(
        "case.html",
        match=represent_summary(summary, people_in([summary])),
        state=state,
        cases=cases,
        boards={case.number: _board(state, case) for case in cases.disputes},
        open_case=open_case,
        reads_statements=may_read_statements(state, person),
        may=may,
        seat=None if person is None else state.seat_of(person.id),
        version_tag=str(loaded.head.tag),
        left=[left(state.clock, seat, services().now()) for seat in range(len(state.seats))] if state.clock else None,
        grounds=GROUND_WORDS,
        rulings=RULING_WORDS,
        rulesets=[game for game in GAMES.rulesets.get(state.game, ()) if game.ruleset != state.ruleset],
    )


@blueprint.get("/cases")
def cases_page() -> str:
    """Return the matches that wait for a ruling, those that have waited longest first."""
    person = signed_in_reader()
    if ARBITER not in services().administration.roles_of(person.id):
        raise Problem("role-required", "Only arbiters see this list.")
    (cases,) = represented(page_of("cases", cursor=request.args.get("cursor")))
    return render_template("cases.html", cases=cases, reported=report_page(0, MAX_REPORTED_MATCHES))


def _board(state: MatchState, case: Dispute) -> Markup | None:
    """Return the board of a case; None if its ply was taken back, or the rules cannot draw it."""
    if state.play.position is None or case.ply > len(state.play.moves):
        return None
    try:
        game = find_ruleset(state.game, state.ruleset)
        return board_at(state, game, case.ply, TurnedView(), f"Case {case.number}, after move {case.ply}")
    except Exception:  # a defect in the rules may be the very subject of the case
        return None


def _may_judge(state: MatchState, person: Person) -> bool:
    """Tell whether ``person`` is an arbiter who takes no part in the match."""
    if state.has_part(person.id):
        return False
    return ARBITER in services().administration.roles_of(person.id) and may_see(state, person)


def _must_recuse(state: MatchState, person: Person) -> bool:
    """Tell whether ``person`` opened the open case or acted before an appeal, so that another arbiter has to rule."""
    try:
        if state.cases.open is not None:
            refuse_involved(state, state.cases.open, person.id, is_sole_arbiter(state, person))
    except CommandError:
        return True
    return False


def _reopens(state: MatchState, person: Person, now: int) -> tuple[int, ...]:
    """Return the numbers of the cases that ``person`` can reopen."""
    roles = services().administration.roles_of(person.id)
    if roles.isdisjoint((ARBITER, OPERATOR)) or not may_see(state, person):
        return ()
    operator = OPERATOR in roles

    def reopening(number: int) -> c.ReopenCase:
        return c.ReopenCase(person=person.id, dispute=number, statement=EMPTY_STATEMENT, operator=operator)

    numbers = (dispute.number for dispute in state.cases.disputes)
    return tuple(number for number in numbers if is_possible(state, reopening(number), now))


def _permissions(state: MatchState, person: Person, case: Dispute | None) -> CasePermissions:
    now = services().now()

    def possible(command: c.Command) -> bool:
        return is_possible(state, command, now)

    subject: dict[str, Any] = {"ply": state.play.plies, "ground": Ground.CONDUCT, "statement": EMPTY_STATEMENT}
    player = CasePermissions(
        raise_dispute=possible(c.RaiseDispute(player=person.id, **subject)),
        file_statement=possible(c.FileStatement(player=person.id, statement=EMPTY_STATEMENT)),
        appeal=possible(c.Appeal(player=person.id, statement=EMPTY_STATEMENT)),
        agree=possible(c.AcceptRuleset(player=person.id)),
        reopens=_reopens(state, person, now),
    )
    if not _may_judge(state, person):
        return player
    must_recuse = case is not None and _must_recuse(state, person)
    return replace(
        player,
        open_case=possible(c.OpenCase(arbiter=person.id, **subject)),
        freeze=possible(c.Freeze(arbiter=person.id, frozen=not state.cases.frozen)),
        rule=case is not None and not must_recuse,
        must_recuse=must_recuse,
        propose_ruleset=state.status == Status.PLAYING,
    )
