"""A backup of an installation whose primary sentinels watch."""

from pathlib import Path

import pytest

from events.operations.backup import copying
from events.operations.backup.records import BackupError
from tests.integration.test_backup_commands import back_up, read_all, restore_into
from tests.support.server import RealServer
from tests.support.stepped_installation import SteppedInstallation
from tests.support.watched_servers import Watched


def test_a_primary_is_backed_up_unless_it_is_replaced(server: RealServer, watched: Watched, tmp_path: Path) -> None:
    shop = SteppedInstallation(watched.url)
    shop.play(shop.start("alice", "bob", match="running"), 3)
    back_up(shop, tmp_path / "backup")
    copy = restore_into(server.url, read_all(tmp_path / "backup"), shop)
    assert copy.store.read("running") == shop.store.read("running")
    records: list[object] = []

    def write(record: object) -> None:
        if not records:
            watched.fail_over()
            watched.wait_until_complete()
        records.append(record)

    with pytest.raises(BackupError, match="another server took over"):
        copying.make_backup(shop.store, lambda: shop.now, write)
