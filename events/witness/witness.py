"""The decision of a witness on each checkpoint that it is asked to cosign (C2SP tlog-witness)."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import structlog

from events.proof import merkle
from events.proof.cosignatures import CosigningKey
from events.proof.documents import DocumentError
from events.proof.notes import ED25519, NoteKey, SignedNote
from events.proof.tree_heads import TreeHead, parse_tree_head
from events.transparency.witness_protocol import SIZE_TYPE, AddCheckpoint, read_request
from events.witness.state import CosignedTree, WitnessState

TEXT_TYPE = "text/plain; charset=utf-8"

TWO_TREES, NO_PROOF = "two-trees", "no-proof"
"""Kinds of contradictions: another tree of the size that was cosigned, and one without a proof that it extends that."""

log = structlog.get_logger("witness")


class WitnessReply(NamedTuple):
    """What is answered: the status of HTTP, the content type and the body."""

    status: int
    content_type: str
    body: bytes


class Witness:
    """Cosigns the tree heads of ``logs``, each known by its keys; ``now_s`` returns seconds since 1970 UTC."""

    def __init__(
        self, key: CosigningKey, logs: Iterable[NoteKey], state: WitnessState, now_s: Callable[[], int]
    ) -> None:
        self.key = key
        self._logs: dict[str, list[NoteKey]] = {}
        for each in logs:
            self._logs.setdefault(each.name, []).append(each)
        self._state = state
        self._now_s = now_s

    def add_checkpoint(self, body: bytes) -> WitnessReply:
        """Return the answer to a request: a cosignature for a consistent tree. Raises sqlite3.Error and OSError."""
        try:
            asked = read_request(body)
            head = parse_tree_head(asked.note.text)
        except DocumentError as fault:
            return _refusal(400, str(fault))
        keys = self._logs.get(head.origin)
        if keys is None:
            return _refusal(404, "the log of this origin is not known here")
        if not any(_is_signed(asked.note, key) for key in keys):
            return _refusal(403, "no known key of this log has signed the checkpoint")
        if asked.old_size > head.size:
            return _refusal(400, f"old: {asked.old_size} is more than the {head.size} leaves of the checkpoint")
        return self._cosign(asked, head, body)

    def _cosign(self, asked: AddCheckpoint, head: TreeHead, body: bytes) -> WitnessReply:
        with self._state.changing(head.origin) as (last, replace):
            reply, contradiction = _judge(asked, head, last)
            if reply is None:
                replace(CosignedTree(head.size, head.root, str(asked.note)))
        if contradiction is not None:
            log.error(
                "a log contradicts itself, or the proof is wrong",
                kind=contradiction,
                origin=head.origin,
                size=head.size,
                cosigned=last.size,
            )
            self._state.keep_contradiction(contradiction, last, body, asked.note.text)
        if reply is not None:
            return reply
        line = self.key.cosign(asked.note.text, self._now_s()).line
        return WitnessReply(200, TEXT_TYPE, line.encode())


def _judge(asked: AddCheckpoint, head: TreeHead, last: CosignedTree) -> tuple[WitnessReply | None, str | None]:
    """Return the refusal of a checkpoint (None when it extends ``last``), and the kind of contradiction, if any."""
    size = WitnessReply(409, SIZE_TYPE, f"{last.size}\n".encode())
    if asked.old_size != last.size:
        return size, None
    if head.size == last.size and head.root != last.root:
        return size, TWO_TREES if last.size else None
    if not merkle.is_consistent(last.size, last.root, head.size, head.root, asked.proof):
        words = f"the proof does not lead from the {last.size} leaves that were cosigned to this checkpoint"
        return _refusal(422, words), NO_PROOF if last.size else None
    return None, None


def _is_signed(note: SignedNote, key: NoteKey) -> bool:
    if key.type != ED25519:
        return False
    try:
        note.check(key)
    except DocumentError:
        return False
    return True


def _refusal(status: int, reason: str) -> WitnessReply:
    return WitnessReply(status, TEXT_TYPE, f"{reason}\n".encode())
