"""Signing checkpoints, with an incident where the log is not what was signed before."""

from collections.abc import Callable

from events.proof.checkpoint_log import CheckpointLog, RolledBackError
from events.proof.checkpoints import Checkpoint
from events.proof.guard import GuardedTree
from events.service.incidents import Incident, Incidents


def sign_checkpoint_of(checkpoints: CheckpointLog, incidents: Incidents, now: int) -> Checkpoint:
    """Return the checkpoint of the day of ``now``, as ``CheckpointLog.sign`` does; raises what that raises.

    A log that does not extend what was signed is recorded as an incident, once.
    """
    return _signed(checkpoints.sign, incidents, now)


def sign_hour_of(checkpoints: CheckpointLog, incidents: Incidents, now: int) -> Checkpoint:
    """Return the last checkpoint after a look at what has changed, as ``CheckpointLog.sign_hour`` does."""
    return _signed(checkpoints.sign_hour, incidents, now)


def accept_rollback_of(checkpoints: CheckpointLog, incidents: Incidents, now: int, actor: str) -> GuardedTree | None:
    """Let ``actor`` give up the tree that was signed and that the log does not extend; return it, None without one.

    Crash-safe: the incident is recorded first, and each step once, however often this is repeated.
    """
    guarded = checkpoints.find_rollback()
    if guarded is not None:
        incidents.record(_incident(guarded, now))
        checkpoints.accept_rollback(guarded, actor)
    return guarded


def _signed(sign: Callable[[int], Checkpoint], incidents: Incidents, now: int) -> Checkpoint:
    try:
        return sign(now)
    except RolledBackError as error:
        incidents.record(_incident(error.guarded, now))
        raise


def _incident(guarded: GuardedTree, now: int) -> Incident:
    words = (
        f"The log of checkpoints does not extend the tree of {guarded.size} leaves with the root {guarded.root}, which "
        "was signed: an older backup was restored, or the store has lost events."
    )
    return Incident(f"rollback-{guarded.size}-{guarded.root[:16]}", now, words)
