"""Archiving: what is dropped from live memory was written and proved before, whatever is killed, damaged or late."""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from deploy.cli import main
from events.runtime.keys import ArchiveKeys, ShardKeys
from events.store.archive.framing import ArchiveUnavailableError
from events.store.archive.pack import GROUP
from events.store.archive.storage import Storage
from events.store.archive.tables import MAX_TABLES_OF_A_SIZE
from events.store.contract import EMPTY, DamagedStreamError, Request, StaleVersionError
from tests.support.server import RealServer
from tests.support.stepped_installation import OTHER_LEAVES, PREFIX, SteppedInstallation
from workers.archiving import ArchiveRound
from workers.fleet.kinds import REBUILD, make_work

DAYS_31_MS = 31 * 24 * 3600 * 1000


class KilledError(BaseException):
    """Stands for the end of the process."""


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return tmp_path / "archive"


@pytest.fixture
def shop(server: RealServer, archive: Path) -> SteppedInstallation:
    return SteppedInstallation(server.url, archive_url=archive.as_uri())


def finish(shop: SteppedInstallation, count: int) -> list[str]:
    """Finish matches, project and rate them, and let a month pass; return them."""
    matches = [shop.win("alice", "bob") for _ in range(count)]
    shop.project_all()
    shop.rate_all()
    shop.now += DAYS_31_MS
    return matches


def archive_all(shop: SteppedInstallation) -> int:
    """Archive what is due; return how many matches were archived."""
    return shop.parts.archiver.archive_all(shop.store.all_live_streams())


def seen(shop: SteppedInstallation) -> Any:
    """Return what can be read of all matches: events, heads, lists and results against each other."""
    names = list(shop.store.all_streams())
    views = [("recent", None), ("recent", "alice"), ("finished", "bob")]
    return (
        {name: (shop.store.read(name), shop.store.head(name), shop.store.open(name).events) for name in names},
        [shop.readmodels.matches(view, player) for view, player in views],
        shop.readmodels.head_to_head("alice", "bob"),
        list(shop.readmodels.rated()),
    )


def test_a_match_is_in_the_log_of_checkpoints_before_it_is_archived(shop: SteppedInstallation) -> None:
    matches = finish(shop, 2)
    assert archive_all(shop) == 2
    assert shop.parts.checkpoints.size() == 2
    shop.parts.checkpoints.sign(shop.now)
    assert all(shop.parts.checkpoints.inclusion(match_id) for match_id in matches)
    assert shop.parts.checkpoints.size() == 2 + OTHER_LEAVES, "once each"


def test_only_matches_that_have_been_over_for_long_enough_are_archived(shop: SteppedInstallation) -> None:
    old = finish(shop, 1)
    recent, going_on = shop.win("alice", "bob"), shop.start("alice", "bob")
    shop.project_all()
    shop.rate_all()
    assert archive_all(shop) == 1
    assert shop.store.are_archived([*old, recent, going_on]) == [True, False, False]
    assert list(shop.store.all_live_streams()) == [
        name for name in shop.store.all_streams() if name in (recent, going_on)
    ]


def test_a_match_whose_result_is_not_in_the_ratings_yet_is_not_archived(shop: SteppedInstallation) -> None:
    shop.win("alice", "bob")
    shop.project_all()
    shop.now += DAYS_31_MS
    assert archive_all(shop) == 0


def test_killed_rounds_lose_nothing(shop: SteppedInstallation, archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finish(shop, 5)
    before = seen(shop)
    store, catalogue = shop.store, shop.store.archive.catalogue
    steps: list[tuple[object, str]] = [
        (store.archive.storage, "write"),
        (store.archive.storage, "read"),
        (catalogue, "add_pack"),
        (catalogue, "replace_tables"),
        (catalogue, "begin_round"),
        (store, "drop"),
    ]
    killed = 0
    for owner, name in steps:
        for is_done in (False, True):
            for survived in range(2):
                with monkeypatch.context() as patch:
                    patch.setattr(owner, name, killing(getattr(owner, name), survived, is_done))
                    try:
                        archive_all(shop)
                    except KilledError:
                        killed += 1
                assert seen(shop) == before, (name, is_done, survived)
                bring_back_all(shop)
    assert killed >= 15
    assert archive_all(shop) == 5
    monkeypatch.setattr("events.operations.archiving.UNUSED_KEPT_DAYS", 0)
    shop.parts.archiver.collect()
    assert seen(shop) == before
    referenced = {pack.file for pack in catalogue.packs()} | {table.file for table in catalogue.tables()}
    files = {str(path.relative_to(archive)) for path in archive.rglob("*") if path.is_file()}
    assert {file for file in files if not file.startswith("dictionaries")} == referenced


def bring_back_all(shop: SteppedInstallation) -> None:
    """Make every match live again."""
    for match in shop.store.all_streams():
        if shop.store.restore(match):
            shop.projector.project([match])


def killing(method: Callable[..., Any], survived: int, is_done: bool) -> Callable[..., Any]:
    """Return ``method`` so that a call after ``survived`` ones is the last, with or without its effect."""
    calls = iter(range(1000))

    def call(*arguments: Any, **options: Any) -> Any:
        if next(calls) < survived:
            return method(*arguments, **options)
        if is_done:
            method(*arguments, **options)
        raise KilledError

    return call


def test_a_paused_round_drops_nothing_later(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    finish(shop, 2)
    drop = shop.store.drop

    def drop_late(*arguments: Any) -> bool:
        shop.parts.archiver.collect()
        return drop(*arguments)

    monkeypatch.setattr("events.operations.archiving.UNUSED_KEPT_DAYS", 0)
    monkeypatch.setattr(shop.store, "drop", drop_late)
    before = seen(shop)
    assert archive_all(shop) == 0
    assert seen(shop) == before


def test_a_match_that_changes_meanwhile_stays_live(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    (match,) = finish(shop, 1)
    drop, store = shop.store.drop, shop.store

    def drop_after_event(*arguments: Any) -> bool:
        draft = store.read(match)[-1].draft
        store.append(match, store.head(match), [draft], Request("late", ""))
        return drop(*arguments)

    monkeypatch.setattr(store, "drop", drop_after_event)
    assert archive_all(shop) == 0
    assert store.are_archived([match]) == [False]
    assert len(store.read(match)) == store.head(match).version


def test_an_archived_stream_cannot_be_begun_again(shop: SteppedInstallation) -> None:
    (match,) = finish(shop, 1)
    archive_all(shop)
    with pytest.raises(StaleVersionError):
        shop.store.append(match, EMPTY, [shop.store.read(match)[0].draft], Request("again", ""))
    assert shop.store.are_archived([match]) == [True]


def test_a_changed_byte_is_never_read_as_an_event(shop: SteppedInstallation, archive: Path) -> None:
    matches = finish(shop, 3)
    before = {match: shop.store.read(match) for match in matches}
    archive_all(shop)
    (pack,) = (archive / "packs").iterdir()
    intact = pack.read_bytes()
    for place in range(0, len(intact), max(1, len(intact) // 20)):
        pack.write_bytes(intact[:place] + bytes([intact[place] ^ 0x10]) + intact[place + 1 :])
        fresh = SteppedInstallation(shop.settings.redis_url, archive_url=archive.as_uri())
        for match in matches:
            with contextlib.suppress(DamagedStreamError, ArchiveUnavailableError):
                assert fresh.store.read(match) == before[match]


def test_tables_are_merged_and_the_lists_stay_the_same(shop: SteppedInstallation) -> None:
    for _ in range(MAX_TABLES_OF_A_SIZE + 1):
        finish(shop, 1)
        assert archive_all(shop) == 1
    before = seen(shop)
    shop.parts.archiver.merge_tables()
    assert len(shop.store.archive.catalogue.tables()) == 1
    assert seen(shop) == before


def test_a_merge_that_another_has_overtaken_lists_no_match_twice(shop: SteppedInstallation) -> None:
    catalogue = shop.store.archive.catalogue
    for _ in range(3):
        finish(shop, 1)
        archive_all(shop)
    first, second, third = catalogue.tables()
    assert catalogue.replace_tables([third], [first, second])
    assert not catalogue.replace_tables([second], [first])
    assert catalogue.tables() == [third]


@pytest.mark.parametrize("harm", ["missing", "damaged", "forgotten"])
def test_lists_of_archived_matches_are_found_wanting_and_written_again(
    shop: SteppedInstallation, archive: Path, monkeypatch: pytest.MonkeyPatch, harm: str
) -> None:
    finish(shop, 2)
    archive_all(shop)
    finish(shop, 1)
    archive_all(shop)
    before, url = seen(shop), archive.as_uri()
    monkeypatch.setenv("REDIS_URL", shop.settings.redis_url)
    monkeypatch.setenv("ROOKERY_PREFIX", PREFIX)
    monkeypatch.setenv("ROOKERY_ARCHIVE_URL", url)
    assert CliRunner().invoke(main, ["archive", "verify"]).exit_code == 0
    first, _ = shop.store.archive.catalogue.tables()
    if harm == "missing":
        (archive / first.file).unlink()
    elif harm == "damaged":
        (archive / first.file).write_bytes(b"\0" * first.size)
    else:
        assert shop.store.archive.catalogue.replace_tables([], [first])
    fresh = SteppedInstallation(shop.settings.redis_url, archive_url=url)
    page = fresh.readmodels.matches("recent")
    assert len(page.items) < 3
    assert page.incomplete or harm == "forgotten"
    told = CliRunner().invoke(main, ["archive", "verify"])
    assert (told.exit_code, "2 of its matches are in no list" in told.output) == (1, True)
    assert "3 archived matches are listed" in CliRunner().invoke(main, ["archive", "relist"]).output
    assert seen(SteppedInstallation(shop.settings.redis_url, archive_url=url)) == before
    assert CliRunner().invoke(main, ["archive", "verify"]).exit_code == 0


def test_files_are_kept_for_a_store_that_was_restored_from_a_backup(shop: SteppedInstallation) -> None:
    keys, archiver = ArchiveKeys(PREFIX), shop.parts.archiver
    for _ in range(MAX_TABLES_OF_A_SIZE + 1):
        finish(shop, 1)
        archive_all(shop)
    before, backup = seen(shop), shop.client.get(keys.tables)
    archiver.merge_tables()
    assert archiver.collect() == []
    shop.now += DAYS_31_MS - 2 * 24 * 3600 * 1000
    assert archiver.collect() == []
    shop.client.set(keys.tables, backup or b"")
    assert seen(shop) == before
    archiver.merge_tables()
    shop.now += 2 * 24 * 3600 * 1000
    gone = archiver.collect()
    assert len(gone) == MAX_TABLES_OF_A_SIZE + 1
    assert seen(shop) == before


def test_pages_of_a_list_go_on_from_live_matches_to_archived_ones(shop: SteppedInstallation) -> None:
    finish(shop, 3)
    archive_all(shop)
    shop.win("alice", "bob")
    shop.project_all()
    whole = [summary.match for summary in shop.readmodels.matches("finished", "alice").items]
    assert len(whole) == 4
    paged: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = shop.readmodels.matches("finished", "alice", cursor=cursor or None, limit=1)
        paged += [summary.match for summary in page.items]
        cursor = page.next
    assert paged == whole


def test_a_rebuild_leaves_archived_matches_alone(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    matches = finish(shop, 2)
    archive_all(shop)
    before, work = seen(shop), make_work(shop.parts, REBUILD)
    for stage in work.plan({}):
        for planned in stage:
            work.do({}, planned.content)
    assert shop.store.are_archived(matches) == [True, True]
    assert seen(shop) == before


def test_the_relay_archives_in_rounds(shop: SteppedInstallation) -> None:
    finish(shop, 3)
    do_round = ArchiveRound(shop.parts.archiver, shop.store.all_live_streams, lambda: shop.now)
    assert [do_round() for _ in range(3)] == [3, 0, 0]
    finish(shop, 1)
    shop.now -= DAYS_31_MS
    assert do_round() == 0, "what makes no full pack waits for a day"


def test_archive_commands_can_verify(shop: SteppedInstallation, archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (match,) = finish(shop, 1)
    monkeypatch.setenv("REDIS_URL", shop.settings.redis_url)
    monkeypatch.setenv("ROOKERY_PREFIX", PREFIX)

    def run(*arguments: str) -> str:
        return CliRunner().invoke(main, ["archive", *arguments]).output

    assert "ROOKERY_ARCHIVE_URL says where it is" in run("run")
    monkeypatch.setenv("ROOKERY_ARCHIVE_URL", archive.as_uri())
    assert "1 matches archived" in run("run")
    assert "1 packs" in run("status")
    assert "1 archived matches intact, 0 damaged" in run("verify")
    (pack,) = (archive / "packs").iterdir()
    intact = pack.read_bytes()
    pack.write_bytes(intact[:-40] + b"x" + intact[-39:])
    assert "0 archived matches intact, 1 damaged" in run("verify")
    pack.write_bytes(intact)
    assert f"{match} is live again" in run("restore", match)
    assert "is not archived" in run("restore", match)


def test_of_a_damaged_file_only_the_matches_that_cannot_be_read_are_damaged_and_named(
    shop: SteppedInstallation, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish(shop, GROUP + 3)
    archive_all(shop)
    named = [match for match, archived in shop.store.archived() if archived.locator.place >= GROUP]
    (file,) = (archive / "packs").iterdir()
    content = file.read_bytes()
    (pack,) = shop.store.archive.catalogue.packs()
    start, length = shop.store.archive._pack_indexes([pack])[0].events[1]
    file.write_bytes(content[: start + 8] + bytes(length - 8) + content[start + length :])
    monkeypatch.setenv("REDIS_URL", shop.settings.redis_url)
    monkeypatch.setenv("ROOKERY_PREFIX", PREFIX)
    monkeypatch.setenv("ROOKERY_ARCHIVE_URL", archive.as_uri())
    verified = CliRunner().invoke(main, ["archive", "verify"])
    assert verified.exit_code == 1
    assert f"{GROUP} archived matches intact, 3 damaged" in verified.stdout
    assert f"DAMAGED FILE {pack.name}: the file was changed\n" in verified.stdout
    assert {line.split()[1].rstrip(":") for line in verified.stdout.splitlines() if line.startswith("DAMAGED ")} == {
        "FILE",
        *named,
    }


@pytest.mark.parametrize("part", ["events", "summaries"])
def test_a_rebuild_goes_on_past_a_damaged_file_and_names_what_it_leaves_out(
    shop: SteppedInstallation, archive: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    matches = finish(shop, 2)
    archive_all(shop)
    (pack,) = shop.store.archive.catalogue.packs()
    start, length = getattr(shop.store.archive._pack_indexes([pack])[0], part)[0]
    content = (archive / pack.file).read_bytes()
    (archive / pack.file).write_bytes(content[: start + 8] + bytes(length - 8) + content[start + length :])
    monkeypatch.setenv("REDIS_URL", shop.settings.redis_url)
    monkeypatch.setenv("ROOKERY_PREFIX", PREFIX)
    monkeypatch.setenv("ROOKERY_ARCHIVE_URL", archive.as_uri())
    rebuilt = CliRunner().invoke(main, ["rebuild", "--processes", "1"])
    left_out = {line.split()[2].rstrip(":") for line in rebuilt.stdout.splitlines() if line.startswith("LEFT OUT ")}
    # What has lost its summary is brought back with its events.
    assert left_out == (set(matches) if part == "events" else set())
    assert rebuilt.exit_code == bool(left_out)
    assert shop.store.are_archived(matches) == [bool(left_out)] * 2


def test_a_storage_without_its_library_is_named(server: RealServer) -> None:
    storage = Storage("gcs://bucket/archive")
    with pytest.raises(ArchiveUnavailableError, match="library that is not installed"):
        storage.read("packs/none")


def test_no_live_stream_is_missed_meanwhile(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("events.store.archive.store.NAMES_PER_PAGE", 2)
    names = {shop.start("alice", "bob") for _ in range(30)}
    shard = max(range(shop.store.shards), key=lambda number: len(list(shop.store.streams(number))))
    of_shard = list(shop.store.streams(shard))
    met = []
    for name in shop.store.live_streams(shard):
        met.append(name)
        shop.client.lrem(ShardKeys(PREFIX, shard).streams, 1, name)
    assert met == of_shard
    assert set(met) <= names


def test_no_stream_is_missed_while_others_come_back(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("events.store.archive.store.NAMES_PER_PAGE", 2)
    finish(shop, 16)
    assert archive_all(shop) == 16
    shard = max(range(shop.store.shards), key=lambda number: len(list(shop.store.streams(number))))
    of_shard = list(shop.store.streams(shard))
    names = shop.store.streams(shard)
    met = [next(names)]
    for brought_back in (of_shard[0], of_shard[-1], of_shard[1]):
        shop.store.restore(brought_back)
    assert sorted([*met, *names]) == sorted(of_shard)


def test_a_pack_whose_registration_was_lost_is_found_by_its_name_and_never_deleted(shop: SteppedInstallation) -> None:
    finish(shop, 2)
    before = seen(shop)
    archive_all(shop)
    shop.client.delete(ArchiveKeys(PREFIX).packs)
    assert shop.parts.archiver.collect() == []
    fresh = SteppedInstallation(shop.settings.redis_url, archive_url=shop.settings.archive_url)
    assert seen(fresh) == before
