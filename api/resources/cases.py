"""Cases: disputes, statements, appeals, and what arbiters do. All go through ``Matches.execute``."""

from collections.abc import Callable, Container
from dataclasses import replace
from typing import Any

from flask import Response
from marshmallow import ValidationError, fields, validate

from api.access.auth import current_person, refuse_token, require_person, require_role, signed_in
from api.access.matches import visible_match
from api.http.messages import LARGEST_NUMBER
from api.http.openapi import PREFIX, Blueprint, json_response
from api.http.schemas import Empty, Flag, Number, Paging, QueryNumber, Shown, Strict, Text, Whole, page_limit, words
from api.operations.case_file import CaseFileShown, case_file_of
from api.operations.commands import acting, execute
from api.operations.lists import matches_page
from api.resources.lists import MatchesShown
from api.services import services
from domain.match import commands as c
from domain.match.decide import decide
from domain.match.disputes import MAX_SCORE_DECIMALS
from domain.match.enums import Ground, RulingKind
from domain.match.refusals import Refused
from events.people.administration import ARBITER, OPERATOR, SHOWN, TEXTS, Act
from events.people.person import Person
from events.private.statements import LONGEST
from events.runtime.wall_clock import rfc3339
from events.store.contract import StaleVersionError

blueprint = Blueprint("cases", __name__, url_prefix=PREFIX, description="Disputes and rulings")

MAX_REASON_CHARACTERS = 2_000
MAX_RULE_CHARACTERS = 60

LONGEST_TIME = 366 * 24 * 3600
"""Seconds that an arbiter can give a seat."""


def _ply(**options: Any) -> Whole:
    return Whole(validate=validate.Range(0, LARGEST_NUMBER, error="must not be negative"), **options)


def _thousandths(score: float) -> None:
    if round(score, MAX_SCORE_DECIMALS) != score:
        raise ValidationError(f"must have at most {MAX_SCORE_DECIMALS} decimals")


class NewDispute(Strict):
    ply = _ply(required=True, metadata={"description": "The dispute is about the match after so many plies"})
    ground = Text(required=True, validate=validate.OneOf(list(Ground), error=f"must be one of {', '.join(Ground)}"))
    statement = words(LONGEST)


class NewStatement(Strict):
    statement = words(LONGEST)


class Reopening(Strict):
    dispute = Whole(
        required=True,
        validate=validate.Range(1, LARGEST_NUMBER, error="must be the number of a case"),
        metadata={"description": "The number of the case that an appeal has settled"},
    )
    statement = words(LONGEST)


class Frozen(Strict):
    frozen = Flag(required=True)


class NewRuling(Strict):
    ruling = Text(
        required=True, validate=validate.OneOf(list(RulingKind), error=f"must be one of {', '.join(RulingKind)}")
    )
    reason = words(MAX_REASON_CHARACTERS)
    rule = words(
        MAX_RULE_CHARACTERS,
        metadata={"description": "The paragraph or ruling of the rules, or of the house, that it rests on"},
    )
    ply = _ply(metadata={"description": "take-back only: the match goes on after so many plies"})
    scores = fields.List(
        Number(validate=[validate.Range(0, 1, error="must be from 0 to 1"), _thousandths]),
        metadata={"description": "decide only: the score of each seat, together 1"},
    )
    remaining = fields.List(
        Whole(validate=validate.Range(1, LONGEST_TIME)),
        metadata={"description": "adjust-clocks only: the seconds that each seat has from now on"},
    )


class NewProposal(Strict):
    ruleset = Whole(required=True, validate=validate.Range(1, 10_000))
    reason = words(MAX_REASON_CHARACTERS)


class ActShown(Shown):
    """What happened, or was refused.

    ``id`` is the SHA-256 of the 32 bytes of the id before (zeros at first) and of ``canonical`` in UTF-8; the head of
    the log is in every checkpoint.
    """

    number = fields.Integer()
    id = fields.String()
    act = fields.String()
    at = fields.DateTime()
    actor = fields.String()
    facts = fields.Dict()
    canonical = fields.String(
        allow_none=True,
        metadata={
            "description": "The entry as canonical JSON (RFC 8785), as it is hashed; null where an entry of an earlier "
            "release holds the text of a person who was erased"
        },
    )


class ActsShown(Shown):
    items = fields.List(fields.Nested(ActShown))
    next = fields.Integer(allow_none=True)


class ActsQuery(Strict):
    after = QueryNumber(load_default=0, validate=validate.Range(0, LARGEST_NUMBER, error="must not be negative"))
    limit = page_limit(50, 200)


def _acting(
    path: str, name: str, summary: str, schema: type[Strict], act: Callable[[str, Person, dict[str, Any]], Response]
) -> None:
    def view(arguments: dict[str, Any], match: str) -> Response:
        return act(match, require_person(), arguments)

    view.__name__ = name
    view.__doc__ = summary
    acting(blueprint, path, schema)(view)


def _raise(match: str, person: Person, said: dict[str, Any]) -> Response:
    return _state(
        match,
        person,
        c.RaiseDispute(player=person.id, ply=said["ply"], ground=Ground(said["ground"]), statement=""),
        said,
    )


def _file(match: str, person: Person, said: dict[str, Any]) -> Response:
    return _state(match, person, c.FileStatement(player=person.id, statement=""), said)


def _appeal(match: str, person: Person, said: dict[str, Any]) -> Response:
    return _state(match, person, c.Appeal(player=person.id, statement=""), said)


Stating = c.RaiseDispute | c.OpenCase | c.FileStatement | c.Appeal | c.ReopenCase | c.Rule | c.ProposeRuleset


def _state(match: str, author: Person, command: Stating, said: dict[str, Any]) -> Response:
    """Carry ``command`` out and keep the texts of ``said`` that it names by their digests.

    Of what is refused no text is kept.
    """
    statements = services().statements
    texts = {
        name: statements.compose(match, author.id, said[name])
        for name in ("statement", "reason", "rule")
        if name in said
    }
    digests: dict[str, Any] = {name: text.digest for name, text in texts.items()}
    command = replace(command, **digests)
    state, head, *_ = visible_match(match)
    try:
        decide(state, command, services().now(), fresh_seed="")
    except Refused:
        # It may have been carried out before, and be repeated; or else be refused of this very version.
        return execute(match, command, head.tag, confidential=True)
    statements.keep(match, author.id, *texts.values())
    return execute(match, command, confidential=True)


def _open(match: str, _: Person, said: dict[str, Any]) -> Response:
    arbiter = _judge(match)
    command = c.OpenCase(arbiter=arbiter.id, ply=said["ply"], ground=Ground(said["ground"]), statement="")
    return _logged("case-opened", arbiter, match, said, lambda: _state(match, arbiter, command, said))


def _freeze(match: str, _: Person, said: dict[str, Any]) -> Response:
    arbiter = _judge(match)
    act = "match-frozen" if said["frozen"] else "match-unfrozen"
    return _logged(act, arbiter, match, {}, lambda: execute(match, c.Freeze(arbiter=arbiter.id, **said)))


def _rule(match: str, _: Person, said: dict[str, Any]) -> Response:
    arbiter = _judge(match)
    scores, remaining = said.get("scores"), said.get("remaining")
    command = c.Rule(
        arbiter=arbiter.id,
        ruling=RulingKind(said["ruling"]),
        reason="",
        rule="",
        ply=said.get("ply"),
        scores=None if scores is None else tuple(scores),
        remaining=None if remaining is None else tuple(time * 1000 for time in remaining),
    )
    return _logged("ruling-made", arbiter, match, said, lambda: _state(match, arbiter, command, said))


def _reopen(match: str, _: Person, said: dict[str, Any]) -> Response:
    person = require_role(ARBITER, OPERATOR)
    refuse_token()
    disputes, number = visible_match(match).state.disputes, said["dispute"]
    rulings = disputes[number - 1].rulings[-1:] if number <= len(disputes) else ()
    ruled = any(ruling.arbiter == person.id for ruling in rulings)
    operator = not ruled and OPERATOR in services().administration.roles_of(person.id)
    command = c.ReopenCase(person=person.id, dispute=number, statement="", operator=operator)
    return _logged("case-reopened", person, match, said, lambda: _state(match, person, command, said))


def _propose(match: str, _: Person, said: dict[str, Any]) -> Response:
    arbiter = _judge(match)
    command = c.ProposeRuleset(arbiter=arbiter.id, ruleset=said["ruleset"], reason="")
    return _logged("ruleset-proposed", arbiter, match, said, lambda: _state(match, arbiter, command, said))


def _shown_act(act: Act, present: Container[str]) -> dict[str, Any]:
    """Return an entry of the log; texts that older ones recorded are left out when their author was erased."""
    facts = dict(act.facts)
    if act.actor not in present:
        facts = {name: value for name, value in facts.items() if name not in TEXTS}
    return {
        "number": act.number,
        "id": act.id,
        "act": act.act,
        "at": rfc3339(act.at),
        "actor": act.actor,
        "facts": facts,
        "canonical": act.canonical if len(facts) == len(act.facts) else None,
    }


def _logged(act: str, arbiter: Person, match: str, said: dict[str, Any], do: Callable[[], Response]) -> Response:
    """Return what ``do`` answers and log its refusal; what it does is logged by ``execute``."""
    try:
        return do()
    except (Refused, StaleVersionError) as refusal:
        code = refusal.code if isinstance(refusal, Refused) else "stale-version"
        # The log is never erased, so it must hold nothing that must be erasable.
        facts = {name: value for name, value in said.items() if name in SHOWN}
        services().administration.record_refusal(act, arbiter.id, code, {**facts, "match": match})
        raise


def _judge(match: str) -> Person:
    """Return the arbiter who is asking, signed in, about a match that arbiters may see; raises the problem else."""
    arbiter = require_role(ARBITER)
    refuse_token()
    visible_match(match)
    return arbiter


def _accept(match: str, person: Person, _: dict[str, Any]) -> Response:
    return execute(match, c.AcceptRuleset(player=person.id))


def _decline(match: str, person: Person, _: dict[str, Any]) -> Response:
    return execute(match, c.DeclineRuleset(player=person.id))


_acting("disputes", "raise_dispute", "Dispute what happened up to a ply", NewDispute, _raise)
_acting("statements", "file_statement", "Say your part in the open case", NewStatement, _file)
_acting("appeals", "appeal", "Appeal the ruling to another arbiter", NewStatement, _appeal)
_acting("cases", "open_case", "Open a case as an arbiter", NewDispute, _open)
_acting("freezing", "freeze", "Freeze a match while its case is open, or let it go on, as an arbiter", Frozen, _freeze)
_acting("rulings", "rule", "Rule on the open case, as an arbiter", NewRuling, _rule)
_acting("reopenings", "reopen_case", "Reopen a settled case, as its arbiter or an operator", Reopening, _reopen)
_acting("ruleset-proposals", "propose_ruleset", "Propose another ruleset, as an arbiter", NewProposal, _propose)
_acting("ruleset-acceptance", "accept_ruleset", "Agree to the ruleset that is proposed", Empty, _accept)
_acting("ruleset-refusal", "decline_ruleset", "Do not agree to the ruleset that is proposed", Empty, _decline)


@blueprint.route("/matches/<match>/disputes")
@blueprint.documents(200, CaseFileShown, problems=[404])
def case_file(match: str) -> Response:
    """The case file of a match: disputes and rulings for all, what was said for the parties and arbiters"""
    return json_response(case_file_of(visible_match(match).state, current_person()))


@blueprint.route("/cases")
@blueprint.documents(200, MatchesShown, signed_in=True, problems=[403, 422])
@signed_in
@blueprint.arguments(Paging, location="query")
def open_cases(query: dict[str, Any]) -> Response:
    """Matches with an open case, the longest wait first, for arbiters"""
    require_role(ARBITER)
    return matches_page("cases", query)


@blueprint.route("/administration/log")
@blueprint.documents(200, ActsShown, signed_in=True, problems=[403, 422])
@signed_in
@blueprint.arguments(ActsQuery, location="query")
def administration_log(query: dict[str, int]) -> Response:
    """What arbiters and operators have done, from the first act after a number"""
    require_role(ARBITER, OPERATOR)
    acts = services().administration.acts(query["after"], query["limit"])
    present = services().people.persons(act.actor for act in acts)
    items = [_shown_act(act, present) for act in acts]
    return json_response({"items": items, "next": acts[-1].number if len(acts) == query["limit"] else None})
