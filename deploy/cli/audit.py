"""Proof of matches: exporting and verifying bundles, replaying matches ply by ply."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import click

from deploy.cli.checkpoints import FILE, read_document
from deploy.cli.lazy_group import LazyGroup
from deploy.cli.output import CliError, escape_unprintable
from deploy.cli.target import open_installation, target_options
from domain.match.authority import Authority
from events.people.statements import MEMBERS, NamedText, named_texts
from events.proof.audit import Ply, Record, audit
from events.proof.bundle import MAX_BUNDLE_BYTES, SEED, bundle_schema, instant_of_reading, make_bundle, read_bundle
from events.proof.documents import DocumentError
from events.proof.policies import Policy, parse_policy
from events.proof.public_keys import KeySet, read_key_set
from events.proof.receipts import MAX_RECEIPT_BYTES, Comparison, Receipt, compare, read_receipt
from events.proof.transparency.tlog_proofs import tlog_proof_of
from events.proof.verification import BEYOND, place_in_words, verify
from events.runtime.wall_clock import now_ms, rfc3339
from events.store.chain import verified_events
from events.store.codec import content_shown
from events.store.contract import DamagedStreamError
from events.store.envelope import Envelope, canonical_json

COMMANDS = {
    "all": "deploy.cli.audit_all:audit_all",
    "checkpoint": "deploy.cli.checkpoints:checkpoint",
    "accept-rollback": "deploy.cli.checkpoints:accept_rollback",
    "consistency": "deploy.cli.checkpoints:consistency",
    "keys": "deploy.cli.checkpoints:keys",
    "rotate-key": "deploy.cli.checkpoints:rotate_key",
    "revoke-key": "deploy.cli.checkpoints:revoke_key",
    "monitor": "deploy.cli.monitor:monitor",
    "timestamp": "deploy.cli.checkpoints:timestamp",
}


@click.group("audit", cls=LazyGroup, locations=COMMANDS)
def audit_commands() -> None:
    """Prove matches: signed bundles, replays, checkpoints."""


@audit_commands.command("verify")
@click.argument("file", nargs=-1, required=True, type=FILE)
@click.option("--keys", "key_file", type=FILE, help="Trusted keys, as /.well-known/rookery-keys.json has them.")
@click.option("--opponents", is_flag=True, help="Recompute the opponents' moves too.")
@click.option("--policy", "policy_file", type=FILE, help="Which witnesses must have cosigned (c2sp.org/tlog-policy).")
def verify_bundles(file: tuple[Path, ...], key_file: Path | None, opponents: bool, policy_file: Path | None) -> None:
    """Verify bundles offline and print each proved step, up to the first fault."""
    keys, policy = None if key_file is None else read_document(key_file, read_key_set), read_policy(policy_file)
    verified = [_verify(path, keys, opponents, policy) for path in file]
    if not all(verified):
        raise SystemExit(1)


@audit_commands.command()
@target_options
@click.argument("match")
@click.option(
    "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file instead of standard output."
)
@click.option("--positions", is_flag=True, help="With every position, to be shown without the rules.")
@click.option(
    "--tlog-proof",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the proof that the last checkpoint knows the match to this file (c2sp.org/tlog-proof).",
)
def export(match: str, output: Path | None, positions: bool, tlog_proof: Path | None) -> None:
    """Write the signed bundle of MATCH, even of a private one: this command may see everything."""
    installation = open_installation()
    installation.store.check_clock()
    # Before the match is read, which so has the version that is included, and all acts that are older.
    asked, inclusion = now_ms(), installation.checkpoints.inclusion(match)
    events = installation.store.read(match)
    if not events:
        raise CliError(f"there is no match {match!r} in this store")
    key, at = installation.keys.signing(), instant_of_reading(events[-1].at, asked, now_ms())
    bundle = make_bundle(match, events, key, at, inclusion, positions=positions)
    if tlog_proof is not None:
        proof = inclusion and tlog_proof_of(inclusion, match, events[inclusion.version - 1].id)
        if proof is None:
            raise CliError(f"no checkpoint knows the match {match} yet")
        tlog_proof.write_text(str(proof))
    if output is None:
        click.echo(bundle, nl=False)
    else:
        output.write_bytes(bundle)


@audit_commands.command()
@target_options
@click.argument("match")
@click.option("--boards", is_flag=True, help="Draw the board before and after each ply.")
@click.option("--opponents/--no-opponents", default=True, show_default=True, help="Recompute their moves.")
def replay(match: str, boards: bool, opponents: bool) -> None:
    """Replay MATCH, an id or a bundle file, and print every event up to the first that differs."""
    match_id, events, withheld = _read_events(match)
    texts = {} if Path(match).is_file() else _recall_texts(match_id, events)
    try:
        chain = verified_events(match_id, events, () if withheld is None else (withheld,))
        for record in audit(match_id, chain, authority=Authority(match_id)):
            click.echo(_format_record(record, boards, texts.get(record.envelope.version, {})))
            seed_known = withheld is None or record.envelope.version < withheld
            _check_record(record, opponents, seed_known)
    except DamagedStreamError as damage:
        raise CliError(f"DIFFERENT at version {damage.version}: {damage.reason}") from None
    click.echo(f"{len(events)} events, all according to the rules")


@audit_commands.command()
def schema() -> None:
    """Print the JSON Schema of bundles."""
    click.echo(json.dumps(bundle_schema(), indent=2))


def _verify(path: Path, keys: KeySet | None, opponents: bool, policy: Policy | None) -> bool:
    click.echo(f"{path}")
    proved, trusting = True, False
    try:
        for step in verify(read_limited(path), keys, opponents, policy=policy):
            trusting = trusting or step.name == BEYOND
            proved = proved and (step.proved or step.name == BEYOND)
            click.echo(
                f"  {'proved' if step.proved else 'NOT PROVED'}  {step.name}: {escape_unprintable(step.finding)}"
            )
    except DocumentError as fault:
        click.echo(f"  FAULT  {escape_unprintable(str(fault))}")
        return False
    if not proved:
        click.echo("  No fault found, but not everything is proved.")
    elif trusting:
        click.echo("  Bundle verified. Facts beyond its events rest on the word of the server.")
    else:
        click.echo("  Bundle verified.")
    return proved


def read_limited(path: Path) -> bytes:
    """Return the bytes of a file, at most one more than a bundle may have."""
    with path.open("rb") as file:
        return file.read(MAX_BUNDLE_BYTES + 1)


def _read_events(match: str) -> tuple[str, list[Envelope], int | None]:
    """Return the match id, the events and the version whose seed is withheld, from the file or the match ``match``."""
    path = Path(match)
    if path.is_file():
        try:
            bundle = read_bundle(read_limited(path))
        except DocumentError as fault:
            place = place_in_words(fault.place) or "fault"
            raise CliError(escape_unprintable(f"{path}: {place}: {fault.reason}")) from None
        return bundle.match, bundle.envelopes, bundle.withheld
    events = open_installation().store.read(match)
    if not events:
        raise CliError(f"there is no file {match!r}, and no such match in this store")
    return match, events, None


def _check_record(record: Record, opponents: bool, seed_known: bool) -> None:
    fault, answer = record.objection, record.answer
    if fault is None and answer is not None and seed_known:
        fault = answer.wrong_seed()
    if fault is None and answer is not None and opponents:
        if answer.computable:
            fault = answer.recompute()
        else:
            click.echo(f"    it cannot be recomputed here: {answer.engine} played it")
    if fault is not None:
        raise CliError(escape_unprintable(f"DIFFERENT at version {record.envelope.version}: {fault}"))


def _recall_texts(match_id: str, events: Iterable[Envelope]) -> dict[int, dict[str, NamedText]]:
    """Return the texts that events of a stored match refer to by digest, by version of the event."""
    installation = open_installation()
    referring = [event for event in events if event.type in MEMBERS]
    present = installation.people.persons(event.actor for event in referring)
    statements = installation.statements.of_match(match_id) if referring else {}
    return {event.version: named_texts(event, statements, present) for event in referring}


def _format_record(record: Record, boards: bool, texts: Mapping[str, NamedText]) -> str:
    event = record.envelope
    lines = [f"version {event.version}  {event.type} by {event.actor}  {rfc3339(event.at)}  {event.id}"]
    if record.ply is not None:
        lines += [f"    {line}" for line in _format_ply(record.ply, boards)]
    elif content := {name: value for name, value in content_shown(event).items() if name != SEED}:
        lines.append(f"    {canonical_json(content).decode()}")
        lines += [f"    {member}: {_format_text(text)}" for member, text in texts.items()]
    return "\n".join(map(escape_unprintable, lines))


def _format_text(text: NamedText) -> str:
    if text.fault is not None:
        return f"NOT SHOWN: {text.fault}"
    return "erased with its author" if text.text is None else text.text


def _format_ply(ply: Ply, boards: bool) -> Iterator[str]:
    yield f"ply {ply.event.ply}, {ply.seat_name}: {ply.event.move}, one of {ply.legal_moves} legal moves, {ply.channel}"
    if ply.clocks is not None:
        yield f"clock   {ply.clocks[0]}, then {ply.clocks[1]}"
    sides = zip(("before", "after "), ply.positions, ply.diagrams, strict=True)
    for name, position, diagram in sides:
        yield f"{name}  {position}"
        if boards:
            yield from diagram.splitlines()


def read_policy(path: Path | None) -> Policy | None:
    """Return the policy in a file, None without a file; raises CliError."""
    return None if path is None else read_document(path, parse_policy)


@audit_commands.command("receipt")
@click.argument("receipt", type=FILE)
@click.argument("bundle", type=FILE)
@click.option("--keys", "key_file", type=FILE, help="Trusted keys, as /.well-known/rookery-keys.json has them.")
def receipt(receipt: Path, bundle: Path, key_file: Path | None) -> None:
    """Say whether BUNDLE contains what the server has signed in RECEIPT, or tells another story.

    The receipt may be copied out of a mail, with its lines broken and quoted.
    """
    keys = None if key_file is None else read_document(key_file, read_key_set)
    given = _read_receipt(receipt, keys)
    packed = read_limited(bundle)
    try:
        for _ in verify(packed, keys, rules=False):
            pass
        shown = read_bundle(packed)
        comparison = compare(given, shown)
    except DocumentError as fault:
        raise CliError(escape_unprintable(f"{bundle}: FAULT  {fault}")) from None
    signed = "" if keys is not None else " Give the keys of the server with --keys: no signature has been checked."
    version = given.version
    if comparison is Comparison.CONTAINED:
        click.echo(
            f"CONTAINED  The bundle has version {version} with the digest of the receipt, {given.digest}.{signed}"
        )
        if keys is None:
            raise SystemExit(1)
        return
    if comparison is Comparison.EARLIER:
        words = f"The bundle ends with version {shown.head.version}, before the receipt's {version}, and is no later"
        raise CliError(f"NOT COMPARED  {words}: get a newer one.{signed}")
    if comparison is Comparison.MISSING:
        dated = rfc3339(shown.signature.signed_at), rfc3339(given.signed_at)
        words = f"the bundle of {dated[0]} ends with version {shown.head.version}, the receipt of {dated[1]} is for"
        raise CliError(f"TWO STORIES  {words} version {version}, {given.digest}.{signed}")
    words = f"version {version} has the digest {given.digest} in the receipt and"
    raise CliError(f"TWO STORIES  {words} {shown.events[version - 1].digest} in the bundle.{signed}")


def _read_receipt(path: Path, keys: KeySet | None) -> Receipt:
    """Return the receipt in a file, when one of ``keys`` has signed it; raises CliError."""
    with path.open("rb") as file:
        packed = file.read(MAX_RECEIPT_BYTES + 1)
    try:
        given = read_receipt(packed)
        if keys is not None:
            given.check(keys)
    except DocumentError as fault:
        raise CliError(escape_unprintable(f"{path}: FAULT  {fault}")) from None
    return given
