"""The signed bundle: one match as one file that can be verified by anyone, at any time, without a server.

``docs/proof/bundle.md`` specifies it, and ``bundle_schema`` describes it; format 1 never changes. While a match with an
opponent is being played its seed is withheld: the digest of the event that set it last is then taken as stated.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from domain.errors import StepBudget
from domain.games import find_ruleset
from domain.match.audit import Proof
from domain.match.enums import Status
from domain.match.event_types import SEEDS
from domain.match.state import MatchState, Seat
from events.proof.audit import Record, audit
from events.proof.checkpoints import Inclusion
from events.proof.documents import LINE_FEED, DocumentError, read_document, read_shape
from events.proof.keys import SigningKey
from events.store.codec import content_schemas, present_schema
from events.store.converter import Digest, Schema, SignatureText, schema_of, shape_of, write_value
from events.store.envelope import Envelope, canonical_json
from events.store.time import MAX_CLOCK_DIFFERENCE_MS

FORMAT = 1
KIND = "rookery bundle 1"
MAX_BUNDLE_BYTES = 16 * 1024 * 1024
"""A bundle of a thousand plies has about a third of a million bytes."""

SEED = "seed"


class BundledEvent(NamedTuple):
    """An event: its canonical bytes except the stream, its digest, and which members of ``data`` are ``withheld``."""

    version: int
    type: str
    schema: int
    at: int
    actor: str
    data: Mapping[str, Any]
    digest: Digest
    withheld: tuple[str, ...] | None = None


class BundledHead(NamedTuple):
    """The last event's version and chain digest."""

    version: int
    digest: Digest


class BundledRuleset(NamedTuple):
    """A game and the version of its rules."""

    game: str
    ruleset: int


class BundledResult(NamedTuple):
    """One score per seat, and its proof."""

    scores: tuple[float, ...]
    proof: Proof


class BundledPosition(NamedTuple):
    """The position string that stands after the event with this version."""

    version: int
    position: str


class Facts(NamedTuple):
    """The consequences of the events: how many were ``replayed``, the rulesets in order, players by seat, other terms.

    ``positions`` are the first and each that differs from the one before; None if they were not asked for.
    """

    replayed: int
    rulesets: tuple[BundledRuleset, ...]
    seats: tuple[Seat, ...]
    terms: Mapping[str, Any]
    status: str | None = None
    reason: str | None = None
    result: BundledResult | None = None
    positions: tuple[BundledPosition, ...] | None = None


class BundleSignature(NamedTuple):
    """The key, the instant and the signature; ``inclusion`` is the digest of that member when it was signed."""

    key: str
    signed_at: int
    value: SignatureText
    inclusion: Digest


class BundleContent(NamedTuple):
    """A bundle before it is signed: the canonical JSON of all members but signature and inclusion, up to ``head``."""

    match: str
    head: BundledHead
    at: int
    packed: bytes


class Bundle(NamedTuple):
    """A bundle as it is read, well-formed but not verified (see ``events.proof.verification``)."""

    format: int
    match: str
    events: tuple[BundledEvent, ...]
    head: BundledHead
    facts: Facts
    signature: BundleSignature
    inclusion: Inclusion | None = None

    @property
    def envelopes(self) -> list[Envelope]:
        """The events as a store returns them."""
        return [_envelope(self.match, event) for event in self.events]

    @property
    def withheld(self) -> int | None:
        """The version of the event whose seed is withheld; None if there is none."""
        return next((event.version for event in self.events if event.withheld is not None), None)

    @property
    def statement(self) -> dict[str, Any]:
        """The signed bytes."""
        content = write_value(self._replace(inclusion=None))
        del content["signature"]
        return _statement(self.match, self.head, canonical_json(content), self.signature)


def make_bundle(
    match_id: str,
    envelopes: Sequence[Envelope],
    key: SigningKey,
    now: int,
    inclusion: Inclusion | None,
    *,
    positions: bool = False,
) -> bytes:
    """Return the bundle of a match, whose events are ``envelopes`` (at least one), signed by ``key``.

    If ``now`` is before the last event by no more than clocks may differ, it is dated like that event. The facts end
    where the replay does.
    """
    return sign_content(make_content(match_id, envelopes, positions=positions), key, now, inclusion)


def make_content(
    match_id: str, envelopes: Sequence[Envelope], budget: StepBudget | None = None, *, positions: bool = False
) -> BundleContent:
    """Return the unsigned bundle of a match, computed from its events alone; see ``make_bundle``.

    Raises OutcomeUnknownError when an outcome takes more than ``budget`` (None: no limit).
    """
    return _content(match_id, envelopes, derive_facts(audit(match_id, envelopes, budget), positions=positions))


def make_contents(match_id: str, envelopes: Sequence[Envelope]) -> tuple[BundleContent, BundleContent]:
    """Return the results of ``make_content`` without positions and with them, by one replay."""
    facts = derive_facts(audit(match_id, envelopes), positions=True)
    return _content(match_id, envelopes, facts._replace(positions=None)), _content(match_id, envelopes, facts)


def make_contest_content(contest: str, envelopes: Sequence[Envelope]) -> BundleContent:
    """Return the unsigned bundle of a tournament, whose facts are empty: docs/proof/tournaments.md."""
    return _content(contest, envelopes, Facts(0, (), (), {}))


def sign_content(content: BundleContent, key: SigningKey, now: int, inclusion: Inclusion | None) -> bytes:
    """Return the bundle with this ``content``, signed by ``key`` at ``now``; see ``make_bundle``."""
    if now < content.at <= now + 2 * MAX_CLOCK_DIFFERENCE_MS:
        now = content.at
    unsigned = BundleSignature(key.id, key.instant(now), SignatureText(""), digest_of_inclusion(inclusion))
    value = SignatureText(key.sign(KIND, _statement(content.match, content.head, content.packed, unsigned)))
    # The content is encoded once: its events are nearly all of the bundle, and the signature is over their bytes.
    last = b',"match":' + canonical_json(content.match) + b"}"
    included = b"" if inclusion is None else b',"inclusion":' + canonical_json(write_value(inclusion))
    signature = canonical_json(write_value(unsigned._replace(value=value)))
    return b"".join(
        (content.packed.removesuffix(last), included, last[:-1], b',"signature":', signature, b"}", LINE_FEED)
    )


def instant_of_reading(last: int, asked: int, now: int) -> int:
    """Return as of when a bundle of events that were read from ``asked`` to ``now`` is signed.

    Not later: an act that is acknowledged meanwhile has a receipt, which a later bundle without it would contradict.
    """
    return max(asked, min(last, now))


def basis_of_content(head: str, *, positions: bool) -> str:
    """Return the basis of the content of a match's bundle: ``head`` is the digest of the last event."""
    return f"{head}:{'positions' if positions else 'content'}"


def digest_of_inclusion(inclusion: Inclusion | None) -> Digest:
    """Return the digest, to be signed, of the inclusion that a bundle has, or of none."""
    return Digest(hashlib.sha256(canonical_json(write_value(inclusion))).hexdigest())


def read_bundle(packed: bytes) -> Bundle:
    """Return the bundle of a document; raises DocumentError with the place of the first malformed part."""
    bundle: Bundle = read_shape(_BUNDLE, read_document(packed, {"format": FORMAT}, MAX_BUNDLE_BYTES))
    if not bundle.events:
        raise DocumentError("events", "a bundle has at least one event")
    place = _last_seed(bundle.events)
    for number, event in enumerate(bundle.events):
        if event.withheld is not None and (number != place or event.withheld != (SEED,) or SEED in event.data):
            raise DocumentError(f"events[{number}].withheld", "only the last seed of the match may be withheld")
    return bundle


def derive_facts(records: Iterable[Record], *, positions: bool = False) -> Facts:
    """Return the members that follow from the events of a match, given by its audit; with ``positions``, these too."""
    replayed, valid, last = 0, True, None
    rulesets: list[BundledRuleset] = []
    stood: list[BundledPosition] = []
    terms: Mapping[str, Any] = {}
    for record in records:
        valid = valid and record.fault is None
        if record.after is None:
            break
        if valid:
            replayed = record.envelope.version
        if record.before is None:
            terms = {name: value for name, value in record.envelope.data.items() if name not in _ELSEWHERE}
        ruleset = record.after.game, record.after.ruleset
        if rulesets[-1:] != [ruleset]:
            rulesets.append(BundledRuleset(*ruleset))
        if positions:
            _add_position(stood, record.envelope.version, record.before, record.after)
        last = record
    shown = tuple(stood) if positions else None
    if last is None or last.after is None:
        return Facts(0, (), (), {}, positions=shown)
    state, proof = last.after, last.proof
    result = None if state.result.scores is None or not proof else BundledResult(state.result.scores, proof)
    return Facts(replayed, tuple(rulesets), state.seats, terms, state.status, state.result.reason, result, shown)


def seed_is_withheld(facts: Facts) -> bool:
    """Return whether the seed of a match must stay secret: an opponent may still have to move."""
    return facts.status not in (Status.FINISHED, Status.ABORTED) and (
        facts.status is None or any(seat.level is not None for seat in facts.seats)
    )


def bundle_schema() -> Schema:
    """Return the JSON Schema (2020-12) of format 1; the content of events is described for their present schemas."""
    schema = schema_of(Bundle)
    schema["properties"]["format"] = {"const": FORMAT}
    event = schema["properties"]["events"]["items"]
    contents = content_schemas()
    event["properties"]["type"] = {"enum": sorted(contents)}
    event["allOf"] = [
        {
            "if": {"properties": {"type": {"const": name}, "schema": {"const": present_schema(name)}}},
            "then": {"properties": {"data": _withholding(content)}},
        }
        for name, content in sorted(contents.items())
    ]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Rookery bundle, format 1",
        "description": "One match as one signed file: RFC 8785 canonical JSON and a line feed.",
        **schema,
    }


def _withholding(content: Schema) -> Schema:
    return {**content, "required": [name for name in content["required"] if name != SEED]}


def _last_seed(events: Sequence[BundledEvent | Envelope]) -> int | None:
    return max((number for number, event in enumerate(events) if event.type in SEEDS), default=None)


def _bundled(envelope: Envelope) -> dict[str, Any]:
    digest, _, version, kind, schema, at, actor, content = envelope
    return {
        "version": version, "type": kind, "schema": schema, "at": at, "actor": actor, "data": content, "digest": digest
    }  # fmt: skip


def _envelope(match_id: str, event: BundledEvent) -> Envelope:
    # A withheld seed does not affect the rules: any value of its type will do.
    content = {**event.data, **dict.fromkeys(event.withheld or (), "")}
    return Envelope(event.digest, match_id, event.version, event.type, event.schema, event.at, event.actor, content)


def _content(match_id: str, envelopes: Sequence[Envelope], facts: Facts) -> BundleContent:
    events = [_bundled(envelope) for envelope in envelopes]
    place = _last_seed(envelopes)
    if place is not None and seed_is_withheld(facts):
        seedless = {name: value for name, value in envelopes[place].data.items() if name != SEED}
        events[place] = {**events[place], "data": seedless, "withheld": [SEED]}
    head = BundledHead(envelopes[-1].version, Digest(envelopes[-1].id))
    content = {
        "events": events,
        "facts": write_value(facts),
        "format": FORMAT,
        "head": write_value(head),
        "match": match_id,
    }
    return BundleContent(match_id, head, envelopes[-1].at, canonical_json(content))


def _statement(match_id: str, head: BundledHead, unsigned: bytes, signature: BundleSignature) -> dict[str, Any]:
    """Return the signed bytes; ``unsigned`` is the canonical JSON of all members but signature and inclusion."""
    return {
        **head._asdict(),
        "content": hashlib.sha256(unsigned).hexdigest(),
        "inclusion": signature.inclusion,
        "match": match_id,
        "signed_at": signature.signed_at,
    }


def _add_position(stood: list[BundledPosition], version: int, before: MatchState | None, after: MatchState) -> None:
    if after.play.broken is not None or after.play.position is None:
        return
    if before is not None and stood and after.play.position is before.play.position and after.game == before.game:
        return
    text = find_ruleset(after.game, after.ruleset).format_position(after.play.position)
    if not stood or stood[-1].position != text:
        stood.append(BundledPosition(version, text))


_ELSEWHERE = frozenset({"creator", "game", "ruleset", "seats", SEED})
_BUNDLE = shape_of(Bundle)
