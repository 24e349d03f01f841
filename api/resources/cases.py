"""Cases: disputes, statements, appeals, and what arbiters do. All go through ``Matches.execute``."""

from collections.abc import Callable
from typing import Any

from flask import Response
from marshmallow import fields, validate

from api import representations as show
from api.auth import current_person, refuse_token, require_person, signed_in
from api.openapi import PREFIX, Blueprint, json_response
from api.problems import Problem
from api.resources.commands import acting, execute
from api.resources.matches import MatchesShown, matches_page, readable
from api.schemas import (
    LARGEST_NUMBER,
    Empty,
    Flag,
    Number,
    Paging,
    PlayerShown,
    QueryNumber,
    Shown,
    Strict,
    Text,
    Whole,
)
from api.services import services
from domain.match import commands as c
from domain.match.decide import decide
from domain.match.disputes import GROUNDS, LONGEST_REASON, LONGEST_RULE, RULINGS
from domain.match.refusals import Refused
from domain.match.state import MatchState
from events.administration import ARBITER, OPERATOR
from events.clock import rfc3339
from events.people import Person
from events.statements import LONGEST

blueprint = Blueprint("cases", __name__, url_prefix=PREFIX, description="Disputes and rulings")

LONGEST_TIME = 366 * 24 * 3600
"""Seconds that an arbiter can give a seat."""


def _ply(**options: Any) -> Whole:
    return Whole(validate=validate.Range(0, LARGEST_NUMBER, error="must not be negative"), **options)


def _statement() -> Text:
    return Text(required=True, validate=validate.Length(1, LONGEST, error=f"must have 1 to {LONGEST} characters"))


class NewDispute(Strict):
    ply = _ply(required=True, metadata={"description": "The dispute is about the match after so many plies"})
    ground = Text(required=True, validate=validate.OneOf(GROUNDS, error=f"must be one of {', '.join(GROUNDS)}"))
    statement = _statement()


class NewStatement(Strict):
    statement = _statement()


class Frozen(Strict):
    frozen = Flag(required=True)


class NewRuling(Strict):
    ruling = Text(required=True, validate=validate.OneOf(RULINGS, error=f"must be one of {', '.join(RULINGS)}"))
    reason = Text(required=True, validate=validate.Length(1, LONGEST_REASON))
    rule = Text(
        required=True,
        validate=validate.Length(1, LONGEST_RULE),
        metadata={"description": "The paragraph or ruling of the rules, or of the house, that it rests on"},
    )
    ply = _ply(metadata={"description": "take-back only: the match goes on after so many plies"})
    scores = fields.List(
        Number(validate=validate.Range(0, 1, error="must be from 0 to 1")),
        metadata={"description": "decide only: the score of each seat, together 1"},
    )
    remaining = fields.List(
        Whole(validate=validate.Range(1, LONGEST_TIME)),
        metadata={"description": "adjust-clocks only: the seconds that each seat has from now on"},
    )


class NewProposal(Strict):
    ruleset = Whole(required=True, validate=validate.Range(1, 10_000))
    reason = Text(required=True, validate=validate.Length(1, LONGEST_REASON))


class StatementShown(Shown):
    seat = fields.Integer(allow_none=True)
    at = fields.DateTime()
    sha256 = fields.String(metadata={"description": "Of salt and text, one after the other, in UTF-8"})
    salt = fields.String(allow_none=True, metadata={"description": "null for all but the parties and arbiters"})
    text = fields.String(allow_none=True, metadata={"description": "null for all but the parties and arbiters"})


class RulingShown(Shown):
    at = fields.DateTime()
    arbiter = fields.Nested(PlayerShown)
    ruling = fields.String(validate=validate.OneOf(RULINGS))
    reason = fields.String()
    rule = fields.String()
    appeal = fields.Boolean(metadata={"description": "Whether it is the second, last one"})


class DisputeShown(Shown):
    number = fields.Integer()
    seat = fields.Integer(allow_none=True, metadata={"description": "null when an arbiter opened the case"})
    arbiter = fields.Nested(PlayerShown, allow_none=True)
    ply = fields.Integer()
    ground = fields.String(validate=validate.OneOf(GROUNDS))
    raised_at = fields.DateTime()
    open = fields.Boolean()
    appealed = fields.Boolean()
    statements = fields.List(fields.Nested(StatementShown))
    rulings = fields.List(fields.Nested(RulingShown))


class CaseFileShown(Shown):
    frozen = fields.Boolean()
    broken = fields.String(allow_none=True, metadata={"description": "Why the match cannot be replayed; mostly null"})
    disputes = fields.List(fields.Nested(DisputeShown))


class ActShown(Shown):
    number = fields.Integer()
    id = fields.String()
    act = fields.String()
    at = fields.DateTime()
    actor = fields.String()
    facts = fields.Dict()


class ActsShown(Shown):
    items = fields.List(fields.Nested(ActShown))
    next = fields.Integer(allow_none=True)


class ActsQuery(Strict):
    after = QueryNumber(load_default=0, validate=validate.Range(0, LARGEST_NUMBER, error="must not be negative"))
    limit = QueryNumber(load_default=50, validate=validate.Range(1, 200, error="must be 1 to 200"))


def require_role(*roles: str) -> Person:
    """Return who is asking if one of ``roles`` is theirs; raises the problems not-signed-in and role-needed."""
    person = require_person()
    if services().administration.roles_of(person.id).isdisjoint(roles):
        raise Problem("role-needed", f"Only {' and '.join(f'{role}s' for role in roles)} can do this.")
    return person


def _acting(
    path: str, name: str, summary: str, schema: type[Strict], act: Callable[[str, Person, dict[str, Any]], Response]
) -> None:
    def view(arguments: dict[str, Any], match: str) -> Response:
        return act(match, require_person(), arguments)

    view.__name__ = name
    view.__doc__ = summary
    acting(blueprint, path, schema)(view)


def _raise(match: str, person: Person, said: dict[str, Any]) -> Response:
    command = c.RaiseDispute(person.id, said["ply"], said["ground"], _UNSAID)
    return _stated(match, person, said["statement"], command)


def _state(match: str, person: Person, said: dict[str, Any]) -> Response:
    return _stated(match, person, said["statement"], c.FileStatement(person.id, _UNSAID))


def _appeal(match: str, person: Person, said: dict[str, Any]) -> Response:
    return _stated(match, person, said["statement"], c.Appeal(person.id, _UNSAID))


_UNSAID = "0" * 64
"""Stands for the digest of a statement until it is known that it will be heard, and kept."""


def _stated(
    match: str, person: Person, text: str, command: c.RaiseDispute | c.OpenCase | c.FileStatement | c.Appeal
) -> Response:
    """Keep the text and carry out the command that names it; of what is refused no text is kept."""
    state = services().matches.load(match).state
    try:
        decide(state, command, services().now())
    except Refused:
        # It may have been carried out before, and be repeated; or else be refused of this very version.
        return execute(match, command, state.version)
    said = services().statements.keep(match, person.id, text)
    return execute(match, command._replace(statement=said.digest))


def _open(match: str, _: Person, said: dict[str, Any]) -> Response:
    arbiter, text = _judge(match), said["statement"]
    command = c.OpenCase(arbiter.id, said["ply"], said["ground"], _UNSAID)
    _log("case-opened", arbiter, match, ply=said["ply"], ground=said["ground"])
    return _stated(match, arbiter, text, command)


def _freeze(match: str, _: Person, said: dict[str, Any]) -> Response:
    arbiter = _judge(match)
    return _administered(match, "match-frozen" if said["frozen"] else "match-unfrozen", c.Freeze(arbiter.id, **said))


def _rule(match: str, _: Person, said: dict[str, Any]) -> Response:
    arbiter = _judge(match)
    scores, remaining = said.get("scores"), said.get("remaining")
    command = c.Rule(
        arbiter.id,
        said["ruling"],
        said["reason"],
        said["rule"],
        ply=said.get("ply"),
        scores=None if scores is None else tuple(scores),
        remaining=None if remaining is None else tuple(time * 1000 for time in remaining),
    )
    return _administered(match, "ruling-made", command, **said)


def _propose(match: str, _: Person, said: dict[str, Any]) -> Response:
    arbiter = _judge(match)
    return _administered(match, "ruleset-proposed", c.ProposeRuleset(arbiter.id, **said), **said)


def _administered(match: str, act: str, command: c.Command, **facts: Any) -> Response:
    """Log the act and carry it out: in this order, so that nothing administrative happens unlogged."""
    _log(act, require_person(), match, **facts)
    return execute(match, command)


def _log(act: str, arbiter: Person, match: str, **facts: Any) -> None:
    services().administration.record(act, arbiter.id, {"match": match, **facts})


def _judge(match: str) -> Person:
    """Return the arbiter who is asking, signed in, about a match that arbiters may see; raises the problem else."""
    arbiter = require_role(ARBITER)
    refuse_token()
    readable(match)
    return arbiter


def _accept(match: str, person: Person, _: dict[str, Any]) -> Response:
    return execute(match, c.AcceptRuleset(person.id))


def _decline(match: str, person: Person, _: dict[str, Any]) -> Response:
    return execute(match, c.DeclineRuleset(person.id))


_acting("disputes", "raise_dispute", "Dispute what happened up to a ply", NewDispute, _raise)
_acting("statements", "file_statement", "Say your part in the open case", NewStatement, _state)
_acting("appeals", "appeal", "Appeal the ruling to another arbiter", NewStatement, _appeal)
_acting("cases", "open_case", "Open a case as an arbiter", NewDispute, _open)
_acting("freezing", "freeze", "Freeze a match while its case is open, or let it go on, as an arbiter", Frozen, _freeze)
_acting("rulings", "rule", "Rule on the open case, as an arbiter", NewRuling, _rule)
_acting("ruleset-proposals", "propose_ruleset", "Propose another ruleset, as an arbiter", NewProposal, _propose)
_acting("ruleset-acceptance", "accept_ruleset", "Agree to the ruleset that is proposed", Empty, _accept)
_acting("ruleset-refusal", "decline_ruleset", "Do not agree to the ruleset that is proposed", Empty, _decline)


@blueprint.route("/matches/<match>/disputes")
@blueprint.documents(200, CaseFileShown, problems=[404])
def case_file(match: str) -> Response:
    """The case file of a match: disputes and rulings for all, what was said for the parties and arbiters"""
    return json_response(case_file_of(readable(match), current_person()))


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
    items = [{**act._asdict(), "at": rfc3339(act.at), "facts": dict(act.facts)} for act in acts]
    return json_response({"items": items, "next": acts[-1].number if len(acts) == query["limit"] else None})


def case_file_of(state: MatchState, person: Person | None) -> dict[str, Any]:
    """Return the case file of a match as ``person`` may see it."""
    envelopes = services().store.read(state.match) if state.disputes else []
    of_cases = [envelope for envelope in envelopes if "dispute" in envelope.data]
    arbiters = {envelope.data["arbiter"] for envelope in of_cases if "arbiter" in envelope.data}
    persons = services().people.persons(arbiters)
    party = person is not None and (
        state.seat_of(person.id) is not None or ARBITER in services().administration.roles_of(person.id)
    )
    texts = services().statements.of_match(state.match) if party and of_cases else {}
    cases = []
    for dispute in state.disputes:
        own = [envelope for envelope in of_cases if envelope.data["dispute"] == dispute.number]
        raised = own[0]
        arbiter = raised.data.get("arbiter")
        statements = [
            {
                "seat": envelope.data.get("seat"),
                "at": rfc3339(envelope.at),
                "sha256": envelope.data["statement"],
                "salt": kept.salt if kept else None,
                "text": kept.text if kept else None,
            }
            for envelope in own
            if "statement" in envelope.data
            for kept in [texts.get((envelope.actor, envelope.data["statement"]))]
        ]
        rulings = [
            {
                "at": rfc3339(envelope.at),
                "arbiter": show.player(envelope.data["arbiter"], persons),
                **{name: envelope.data[name] for name in ("ruling", "reason", "rule", "appeal")},
            }
            for envelope in own
            if envelope.type == "ruling-made"
        ]
        cases.append(
            {
                "number": dispute.number,
                "seat": dispute.seat,
                "arbiter": None if arbiter is None else show.player(arbiter, persons),
                "ply": dispute.ply,
                "ground": dispute.ground,
                "raised_at": rfc3339(raised.at),
                "open": dispute.open,
                "appealed": dispute.appealed,
                "statements": statements,
                "rulings": rulings,
            }
        )
    return {"frozen": state.frozen, "broken": state.broken, "disputes": cases}
