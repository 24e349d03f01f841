"""The commands in README and docs, run as written there, and how commands find the installation they use."""

import re
import shlex
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from deploy.cli import main, target
from deploy.local.environment import ENVIRONMENT_FILE
from deploy.local.installation import LocalInstallation
from events.proof.documents import write_document
from tests.support.api_client import ApiClient
from tests.support.eventually import eventually

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = [block for page in PAGES for block in re.findall(r"^```sh\n(.*?)^```", page.read_text(), re.DOTALL | re.M)]
PROGRAM = ".venv/bin/rookery"
COMMANDS = [line.strip() for block in BLOCKS for line in block.splitlines() if line.startswith(PROGRAM)]

EXPLAINED_ONLY = (
    "opponent ladder", "audit rotate-key", "audit revoke-key", "audit accept-rollback", "restore rookery.backup",
)  # fmt: skip
"""What takes minutes, needs an empty store, or would change an installation that other tests share: only ``--help``."""

PARALLEL = ("rules impact", "audit all")
"""What starts processes, for which the installation of a test is too small."""


def rookery(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def succeeds(*arguments: str) -> bool:
    return rookery(*arguments).exit_code == 0


@pytest.fixture
def beside(installation: LocalInstallation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("REDIS_URL", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "var").symlink_to(installation.var)
    return tmp_path


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, in which there is no installation, nor is there one beside the program."""
    monkeypatch.delenv("REDIS_URL", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(target, "ROOT", tmp_path / "nowhere")
    return tmp_path


def test_every_documented_command_does_what_it_says_where_it_is(installation: LocalInstallation, beside: Path) -> None:
    (beside / "tests").symlink_to(ROOT / "tests")
    with ApiClient(installation.url) as client:
        client.sign_up("Documented", "correct horse battery")
        match_id = client.post("/matches", {"game": "bashni", "seats": [{"kind": "me"}, {"kind": "open"}]})["id"]
        (beside / f"rookery-{match_id}.json").write_text(rookery("audit", "export", match_id).stdout)
        (beside / "RECEIPT").write_bytes(write_document(client.get(f"/matches/{match_id}/receipt")))
    (beside / "rookery-keys.json").write_text(rookery("audit", "keys").stdout)
    assert len(COMMANDS) > 20
    for command in COMMANDS:
        line = command.replace("MATCH", match_id).replace("NAME", "Documented").replace("*.json", "towers.public.json")
        words = shlex.split(line, comments=True)[1:]
        if " ".join(words[:2]) in EXPLAINED_ONLY:
            words = [*words[:2], "--help"]
        words += ["--processes", "1"] if " ".join(words[:2]) in PARALLEL else []
        if words[:2] == ["rebuild", "--check"]:  # it differs while matches of other tests go on
            eventually(partial(succeeds, *words), command)
            continue
        ran = rookery(*words)
        # What a checkpoint would prove of this match depends on whether there has been one today.
        done = ran.exit_code == 0 or "No fault found, but not everything is proved." in ran.stdout
        assert done, f"{command}\n{ran.output}"


def test_commands_say_on_which_installation_they_act(installation: LocalInstallation, beside: Path) -> None:
    found = f"Using the installation in {installation.var.resolve()} (name another: --var or --redis).\n"
    for words in (["incidents"], ["people", "roles"], ["clocks"], ["audit", "keys"]):
        assert rookery(*words).stderr == found
    assert rookery("rules", "show", "bashni", "start").stderr == ""
    named = rookery("incidents", "--redis", installation.settings.redis_url).stderr
    assert named == f"Using the store redis://127.0.0.1:{installation.ports.server}/0, named by --redis.\n"


def test_commands_find_the_installation_beside_the_program_from_any_folder(
    installation: LocalInstallation, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = elsewhere / "program"
    program.mkdir()
    (program / "var").symlink_to(installation.var)
    monkeypatch.setattr(target, "ROOT", program)
    assert rookery("incidents").exit_code == 0
    assert rookery("incidents", "--var", str(installation.var)).exit_code == 0


@pytest.mark.parametrize("left_behind", [None, "", "export REDIS_URL='redis://:x@127.0.0.1:1/0'\n"])
def test_where_nothing_runs_commands_say_how_to_name_an_installation(elsewhere: Path, left_behind: str | None) -> None:
    if left_behind is not None:
        (elsewhere / "var").mkdir()
        (elsewhere / "var" / ENVIRONMENT_FILE).write_text(
            f"{left_behind}export BROKER_URL=redis://127.0.0.1:1/1\nexport ROOKERY_PREFIX=rk:\n" if left_behind else ""
        )
    for words in (["verify"], ["people", "grant", "anna", "arbiter"], ["audit", "all"], ["rebuild"], ["clocks"]):
        refused = rookery(*words)
        assert (refused.exit_code, refused.stdout) == (1, "")
        assert refused.stderr == (
            f"No Rookery runs on {elsewhere / 'var'}: start it (make run), or name another one with --var DIRECTORY, "
            "--redis URL or REDIS_URL.\n"
        )


def test_a_store_that_cannot_be_one_is_refused_without_its_password(elsewhere: Path) -> None:
    refused = rookery("verify", "--redis", "http://:secret@store/0")
    assert refused.exit_code == 2
    assert "must begin with redis://" in refused.stderr
    assert "secret" not in refused.stderr
