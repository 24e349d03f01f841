"""A backup restored without a store being named: into an embedded server of its own, which ``rookery up`` then runs."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from deploy.cli import main
from deploy.local.embedded import STAMP_FILE
from tests.integration.test_backup_commands import back_up
from tests.support.chains import verify_all
from tests.support.server import RealServer
from tests.support.stepped_installation import PREFIX, SteppedInstallation


def test_a_backup_is_restored_below_var(server: RealServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REDIS_URL", raising=False)
    monkeypatch.setenv("ROOKERY_PREFIX", PREFIX)
    shop = SteppedInstallation(server.url)
    shop.play(shop.start("alice", "bob", match="running"), 3)
    back_up(shop, tmp_path / "backup")
    var = tmp_path / "var"
    restored = CliRunner().invoke(main, ["restore", str(tmp_path / "backup"), "--var", str(var), "--processes", "1"])
    assert restored.exit_code == 0, restored.output
    stamp = json.loads((var / "redis" / STAMP_FILE).read_text())
    assert shop.store.installation().id in stamp.values()
    again = CliRunner().invoke(main, ["restore", str(tmp_path / "backup"), "--var", str(var)])
    assert (again.exit_code, "the store is not empty" in again.output) == (1, True)
    copy = RealServer(var / "redis")
    try:
        there = SteppedInstallation(copy.url)
        assert verify_all(there.store) == []
        assert there.store.read("running") == shop.store.read("running")
    finally:
        copy.close()
    assert not (var / "environment").exists()
