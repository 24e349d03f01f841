"""What proves things offline: bundles of matches, the server's public keys, checkpoints, the schema of bundles."""

from flask import Response
from marshmallow import fields, validate

from api.access.matches import visible_match
from api.http.messages import LARGEST_NUMBER
from api.http.openapi import PREFIX, Blueprint, json_response
from api.http.problems import Problem
from api.http.schemas import QueryNumber, Shown, Strict, page_limit
from api.operations.exploration import MAX_OUTCOME_STEPS
from api.operations.jobs import MAX_EVENTS_AT_ONCE, made_bundle
from api.services import services
from domain.game import OutcomeUnknownError, StepBudget
from domain.match.state import MatchState
from events.proof import merkle
from events.proof.bundle import basis_of_bundle, bundle_schema, make_bundle
from events.proof.checkpoint_log import NoCheckpointError
from events.proof.checkpoints import write_checkpoint
from events.proof.documents import write_document
from events.proof.public_keys import key_set
from events.service.jobs import BUNDLE
from events.store.converter import write_value

blueprint = Blueprint("proofs", __name__, url_prefix=PREFIX, description="Signed bundles, keys and checkpoints")
well_known = Blueprint("well-known", __name__, url_prefix="/.well-known", description="The keys of this server")

BUNDLE_SCHEMA = bundle_schema()


MAX_LEAVES = 1000


class KeyShown(Shown):
    """A JSON Web Key (RFC 8037). It signed from since to before until, in milliseconds since 1970 UTC.

    A key that was revoked says from when on; what it signed from then on counts for nothing.
    """

    alg = fields.String()
    crv = fields.String()
    kid = fields.String(metadata={"description": "The thumbprint of the key (RFC 7638)"})
    kty = fields.String()
    revoked = fields.Integer(metadata={"optional": True})
    since = fields.Integer()
    until = fields.Integer(allow_none=True)
    use = fields.String()
    x = fields.String()


class KeysShown(Shown):
    keys = fields.List(fields.Nested(KeyShown))


class AdministrationHeadShown(Shown):
    """The last entry of the log of administration: its number (0: there is none) and its id."""

    number = fields.Integer()
    digest = fields.String()


class CheckpointShown(Shown):
    """The log of all heads at an instant, signed over the canonical JSON of all but format, key and signature."""

    administration = fields.Nested(AdministrationHeadShown, metadata={"optional": True})
    day = fields.String()
    format = fields.Integer()
    key = fields.String()
    origin = fields.String(metadata={"description": "The id of the installation"})
    root = fields.String(metadata={"description": "The root of the Merkle tree (RFC 6962), in hexadecimal"})
    signature = fields.String()
    signed_at = fields.Integer()
    size = fields.Integer(metadata={"description": "The number of leaves"})


class CheckpointsShown(Shown):
    days = fields.List(fields.String(), metadata={"description": "The days with a checkpoint, the oldest first"})


class LeavesShown(Shown):
    """Leaves of the log of checkpoints, hashed, in their order; ``next`` is what ``after`` must be for the others.

    A leaf is the canonical JSON of digest (of an event), match and version, and its hash the SHA-256 of a byte 0 and
    the leaf; that of a node is the SHA-256 of a byte 1 and the hashes below it (RFC 6962). So anybody can compute the
    root of every checkpoint, and see whether a match is in it. Which matches the other leaves are of is not told: some
    are private.
    """

    after = fields.Integer()
    hashes = fields.List(fields.String())
    next = fields.Integer(allow_none=True)
    size = fields.Integer(metadata={"description": "The number of all leaves"})


class LeavesQuery(Strict):
    after = QueryNumber(load_default=0, validate=validate.Range(0, LARGEST_NUMBER, error="must not be negative"))
    limit = page_limit(MAX_LEAVES, MAX_LEAVES)


class ConsistencyShown(Shown):
    """The proof (RFC 6962, section 2.1.2) that the log of one size begins that of a larger one."""

    path = fields.List(fields.String())
    sizes = fields.List(fields.Integer())


class SizesQuery(Strict):
    first = QueryNumber(required=True, validate=validate.Range(0, LARGEST_NUMBER))
    second = QueryNumber(required=True, validate=validate.Range(0, LARGEST_NUMBER))


@blueprint.route("/matches/<match>/bundle")
@blueprint.documents(200, BUNDLE_SCHEMA, problems=[404, 409], headers={"Content-Disposition": "A name for the file"})
def bundle(match: str) -> Response:
    """The match as one signed file that anybody can verify offline (``rookery audit verify``)

    That of a long match is made by a worker: ask for it with POST.
    """
    state = visible_match(match).state
    packed = made_bundle(match) or _made_at_once(state)
    if packed is None:
        detail = "This match is long: ask for its bundle (POST), and a worker makes it within a minute or so."
        raise Problem("not-made-yet", detail)
    headers = {"Content-Disposition": f'attachment; filename="rookery-{match}.json"'}
    return Response(packed, headers=headers, content_type="application/json")


def _made_at_once(state: MatchState) -> bytes | None:
    """Return the bundle of the match, None when making it takes too long for a request."""
    if state.version > MAX_EVENTS_AT_ONCE:
        return None
    match, store, jobs = state.match, services().store, services().jobs
    store.check_clock()  # nothing is signed, and kept, with an instant of a wrong clock
    events, now = store.read(match), services().now()
    key, inclusion = services().keys.signing(), services().checkpoints.inclusion(match)
    try:
        packed = make_bundle(match, events, key, now, inclusion, StepBudget(MAX_OUTCOME_STEPS))
    except OutcomeUnknownError:
        return None
    if state.ended:
        jobs.store_result(match, BUNDLE, basis_of_bundle(events[-1].id, key, inclusion), packed)
    return packed


@blueprint.route("/schemas/bundle-1")
@blueprint.documents(200, {"type": "object"})
def schema_of_bundles() -> Response:
    """The JSON Schema of bundles of format 1"""
    return json_response(BUNDLE_SCHEMA)


@blueprint.route("/checkpoints")
@blueprint.documents(200, CheckpointsShown)
def list_checkpoints() -> Response:
    """The days that have a checkpoint"""
    return json_response({"days": services().checkpoints.days()})


@blueprint.route("/checkpoints/consistency")
@blueprint.documents(200, ConsistencyShown, problems=[404, 422])
@blueprint.arguments(SizesQuery, location="query")
def consistency(query: dict[str, int]) -> Response:
    """The proof that the log of the first size begins that of the second: nothing was taken out or changed"""
    try:
        proof = services().checkpoints.consistency(query["first"], query["second"])
    except ValueError as error:
        raise Problem("no-such-checkpoint", f"{error}.") from error
    return Response(write_document(write_value(proof)), content_type="application/json")


@blueprint.route("/checkpoints/leaves")
@blueprint.documents(200, LeavesShown, problems=[422])
@blueprint.arguments(LeavesQuery, location="query")
def checkpoint_leaves(query: dict[str, int]) -> Response:
    """The hashes of the leaves after a number of them: what the roots of all checkpoints are computed from"""
    log, after = services().checkpoints, query["after"]
    size = log.size()
    hashes = [merkle.leaf_hash(leaf).hex() for leaf in log.leaves(after, min(query["limit"], max(0, size - after)))]
    end = after + len(hashes)
    following = end if hashes and end < size else None
    return json_response({"after": after, "hashes": hashes, "next": following, "size": size})


@blueprint.route("/checkpoints/<day>")
@blueprint.documents(200, CheckpointShown, problems=[404])
def checkpoint(day: str) -> Response:
    """The signed checkpoint of a day (2026-01-31, UTC), or ``latest``"""
    log = services().checkpoints
    try:
        found = log.latest() if day == "latest" else log.of_day(day)
    except NoCheckpointError:
        found = None
    if found is None:
        raise Problem("no-such-checkpoint", "No checkpoint was made on this day.")
    return Response(write_checkpoint(found), content_type="application/json")


@well_known.route("/rookery-keys.json")
@well_known.documents(200, KeysShown)
def public_keys() -> Response:
    """The keys that bundles and checkpoints of this server are signed with, as a JSON Web Key Set"""
    return json_response(key_set(services().keys.public()))
