"""Backups made while everything runs, restored into an empty store: the same matches, people, logs and read models."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from deploy.cli import main
from events.installation import Installation
from events.matches.readmodels.summary import DAY_MS
from events.operations.backup import copying
from events.operations.backup.coverage import Coverage, matching
from events.operations.backup.files import open_records
from events.operations.backup.records import Record
from events.operations.backup.restoring import restore_backup, verify_backup
from events.proof.log_audit import audit_log
from events.runtime.connections import connect
from events.runtime.keys import ReadModelKeys, ShardKeys
from events.store.contract import Request, WrongInstallationError
from tests.support.chains import verify_all
from tests.support.dumps import CopiedKey, copied, write_copy
from tests.support.feed_groups import lags_of
from tests.support.fleet import rebuild
from tests.support.server import RealServer
from tests.support.stepped_installation import PREFIX, SteppedInstallation, drain

EMPTY_DATABASE = 5
KEY = "5e" * 32
DAYS_31_MS = 31 * DAY_MS


class Lived:
    """An installation that has seen play, people, a chat, proofs, notices and an archive, as it is copied for tests."""

    def __init__(self) -> None:
        self.keys: list[CopiedKey] = []
        self.now = 0


@pytest.fixture(scope="module")
def lived() -> Lived:
    """Return what the first test makes, and the others copy."""
    return Lived()


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("archive")


@pytest.fixture
def shop(server: RealServer, lived: Lived, archive: Path) -> SteppedInstallation:
    if lived.keys:
        with server.client() as client:
            write_copy(client, lived.keys)
    shop = SteppedInstallation(server.url, archive_url=archive.as_uri())
    if lived.keys:
        shop.now = lived.now
        return shop
    live(shop)
    lived.keys, lived.now = copied(shop.client), shop.now
    return shop


def live(shop: SteppedInstallation) -> None:
    shop.win("alice", "bob")
    drain(*shop.all_consumers())
    shop.rate_all()
    shop.checkpoints.sign(shop.now)
    shop.now += DAYS_31_MS
    shop.parts.archiver.archive_all(shop.store.all_live_streams())
    shop.win("alice", "bob")
    shop.play(shop.start("alice", "bob", match="running"), 3)
    drain(*shop.all_consumers())
    shop.rate_all()
    people = shop.parts.people
    person = people.sign_up("anna", "correct horse battery")
    people.guest()
    shop.parts.chats.post("running", "alice", "hello", Request("r", ""))
    shop.parts.notebooks.write_notes(person.id, "running", "a plan")
    shop.checkpoints.sign(shop.now)
    shop.parts.administration.grant(person.id, "arbiter", "server")
    shop.heartbeat.beat(shop.now, shop.now)


@pytest.fixture
def elsewhere(server: RealServer) -> str:
    return f"{server.url.rpartition('/')[0]}/{EMPTY_DATABASE}"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "backup"


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    path.write_text(KEY)
    return path


def run(url: str, *arguments: object, archive: Path | None = None) -> Result:
    """Return what a command of ``rookery`` says about the store at ``url``."""
    environment = {"REDIS_URL": url, "BROKER_URL": "memory://", "ROOKERY_PREFIX": PREFIX, "ROOKERY_SHARDS": "4"}
    if archive is not None:
        environment["ROOKERY_ARCHIVE_URL"] = archive.as_uri()
    return CliRunner().invoke(main, [str(each) for each in arguments], env=environment)


def back_up(shop: SteppedInstallation, file: Path, *options: object) -> None:
    made = run(shop.settings.redis_url, "backup", file, *options)
    assert made.exit_code == 0, made.output


def contents(shop: SteppedInstallation) -> dict[str, Any]:
    """Return the keys of an installation that it has after a restore, with what is in them."""
    coverage = Coverage(PREFIX)
    kept = matching(
        [
            *(*coverage.single, *coverage.after, *(each for stage in coverage.before for each in stage)),
            *(*coverage.with_logs, *coverage.with_shards, *coverage.derived),
        ]
    )
    shard, models = ShardKeys(PREFIX, 0), ReadModelKeys(PREFIX, 1)
    every_shard = [shard.feed, shard.snapshot("*"), models.of_shard(0) + "*", models.generation(0)]
    later = [*(each.replace("{s00}", "{s*}") for each in every_shard), models.ratings + "*"]
    made_again = matching(later)
    names = [name.decode() for name in shop.client.scan_iter(f"{PREFIX}*")]
    return {name: content(shop, name) for name in names if kept.fullmatch(name) and not made_again.fullmatch(name)}


def content(shop: SteppedInstallation, name: str) -> Any:
    kind, _, found = shop.client.eval(copying.READ_KEY, 1, name)
    if kind == b"hash":
        return dict(zip(found[::2], found[1::2], strict=True))
    return sorted(found) if kind == b"set" else found


def has_keys(url: str) -> bool:
    return next(connect(url).scan_iter(f"{PREFIX}*"), None) is not None


def restore_into(
    url: str, records: list[Record], shop: SteppedInstallation, until: int | None = None
) -> SteppedInstallation:
    """Restore a backup of ``shop``, or its first records; return the copy, at the same instant."""
    parts = Installation(shop.settings._replace(redis_url=url), lambda: shop.now)
    begin, _ = verify_backup(records)
    restore_backup(parts.store, begin, parts.checkpoints, records if until is None else killed_after(records, until))
    copy = SteppedInstallation(url, archive_url=shop.settings.archive_url)
    copy.now = shop.now
    return copy


class KilledError(BaseException):
    """Stands for the end of the process."""


def killed_after(records: list[Record], count: int) -> Iterator[Record]:
    yield from records[:count]
    raise KilledError


def read_all(file: Path) -> list[Record]:
    with open_records(str(file), None) as records:
        return list(records)


def test_a_restore_plays_on(shop: SteppedInstallation, elsewhere: str, file: Path, key: Path, archive: Path) -> None:
    back_up(shop, file, "--key", key)
    assert b"hello" not in file.read_bytes()
    verified = run(elsewhere, "backup", "--verify", file, "--key", key)
    assert "2 matches with" in verified.output
    assert "1 archived matches: their files in the archive are NOT part of the backup" in verified.output
    restored = run(elsewhere, "restore", file, "--key", key, "--processes", 1, archive=archive)
    assert restored.exit_code == 0, restored.output
    assert "0 matches damaged" not in restored.output

    copy = SteppedInstallation(elsewhere, archive_url=archive.as_uri())
    copy.now = shop.now
    rebuild(shop.settings)
    assert copy.dump() == shop.dump()
    assert verify_all(copy.store) == []
    assert contents(copy) == contents(shop)
    assert copy.parts.people.guests.contents("") == shop.parts.people.guests.contents("")
    assert copy.parts.people.guests.next_due() == shop.parts.people.guests.next_due()

    # Consumers of the relay get what the feeds tell, and the match goes on with the next move.
    drain(*copy.all_consumers())
    assert copy.dump() == shop.dump()
    copy.play("running", 2)
    shop.play("running", 2)
    drain(copy.projections(), shop.projections())
    assert [event.data for event in copy.store.read("running")] == [event.data for event in shop.store.read("running")]
    drain(*copy.all_consumers())
    assert [lag for each in copy.all_consumers() for lag in lags_of(each.group) if lag.pending or lag.undelivered] == []
    assert copy.checkpoints.sign(copy.now + DAY_MS).size > 0


def test_bad_restores_refused(shop: SteppedInstallation, elsewhere: str, file: Path, key: Path, tmp_path: Path) -> None:
    back_up(shop, file, "--key", key)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    changed, cut_off, other = tmp_path / "changed", tmp_path / "cut-off", tmp_path / "other-key"
    changed.write_bytes(content)
    cut_off.write_bytes(file.read_bytes()[:-1])
    other.write_text("0f" * 32)
    short = tmp_path / "short-key"
    short.write_text("0f")
    for arguments, reason in [
        ((changed, "--key", key), "changed"),
        ((cut_off, "--key", key), "truncated"),
        ((file, "--key", other), "the key is another one"),
        ((file, "--key", short), "has 1 bytes, not 32"),
        ((file,), "the backup is encrypted"),
        ((key,), "no backup of Rookery"),
        ((tmp_path / "nothing",), "cannot be read"),
    ]:
        refused = run(elsewhere, "restore", *arguments)
        assert (refused.exit_code, reason in refused.output) == (1, True), refused.output
        assert not has_keys(elsewhere)
    again = run(shop.settings.redis_url, "backup", file)
    assert (again.exit_code, "backups are never overwritten" in again.output) == (1, True)
    assert sorted(path.name for path in tmp_path.glob(".*")) == []


def test_a_backup_needs_an_empty_store_of_its_kind(shop: SteppedInstallation, elsewhere: str, file: Path) -> None:
    back_up(shop, file)
    refused = run(shop.settings.redis_url, "restore", file)
    assert (refused.exit_code, "the store is not empty" in refused.output) == (1, True)
    for name, value, reason in (
        ("ROOKERY_PREFIX", "other:", "set ROOKERY_PREFIX=test:"),
        ("ROOKERY_SHARDS", "5", "set ROOKERY_SHARDS=4"),
    ):
        environment = {"REDIS_URL": elsewhere, "ROOKERY_PREFIX": PREFIX, name: value}
        refused = CliRunner().invoke(main, ["restore", str(file)], env=environment)
        assert (refused.exit_code, reason in refused.output) == (1, True)
    assert not has_keys(elsewhere)


def test_a_killed_restore_is_recognised_and_repeated(shop: SteppedInstallation, elsewhere: str, file: Path) -> None:
    back_up(shop, file)
    records = read_all(file)
    for until in (1, len(records) * 2 // 3):
        with pytest.raises(KilledError):
            restore_into(elsewhere, records, shop, until)
        assert has_keys(elsewhere)
        with pytest.raises(WrongInstallationError, match="a restore into this store was not completed"):
            SteppedInstallation(elsewhere)
    connect(elsewhere).set(f"{PREFIX}left-over", 1)
    assert contents(restore_into(elsewhere, records, shop)) == contents(shop)
    assert connect(elsewhere).get(f"{PREFIX}left-over") is None


def test_busy_backups_fit_together(shop: SteppedInstallation, elsewhere: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between its steps a match moves on, others begin and end, a checkpoint is signed, and one is archived."""
    due = shop.win("alice", "bob", match="due")
    drain(*shop.all_consumers())
    shop.rate_all()
    shop.now += DAY_MS
    shop.checkpoints.sign(shop.now)
    shop.now += DAYS_31_MS
    shop.play(shop.start("alice", "bob", match="going-on"), 3)
    records: list[Record] = []
    ended: list[str] = []

    def write(record: Record) -> None:
        records.append(record)
        if len(records) % 4 == 0 and len(ended) < 8:
            shop.play("going-on", 1)
            ended.append(shop.win("alice", "bob", match=f"won-{len(ended)}"))
            shop.checkpoints.sign(shop.now)

    copy_matches = copying._Copy._copy_matches

    def archive_before(copy: Any, shard: int, keys: ShardKeys, names: list[bytes]) -> None:
        if due.encode() in names:
            shop.parts.archiver.archive_all([due])
        copy_matches(copy, shard, keys, names)

    monkeypatch.setattr(copying, "KEYS_PER_STEP", 1)
    monkeypatch.setattr(copying._Copy, "_copy_matches", archive_before)
    began_with = shop.store.head("going-on")
    copying.make_backup(shop.store, lambda: shop.now, write)
    assert len(ended) == 8
    assert shop.store.are_archived([due]) == [True]
    copy = restore_into(elsewhere, records, shop)
    assert verify_all(copy.store) == []
    assert copy.store.head("going-on").version >= began_with.version
    assert audit_log(copy.store, copy.checkpoints, copy.keyring).findings == []
    assert copy.store.are_archived([due]) == [True]
    assert copy.parts.administration.verify() > 0
    drain(*copy.all_consumers())
    rebuild(copy.settings)
    assert {name: shop.store.read(name)[: copy.store.head(name).version] for name in copy.store.all_streams()} == {
        name: copy.store.read(name) for name in copy.store.all_streams()
    }


def test_a_backup_ends_with_a_failover(shop: SteppedInstallation, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def answer(store: object, _: object) -> list[str]:
        """Return another identity at each question of the same store: threads of other tests may ask about theirs."""
        asked.append(store)
        return [str(sum(other is store for other in asked))]

    monkeypatch.setattr(type(shop.store), "server_identities", answer)
    refused = run(shop.settings.redis_url, "backup", file)
    assert (refused.exit_code, "another server took over" in refused.output) == (1, True)
    assert not file.exists()


def test_the_time_since_the_backup_is_credited(shop: SteppedInstallation, elsewhere: str, file: Path) -> None:
    back_up(shop, file)
    copy = restore_into(elsewhere, read_all(file), shop)
    copy.now = shop.now + DAY_MS // 2
    (outage,) = copy.heartbeat.beat(copy.now, copy.now - 1)
    assert outage.until - outage.since >= DAY_MS // 2 - 1000
