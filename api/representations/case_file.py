"""The case file of a match: its disputes, the statements in them, and the rulings, as a reader may see them."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import Meta

from api.http.answers import Answer, Instant, one_of
from api.representations.players import Player, represent_player
from api.services import services
from domain.match.enums import Ground, RulingKind
from domain.match.state import Dispute as MatchDispute, MatchState
from events.people.administration import ARBITER
from events.people.person import Person
from events.people.statements import MEMBERS, NamedText, named_texts
from events.runtime.wall_clock import rfc3339
from events.store.envelope import Envelope

Erasable = Annotated[str | None, Meta(description="null when it was erased with its author")]


class Digest(Answer):
    """The salted digest by which an event names a text."""

    sha256: Annotated[str, Meta(description="Of salt and text, one after the other, in UTF-8")]
    salt: Annotated[str | None, Meta(description="null when there is no text")]
    fault: Annotated[str | None, Meta(description="Why the stored text cannot be shown; null when all is well")]


class Statement(Digest):
    """The statement of a party."""

    seat: int | None
    at: Instant
    text: Annotated[str | None, Meta(description="null for all but the parties and arbiters, and when it was erased")]


class RulingDigests(Answer):
    """The digests of the texts of a ruling."""

    reason: Digest
    rule: Digest


class Ruling(Answer):
    """A ruling of an arbiter."""

    at: Instant
    arbiter: Player
    ruling: Annotated[str, one_of(RulingKind)]
    reason: Erasable
    rule: Erasable
    digests: RulingDigests
    appeal: Annotated[bool, Meta(description="Whether it is the second, last one")]
    sole_arbiter: Annotated[
        bool, Meta(description="Whether the arbiter had opened the case, and nobody else could rule on it")
    ]


class Dispute(Answer):
    """A case: a dispute, or an inquiry of an arbiter."""

    number: int
    seat: Annotated[int | None, Meta(description="null when an arbiter opened the case")]
    arbiter: Player | None
    ply: int
    ground: Annotated[str, one_of(Ground)]
    raised_at: Instant
    open: bool
    appealed: bool
    settled: Annotated[
        int | None, Meta(description="Up to which ply an appeal has settled the match; null: it has not")
    ]
    statements: Sequence[Statement]
    rulings: Sequence[Ruling]


class ProposalDigests(Answer):
    """The digest of the text of a proposal."""

    reason: Digest


class Proposal(Answer):
    """The proposal of an arbiter to go on by another ruleset."""

    at: Instant
    arbiter: Player
    ruleset: int
    reason: Erasable
    digests: ProposalDigests


class CaseFile(Answer):
    """All cases of a match."""

    frozen: bool
    broken: Annotated[str | None, Meta(description="Why the match cannot be replayed; mostly null")]
    disputes: Sequence[Dispute]
    proposal: Annotated[
        Proposal | None, Meta(description="Of another ruleset, which the players have yet to accept or decline")
    ]


def may_read_statements(state: MatchState, person: Person | None) -> bool:
    """Return whether ``person`` may read the statements in the cases of a match: players and arbiters may."""
    if person is None:
        return False
    return state.seat_of(person.id) is not None or ARBITER in services().administration.roles_of(person.id)


def represent_case_file(state: MatchState, person: Person | None) -> CaseFile:
    """Return the case file of a match as ``person`` may see it."""
    recorded = _Recorded(state, may_read_statements(state, person))
    return CaseFile(
        frozen=state.cases.frozen,
        broken=state.play.broken,
        disputes=[recorded.dispute(dispute) for dispute in state.cases.disputes],
        proposal=recorded.proposal(state.cases.proposal.ruleset) if state.cases.proposal is not None else None,
    )


class _Recorded:
    """The events about the cases of a match, with the texts that belong to them; statements if ``readable``."""

    def __init__(self, state: MatchState, readable: bool) -> None:
        envelopes = services().store.read(state.match_id) if state.cases.disputes or state.cases.proposal else []
        self._readable = readable
        self._events = [envelope for envelope in envelopes if envelope.type in MEMBERS]
        arbiters = {envelope.data["arbiter"] for envelope in self._events if "arbiter" in envelope.data}
        self._persons = services().people.persons(arbiters.union(envelope.actor for envelope in self._events))
        kept = services().statements.of_match(state.match_id) if self._events else {}
        self._texts = {envelope.version: named_texts(envelope, kept, self._persons) for envelope in self._events}

    def dispute(self, dispute: MatchDispute) -> Dispute:
        """Return a dispute with its statements and rulings."""
        events = [envelope for envelope in self._events if envelope.data.get("dispute") == dispute.number]
        raised = events[0]
        return Dispute.of(
            dispute,
            arbiter=self._arbiter(raised) if "arbiter" in raised.data else None,
            raised_at=rfc3339(raised.at),
            statements=[
                self._statement(envelope, text)
                for envelope in events
                if (text := self._texts[envelope.version].get("statement")) is not None
            ],
            rulings=[self._ruling(envelope) for envelope in events if envelope.type == "ruling-made"],
        )

    def proposal(self, ruleset: int) -> Proposal | None:
        """Return the last proposal of another ruleset."""
        proposed = [envelope for envelope in self._events if envelope.type == "ruleset-proposed"]
        if not proposed:
            return None
        reason = self._texts[proposed[-1].version]["reason"]
        return Proposal(
            at=rfc3339(proposed[-1].at),
            arbiter=self._arbiter(proposed[-1]),
            ruleset=ruleset,
            reason=reason.text,
            digests=ProposalDigests(reason=_digest(reason)),
        )

    def _statement(self, envelope: Envelope, text: NamedText) -> Statement:
        shown = text if self._readable else NamedText(text.sha256)
        return Statement.of(shown, seat=envelope.data.get("seat"), at=rfc3339(envelope.at))

    def _ruling(self, envelope: Envelope) -> Ruling:
        texts: Mapping[str, NamedText] = self._texts[envelope.version]
        return Ruling(
            at=rfc3339(envelope.at),
            arbiter=self._arbiter(envelope),
            ruling=envelope.data["ruling"],
            reason=texts["reason"].text,
            rule=texts["rule"].text,
            digests=RulingDigests(reason=_digest(texts["reason"]), rule=_digest(texts["rule"])),
            appeal=envelope.data["appeal"],
            sole_arbiter=bool(envelope.data.get("sole_arbiter")),
        )

    def _arbiter(self, envelope: Envelope) -> Player:
        return represent_player(envelope.data["arbiter"], self._persons)


def _digest(text: NamedText) -> Digest:
    return Digest.of(text)
