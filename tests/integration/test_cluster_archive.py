"""Matches on a cluster are archived, read and brought back as on one server."""

from pathlib import Path

from tests.support.stepped_installation import SteppedInstallation

DAYS_31_MS = 31 * 24 * 3600 * 1000


def test_matches_on_a_cluster_are_archived_listed_and_brought_back(cluster_url: str, tmp_path: Path) -> None:
    shop = SteppedInstallation(cluster_url, archive_url=(tmp_path / "archive").as_uri())
    matches = [shop.win("alice", "bob") for _ in range(4)]
    shop.project_all()
    shop.rate_all()
    shop.now += DAYS_31_MS
    events, listed = [shop.store.read(match) for match in matches], shop.readmodels.matches("finished", "alice")
    assert shop.parts.archiver.archive_all(shop.store.all_live_streams()) == 4
    shop.parts.archiver.collect()
    assert [shop.store.read(match) for match in matches] == events
    assert shop.readmodels.matches("finished", "alice") == listed
    for match in matches:
        assert shop.store.restore(match)
        shop.projector.project([match])
    assert [shop.store.read(match) for match in matches] == events
    assert shop.readmodels.matches("finished", "alice") == listed
