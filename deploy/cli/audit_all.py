"""The audit of a store, and of its logs, which ``rookery verify`` audits too."""

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from deploy.cli.checkpoints import FILE, read_document
from deploy.cli.following import follow_job, processes_option
from deploy.cli.output import escape_unprintable
from deploy.cli.target import open_installation, target_options
from events.installation import Installation
from events.proof.administration_audit import AuditedAdministration, audit_administration, unlogged
from events.proof.checkpoints import Checkpoint, read_checkpoint
from events.proof.log_audit import AuditedLog, LogFinding, audit_log
from events.runtime.wall_clock import now_ms
from events.store.time import StoreClock
from workers.fleet.audit import RECOMPUTE, Audited
from workers.fleet.kinds import AUDIT


class AuditedLogs(NamedTuple):
    """The audits of both logs of an installation."""

    checkpoints: AuditedLog
    administration: AuditedAdministration

    @property
    def findings(self) -> list[LogFinding]:
        """The faults of both."""
        return [*self.checkpoints.findings, *self.administration.findings]

    def __str__(self) -> str:
        leaves, signed, acts = self.checkpoints.size, len(self.checkpoints.checkpoints), self.administration.entries
        return f"{leaves} leaves in {signed} checkpoints, {acts} entries in the log of administration"


def audit_logs(installation: Installation, trusted: Sequence[Checkpoint] = ()) -> AuditedLogs:
    """Audit the logs of checkpoints and of administration, with ``trusted`` checkpoints; raises like ``audit_log``."""
    store = installation.store
    log = audit_log(store, installation.checkpoints, installation.keys, trusted)
    return AuditedLogs(log, audit_administration(store, installation.administration, log.checkpoints, trusted))


@click.command("all")
@target_options
@processes_option
@click.option(
    "--opponents", is_flag=True, help="Recompute the opponents' moves too, which takes as long as playing them."
)
@click.option(
    "--checkpoint",
    "trusted_files",
    type=FILE,
    multiple=True,
    help="A checkpoint that was kept elsewhere: no change before it goes undetected. May be repeated.",
)
def audit_all(processes: int, opponents: bool, trusted_files: tuple[Path, ...]) -> None:
    """Replay every match of the store and compare it with logs and texts; report faults and the speed."""
    trusted = [read_document(path, read_checkpoint) for path in trusted_files]
    installation = open_installation()
    start = time.perf_counter()
    now = StoreClock(installation.client, now_ms).store_now()
    total = _audit_matches(processes, opponents)
    seconds = time.perf_counter() - start
    logs = audit_logs(installation, trusted)
    findings = [*logs.findings, *unlogged(logs.administration, total.acts, now)]
    print_findings("DIFFERENT", findings, logs.checkpoints.unlisted)
    print_findings("NOT CHECKED", logs.checkpoints.unchecked)
    click.echo(
        f"{total.matches} matches, {total.events} events, {total.plies} plies in {seconds:.1f} s: "
        f"{total.matches / seconds:,.0f} matches/s, {total.plies / seconds:,.0f} plies/s"
    )
    if opponents:
        click.echo(f"{total.recomputed} moves of opponents recomputed, {total.uncomputable} are of another engine")
    click.echo(str(logs))
    if not trusted and logs.checkpoints.checkpoints:
        click.echo(
            "Anyone who can write to the store can also sign: pass a checkpoint kept elsewhere with --checkpoint."
        )
    elsewhere = sum(finding.match is None for finding in findings) + logs.checkpoints.unlisted
    faulty = {finding.match for finding in total.findings} | {
        finding.match for finding in findings if finding.match is not None
    }
    if elsewhere:
        click.echo(f"{elsewhere} faults in logs and keys, see above")
    if faulty:
        click.echo(f"{len(faulty)} of {total.matches} matches are faulty, see above")
    if elsewhere or faulty:
        raise SystemExit(1)
    click.echo("All matches follow the rules.")


def _audit_matches(processes: int, opponents: bool) -> Audited:
    """Audit every match, printing findings as they come; return the totals."""
    total = Audited()

    def show(audited: Audited) -> None:
        nonlocal total
        total = total.plus(audited)
        print_findings(
            "DIFFERENT", [LogFinding(difference.place, difference.reason) for difference in audited.findings]
        )

    follow_job(AUDIT, {RECOMPUTE: opponents}, processes, "Replaying", show)
    return total


def print_findings(verdict: str, findings: Iterable[LogFinding], unlisted: int = 0) -> None:
    """Print ``findings`` line by line, and the number of ``unlisted`` others."""
    for finding in findings:
        click.echo(escape_unprintable(f"{verdict} {finding.place}: {finding.reason}"))
    if unlisted:
        click.echo(f"{verdict} in {unlisted} other places")
