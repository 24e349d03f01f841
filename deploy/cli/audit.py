"""Proof on the command line: bundles exported and verified, matches replayed ply by ply, all of a store examined."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import click

from deploy.cli.arguments import Refusal, in_words, printable
from deploy.cli.commands import Commands
from deploy.cli.installation import open_installation, store_options
from domain.match.authority import Authority
from events.private.statements import MEMBERS, Recalled, recalled
from events.proof.audit import Ply, Record, audit
from events.proof.bundle import LARGEST, SEED, make_bundle, read_bundle
from events.proof.documents import Fault
from events.proof.public_keys import KeySet, read_key_set
from events.proof.verification import BEYOND, place_in_words, verify
from events.runtime.wall_clock import now_ms, rfc3339
from events.store.chain import verified_events
from events.store.codec import content_shown
from events.store.contract import DamagedStream
from events.store.envelope import Envelope, canonical_json

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


PLACES = {
    "all": "deploy.cli.everything:examine_everything",
    "checkpoint": "deploy.cli.checkpoints:checkpoint",
    "consistency": "deploy.cli.checkpoints:consistency",
    "keys": "deploy.cli.checkpoints:keys",
    "rotate-key": "deploy.cli.checkpoints:rotate_key",
    "revoke-key": "deploy.cli.checkpoints:revoke_key",
}


@click.group("audit", cls=Commands, places=PLACES)
def audit_commands() -> None:
    """Prove matches: signed bundles, replays, checkpoints."""


@audit_commands.command("verify")
@click.argument("file", nargs=-1, required=True, type=FILE)
@click.option("--keys", "key_file", type=FILE, help="Trusted keys, as /.well-known/rookery-keys.json has them.")
@click.option("--opponents", is_flag=True, help="Compute the opponents' answers again, too.")
def verify_bundles(file: tuple[Path, ...], key_file: Path | None, opponents: bool) -> None:
    """Verify bundles offline and print what is proved, step by step, up to the first thing that is wrong."""
    keys = _keys(key_file)
    proved = [_verified(path, keys, opponents) for path in file]
    if not all(proved):
        raise SystemExit(1)


@audit_commands.command()
@store_options
@click.argument("match")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="A file instead of standard output.")
def export(match: str, output: Path | None) -> None:
    """Write the signed bundle of MATCH, private or not: who may run this may see everything."""
    parts = open_installation()
    with in_words():
        parts.store.check_clock()
        events, now = parts.store.read(match), now_ms()
        if not events:
            raise Refusal(f"there is no match {match!r} in this store")
        packed = make_bundle(match, events, parts.keys.signing(), now, parts.checkpoints.inclusion(match))
    if output is None:
        click.echo(packed, nl=False)
    else:
        output.write_bytes(packed)


@audit_commands.command()
@store_options
@click.argument("match")
@click.option("--boards", is_flag=True, help="Draw the board before and after each ply.")
@click.option("--opponents/--no-opponents", default=True, show_default=True, help="Compute their answers again.")
def replay(match: str, boards: bool, opponents: bool) -> None:
    """Replay MATCH, an id or the file of a bundle, and print every event; the first that differs ends it."""
    with in_words():
        name, events, withheld = _source(match)
        texts = {} if Path(match).is_file() else _texts(name, events)
        try:
            chain = verified_events(name, events, () if withheld is None else (withheld,))
            for record in audit(name, chain, authority=Authority(name)):
                click.echo(_shown(record, boards, texts.get(record.envelope.version, {})))
                seed_known = withheld is None or record.envelope.version < withheld
                _refuse_difference(record, opponents, seed_known)
        except DamagedStream as damage:
            raise Refusal(f"DIFFERENT at version {damage.version}: {damage.reason}") from None
    click.echo(f"{len(events)} events, all as the rules give them")


@audit_commands.command()
def schema() -> None:
    """Print the JSON Schema of bundles."""
    import json

    from events.proof.bundle import bundle_schema

    click.echo(json.dumps(bundle_schema(), indent=2))


def _keys(path: Path | None) -> KeySet | None:
    if path is None:
        return None
    try:
        return read_key_set(path.read_bytes())
    except Fault as fault:
        raise Refusal(f"{path}: {fault}") from None


def _verified(path: Path, keys: KeySet | None, opponents: bool) -> bool:
    click.echo(f"{path}")
    proved, trusting = True, False
    try:
        for step in verify(_bytes_of(path), keys, opponents):
            trusting = trusting or step.name == BEYOND
            proved = proved and (step.proved or step.name == BEYOND)
            click.echo(f"  {'proved' if step.proved else 'NOT PROVED'}  {step.name}: {printable(step.found)}")
    except Fault as fault:
        click.echo(f"  FAULT  {printable(str(fault))}")
        return False
    if not proved:
        click.echo("  Nothing is wrong, but not everything is proved.")
    elif trusting:
        click.echo("  This bundle is whole and true. What lies beyond its events is taken at the word of the server.")
    else:
        click.echo("  This bundle is whole and true.")
    return proved


def _bytes_of(path: Path) -> bytes:
    """Return the bytes of a file, no more than it takes to see that there are too many."""
    with path.open("rb") as file:
        return file.read(LARGEST + 1)


def _source(match: str) -> tuple[str, list[Envelope], int | None]:
    """Return the match, its events and the version whose seed is withheld: from a file if there is one of this name."""
    path = Path(match)
    if path.is_file():
        try:
            bundle = read_bundle(_bytes_of(path))
        except Fault as fault:
            place = place_in_words(fault.place) or "fault"
            raise Refusal(printable(f"{path}: {place}: {fault.reason}")) from None
        return bundle.match, bundle.envelopes, bundle.withheld
    events = open_installation().store.read(match)
    if not events:
        raise Refusal(f"there is no file {match!r}, and no such match in this store")
    return match, events, None


def _refuse_difference(record: Record, opponents: bool, seed_known: bool) -> None:
    fault, answer = record.objection, record.answer
    if fault is None and answer is not None and seed_known:
        fault = answer.wrong_seed()
    if fault is None and answer is not None and opponents:
        if answer.computable:
            fault = answer.recompute()
        else:
            click.echo(f"    it cannot be computed again here: it is of {answer.engine}")
    if fault is not None:
        raise Refusal(printable(f"DIFFERENT at version {record.envelope.version}: {fault}"))


def _texts(match: str, events: Iterable[Envelope]) -> dict[int, dict[str, Recalled]]:
    """Return the texts that events of a match of the store name by their digests, by the version of the event."""
    parts = open_installation()
    naming = [event for event in events if event.type in MEMBERS]
    present = parts.people.persons(event.actor for event in naming)
    kept = parts.statements.of_match(match) if naming else {}
    return {event.version: recalled(event, kept, present) for event in naming}


def _shown(record: Record, boards: bool, texts: Mapping[str, Recalled]) -> str:
    event = record.envelope
    lines = [f"version {event.version}  {event.type} by {event.actor}  {rfc3339(event.at)}  {event.id}"]
    if record.ply is not None:
        lines += [f"    {line}" for line in _shown_ply(record.ply, boards)]
    elif content := {name: value for name, value in content_shown(event).items() if name != SEED}:
        lines.append(f"    {canonical_json(content).decode()}")
        lines += [f"    {member}: {_in_words(text)}" for member, text in texts.items()]
    return "\n".join(map(printable, lines))


def _in_words(text: Recalled) -> str:
    if text.fault is not None:
        return f"NOT SHOWN: {text.fault}"
    return "erased with its author" if text.text is None else text.text


def _shown_ply(ply: Ply, boards: bool) -> Iterator[str]:
    yield f"ply {ply.event.ply}, {ply.seat_name}: {ply.event.move}, one of {ply.legal_moves} legal moves, {ply.channel}"
    if ply.clocks is not None:
        yield f"clock   {ply.clocks[0]}, then {ply.clocks[1]}"
    sides = zip(("before", "after "), ply.positions, ply.diagrams, strict=True)
    for name, position, diagram in sides:
        yield f"{name}  {position}"
        if boards:
            yield from diagram.splitlines()
