"""Where the last leaf of an archived match is: in the catalogue, found there, and noted again before it is live."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from events.operations.backup import copying
from events.operations.backup.records import CopiedKey, Record
from events.runtime.keys import ProofKeys
from events.store.archive.catalogue import unpack_archived
from events.store.contract import Request
from tests.support.server import RealServer
from tests.support.stepped_installation import PREFIX, SteppedInstallation

DAYS_31_MS = 31 * 24 * 3600 * 1000
NOTES = ProofKeys(PREFIX).logged


class KilledError(BaseException):
    """Stands for the end of the process."""


@pytest.fixture
def shop(server: RealServer, tmp_path: Path) -> SteppedInstallation:
    """Return an installation in which two matches are over and due, and in the log."""
    shop = SteppedInstallation(server.url, archive_url=(tmp_path / "archive").as_uri())
    for _ in range(2):
        shop.win("alice", "bob")
    shop.project_all()
    shop.rate_all()
    shop.parts.checkpoints.sign(shop.now)
    shop.now += DAYS_31_MS
    return shop


def archive_all(shop: SteppedInstallation) -> int:
    """Archive what is due; return how many matches were archived."""
    return shop.parts.archiver.archive_all(shop.store.all_live_streams())


def proofs(shop: SteppedInstallation) -> Any:
    checkpoints = shop.parts.checkpoints
    return dict(checkpoints.logged()), [checkpoints.inclusion(match) for match in sorted(shop.store.all_streams())]


def append_to(shop: SteppedInstallation, match: str) -> None:
    shop.store.append(match, shop.store.head(match), [shop.store.read(match)[-1].draft], Request("more", ""))


def test_an_archived_match_has_no_note_and_is_proved_as_before(shop: SteppedInstallation) -> None:
    before = proofs(shop)
    assert archive_all(shop) == 2
    assert shop.client.hlen(NOTES) == 0
    assert proofs(shop) == before
    shop.parts.checkpoints.growth.log_heads(before[0])
    assert proofs(shop) == before


def test_a_match_that_is_brought_back_is_logged_again_only_when_it_has_changed(shop: SteppedInstallation) -> None:
    before, size = proofs(shop), shop.parts.checkpoints.size()
    archive_all(shop)
    first, second = sorted(shop.store.all_streams())
    assert shop.store.restore(first)
    append_to(shop, second)
    assert sorted(shop.client.hkeys(NOTES)) == [first.encode(), second.encode()]
    assert proofs(shop) == before
    shop.parts.checkpoints.growth.log_heads([first, second])
    assert shop.parts.checkpoints.size() == size + 1


def test_leaves_that_no_checkpoint_covers_stay_noted_until_one_does(shop: SteppedInstallation) -> None:
    match = sorted(shop.store.all_streams())[0]
    append_to(shop, match)
    shop.project_all()
    shop.now += DAYS_31_MS
    assert archive_all(shop) == 2
    assert shop.client.hkeys(NOTES) == [match.encode()]
    shop.parts.checkpoints.sign(shop.now)
    before = proofs(shop)
    assert shop.parts.archiver.move_notes() == 1
    assert shop.client.hlen(NOTES) == 0
    assert proofs(shop) == before


def killing(method: Callable[..., Any], is_done: bool) -> Callable[..., Any]:
    """Return ``method`` so that a call is the last, with or without its effect."""

    def call(*arguments: Any, **options: Any) -> Any:
        if is_done:
            method(*arguments, **options)
        raise KilledError

    return call


def archive_and_bring_back(shop: SteppedInstallation) -> None:
    archive_all(shop)
    shop.parts.archiver.move_notes()
    for match in shop.store.all_streams():
        shop.store.restore(match)


@pytest.mark.parametrize("is_done", [False, True])
def test_kills_cost_no_leaf(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch, is_done: bool) -> None:
    before, size = proofs(shop), shop.parts.checkpoints.size()
    steps: list[tuple[object, str]] = [
        (shop.store.archive.catalogue, "note_leaves"),
        (shop.store.client, "hdel"),
        (shop.store.client, "hsetnx"),
        (shop.store, "_restore"),
    ]
    for owner, name in steps:
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, killing(getattr(owner, name), is_done))
            with pytest.raises(KilledError):
                archive_and_bring_back(shop)
        assert proofs(shop) == before, name
        shop.parts.checkpoints.growth.log_heads(before[0])
        assert shop.parts.checkpoints.size() == size, name
        if live := list(shop.store.all_live_streams()):
            shop.projector.project(live)
    archive_all(shop)
    shop.parts.archiver.move_notes()
    assert shop.client.hlen(NOTES) == 0


def test_a_note_stays_when_its_match_comes_back(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    before, hdel = proofs(shop), shop.store.client.hdel

    def bring_back(*arguments: Any) -> Any:
        for match in before[0]:
            shop.store.restore(match)
        return hdel(*arguments)

    monkeypatch.setattr(shop.store.client, "hdel", bring_back)
    archive_all(shop)
    assert shop.store.are_archived(list(before[0])) == [False, False]
    assert shop.client.hlen(NOTES) == 2
    assert proofs(shop) == before


def test_a_backup_names_only_leaves_that_it_has(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    match = shop.win("alice", "bob")
    shop.project_all()
    shop.rate_all()
    shop.now += DAYS_31_MS
    copy_shard = copying._Copy._copy_shard

    def archive_first(copy: Any, shard: int) -> None:
        archive_all(shop)
        shop.parts.checkpoints.sign(shop.now)
        shop.parts.archiver.move_notes()
        copy_shard(copy, shard)

    monkeypatch.setattr(copying._Copy, "_copy_shard", archive_first)
    records: list[Record] = []
    manifest = copying.make_backup(shop.store, lambda: shop.now, records.append)
    entries = dict[bytes, bytes]()
    for record in records:
        if isinstance(record, CopiedKey) and b":archived:" in record.name:
            entries |= dict(zip(record.content[::2], record.content[1::2], strict=True))
    leaves = [unpack_archived(packed).leaf for packed in entries.values()]
    assert len(leaves) == 3
    assert sorted(leaf < manifest.leaves for leaf in leaves if leaf is not None) == [True, True]
    assert unpack_archived(entries[shop.store.archive.catalogue.place(match).field]).leaf is None
