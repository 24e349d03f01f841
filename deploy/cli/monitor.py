"""Monitoring the log of an installation from outside."""

import contextlib
import re
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import click
import httpcore

from deploy.cli.audit import read_policy
from deploy.cli.checkpoints import FILE
from deploy.cli.output import CliError, escape_unprintable, report_errors
from events.proof.documents import DocumentError
from events.proof.monitor import READERS, ContradictionError, Fetch, FetchError, Monitor, RunFinding, was_seen
from events.proof.notes import ED25519, NoteKey, parse_vkey
from events.proof.policies import Policy
from events.proof.public_keys import MAX_KEY_SET_BYTES, read_key_set

KEYS_PATH = ".well-known/rookery-keys.json"
TIMEOUT_S = 30.0
MAX_WAITS = 10
MAX_WAIT_S = 60.0
TIMEOUTS = {"connect": TIMEOUT_S, "read": TIMEOUT_S, "write": TIMEOUT_S, "pool": 10 * TIMEOUT_S}


@click.command()
@click.argument("url")
@click.option(
    "--state",
    default=Path("rookery-monitor"),
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Directory of what was seen; a directory in it for each host.",
)
@click.option(
    "--vkey",
    help="The verifier key of the log; without it those that the server publishes in the first run are trusted.",
)
@click.option("--policy", "policy_file", type=FILE, help="Which witnesses must have cosigned (c2sp.org/tlog-policy).")
def monitor(url: str, state: Path, vkey: str | None, policy_file: Path | None) -> None:
    """Read the new part of the log of the installation at URL, and check it against all that was seen before.

    The root of every checkpoint is computed from the tiles of the log. Run it as often as you like: each run reads what
    is new. A contradiction is printed with its place, the signed notes are kept as evidence, and the exit code is 1.
    """
    host = urlsplit(url).netloc
    if urlsplit(url).scheme not in ("http", "https") or not host:
        raise CliError("URL must be the address of a Rookery server, such as https://rookery.example")
    key = None if vkey is None else _read_log_key(vkey)
    policy = read_policy(policy_file)
    with httpcore.ConnectionPool(max_connections=READERS, retries=2) as connections, report_errors(FetchError, OSError):
        fetch = fetcher(connections, url)
        directory = state / host.replace(":", "-")
        keys = [] if key is None else [key.raw]
        if key is None and not was_seen(directory):
            keys = _published_keys(fetch)
        try:
            finding = Monitor(fetch, directory, keys, None if key is None else key.name).run()
        except ContradictionError as error:
            raise CliError(escape_unprintable(f"CONTRADICTION: {error}")) from None
    _report(finding, policy, trusted=key is not None)


def fetcher(connections: httpcore.ConnectionPool, url: str) -> Fetch:
    """Return a function that fetches paths below ``url``, waiting between requests for as long as the server asks."""
    base = url.rstrip("/")

    def fetch(path: str, max_bytes: int) -> bytes | None:
        for _ in range(MAX_WAITS):
            with (
                _worded(f"{base}/{path}"),
                connections.stream("GET", f"{base}/{path}", extensions={"timeout": TIMEOUTS}) as answer,
            ):
                if answer.status == 404:
                    return None
                if answer.status == 200:
                    return _read(answer, f"{base}/{path}", max_bytes)
                if answer.status != 429:
                    raise FetchError(f"{base}/{path} answers with status {answer.status}")
                seconds = _retry_after_s(answer)
            time.sleep(seconds)
        raise FetchError(f"{base}/{path} answers with status 429 however long one waits")

    return fetch


def _read(answer: httpcore.Response, url: str, max_bytes: int) -> bytes:
    content = bytearray()
    for chunk in answer.iter_stream():
        content += chunk
        if len(content) > max_bytes:
            raise FetchError(f"{url} has more than {max_bytes:,} bytes")
    return bytes(content)


def _retry_after_s(answer: httpcore.Response) -> float:
    """Return after how many seconds the server wants to be asked again, at most MAX_WAIT_S."""
    [text] = [value for name, value in answer.headers if name.lower() == b"retry-after"][:1] or [b""]
    return min(int(text), MAX_WAIT_S) if re.fullmatch(rb"[0-9]{1,9}", text) else MAX_WAIT_S


@contextlib.contextmanager
def _worded(url: str) -> Iterator[None]:
    """Raise FetchError in place of the errors of httpcore."""
    try:
        yield
    except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError) as error:
        raise FetchError(f"{url} cannot be read: {str(error) or type(error).__name__}") from None


def _published_keys(fetch: Fetch) -> list[bytes]:
    """Return the public keys that the server publishes and that are not revoked."""
    packed = fetch(KEYS_PATH, MAX_KEY_SET_BYTES)
    if packed is None:
        raise FetchError(f"there are no keys at /{KEYS_PATH}: name the key of the log with --vkey")
    try:
        return [key.raw for key in read_key_set(packed).values() if key.revoked is None]
    except DocumentError as fault:
        raise FetchError(f"/{KEYS_PATH}: {fault}") from None


def _report(finding: RunFinding, policy: Policy | None, *, trusted: bool) -> None:
    head = finding.head
    lines = [
        f"{head.origin}: {head.size:,} leaves, root {head.root.hex()}",
        f"  {finding.grown_by:,} leaves are new; all before are as they were",
        f"  signed by key {finding.key.id.hex()}, {finding.key.vkey}",
    ]
    if finding.is_new_key:
        lines.append("  NEW KEY: it is in an entry of the log and was not known before; ask the operator about it")
    if not trusted:
        lines.append("  the key is trusted as the server has published it: name the one that you know with --vkey")
    if finding.entries:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(finding.entries.items()))
        lines.append(f"  entries read: {kinds}")
    satisfied = True
    if policy is not None:
        satisfied, words = _judge(finding, policy)
        lines.append(f"  {words}")
    click.echo("\n".join(map(escape_unprintable, lines)))
    if not satisfied:
        raise SystemExit(1)


def _judge(finding: RunFinding, policy: Policy) -> tuple[bool, str]:
    try:
        words, satisfied = policy.judge(str(finding.note))
    except DocumentError as fault:
        raise CliError(escape_unprintable(f"CONTRADICTION: the checkpoint by the policy: {fault}")) from None
    return satisfied, words


def _read_log_key(vkey: str) -> NoteKey:
    try:
        key = parse_vkey(vkey)
    except DocumentError as fault:
        raise CliError(f"--vkey: {fault}") from None
    if key.type != ED25519:
        raise CliError("--vkey: it is the key of a witness (type 04); a log has one of type 01")
    return key
