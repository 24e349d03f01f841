"""The case file of a match: its disputes, what was said in them, and the rulings, as a reader may see them."""

from collections.abc import Mapping
from typing import Any

from marshmallow import fields, validate

from api.http import representations as show
from api.http.schemas import PlayerShown, Shown
from api.services import services
from domain.match.enums import Ground, RulingKind
from domain.match.state import MatchState
from events.people.administration import ARBITER
from events.people.person import Person
from events.private.statements import MEMBERS, Recalled, recalled
from events.runtime.wall_clock import rfc3339


class DigestShown(Shown):
    sha256 = fields.String(metadata={"description": "Of salt and text, one after the other, in UTF-8"})
    salt = fields.String(allow_none=True, metadata={"description": "null when there is no text"})
    fault = fields.String(
        allow_none=True, metadata={"description": "Why the text that is kept cannot be shown; null when all is well"}
    )


class StatementShown(DigestShown):
    seat = fields.Integer(allow_none=True)
    at = fields.DateTime()
    text = fields.String(
        allow_none=True, metadata={"description": "null for all but the parties and arbiters, and when it was erased"}
    )


def _erasable() -> fields.String:
    return fields.String(allow_none=True, metadata={"description": "null when it was erased with its author"})


class RulingDigestsShown(Shown):
    reason = fields.Nested(DigestShown)
    rule = fields.Nested(DigestShown)


class RulingShown(Shown):
    at = fields.DateTime()
    arbiter = fields.Nested(PlayerShown)
    ruling = fields.String(validate=validate.OneOf(list(RulingKind)))
    reason = _erasable()
    rule = _erasable()
    digests = fields.Nested(RulingDigestsShown)
    appeal = fields.Boolean(metadata={"description": "Whether it is the second, last one"})


class DisputeShown(Shown):
    number = fields.Integer()
    seat = fields.Integer(allow_none=True, metadata={"description": "null when an arbiter opened the case"})
    arbiter = fields.Nested(PlayerShown, allow_none=True)
    ply = fields.Integer()
    ground = fields.String(validate=validate.OneOf(list(Ground)))
    raised_at = fields.DateTime()
    open = fields.Boolean()
    appealed = fields.Boolean()
    settled = fields.Integer(
        allow_none=True, metadata={"description": "Up to which ply an appeal has settled the match; null: it has not"}
    )
    statements = fields.List(fields.Nested(StatementShown))
    rulings = fields.List(fields.Nested(RulingShown))


class ProposalDigestsShown(Shown):
    reason = fields.Nested(DigestShown)


class ProposalShown(Shown):
    at = fields.DateTime()
    arbiter = fields.Nested(PlayerShown)
    ruleset = fields.Integer()
    reason = _erasable()
    digests = fields.Nested(ProposalDigestsShown)


class CaseFileShown(Shown):
    frozen = fields.Boolean()
    broken = fields.String(allow_none=True, metadata={"description": "Why the match cannot be replayed; mostly null"})
    disputes = fields.List(fields.Nested(DisputeShown))
    proposal = fields.Nested(
        ProposalShown, allow_none=True, metadata={"description": "Of another ruleset, which waits for the players"}
    )


def reads_statements(state: MatchState, person: Person) -> bool:
    """Tell whether ``person`` may read what was said in the cases of a match: its players and arbiters may."""
    return state.seat_of(person.id) is not None or ARBITER in services().administration.roles_of(person.id)


def case_file_of(state: MatchState, person: Person | None) -> dict[str, Any]:
    """Return the case file of a match as ``person`` may see it."""
    envelopes = services().store.read(state.match) if state.disputes or state.proposal else []
    of_cases = [envelope for envelope in envelopes if envelope.type in MEMBERS]
    arbiters = {envelope.data["arbiter"] for envelope in of_cases if "arbiter" in envelope.data}
    persons = services().people.persons(arbiters.union(envelope.actor for envelope in of_cases))
    party = person is not None and reads_statements(state, person)
    kept = services().statements.of_match(state.match) if of_cases else {}
    texts = {envelope.version: recalled(envelope, kept, persons) for envelope in of_cases}
    cases = []
    for dispute in state.disputes:
        own = [envelope for envelope in of_cases if envelope.data.get("dispute") == dispute.number]
        raised = own[0]
        arbiter = raised.data.get("arbiter")
        statements = [
            {
                "seat": envelope.data.get("seat"),
                "at": rfc3339(envelope.at),
                **(text if party else Recalled(text.sha256))._asdict(),
            }
            for envelope in own
            if (text := texts[envelope.version].get("statement")) is not None
        ]
        rulings = [
            {
                "at": rfc3339(envelope.at),
                "arbiter": show.player(envelope.data["arbiter"], persons),
                "ruling": envelope.data["ruling"],
                "appeal": envelope.data["appeal"],
                **_reasoned(texts[envelope.version]),
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
                "settled": dispute.settled,
                "statements": statements,
                "rulings": rulings,
            }
        )
    proposed = [envelope for envelope in of_cases if envelope.type == "ruleset-proposed"]
    proposal = None
    if state.proposal is not None and proposed:
        proposal = {
            "at": rfc3339(proposed[-1].at),
            "arbiter": show.player(proposed[-1].data["arbiter"], persons),
            "ruleset": state.proposal.ruleset,
            **_reasoned(texts[proposed[-1].version]),
        }
    return {"frozen": state.frozen, "broken": state.broken, "disputes": cases, "proposal": proposal}


def _reasoned(texts: Mapping[str, Recalled]) -> dict[str, Any]:
    """Return the texts of an arbiter's event as everybody who may see the match reads them."""
    return {
        **{member: recalled.text for member, recalled in texts.items()},
        "digests": {
            member: {"sha256": recalled.sha256, "salt": recalled.salt, "fault": recalled.fault}
            for member, recalled in texts.items()
        },
    }
