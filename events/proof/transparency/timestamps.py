"""Timestamps of each day's checkpoint (RFC 3161) by the service of the operator's choice, kept as they came."""

import hashlib
from collections.abc import Sequence

import structlog
from cryptography.x509 import Certificate
from rfc3161_client import (
    HashAlgorithm,
    PKIStatus,
    TimestampRequestBuilder,
    TimeStampResponse,
    VerificationError,
    VerifierBuilder,
    decode_timestamp_response,
)

from events.proof.checkpoint_log import CheckpointLog, NoCheckpointError
from events.proof.checkpoints import write_checkpoint
from events.proof.documents import DocumentError
from events.proof.transparency.timestamp_store import TimestampStore
from events.runtime.egress import Egress
from events.runtime.egress_rules import EgressError

MAX_TOKEN_BYTES = 65_536
REQUEST_TYPE = "application/timestamp-query"

log = structlog.get_logger("timestamps")


class Timestamps:
    """Has the checkpoint of each day timestamped by the service at ``url``, which is called through ``egress``."""

    def __init__(self, stored: TimestampStore, checkpoints: CheckpointLog, url: str, egress: Egress) -> None:
        self._stored = stored
        self._checkpoints = checkpoints
        self._url = url
        self._egress = egress

    def request_due(self, now: int) -> bool:
        """Have the last day's checkpoint timestamped if due; return whether it was. Crash-safe: requested again."""
        day = self._stored.waiting(now)
        if day is None:
            return False
        try:
            answer = self._request(write_checkpoint(self._checkpoints.of_day(day)))
        except (EgressError, DocumentError, NoCheckpointError) as error:
            self._stored.note_failure(now)
            log.warning("a checkpoint has no timestamp yet", day=day, trouble=str(error))
            return False
        self._stored.keep(day, answer)
        log.info("timestamp", day=day)
        return True

    def _request(self, document: bytes) -> bytes:
        request = TimestampRequestBuilder().data(document).hash_algorithm(HashAlgorithm.SHA256).build()
        answer = self._egress.post(self._url, {"Content-Type": REQUEST_TYPE}, request.as_bytes())
        if answer.status != 200 or not answer.is_complete:
            raise DocumentError("", f"the service has answered with status {answer.status}")
        response = _read(answer.body)
        _check_imprint(response, document)
        if response.tst_info.nonce != request.nonce:
            raise DocumentError("nonce", "it is the answer to another request")
        return answer.body


def check_timestamp(packed: bytes, document: bytes, roots: Sequence[Certificate]) -> int:
    """Return when ``document`` existed at the latest, by the timestamp ``packed``.

    Raises DocumentError unless it is of ``document`` and leads to one of ``roots`` (none: not checked).
    """
    response = _read(packed)
    _check_imprint(response, document)
    if roots:
        builder = VerifierBuilder()
        for root in roots:
            builder = builder.add_root_certificate(root)
        try:
            builder.build().verify_message(response, document)
        except (VerificationError, ValueError) as error:
            raise DocumentError("signature", f"it is not that of a service that is trusted: {error}") from None
    return round(response.tst_info.gen_time.timestamp() * 1000)


def _read(packed: bytes) -> TimeStampResponse:
    if len(packed) > MAX_TOKEN_BYTES:
        raise DocumentError("", f"a timestamp has at most {MAX_TOKEN_BYTES:,} bytes")
    try:
        response = decode_timestamp_response(packed)
        status = response.status
    except ValueError as error:
        raise DocumentError("", f"it is no answer of a timestamp service (RFC 3161): {error}") from None
    if status not in (PKIStatus.GRANTED, PKIStatus.GRANTED_WITH_MODS):
        raise DocumentError("status", f"the service has refused: {', '.join(response.status_string) or status}")
    return response


def _check_imprint(response: TimeStampResponse, document: bytes) -> None:
    if response.tst_info.message_imprint.message != hashlib.sha256(document).digest():
        raise DocumentError("messageImprint", "it is the timestamp of something else")
