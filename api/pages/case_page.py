"""The pages of cases: the case file of a match, with what the viewer may do in it, and the list for arbiters."""

from flask import render_template, request
from markupsafe import Markup
from werkzeug.wrappers import Response

from api.access.auth import current_person
from api.access.matches import may_see, visible_match
from api.http.problems import Problem
from api.operations.reports import report_page
from api.pages.available_actions import is_possible
from api.pages.board_view import View
from api.pages.layout import blueprint, sign_in_first
from api.pages.list_pages import matches_page
from api.pages.pictures import board_at
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
from events.people.administration import ARBITER, OPERATOR
from events.people.person import Person
from events.private.statements import Statement
from events.readmodels import summarise

MAX_REPORTED_MATCHES = 20
"""Matches with reported messages that are shown at once; when these are dealt with, others take their place."""

GROUND_WORDS = {
    "wrong-result": "the result is wrong",
    "repetition": "repetition",
    "clock": "the clock",
    "illegal-move": "a move is not legal, or was refused wrongly",
    "conduct": "conduct",
}

RULING_WORDS = {
    "let-stand": "Let it stand",
    "adjust-clocks": "Adjust the clocks",
    "take-back": "Take back to a ply",
    "decide": "Decide the result",
    "annul": "Annul the match",
    "restore": "Restore the match",
}


@blueprint.get("/matches/<match_id>/case")
def case_page(match_id: str) -> str:
    """Return the case file of a match."""
    state = visible_match(match_id).state
    person = current_person()
    judge = _may_judge(state, person)
    summary = summarise(state)
    cases = represent_case_file(state, person)
    open_case = next((case for case in cases.disputes if case.open), None)
    return render_template(
        "case.html",
        match=represent_summary(summary, people_in([summary])),
        state=state,
        cases=cases,
        boards={case.number: _board(state, case) for case in cases.disputes},
        open_case=open_case,
        reopens=_reopens(state, person),
        reads=may_read_statements(state, person),
        may=_may(state, person, judge, open_case),
        left=[left(state.clock, seat, services().now()) for seat in range(len(state.seats))] if state.clock else None,
        grounds={ground: GROUND_WORDS[ground] for ground in Ground},
        rulings={ruling: RULING_WORDS[ruling] for ruling in RulingKind},
        rulesets=[game for game in GAMES.rulesets.get(state.game, ()) if game.ruleset != state.ruleset],
    )


@blueprint.get("/cases")
def cases_page() -> str | Response:
    """Return the matches that wait for a ruling, the longest wait first."""
    person = current_person()
    if person is None:
        return sign_in_first()
    if ARBITER not in services().administration.roles_of(person.id):
        raise Problem("role-required", "Only arbiters see this list.")
    cases = matches_page("cases", request.args.get("cursor"))
    return render_template("cases.html", found=cases, reported=report_page(0, MAX_REPORTED_MATCHES))


def _board(state: MatchState, case: Dispute) -> Markup | None:
    """Return the board that a case is about; None when there is none (any more) or the rules cannot draw it."""
    if state.play.position is None or case.ply > len(state.play.moves):
        return None
    try:
        game = find_ruleset(state.game, state.ruleset)
        return board_at(state, game, case.ply, View(), f"Case {case.number}, after ply {case.ply}")
    except Exception:  # whatever is at fault in the rules may be what the case is about
        return None


def _may_judge(state: MatchState, person: Person | None) -> bool:
    """Tell whether ``person`` is an arbiter who has no part in the match."""
    if person is None or state.has_part(person.id):
        return False
    return ARBITER in services().administration.roles_of(person.id) and may_see(state, person)


def _acted_before(state: MatchState, person: Person) -> bool:
    """Tell whether ``person`` acted before an appeal, so that another arbiter has to rule on the open case."""
    try:
        if state.cases.open is not None:
            refuse_involved(state, state.cases.open, person.id)
    except CommandError:
        return True
    return False


def _reopens(state: MatchState, person: Person | None) -> list[int]:
    """Return the numbers of the cases that ``person`` can reopen."""
    roles = services().administration.roles_of(person.id) if person else frozenset()
    if person is None or roles.isdisjoint((ARBITER, OPERATOR)) or not may_see(state, person):
        return []
    now, words = services().now(), Statement("", "").digest
    return [
        dispute.number
        for dispute in state.cases.disputes
        if is_possible(
            state,
            c.ReopenCase(person=person.id, dispute=dispute.number, statement=words, operator=OPERATOR in roles),
            now,
        )
    ]


def _may(state: MatchState, person: Person | None, judge: bool, case: Dispute | None) -> dict[str, bool]:
    """Return what the page offers: of players what would be accepted now, of arbiters what may be ruled on."""
    if person is None:
        return {}
    now, words = services().now(), Statement("", "").digest
    return {
        "raise": is_possible(
            state, c.RaiseDispute(player=person.id, ply=state.play.plies, ground=Ground.CONDUCT, statement=words), now
        ),
        "state": is_possible(state, c.FileStatement(player=person.id, statement=words), now),
        "appeal": is_possible(state, c.Appeal(player=person.id, statement=words), now),
        "agree": is_possible(state, c.AcceptRuleset(player=person.id), now),
        "open": judge
        and is_possible(
            state, c.OpenCase(arbiter=person.id, ply=state.play.plies, ground=Ground.CONDUCT, statement=words), now
        ),
        "freeze": judge and is_possible(state, c.Freeze(arbiter=person.id, frozen=not state.cases.frozen), now),
        "rule": judge and case is not None and not _acted_before(state, person),
        "acted": judge and case is not None and _acted_before(state, person),
        "propose": judge and state.status == Status.PLAYING,
    }
