"""Matches on a cluster are archived, read and brought back as on one server."""

from pathlib import Path

from events.runtime.keys import ProofKeys
from tests.support.stepped_installation import PREFIX, SteppedInstallation

DAYS_31_MS = 31 * 24 * 3600 * 1000


def test_matches_on_a_cluster_are_archived_listed_and_brought_back(cluster_url: str, tmp_path: Path) -> None:
    shop = SteppedInstallation(cluster_url, archive_url=(tmp_path / "archive").as_uri())
    matches = [shop.win("alice", "bob") for _ in range(4)]
    shop.project_all()
    shop.rate_all()
    shop.parts.checkpoints.sign(shop.now)
    shop.now += DAYS_31_MS
    history, leaves = shop.readmodels.rating_history("alice", "bashni-2"), dict(shop.parts.checkpoints.logged())
    events, listed = [shop.store.read(match) for match in matches], shop.readmodels.matches("finished", "alice")
    assert shop.parts.archiver.archive_all(shop.store.all_live_streams()) == 4
    shop.parts.archiver.collect()
    assert shop.readmodels.rating_history("alice", "bashni-2") == history
    assert dict(shop.parts.checkpoints.logged()) == leaves
    assert shop.client.hlen(ProofKeys(PREFIX).logged) == 0
    assert [shop.store.read(match) for match in matches] == events
    assert shop.readmodels.matches("finished", "alice") == listed
    for match in matches:
        assert shop.store.restore(match)
        assert not shop.ratings.rate(match), "it is in the ratings still"
        shop.projector.project([match])
    assert [shop.store.read(match) for match in matches] == events
    assert shop.readmodels.matches("finished", "alice") == listed
