"""Signing checkpoints and having them cosigned, with an incident where the log contradicts an earlier checkpoint."""

from collections.abc import Callable

from events.people.administration import Administration
from events.proof.checkpoint_log import ROLLBACK_ACCEPTED, CheckpointLog, RolledBackError
from events.proof.checkpoints import Checkpoint
from events.proof.guard import GuardedTree
from events.proof.transparency.cosigning import Cosigning
from events.proof.transparency.witnesses import Witnesses, WitnessStanding
from events.runtime.errors import StoreError
from events.store.incidents import Incident, Incidents


class ContradictedError(StoreError):
    """A witness has cosigned a tree that the log does not have: nothing is signed until an operator decides."""

    def __init__(self, witness: WitnessStanding) -> None:
        self.witness = witness
        super().__init__(
            f"no checkpoint is signed: the witness {witness.key.name} has cosigned a tree of {witness.contradicted} "
            f"leaves that this log does not have ({witness.trouble}). The store was restored from an older backup, has "
            "lost events, or was changed. Look for newer files of the store first; if there are none, rookery audit "
            "accept-rollback records the loss for everyone to see and lets it sign again; a witness that is wrong is "
            "removed with rookery witness remove"
        )


def sign_checkpoint_of(
    checkpoints: CheckpointLog, incidents: Incidents, now: int, cosigning: Cosigning | None = None
) -> Checkpoint:
    """Return the checkpoint of the day of ``now``, as ``CheckpointLog.sign`` does, with its errors.

    Witnesses see the last one before (ContradictedError) and the new one afterwards. A rollback is an incident.
    """
    return _signed(checkpoints.sign, incidents, now, cosigning)


def sign_hour_of(
    checkpoints: CheckpointLog, incidents: Incidents, now: int, cosigning: Cosigning | None = None
) -> Checkpoint:
    """Return the last checkpoint after a look at changed matches, as ``CheckpointLog.sign_hour`` does."""
    return _signed(checkpoints.sign_hour, incidents, now, cosigning)


def accept_rollback_of(checkpoints: CheckpointLog, incidents: Incidents, now: int, actor: str) -> GuardedTree | None:
    """Let ``actor`` give up the signed tree that the log does not extend; return it. Crash-safe: each step once."""
    guarded = checkpoints.find_rollback()
    if guarded is not None:
        incidents.record(_incident(guarded, now))
        checkpoints.accept_rollback(guarded, actor)
    return guarded


def accept_contradictions_of(
    witnesses: Witnesses, administration: Administration, incidents: Incidents, now: int, actor: str
) -> list[WitnessStanding]:
    """Let ``actor`` give up the trees that witnesses have cosigned and the log lacks; return these witnesses.

    They cosign no more before they are set up again. Crash-safe: each step once.
    """
    for witness in witnesses.contradicting():
        incidents.record(_contradiction(witness, now))
        facts = {"witness": witness.key.name, "signed_size": witness.contradicted}
        once = f"rollback:witness:{witness.key.name}:{witness.contradicted}"
        administration.record(ROLLBACK_ACCEPTED, actor, facts, once)
    return witnesses.accept()


def _signed(
    sign: Callable[[int], Checkpoint], incidents: Incidents, now: int, cosigning: Cosigning | None
) -> Checkpoint:
    if cosigning is not None:
        for witness in cosigning.confirm(now):
            incidents.record(_contradiction(witness, now))
            raise ContradictedError(witness)
    try:
        checkpoint = sign(now)
    except RolledBackError as error:
        incidents.record(_incident(error.guarded, now))
        raise
    if cosigning is not None:
        cosigning.ask_waiting(now)
    return checkpoint


def _incident(guarded: GuardedTree, now: int) -> Incident:
    words = (
        f"The log of checkpoints does not extend the tree of {guarded.size} leaves with the root {guarded.root}, which "
        "was signed: an older backup was restored, or the store has lost events."
    )
    return Incident(f"rollback-{guarded.size}-{guarded.root[:16]}", now, words)


def _contradiction(witness: WitnessStanding, now: int) -> Incident:
    words = (
        f"The witness {witness.key.name} has cosigned a tree of {witness.contradicted} leaves that the log of "
        "checkpoints does not have: an older backup was restored, the store has lost events, or the witness is wrong."
    )
    return Incident(f"contradiction-{witness.contradicted}-{witness.key.id.hex()}", now, words)
