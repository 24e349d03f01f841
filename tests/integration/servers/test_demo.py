"""The demonstration plays to the end, proves what happened, and fails loudly."""

import re
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest
from click.testing import CliRunner

from deploy.cli import main
from deploy.local import demo
from deploy.local.installation import LocalInstallation


@pytest.fixture
def installed(installation: LocalInstallation, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, bool]]:
    """Let the demonstration play on the shared installation; return what it has asked for: directories, embedded."""
    asked: list[tuple[Path, bool]] = []

    def install(var: Path, embedded: bool) -> AbstractContextManager[LocalInstallation]:
        assert list(var.iterdir()) == []
        asked.append((var, embedded))
        return nullcontext(installation)

    monkeypatch.setattr(demo, "LocalInstallation", install)
    return asked


def test_the_demonstration_proves_matches(monkeypatch: pytest.MonkeyPatch, installed: list[tuple[Path, bool]]) -> None:
    monkeypatch.setattr(demo, "MAX_DURATION_S", 110.0)  # other tests run beside it
    result = CliRunner().invoke(main, ["demo"])
    assert result.exit_code == 0, result.output
    ((var, embedded),) = installed
    assert embedded, "REDIS_URL is never touched"
    assert not var.exists(), "the installation is temporary"
    assert len(re.findall(r"^Game over: ", result.stdout, re.M)) == 2
    assert len(re.findall(r"^The chain of match \S+ is intact: \d+ events, [0-9a-f]{64}$", result.stdout, re.M)) == 2
    assert re.search(r"^Ada in bashni-2: 1500 -> \d+$", result.stdout, re.M)  # unchanged after a draw
    opponents = re.findall(r"^Computer, level \d in towers-4: 1500 -> (\d+)$", result.stdout, re.M)
    assert len(opponents) == 2
    assert sum(map(int, opponents)) == pytest.approx(3000, abs=1)  # what one wins the other loses
    assert "a b c d e f g h" in re.sub(" +", " ", result.stdout)


def test_an_unfinished_demonstration_fails(monkeypatch: pytest.MonkeyPatch, installed: list[tuple[Path, bool]]) -> None:
    monkeypatch.setattr(demo, "MAX_DURATION_S", -1.0)
    monkeypatch.setattr(demo, "NAMES", ("Alan", "Edsger"))  # the others may be there already
    result = CliRunner().invoke(main, ["demo"])
    assert result.exit_code == 1
    assert re.search("The demonstration failed: the next move of match m[a-z2-7]+ did not come", result.stderr)


def test_a_demonstration_with_senseless_settings_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROOKERY_SHARDS", "many")
    result = CliRunner().invoke(main, ["demo"])
    assert result.exit_code == 1
    assert "The demonstration failed: the settings in the environment cannot be read" in result.stderr
