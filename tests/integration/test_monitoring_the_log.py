"""The log of a running API, monitored from outside by the command."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpcore
import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from flask import Flask

from api.services import Services
from deploy.cli import main, monitor
from events.matches.readmodels.summary import DAY_MS
from events.proof.monitor import Fetch, FetchError
from events.proof.notes import parse_note
from events.proof.tree_heads import CosigningKey, note_key
from tests.support.callers import ME, OPEN, Caller


@pytest.fixture
def watched(app: Flask, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let the command read from ``app``; return the paths that it reads."""
    client, read = app.test_client(), list[str]()

    def fetch(path: str, max_bytes: int) -> bytes | None:
        read.append(path)
        answer = client.get(f"/{path}")
        content: bytes = answer.data[:max_bytes]
        return None if answer.status_code == 404 else content

    def fetcher(*_: object) -> Fetch:
        return fetch

    monkeypatch.setattr(monitor, "fetcher", fetcher)
    return read


def test_a_log_is_followed_and_judged(
    services: Services, anna: Caller, app: Flask, watched: list[str], tmp_path: Path
) -> None:
    def run(*more: str) -> tuple[int, str]:
        command = ["audit", "monitor", "https://rookery.example", "--state", str(tmp_path / "seen"), *more]
        result = CliRunner().invoke(main, command)
        return result.exit_code, result.output

    log, keys = services.checkpoints, services.keys
    assert "there is nothing at /checkpoint" in run()[1]
    for day in range(2):
        match = anna.create(ME, OPEN)
        size = log.sign(services.now() + day * DAY_MS).size
        code, output = run()
        assert (code, f": {size} leaves, root " in output) == (0, True), output
        assert "1 match" in output
        assert "the key is trusted as the server has published it" in output
    keys.rotate()
    log.sign(services.now() + 2 * DAY_MS)
    watched.clear()
    code, output = run()
    assert (code, "NEW KEY" in output) == (0, True), output
    assert not [path for path in watched if "keys" in path], "published keys are trusted in the first run alone"
    vkey = note_key(log.origin(), keys.signing().public.raw).vkey
    code, output = run("--vkey", vkey)
    assert (code, "0 leaves are new; all before are as they were" in output) == (0, True)
    policy, witness = tmp_path / "policy", CosigningKey("witness.example/w", bytes(32))
    policy.write_text(f"log {vkey}\nwitness w {witness.public.vkey}\nquorum w\n")
    assert run("--policy", str(policy))[0] == 1
    services.witnesses.add("https://witness.example", witness.public.vkey)
    note = parse_note(log.note())
    log.replace_note(log.note(), str(note.joined_by([witness.cosign(note.text, 1_800_000_000)])))
    assert run("--policy", str(policy))[0] == 0
    page = app.test_client().get(f"/matches/{match}/record").text
    assert "was cosigned by witness.example/w at <time" in page
    other = note_key("other", Ed25519PrivateKey.from_private_bytes(bytes(32)).public_key().public_bytes_raw()).vkey
    assert "CONTRADICTION: the log calls itself" in run("--vkey", other, "--state", str(tmp_path / "fresh"))[1]


class Limiting:
    """A pool of connections to a server that answers with ``statuses``, one after the other."""

    def __init__(self, *statuses: int) -> None:
        self._statuses = list(statuses)

    @contextmanager
    def stream(self, *_: object, **__: object) -> Iterator[httpcore.Response]:
        headers = [(b"Retry-After", b"7")]
        yield httpcore.Response(self._statuses.pop(0), headers=headers, content=iter([b"tile"]))


def test_a_server_that_limits_requests_is_asked_again_when_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    waits = list[float]()
    monkeypatch.setattr("deploy.cli.monitor.time.sleep", waits.append)
    fetch = monitor.fetcher(Limiting(429, 429, 200, 404), "https://rookery.example")  # type: ignore[arg-type]
    assert (fetch("tile/0/000", 100), waits) == (b"tile", [7, 7])
    assert fetch("tile/0/001", 100) is None
    fetch = monitor.fetcher(Limiting(*[429] * 10), "https://rookery.example")  # type: ignore[arg-type]
    with pytest.raises(FetchError, match="answers with status 429 however long one waits"):
        fetch("tile/0/000", 100)
