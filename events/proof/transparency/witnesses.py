"""The witnesses of this log, who are asked for cosignatures, and their answers.

One that has cosigned a tree which this log does not have shows that the log was rolled back: nothing more is signed.
"""

from typing import NamedTuple

from events.proof.documents import DocumentError
from events.proof.notes import COSIGNATURE, NoteKey, SignedNote, parse_vkey
from events.proof.transparency.witness_protocol import PATH
from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.keys import ProofKeys
from events.runtime.transactions import transact
from events.store.converter import pack, unpack

MAX_WITNESSES = 16


class WitnessError(ValueError):
    """A witness that cannot be added or is not known; the message says why."""


class WitnessStanding(NamedTuple):
    """A witness (``vkey`` has its name) and the outcome of the last request.

    ``size`` is the last tree head that it has cosigned. After ``failures`` in a row, ``trouble`` the last, it is asked
    again at ``due``. ``contradicted`` is a size that this log does not have (0: none), ``accepted`` one that the
    operator has given up.
    """

    url: str
    vkey: str
    size: int = 0
    cosigned_at: int | None = None
    failures: int = 0
    trouble: str = ""
    due: int = 0
    contradicted: int = 0
    accepted: int = 0

    @property
    def key(self) -> NoteKey:
        """The key with which it cosigns."""
        return parse_vkey(self.vkey)

    @property
    def contradicts(self) -> bool:
        """Whether it has cosigned a tree that this log does not have, and the operator has not accepted that."""
        return self.contradicted > self.accepted


class Witnesses:
    """The witnesses of an installation."""

    def __init__(self, client: StoreClient, prefix: str) -> None:
        self._client = client
        self._key = ProofKeys(prefix).witnesses

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
            stored = pipeline.hgetall(self._key)
            if key.name.encode() in stored:
                raise WitnessError(f"there is a witness {key.name} already: remove it first")
            if len(stored) >= MAX_WITNESSES:
                raise WitnessError(f"at most {MAX_WITNESSES} witnesses are asked")
            pipeline.multi()
            pipeline.hset(self._key, key.name, pack(standing))

        transact(self._client, [self._key], change)
        return key

    def remove(self, name: str) -> None:
        """Ask the witness ``name`` no more; its cosignatures stay. Raises WitnessError when there is none."""
        if not self._client.hdel(self._key, name):
            raise WitnessError(f"there is no witness {name}")

    def all(self) -> list[WitnessStanding]:
        """Return all witnesses, by name."""
        stored = self._client.hgetall(self._key)
        return [unpack(WitnessStanding, stored[name]) for name in sorted(stored)]

    def waiting(self, note: SignedNote, now: int) -> list[WitnessStanding]:
        """Return the witnesses that have not cosigned ``note`` and are to be asked ``now``."""
        due = [witness for witness in self.all() if witness.due <= now]
        return [witness for witness in due if not any(signature.is_of(witness.key) for signature in note.signatures)]

    def contradicting(self) -> list[WitnessStanding]:
        """Return the witnesses that have cosigned a tree that this log does not have."""
        return [witness for witness in self.all() if witness.contradicts]

    def accept(self) -> list[WitnessStanding]:
        """Give up the trees that witnesses have cosigned and this log does not have; return these witnesses."""
        accepted = self.contradicting()
        for witness in accepted:
            self.record(witness._replace(accepted=witness.contradicted))
        return accepted

    def record(self, changed: WitnessStanding) -> None:
        """Record how a witness stands, unless it was removed meanwhile, or put in with another address or key."""
        name = changed.key.name

        def change(pipeline: StorePipeline) -> None:
            stored = pipeline.hget(self._key, name)
            if stored is not None and unpack(WitnessStanding, stored)[:2] == changed[:2]:
                pipeline.multi()
                pipeline.hset(self._key, name, pack(changed))

        transact(self._client, [self._key], change)
