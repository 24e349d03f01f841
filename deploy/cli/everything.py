"""All of a store examined: ``rookery audit all``, and what it has in common with ``rookery verify``."""

import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from deploy.cli.arguments import Refusal, in_words, printable, progress
from deploy.cli.installation import find, open_installation, store_options
from events.installation import Installation
from events.proof.administration_audit import AuditedAdministration, audit_administration, unlogged
from events.proof.checkpoints import Checkpoint, read_checkpoint
from events.proof.documents import Fault
from events.proof.log_audit import AuditedLog, LogFinding, audit_log
from events.runtime.wall_clock import now_ms
from events.store.time import StoreClock

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


class AuditedLogs(NamedTuple):
    """What was found in both logs of an installation."""

    checkpoints: AuditedLog
    administration: AuditedAdministration

    @property
    def findings(self) -> list[LogFinding]:
        """What is wrong."""
        return [*self.checkpoints.findings, *self.administration.findings]

    def __str__(self) -> str:
        leaves, signed, acts = self.checkpoints.size, len(self.checkpoints.checkpoints), self.administration.entries
        return f"{leaves} heads in {signed} checkpoints, {acts} entries in the log of administration"


def audit_logs(parts: Installation, kept: Sequence[Checkpoint] = ()) -> AuditedLogs:
    """Return what was found in the logs of checkpoints and of administration; raises like ``audit_log``."""
    log = audit_log(parts.store, parts.checkpoints, parts.keys, kept)
    return AuditedLogs(log, audit_administration(parts.store, parts.administration, log.checkpoints, kept))


@click.command("all")
@store_options
@click.option("--processes", type=click.IntRange(1), default=os.cpu_count() or 1, show_default=True)
@click.option(
    "--opponents", is_flag=True, help="Compute the opponents' answers again, too: it takes as long as playing."
)
@click.option(
    "--checkpoint",
    "kept_files",
    type=FILE,
    multiple=True,
    help="A checkpoint that was kept elsewhere: nothing before it can have been changed unseen. Repeatable.",
)
def examine_everything(processes: int, opponents: bool, kept_files: tuple[Path, ...]) -> None:
    """Replay every match of the store and compare it with the logs and texts; print what is wrong, and the rate."""
    from workers.fleet.audit import Examined, examine_all
    from workers.fleet.batches import matches_of

    kept = [_kept(path) for path in kept_files]
    parts = open_installation()
    store = parts.store
    total, began = Examined(), time.perf_counter()
    with in_words():
        present = StoreClock(store.client, now_ms).store_now()
        with progress(matches_of(store), "Replaying") as step:
            for examined in examine_all(find().settings, processes, opponents, present):
                total = total.plus(examined)
                tell("DIFFERENT", [LogFinding(found.place, found.reason) for found in examined.findings])
                for _ in range(examined.matches):
                    step()
        seconds = time.perf_counter() - began
        logs = audit_logs(parts, kept)
    findings = [*logs.findings, *unlogged(logs.administration, total.acts, present)]
    tell("DIFFERENT", findings, logs.checkpoints.unlisted)
    tell("NOT CHECKED", logs.checkpoints.unchecked)
    click.echo(
        f"{total.matches} matches, {total.events} events, {total.plies} plies in {seconds:.1f} s: "
        f"{total.matches / seconds:,.0f} matches/s, {total.plies / seconds:,.0f} plies/s"
    )
    if opponents:
        click.echo(f"{total.computed} answers of opponents computed again, {total.uncomputable} are of another engine")
    click.echo(str(logs))
    if not kept and logs.checkpoints.checkpoints:
        click.echo(
            "Anyone who can write to the store can sign, too: give a checkpoint that was kept with --checkpoint."
        )
    elsewhere = sum(found.match is None for found in findings) + logs.checkpoints.unlisted
    wrong = {found.match for found in total.findings} | {found.match for found in findings if found.match is not None}
    if elsewhere:
        click.echo(f"{elsewhere} faults are in logs and keys, see above")
    if wrong:
        click.echo(f"{len(wrong)} of {total.matches} matches are not as they must be, see above")
    if elsewhere or wrong:
        raise SystemExit(1)
    click.echo("All matches are as the rules give them.")


def tell(verdict: str, findings: Iterable[LogFinding], unlisted: int = 0) -> None:
    """Print ``findings`` line by line, and how many others there are."""
    for finding in findings:
        click.echo(printable(f"{verdict} {finding.place}: {finding.reason}"))
    if unlisted:
        click.echo(f"{verdict} in {unlisted} other places")


def _kept(path: Path) -> Checkpoint:
    try:
        return read_checkpoint(path.read_bytes())
    except Fault as fault:
        raise Refusal(printable(f"{path}: {fault}")) from None
