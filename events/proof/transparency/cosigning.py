"""Asking the witnesses of this log for cosignatures (C2SP tlog-witness), before and after each new checkpoint."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import structlog

from events.proof.checkpoints import Consistency
from events.proof.documents import DocumentError
from events.proof.notes import NoteKey, SignedNote, parse_note, parse_signatures
from events.proof.transparency.witness_protocol import PATH, SIZE_TYPE, write_request
from events.proof.transparency.witnesses import MAX_WITNESSES, Witnesses, WitnessStanding
from events.proof.tree_heads import find_cosignatures, parse_size, parse_tree_head
from events.runtime.backoff import Backoff
from events.runtime.egress import Egress, EgressResponse
from events.runtime.egress_rules import EgressError

MAX_REQUESTS = 3
"""To one witness in a row: its answer to the first names the size that the second proves from."""

RETRY_MS = Backoff(60_000, 3_600_000)

log = structlog.get_logger("witnesses")


class Log(Protocol):
    """The questions to the log of checkpoints."""

    def note(self) -> str | None:
        """Return the note of the last checkpoint, None before the first."""

    def replace_note(self, present: str, changed: str) -> bool:
        """Put ``changed`` in the place of the note ``present``; return False when another one is there by now."""

    def consistency(self, first: int, second: int) -> Consistency:
        """Return the proof that the log of ``first`` leaves begins that of ``second``; raises ValueError."""


class _RefusedError(Exception):
    """The answer of a witness instead of a cosignature; ``contradicted`` is a tree size the log does not have."""

    def __init__(self, words: str, contradicted: int = 0) -> None:
        super().__init__(words)
        self.contradicted = contradicted


class Cosigning:
    """Asks ``witnesses`` to cosign the last tree head; the outcome is recorded with each, and none raises.

    Crash-safe: a cosignature joins the note before it is recorded; asked again, a witness answers alike.
    """

    def __init__(self, witnesses: Witnesses, checkpoints: Log, egress: Egress) -> None:
        self._witnesses = witnesses
        self._log = checkpoints
        self._egress = egress

    def confirm(self, now: int) -> list[WitnessStanding]:
        """Show the last checkpoint to all witnesses that are due again; return those that contradict the log."""
        self._ask([witness for witness in self._witnesses.all() if witness.due <= now], now)
        return self._witnesses.contradicting()

    def ask_waiting(self, now: int) -> int:
        """Show the last checkpoint to the witnesses that have not cosigned it and are due; return how many."""
        note = self._log.note()
        waiting = [] if note is None else self._witnesses.waiting(parse_note(note), now)
        self._ask(waiting, now)
        return len(waiting)

    def _ask(self, witnesses: Sequence[WitnessStanding], now: int) -> None:
        packed = self._log.note()
        if packed is not None and witnesses:
            note = parse_note(packed)
            with ThreadPoolExecutor(len(witnesses)) as threads:
                for changed in threads.map(lambda witness: self._ask_one(note, witness, now), witnesses):
                    self._witnesses.record(changed)

    def _ask_one(self, note: SignedNote, witness: WitnessStanding, now: int) -> WitnessStanding:
        size = parse_tree_head(note.text).size
        try:
            time_s = self._cosignature(note, size, witness)
        except (EgressError, _RefusedError, DocumentError) as error:
            contradicted = error.contradicted if isinstance(error, _RefusedError) else witness.contradicted
            failures = witness.failures + 1
            log.warning("a witness has not cosigned", witness=witness.key.name, size=size, trouble=str(error))
            return witness._replace(
                failures=failures,
                trouble=str(error),
                due=now + int(RETRY_MS.after(failures)),
                contradicted=contradicted,
            )
        return witness._replace(
            size=size, cosigned_at=time_s * 1000, failures=0, trouble="", due=0, contradicted=0, accepted=0
        )

    def _cosignature(self, note: SignedNote, size: int, witness: WitnessStanding) -> int:
        """Have ``note`` cosigned and keep the cosignature; return when it was made, in seconds since 1970 UTC."""
        old = min(witness.size, size)
        for _ in range(MAX_REQUESTS):
            path = [bytes.fromhex(node) for node in self._log.consistency(old, size).path]
            headers = {"Content-Type": "text/plain; charset=utf-8"}
            answer = self._egress.post(f"{witness.url}{PATH}", headers, write_request(old, path, note))
            if answer.status == 200:
                return self._keep(note, answer, witness.key)
            if answer.status == 422:
                raise _RefusedError(f"it says that the log does not extend the {old} leaves that it has cosigned", old)
            if answer.status != 409 or answer.headers.get("content-type", "").partition(";")[0] != SIZE_TYPE:
                raise _RefusedError(f"it has answered with status {answer.status}: {_words(answer)}")
            named = parse_size(answer.body.decode("ascii", "replace").removesuffix("\n"))
            if named > size:
                self._refuse_outdated(note)
                raise _RefusedError(f"it has cosigned {named} leaves of this log, which has only {size}", named)
            if named == old == size:
                raise _RefusedError(f"it has cosigned another tree of {size} leaves", size)
            old = named
        raise _RefusedError("it names another size with every answer")

    def _refuse_outdated(self, note: SignedNote) -> None:
        """Raise _RefusedError, without a contradiction, when another process has signed a later tree than ``note``."""
        packed = self._log.note()
        if packed is not None and parse_note(packed).text != note.text:
            raise _RefusedError("a later checkpoint was signed while it was asked")

    def _keep(self, note: SignedNote, answer: EgressResponse, key: NoteKey) -> int:
        lines = answer.body.decode(errors="replace").splitlines()
        answered = SignedNote(note.text, parse_signatures(lines[:MAX_WITNESSES]))
        cosignatures = find_cosignatures(answered, [key])
        if not cosignatures:
            raise _RefusedError("it has answered with the cosignature of another key")
        given = [signature for signature in answered.signatures if signature.is_of(key)]
        while (packed := self._log.note()) is not None and (present := parse_note(packed)).text == note.text:
            # The first cosignature of a witness stays: it is the earliest evidence.
            is_cosigned = any(signature.is_of(key) for signature in present.signatures)
            if is_cosigned or self._log.replace_note(packed, str(present.joined_by(given[:1]))):
                break
        return cosignatures[0].time_s


def _words(answer: EgressResponse) -> str:
    return " ".join(answer.body[:200].decode(errors="replace").split()) or "without a word"
