"""Cases: disputes, statements and appeals of players, acts of arbiters, and the log of administration."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from flask import Blueprint, Response
from marshmallow import ValidationError, fields, validate
from msgspec import Meta

from api.access.auth import current_person, refuse_token, require_person, require_role
from api.access.matches import is_sole_arbiter, visible_match
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer, Instant
from api.http.schemas import (
    MAX_NUMBER,
    EmptyBody,
    EnumField,
    Paging,
    QueryInteger,
    StrictBoolean,
    StrictFloat,
    StrictInteger,
    StrictSchema,
    page_limit,
    prose,
)
from api.operations.commands import command_endpoint, execute
from api.operations.lists import match_page
from api.operations.signed_acts import ActRequest, checked_signature
from api.representations.case_file import CaseFile, represent_case_file
from api.representations.clocks import SECOND_MS
from api.representations.matches import MatchPage
from api.services import services
from domain.match import commands as c
from domain.match.decide import decide
from domain.match.decisions.cases import MAX_SCORE_DECIMALS
from domain.match.enums import Ground, RulingKind
from domain.match.refusals import CommandError
from events.people.administration import ARBITER, LOGGED_MEMBERS, OPERATOR
from events.people.person import Person
from events.people.statements import MAX_TEXT_LENGTH
from events.store.contract import StaleVersionError, VersionTag

blueprint = Blueprint("cases", __name__, url_prefix=PREFIX)

MAX_REASON_CHARACTERS = 2_000
MAX_RULE_CHARACTERS = 60
MAX_REMAINING_S = 366 * 24 * 3600
"""The longest time that an arbiter can give a seat."""

Stating = c.RaiseDispute | c.OpenCase | c.FileStatement | c.Appeal | c.ReopenCase | c.Rule | c.ProposeRuleset
"""Commands that name texts by their digests."""


def _ply(**options: Any) -> StrictInteger:
    return StrictInteger(validate=validate.Range(0, MAX_NUMBER, error="must not be negative"), **options)


def _require_few_decimals(score: float) -> None:
    if round(score, MAX_SCORE_DECIMALS) != score:
        raise ValidationError(f"must have at most {MAX_SCORE_DECIMALS} decimals")


class DisputeRequest(StrictSchema):
    ply = _ply(required=True, metadata={"description": "The dispute is about the match after this many plies"})
    ground = EnumField(Ground, required=True)
    statement = prose(MAX_TEXT_LENGTH)


class StatementRequest(StrictSchema):
    statement = prose(MAX_TEXT_LENGTH)


class AppealRequest(StatementRequest, ActRequest):
    pass


class ReopeningRequest(StrictSchema):
    dispute = StrictInteger(
        required=True,
        validate=validate.Range(1, MAX_NUMBER, error="must be the number of a case"),
        about="The number of the case that an appeal has settled",
    )
    statement = prose(MAX_TEXT_LENGTH)


class FreezeRequest(StrictSchema):
    frozen = StrictBoolean(required=True)


class RulingRequest(StrictSchema):
    ruling = EnumField(RulingKind, required=True)
    reason = prose(MAX_REASON_CHARACTERS)
    rule = prose(
        MAX_RULE_CHARACTERS,
        metadata={"description": "The paragraph or ruling of the rules, or of this server, that it rests on"},
    )
    ply = _ply(metadata={"description": "take-back only: the match goes on after this many plies"})
    scores = fields.List(
        StrictFloat(validate=[validate.Range(0, 1, error="must be from 0 to 1"), _require_few_decimals]),
        metadata={"description": "decide only: the score of each seat, together 1"},
    )
    remaining = fields.List(
        StrictInteger(1, MAX_REMAINING_S),
        metadata={"description": "adjust-clocks only: the seconds that each seat has from now on"},
    )


class ProposalRequest(StrictSchema):
    ruleset = StrictInteger(1, 10_000, required=True)
    reason = prose(MAX_REASON_CHARACTERS)


class Act(Answer):
    """What happened, or was refused.

    ``id`` is the SHA-256 of the 32 bytes of the id before (zeros at first) and of ``canonical`` in UTF-8; the head of
    the log is in every checkpoint.
    """

    number: int
    id: str
    act: str
    at: Instant
    actor: str
    facts: Mapping[str, Any]
    canonical: Annotated[str, Meta(description="The entry as canonical JSON (RFC 8785), as it is hashed")]


class ActPage(Answer):
    items: Sequence[Act]
    next: int | None


class ActsQuery(StrictSchema):
    after = QueryInteger(load_default=0, validate=validate.Range(0, MAX_NUMBER, error="must not be negative"))
    limit = page_limit(50, 200)


@blueprint.post("/matches/<match_id>/disputes")
@command_endpoint(DisputeRequest)
def raise_dispute(sent: Mapping[str, Any], match_id: str) -> Response:
    """Raise a dispute

    About the match up to a ply. An arbiter decides.
    """
    person = require_person()
    command = c.RaiseDispute(player=person.id, ply=sent["ply"], ground=sent["ground"], statement="")
    return _execute_with_texts(match_id, person, command, sent)


@blueprint.post("/matches/<match_id>/statements")
@command_endpoint(StatementRequest)
def file_statement(sent: Mapping[str, Any], match_id: str) -> Response:
    """File a statement

    In the open case. It can be erased with its author.
    """
    person = require_person()
    return _execute_with_texts(match_id, person, c.FileStatement(player=person.id, statement=""), sent)


@blueprint.post("/matches/<match_id>/appeals")
@command_endpoint(AppealRequest)
def appeal(sent: Mapping[str, Any], match_id: str) -> Response:
    """Appeal a ruling

    Another arbiter decides.
    """
    person = require_person()
    signed, version = checked_signature(sent.get("signed"), match_id, "ruling-appealed")
    command = c.Appeal(player=person.id, statement="", signed=signed)
    return _execute_with_texts(match_id, person, command, sent, version)


@blueprint.post("/matches/<match_id>/cases")
@command_endpoint(DisputeRequest)
def open_case(sent: Mapping[str, Any], match_id: str) -> Response:
    """Open a case

    For arbiters. Another arbiter rules on it, unless nobody else holds the office.
    """
    arbiter = _require_arbiter(match_id)
    command = c.OpenCase(arbiter=arbiter.id, ply=sent["ply"], ground=sent["ground"], statement="")
    return _logged(
        "case-opened", arbiter, match_id, sent, lambda: _execute_with_texts(match_id, arbiter, command, sent)
    )


@blueprint.post("/matches/<match_id>/freezing")
@command_endpoint(FreezeRequest)
def freeze(sent: Mapping[str, Any], match_id: str) -> Response:
    """Freeze a match or let it go on

    For arbiters, while its case is open. No clock runs while it is frozen.
    """
    arbiter = _require_arbiter(match_id)
    act = "match-frozen" if sent["frozen"] else "match-unfrozen"
    command = c.Freeze(arbiter=arbiter.id, frozen=sent["frozen"])
    return _logged(act, arbiter, match_id, {}, lambda: execute(match_id, command))


@blueprint.post("/matches/<match_id>/rulings")
@command_endpoint(RulingRequest)
def rule(sent: Mapping[str, Any], match_id: str) -> Response:
    """Rule on the open case

    For arbiters. The ruling is carried out at once and is recorded with its reason.
    """
    arbiter = _require_arbiter(match_id)
    scores, remaining = sent.get("scores"), sent.get("remaining")
    command = c.Rule(
        arbiter=arbiter.id,
        ruling=sent["ruling"],
        reason="",
        rule="",
        ply=sent.get("ply"),
        scores=None if scores is None else tuple(scores),
        remaining=None if remaining is None else tuple(seconds * SECOND_MS for seconds in remaining),
        sole_arbiter=is_sole_arbiter(visible_match(match_id).state, arbiter),
    )
    return _logged(
        "ruling-made", arbiter, match_id, sent, lambda: _execute_with_texts(match_id, arbiter, command, sent)
    )


@blueprint.post("/matches/<match_id>/reopenings")
@command_endpoint(ReopeningRequest)
def reopen_case(sent: Mapping[str, Any], match_id: str) -> Response:
    """Reopen a settled case

    For its arbiter or an operator.
    """
    person = require_role(ARBITER, OPERATOR)
    refuse_token()
    disputes, number = visible_match(match_id).state.cases.disputes, sent["dispute"]
    rulings = disputes[number - 1].rulings[-1:] if number <= len(disputes) else ()
    ruled = any(ruling.arbiter == person.id for ruling in rulings)
    operator = not ruled and OPERATOR in services().administration.roles_of(person.id)
    command = c.ReopenCase(person=person.id, dispute=number, statement="", operator=operator)
    return _logged(
        "case-reopened", person, match_id, sent, lambda: _execute_with_texts(match_id, person, command, sent)
    )


@blueprint.post("/matches/<match_id>/ruleset-proposals")
@command_endpoint(ProposalRequest)
def propose_ruleset(sent: Mapping[str, Any], match_id: str) -> Response:
    """Propose another ruleset

    For arbiters. It applies when all players agree.
    """
    arbiter = _require_arbiter(match_id)
    command = c.ProposeRuleset(arbiter=arbiter.id, ruleset=sent["ruleset"], reason="")
    return _logged(
        "ruleset-proposed", arbiter, match_id, sent, lambda: _execute_with_texts(match_id, arbiter, command, sent)
    )


@blueprint.post("/matches/<match_id>/ruleset-acceptance")
@command_endpoint(EmptyBody)
def accept_ruleset(_: object, match_id: str) -> Response:
    """Accept another ruleset

    It applies when all players have agreed.
    """
    return execute(match_id, c.AcceptRuleset(player=require_person().id))


@blueprint.post("/matches/<match_id>/ruleset-refusal")
@command_endpoint(EmptyBody)
def decline_ruleset(_: object, match_id: str) -> Response:
    """Decline another ruleset

    The match goes on under the present one.
    """
    return execute(match_id, c.DeclineRuleset(player=require_person().id))


@blueprint.get("/matches/<match_id>/disputes")
@endpoint(answer=CaseFile, problems=[404])
def show_case_file(match_id: str) -> CaseFile:
    """Show the case file

    Disputes and rulings for all who may see the match, statements for the parties and arbiters only.
    """
    return represent_case_file(visible_match(match_id).state, current_person())


@blueprint.get("/cases")
@endpoint(answer=MatchPage, query=Paging, signed_in=True)
def list_open_cases(query: Mapping[str, Any]) -> MatchPage:
    """List open cases

    For arbiters, the longest wait first.
    """
    require_role(ARBITER)
    return match_page("cases", query)


@blueprint.get("/administration/log")
@endpoint(answer=ActPage, query=ActsQuery, signed_in=True)
def show_administration_log(query: Mapping[str, int]) -> ActPage:
    """Show the log of administration

    The acts of arbiters and operators, from the first one after a number on.
    """
    require_role(ARBITER, OPERATOR)
    acts = services().administration.acts(query["after"], query["limit"])
    return ActPage(items=list(map(Act.of, acts)), next=acts[-1].number if len(acts) == query["limit"] else None)


def _require_arbiter(match_id: str) -> Person:
    """Return the arbiter who is asking.

    Raises the problems role-required and session-required, and no-such-match for a match that the arbiter may not see.
    """
    arbiter = require_role(ARBITER)
    refuse_token()
    visible_match(match_id)
    return arbiter


def _execute_with_texts(
    match_id: str, author: Person, command: Stating, sent: Mapping[str, Any], expected: VersionTag | None = None
) -> Response:
    """Execute ``command`` with the digests of the texts that were sent, and store these texts unless it is refused.

    ``expected`` is the version that the match must be at (None: any version).
    """
    statements = services().statements
    texts = {
        name: statements.compose(match_id, author.id, sent[name])
        for name in ("statement", "reason", "rule")
        if name in sent
    }
    digests: dict[str, Any] = {name: text.digest for name, text in texts.items()}
    command = replace(command, **digests)
    state, head, *_ = visible_match(match_id)
    try:
        decide(state, command, services().now(), fresh_seed="")
    except CommandError:
        # An earlier request may have executed it, and this one repeat that; or else it is refused at this version.
        return execute(match_id, command, expected=expected or head.tag, confidential=True)
    statements.save(match_id, author.id, *texts.values())
    return execute(match_id, command, expected=expected, confidential=True)


def _logged(
    act: str, arbiter: Person, match_id: str, sent: Mapping[str, Any], execution: Callable[[], Response]
) -> Response:
    """Return the answer of ``execution`` and log its refusal; success is logged by ``execute``."""
    try:
        return execution()
    except (CommandError, StaleVersionError) as refusal:
        code = refusal.code if isinstance(refusal, CommandError) else "stale-version"
        # The log is never erased, so it must not contain anything that must be erasable.
        facts = {name: value for name, value in sent.items() if name in LOGGED_MEMBERS}
        services().administration.record_refusal(act, arbiter.id, code, {**facts, "match": match_id})
        raise
