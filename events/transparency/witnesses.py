"""The witnesses of this log: who is asked for cosignatures, and what they have answered (C2SP tlog-witness, client).

Each checkpoint is shown to every witness, with the proof that it extends what the witness has seen. A witness remembers
what a restored store has forgotten: one that has cosigned a larger tree than ours shows that ours is old, so that
nothing more may be signed until the operator decides (``CheckpointLog`` asks its guard the same, which may be lost).
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import structlog

from events.proof.cosignatures import CosignatureStore, find_cosignatures
from events.proof.documents import DocumentError
from events.proof.notes import COSIGNATURE, NoteKey, SignedNote, parse_signatures, parse_vkey
from events.proof.tree_heads import parse_size, parse_tree_head
from events.runtime.backoff import Backoff
from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.egress import Answer, Egress
from events.runtime.egress_rules import EgressError
from events.runtime.keys import ProofKeys
from events.runtime.transactions import transact
from events.store.converter import pack, unpack
from events.transparency.witness_protocol import PATH, SIZE_TYPE, write_request

MAX_WITNESSES = 16
MAX_REQUESTS = 3
"""To one witness in a row: the first may name the wrong size, which the second mends unless it changes meanwhile."""

RETRY_MS = Backoff(60_000, 3_600_000)

Consistency = Callable[[int, int], Sequence[bytes]]
"""Returns the proof that the log of a number of leaves begins that of another; raises ValueError."""

log = structlog.get_logger("witnesses")


class WitnessError(ValueError):
    """A witness that cannot be added or is not known; the message says why."""


class WitnessStanding(NamedTuple):
    """A witness and what became of the last request.

    ``vkey`` has its name, requests go to ``url`` and the path of the protocol. ``size`` is that of the last tree head
    that it has cosigned, ``cosigned_at`` when it did (ms since 1970 UTC; None: never). After ``failures`` in a row, of
    which ``trouble`` is the last in words, it is asked again at ``due``. ``ahead`` is a size that it has named and that
    this log has not reached, ``accepted`` one that the operator has given up.
    """

    url: str
    vkey: str
    size: int = 0
    cosigned_at: int | None = None
    failures: int = 0
    trouble: str = ""
    due: int = 0
    ahead: int = 0
    accepted: int = 0

    @property
    def key(self) -> NoteKey:
        """The key with which it cosigns."""
        return parse_vkey(self.vkey)

    @property
    def contradicts(self) -> bool:
        """Whether it has seen more of this log than there is, and the operator has not accepted that."""
        return self.ahead > self.accepted


class _Refused(Exception):
    """What a witness has answered instead of a cosignature, in words; ``ahead`` if it has seen a larger tree."""

    def __init__(self, words: str, ahead: int = 0) -> None:
        super().__init__(words)
        self.ahead = ahead


class Witnesses:
    """The witnesses of an installation. Methods raise StoreUnavailableError; ``egress`` is how they are called."""

    def __init__(self, client: StoreClient, prefix: str, egress: Egress) -> None:
        self._client = client
        self._key = ProofKeys(prefix).witnesses
        self._egress = egress
        self._cosignatures = CosignatureStore(client, prefix)

    def add(self, url: str, vkey: str) -> NoteKey:
        """Ask this witness from now on; return its key. Raises WitnessError unless ``vkey`` is a witness's key."""
        try:
            key = parse_vkey(vkey)
        except DocumentError as fault:
            raise WitnessError(f"the verifier key: {fault}") from None
        if key.type != COSIGNATURE:
            raise WitnessError("the verifier key is that of a log (type 01); a witness has one of type 04")
        standing = WitnessStanding(url.rstrip("/").removesuffix(PATH), vkey)

        def change(pipeline: StorePipeline) -> None:
            known = pipeline.hgetall(self._key)
            if key.name.encode() in known:
                raise WitnessError(f"there is a witness {key.name} already: remove it first")
            if len(known) >= MAX_WITNESSES:
                raise WitnessError(f"at most {MAX_WITNESSES} witnesses are asked")
            pipeline.multi()
            pipeline.hset(self._key, key.name, pack(standing))

        transact(self._client, [self._key], change)
        return key

    def remove(self, name: str) -> None:
        """Ask the witness ``name`` no more; what it has cosigned stays. Raises WitnessError when there is none."""
        if not self._client.hdel(self._key, name):
            raise WitnessError(f"there is no witness {name}")

    def all(self) -> list[WitnessStanding]:
        """Return all witnesses, by name."""
        found = self._client.hgetall(self._key)
        return [unpack(WitnessStanding, found[name]) for name in sorted(found)]

    def cosigned(self, note: SignedNote) -> SignedNote:
        """Return ``note`` with the cosignatures that it has been given."""
        return self._cosignatures.joined_to(note, [witness.key for witness in self.all()])

    def waiting(self, note: SignedNote, now: int) -> list[WitnessStanding]:
        """Return the witnesses that have not cosigned ``note`` and are to be asked ``now`` (ms since 1970 UTC)."""
        witnesses = self.all()
        given = {(each.name, each.key_id) for each in self.cosigned(note).signatures}
        return [each for each in witnesses if each.due <= now and (each.key.name, each.key.id) not in given]

    def ask(
        self, note: SignedNote, consistency: Consistency, now: int, witnesses: Iterable[WitnessStanding]
    ) -> list[WitnessStanding]:
        """Show ``note``, the last tree head, to ``witnesses``; return how these stand then.

        Crash-safe: a cosignature is stored before the witness is known to have given it; killed at any moment, the
        same is asked again, which the witness answers alike.
        """
        return [self._ask(note, consistency, now, witness) for witness in witnesses]

    def accept(self) -> list[WitnessStanding]:
        """Accept that witnesses have seen a larger log; return those that had. They cosign nothing below that size."""
        accepted = [each for each in self.all() if each.contradicts]
        for witness in accepted:
            self._record(witness._replace(accepted=witness.ahead))
        return accepted

    def _ask(self, note: SignedNote, consistency: Consistency, now: int, witness: WitnessStanding) -> WitnessStanding:
        head = parse_tree_head(note.text)
        try:
            time_s = self._cosignature(note, head.size, consistency, witness)
        except (EgressError, _Refused, DocumentError) as error:
            failures = witness.failures + 1
            ahead = error.ahead if isinstance(error, _Refused) else 0
            changed = witness._replace(
                failures=failures, trouble=str(error), due=now + int(RETRY_MS.after(failures)), ahead=ahead
            )
            log.warning("a witness has not cosigned", witness=witness.key.name, size=head.size, trouble=str(error))
        else:
            changed = witness._replace(
                size=head.size, cosigned_at=time_s * 1000, failures=0, trouble="", due=0, ahead=0, accepted=0
            )
        self._record(changed)
        return changed

    def _cosignature(self, note: SignedNote, size: int, consistency: Consistency, witness: WitnessStanding) -> int:
        """Have ``note`` cosigned and keep the cosignature; return when it was made, in seconds since 1970 UTC."""
        old = min(witness.size, size)
        for _ in range(MAX_REQUESTS):
            body = write_request(old, consistency(old, size), note)
            answer = self._egress.post(f"{witness.url}{PATH}", {"Content-Type": "text/plain; charset=utf-8"}, body)
            if answer.status == 200:
                return self._keep(note, answer, witness.key)
            if answer.status != 409 or answer.headers.get("content-type", "").partition(";")[0] != SIZE_TYPE:
                raise _Refused(f"it has answered with status {answer.status}: {_words(answer)}")
            named = parse_size(answer.body.decode("ascii", "replace").removesuffix("\n"))
            if named > size:
                raise _Refused(f"it has cosigned {named} leaves of this log, which has only {size}", named)
            if named == old == size:
                raise _Refused(f"it has cosigned another tree of {size} leaves", size)
            old = named
        raise _Refused("it names another size with every answer")

    def _keep(self, note: SignedNote, answer: Answer, key: NoteKey) -> int:
        lines = answer.body.decode(errors="replace").splitlines()
        answered = SignedNote(note.text, parse_signatures(lines[:MAX_WITNESSES]))
        found = find_cosignatures(answered, [key])
        if not found:
            raise _Refused("it has answered with the cosignature of another key")
        for signature in answered.signatures:
            if signature.is_of(key):
                self._cosignatures.add(note.text, signature)
        return found[0].time_s

    def _record(self, changed: WitnessStanding) -> None:
        """Record how a witness stands, unless it was removed meanwhile."""
        name = changed.key.name

        def change(pipeline: StorePipeline) -> None:
            if pipeline.hexists(self._key, name):
                pipeline.multi()
                pipeline.hset(self._key, name, pack(changed))

        transact(self._client, [self._key], change)


def _words(answer: Answer) -> str:
    return " ".join(answer.body[:200].decode(errors="replace").split()) or "without a word"
