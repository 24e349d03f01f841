"""Proofs for use offline: bundles and receipts of matches, the public keys of the server, checkpoints."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from flask import Blueprint, Response
from marshmallow import validate
from msgspec import UNSET, Meta, UnsetType

from api.access.matches import visible_match
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import JSON, Answer, NextAfter, json_response
from api.http.problems import Problem
from api.http.schemas import MAX_NUMBER, EmptyBody, QueryBoolean, QueryInteger, StrictInteger, StrictSchema, page_limit
from api.operations.exploration import MAX_OUTCOME_STEPS
from api.operations.jobs import (
    MAX_EVENTS_AT_ONCE,
    Job,
    JobStateField,
    JobStatus,
    recomputable_event,
    recomputation_of,
    request_bundle,
    request_recomputation,
    stored_content,
)
from api.services import services
from domain.errors import OutcomeUnknownError, StepBudget
from domain.match.state import MatchState
from events.matches.jobs import RECOMPUTATION
from events.proof.bundle import (
    BundleContent,
    basis_of_content,
    bundle_schema,
    instant_of_reading,
    make_content,
    sign_content,
)
from events.proof.checkpoint_log import NoCheckpointError
from events.proof.checkpoints import Checkpoint, Consistency, write_checkpoint
from events.proof.documents import write_document
from events.proof.leaves import hash_of_stored
from events.proof.public_keys import key_set
from events.proof.receipts import Receipt, write_receipt
from events.proof.transparency.tlog_proofs import tlog_proof_of
from events.store.contract import Head
from events.store.converter import schema_of, write_value

blueprint = Blueprint("proofs", __name__, url_prefix=PREFIX)
well_known = Blueprint("well-known", __name__, url_prefix="/.well-known")

BUNDLE_SCHEMA = bundle_schema()
MAX_LEAVES = 1000
OCTETS = "application/octet-stream"
"""Of a reply of a timestamp authority: generators of clients know no type of its own."""


def _schema(document: type[Any]) -> Mapping[str, Any]:
    """Return the JSON Schema of a document of proof, which is written as it is signed."""
    return {"description": inspect.cleandoc(document.__doc__ or ""), **schema_of(document)}


class Key(Answer):
    """A JSON Web Key (RFC 8037). It signed from since to before until, in milliseconds since 1970 UTC.

    A key that was revoked says from when on; what it signed from then on counts for nothing.
    """

    alg: str
    crv: str
    kid: Annotated[str, Meta(description="The thumbprint of the key (RFC 7638)")]
    kty: str
    since: int
    until: int | None
    use: str
    x: str
    revoked: int | UnsetType = UNSET


class KeySet(Answer):
    keys: Sequence[Key]


class CheckpointList(Answer):
    days: Annotated[Sequence[str], Meta(description="The days with a checkpoint, the oldest first")]


class Leaves(Answer):
    """Leaves of the log of checkpoints, hashed, in their order; ``next`` is what ``after`` must be for the others.

    The hash of a leaf is the SHA-256 of a byte 0 and the leaf; that of a node is the SHA-256 of a byte 1 and the hashes
    below it (RFC 6962). So anyone can compute the root of every checkpoint, and see whether a match is in it. A leaf of
    a match is the canonical JSON of its commitment, form 1 and kind match; the commitment is the SHA-256 of the
    canonical JSON of digest (of an event), match and version. Matches are not named: some are private.
    """

    after: int
    hashes: Sequence[str]
    next: NextAfter
    size: Annotated[int, Meta(description="The number of all leaves")]


class BundleQuery(StrictSchema):
    positions = QueryBoolean(load_default=False, about="With every position, to be shown without the rules")


class LeavesQuery(StrictSchema):
    after = QueryInteger(load_default=0, validate=validate.Range(0, MAX_NUMBER, error="must not be negative"))
    limit = page_limit(MAX_LEAVES, MAX_LEAVES)


class SizesQuery(StrictSchema):
    first = QueryInteger(0, MAX_NUMBER, required=True)
    second = QueryInteger(0, MAX_NUMBER, required=True)


@blueprint.get("/matches/<match_id>/bundle")
@endpoint(
    content=BUNDLE_SCHEMA,
    query=BundleQuery,
    costly=True,
    problems=[404, 409],
    headers={"Content-Disposition": "A name for the file"},
)
def download_bundle(query: Mapping[str, bool], match_id: str) -> Response:
    """The match as one signed file that can be verified offline (``rookery audit verify``)

    That of a long match is made by a worker: ask for it with POST.
    """
    # Before the match is read, which so has the version that is included, and all acts that are older than the instant.
    asked, inclusion = services().now(), services().checkpoints.inclusion(match_id)
    state, positions = visible_match(match_id).state, query["positions"]
    services().store.check_clock()  # nothing is signed with an instant of a wrong clock
    dated = stored_content(match_id, positions=positions) or _content_of_short(state, asked, positions=positions)
    if dated is None:
        detail = "This match is long: ask for its bundle (POST), and a worker makes it within a minute or so."
        raise Problem("not-ready", detail)
    # The same bytes whenever it is asked for, until there is another key or another inclusion.
    content, at = dated
    at = at if inclusion is None else max(at, inclusion.checkpoint.signed_at)
    packed = sign_content(content, services().keys.signing(), at, inclusion)
    headers = {"Content-Disposition": f'attachment; filename="rookery-{match_id}.json"'}
    return Response(packed, headers=headers, content_type=JSON)


@blueprint.get("/matches/<match_id>/tlog-proof")
@endpoint(
    content={"type": "string"},
    content_type="text/plain",
    problems=[404],
    headers={"Content-Disposition": "A name for the file"},
)
def download_tlog_proof(match_id: str) -> Response:
    """The proof that the last checkpoint knows the match, as a text (C2SP tlog-proof)

    Its extra data is the canonical JSON of digest, match and version that was logged.
    """
    state, log = visible_match(match_id).state, services().checkpoints
    inclusion = log.inclusion(state.match_id)
    proof = None
    if inclusion is not None:
        [event] = services().store.read(state.match_id, inclusion.version - 1, 1)
        proof = tlog_proof_of(inclusion, state.match_id, event.id)
    if proof is None:
        raise Problem("no-such-checkpoint", "No checkpoint knows this match yet.")
    headers = {"Content-Disposition": f'attachment; filename="rookery-{state.match_id}.tlog-proof"'}
    return Response(str(proof), headers=headers, content_type="text/plain; charset=utf-8")


@blueprint.get("/schemas/bundle-1")
@endpoint(content={"type": "object"})
def show_bundle_schema() -> Response:
    """Show the schema of bundles

    The JSON Schema of bundles of format 1.
    """
    return json_response(BUNDLE_SCHEMA)


@blueprint.get("/checkpoints")
@endpoint(answer=CheckpointList)
def list_checkpoints() -> CheckpointList:
    """List the days with a checkpoint

    Days are those of UTC.
    """
    return CheckpointList(days=services().checkpoints.days())


@blueprint.get("/checkpoints/consistency")
@endpoint(content=_schema(Consistency), query=SizesQuery, problems=[404])
def show_consistency(query: Mapping[str, int]) -> Response:
    """Show a consistency proof

    That the log of the first size begins that of the second: nothing was taken out or changed.
    """
    try:
        proof = services().checkpoints.consistency(query["first"], query["second"])
    except ValueError as error:
        raise Problem("no-such-checkpoint", f"{error}.") from error
    return Response(write_document(write_value(proof)), content_type=JSON)


@blueprint.get("/checkpoints/leaves")
@endpoint(answer=Leaves, query=LeavesQuery)
def list_leaves(query: Mapping[str, int]) -> Leaves:
    """List the leaves of the log

    Their hashes, after a number of them. The roots of all checkpoints are computed from these.
    """
    log, after = services().checkpoints, query["after"]
    size = log.size()
    hashes = [hash_of_stored(leaf).hex() for leaf in log.leaves(after, min(query["limit"], max(0, size - after)))]
    end = after + len(hashes)
    return Leaves(after=after, hashes=hashes, next=end if hashes and end < size else None, size=size)


@blueprint.get("/checkpoints/<day>")
@endpoint(content=_schema(Checkpoint), problems=[404])
def show_checkpoint(day: str) -> Response:
    """Show a checkpoint

    Of a day (2026-01-31, UTC), of an hour (2026-01-31T04) if there is one, or `latest`.
    """
    log = services().checkpoints
    try:
        checkpoint = log.latest() if day == "latest" else log.of_day(day)
    except NoCheckpointError:
        checkpoint = None
    if checkpoint is None:
        raise Problem("no-such-checkpoint", "No checkpoint was made on this day, or in this hour.")
    return Response(write_checkpoint(checkpoint), content_type=JSON)


@blueprint.get("/checkpoints/<day>/timestamp")
@endpoint(content={"type": "string", "format": "binary"}, content_type=OCTETS, problems=[404])
def show_timestamp(day: str) -> Response:
    """The timestamp (RFC 3161) of the checkpoint of a day, from the service that the operator has chosen

    It is over the bytes of that checkpoint, and is what the service has answered: a TimeStampResp.
    """
    token = services().timestamps.of_day(day)
    if token is None:
        raise Problem("no-such-checkpoint", "The checkpoint of this day was not timestamped.")
    return Response(token, content_type=OCTETS)


@well_known.get("/rookery-keys.json")
@endpoint(answer=KeySet)
def list_server_keys() -> KeySet:
    """List the keys of this server

    Bundles and checkpoints are signed with them. A JSON Web Key Set.
    """
    return msgspec.convert(key_set(services().keys.public()), KeySet)


def _content_of_short(state: MatchState, asked: int, *, positions: bool) -> tuple[BundleContent, int] | None:
    """Return the verdict on the bundle of the match, and its instant; None when that takes a request too long."""
    if state.version > MAX_EVENTS_AT_ONCE:
        return None
    match_id, jobs = state.match_id, services().jobs
    events = services().store.read(match_id)
    try:
        content = make_content(match_id, events, StepBudget(MAX_OUTCOME_STEPS), positions=positions)
    except OutcomeUnknownError:
        return None
    at = instant_of_reading(content.at, asked, services().now())
    if state.ended:
        jobs.store_bundle_content(
            match_id, basis_of_content(content.head.digest, positions=positions), content.packed, at
        )
    return content, at


receipts = Blueprint("receipts", __name__, url_prefix=PREFIX)


class ReceiptQuery(StrictSchema):
    version = QueryInteger(
        1, MAX_NUMBER, load_default=None, allow_none=False, about="Of the match; the last one if it is not given"
    )


@receipts.get("/matches/<match_id>/receipt")
@endpoint(
    content={"description": inspect.cleandoc(Receipt.__doc__ or ""), **schema_of(Receipt)},
    query=ReceiptQuery,
    problems=[404],
    headers={"Content-Disposition": "A name for the file"},
)
def download_receipt(query: Mapping[str, int | None], match_id: str) -> Response:
    """What the server signs now about a version of the match, to be compared with a bundle later

    ``rookery audit receipt`` compares it. Every act on a match is answered with the receipt for it.
    """
    loaded, version = visible_match(match_id), query["version"]
    head = loaded.head
    if version is not None and version > head.version:
        raise Problem("no-such-version", f"The match is at version {head.version}.")
    if version is not None and version < head.version:
        (event,) = services().store.read(match_id, version - 1, 1)
        head = Head(event.version, event.digest)
    services().store.check_clock()  # nothing is signed with an instant of a wrong clock
    packed = write_receipt(services().receipts.sign(match_id, head))
    headers = {"Content-Disposition": f'attachment; filename="rookery-{match_id}-{head.version}-receipt.json"'}
    return Response(packed, headers=headers, content_type=JSON)


jobs_blueprint = Blueprint("jobs", __name__, url_prefix=PREFIX)

MAX_VERSION_DIGITS = 9
"""In an address."""


class RecomputationRequest(StrictSchema):
    version = StrictInteger(
        1, MAX_NUMBER, required=True, about="The event by which an opponent moved or answered a draw offer"
    )


class Recomputation(Answer):
    version: int
    state: JobStateField
    differs: Annotated[str | None, Meta(description="What the engine gives instead; null: the same, or not finished")]


@jobs_blueprint.post("/matches/<match_id>/recomputations")
@endpoint(202, answer=Recomputation, body=RecomputationRequest, costly=True, problems=[404, 409])
def ask_recomputation(sent: Mapping[str, int], match_id: str) -> Recomputation:
    """Request a recomputation

    A worker computes an answer of an opponent again. Read the recomputation for its result.
    """
    visible_match(match_id)
    request_recomputation(match_id, sent["version"])
    return _represent_recomputation(match_id, sent["version"])


@jobs_blueprint.get("/matches/<match_id>/recomputations/<version>")
@endpoint(answer=Recomputation, problems=[404, 422])
def show_recomputation(match_id: str, version: str) -> Recomputation:
    """Show a recomputation

    Whether an answer of an opponent has been computed again, and with which result.
    """
    visible_match(match_id)
    valid = version.isascii() and version.isdigit() and len(version) <= MAX_VERSION_DIGITS
    return _represent_recomputation(match_id, int(version) if valid else 0)


@jobs_blueprint.post("/matches/<match_id>/bundle")
@endpoint(202, answer=Job, body=EmptyBody, costly=True, problems=[404, 409])
def ask_bundle(_: object, match_id: str) -> Job:
    """Request a bundle

    For a match that is too long for the server to make its bundle at once: a worker makes it.
    """
    visible_match(match_id)
    return Job(state=request_bundle(match_id))


def _represent_recomputation(match_id: str, version: int) -> Recomputation:
    differs = recomputation_of(recomputable_event(match_id, version))
    job = services().jobs.pending(match_id)
    asked = job is not None and job[:2] == (RECOMPUTATION, version)
    state = JobStatus.FINISHED if differs is not None else JobStatus.ASKED if asked else JobStatus.NONE
    return Recomputation(version=version, state=state, differs=differs or None)
