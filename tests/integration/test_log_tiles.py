"""The log as files that anybody can mirror, its hourly checkpoints, and its leaves in the storage of the archive."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from api.services import EXTENSION, Services
from events.matches.readmodels.summary import DAY_MS
from events.proof import log_growth, merkle
from events.proof.administration_audit import audit_administration
from events.proof.checkpoint_log import CheckpointLog
from events.proof.checkpoints import KIND, Checkpoint, hour_of, statement, write_checkpoint
from events.proof.keys import SigningKey
from events.proof.leaf_store import LeafStore
from events.proof.leaves import KeyLeaf, MatchLeaf, RevocationLeaf, read_leaf
from events.proof.log_audit import audit_log
from events.proof.log_growth import CHECKPOINT_SIGNED, LogGrowth
from events.proof.notes import parse_note
from events.proof.tree_heads import note_key, parse_tree_head
from events.runtime.transactions import transact
from events.store.archive.framing import ArchiveUnavailableError, DamagedArchiveError
from events.store.archive.storage import Storage
from tests.support.bundles import unread
from tests.support.callers import ME, OPEN, Caller, app_on
from tests.support.log_tiles import entries_of_bundle, places_of
from tests.support.server import RealServer
from tests.support.stepped_installation import OTHER_LEAVES, SteppedInstallation
from tests.support.tables import table
from tests.support.tlog_proofs import check_tlog_proof, read_tlog_proof
from workers.archiving import LeavesRound

HOUR_MS = 3_600_000
MATCHES = 600


def made_up(count: int) -> list[bytes]:
    """Return leaves of matches that nobody plays, as they are stored."""
    digests = (hashlib.sha256(b"%d" % number).hexdigest() for number in range(count))
    return [MatchLeaf(f"match{number}", 1, digest).stored for number, digest in enumerate(digests)]


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return tmp_path / "archive"


@pytest.fixture
def services(server: RealServer, archive: Path) -> Services:
    """Return an installation whose log has more than two tiles."""
    services: Services = app_on(server.url, archive_url=archive.as_uri()).extensions[EXTENSION]
    services.checkpoints.growth.restore(made_up(MATCHES))
    services.checkpoints.sign(services.now())
    return services


@pytest.fixture
def visitor(server: RealServer, archive: Path) -> Any:
    return app_on(server.url, archive_url=archive.as_uri()).test_client()


def mirror(visitor: Any, size: int) -> dict[str, bytes]:
    """Return all files of a log of ``size`` leaves by their paths."""
    tiles = [f"/tile/{level}/{place.path}" for level in range(3) for place in places_of(size, level)]
    entries = [f"/tile/entries/{place.path}" for place in places_of(size, 0)]
    found = {path: visitor.get(path) for path in (*tiles, *entries)}
    assert {answer.status_code for answer in found.values()} == {200}
    assert {answer.headers["Cache-Control"] for answer in found.values()} == {"max-age=31536000, immutable"}
    return {path: answer.data for path, answer in found.items()}


def test_anybody_can_mirror_the_log_and_compute_its_root(services: Services, visitor: Any) -> None:
    answer = visitor.get("/checkpoint")
    assert answer.content_type == "text/plain; charset=utf-8"
    note = parse_note(answer.data)
    head = parse_tree_head(note.text)
    note.check(note_key(head.origin, services.keys.signing().public.raw))
    assert (head.origin, head.size) == (services.checkpoints.origin(), MATCHES + OTHER_LEAVES)
    files = mirror(visitor, head.size)
    hashes = b"".join(files[f"/tile/0/{place.path}"] for place in places_of(head.size, 0))
    leaves = [hashes[place : place + 32] for place in range(0, len(hashes), 32)]
    nodes = merkle.appended_nodes(0, leaves, unread)
    assert merkle.root(head.size, lambda level, index: nodes[level, index]) == head.root
    assert files["/tile/1/000.p/2"] == nodes[8, 0] + nodes[8, 1]
    entries = [
        entry for place in places_of(head.size, 0) for entry in entries_of_bundle(files[f"/tile/entries/{place.path}"])
    ]
    assert [merkle.leaf_hash(entry) for entry in entries] == leaves
    assert b"match0" not in b"".join(entries)


@pytest.mark.parametrize("path", table(__file__, "what no checkpoint reaches is not published"))
def test_what_no_checkpoint_reaches_is_not_published(services: Services, visitor: Any, path: str) -> None:
    services.checkpoints.growth.restore(made_up(300))
    answer = visitor.get(path)
    assert (answer.status_code, answer.json["code"]) == (404, "no-such-tile")


def test_moved_leaves_read_on(services: Services, visitor: Any, archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = services.checkpoints
    size = log.size()
    before = (mirror(visitor, size), log.leaves(0, size), log.consistency(100, 300), log.consistency(513, size))
    monkeypatch.setattr("events.proof.leaf_store.MAX_TILES_PER_MOVE", 1)
    round_of_leaves = LeavesRound(log)
    assert [round_of_leaves() for _ in range(4)] == [1, 1, 0, 0]
    places = log._places
    assert services.client.llen(places.leaves) == size - 512
    assert len(list((archive / "leaves").iterdir())) == 2
    assert (mirror(visitor, size), log.leaves(0, size), log.consistency(100, 300), log.consistency(513, size)) == before
    log.growth.restore(made_up(1000)[700:])
    assert log.leaves(500, 200)[-1] == made_up(1000)[797]
    assert LeavesRound(log)() == 0, "no checkpoint covers the third tile"
    (archive / "leaves").rename(archive / "elsewhere")
    fresh = LeafStore(services.client, places, Storage(archive.as_uri()))
    with pytest.raises(ArchiveUnavailableError):
        fresh.read(0, 1)
    assert len(fresh.read(600, 10)) == 10


class KilledError(BaseException):
    """Stands for the end of the process."""


def test_killed_moves_of_leaves_do_no_harm(services: Services, archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, written = services.checkpoints, list[str]()
    before = log.leaves(0, 1000)
    write = Storage.write

    def killed(storage: Storage, kind: str, content: bytes) -> str:
        if written:
            raise KilledError
        written.append(write(storage, kind, content))
        return written[0]

    with monkeypatch.context() as patched:
        patched.setattr(Storage, "write", killed)
        with pytest.raises(KilledError):
            log.move_tiles()
    assert (log.leaf_store.moved_tiles(), log.leaves(0, 1000)) == (0, before)

    def raced(*arguments: Any) -> Any:
        patched.undo()
        assert other.move_tiles(MATCHES) == 2
        return transact(*arguments)

    other = LeafStore(services.client, log._places, services.store.storage)
    with monkeypatch.context() as patched:
        patched.setattr("events.proof.leaf_store.transact", raced)
        assert log.leaf_store.move_tiles(MATCHES) == 0, "another process was faster"
    assert (log.leaf_store.moved_tiles(), log.leaves(0, 1000)) == (2, before)
    assert len(list((archive / "leaves").iterdir())) == 2
    log.growth.restore(made_up(800)[:300])
    services.client.lset(log._places.leaves, 0, made_up(1)[0].decode())
    with pytest.raises(DamagedArchiveError, match="the leaves of tile 2 are not those of the tree"):
        log.leaf_store.move_tiles(log.size())


def test_a_checkpoint_is_made_each_hour_in_which_something_has_happened(shop: SteppedInstallation) -> None:
    shop.start("alice", "bob")
    first = shop.checkpoints.sign_hour(shop.now)
    assert first.day == "2023-11-14"
    shop.start("alice", "bob")
    assert shop.checkpoints.sign_hour(shop.now) == first, "once an hour"
    shop.now += HOUR_MS
    reminders = shop.checkpoint_reminders()
    assert [reminders.request_checkpoint(), reminders.request_checkpoint()] == [True, False]
    second = shop.checkpoints.sign_hour(shop.now)
    assert (second.day, second.size) == (hour_of(shop.now), first.size + 1) == ("2023-11-14T23", 2 + OTHER_LEAVES)
    shop.checkpoints.consistency(first.size, second.size).check(first, second)
    assert not reminders.request_checkpoint()
    assert shop.checkpoints.sign(shop.now) == first, "the checkpoint of a day is its first"
    assert (shop.checkpoints.of_day("2023-11-14T23"), shop.checkpoints.latest()) == (second, second)
    assert shop.checkpoints.days() == ["2023-11-14"]
    note = shop.checkpoints.note_of(second)
    shop.now += HOUR_MS
    third = shop.checkpoints.sign_hour(shop.now)
    assert (third.day, third.size, shop.checkpoints.note()) == ("2023-11-15", second.size, note), "nothing has changed"
    shop.now += HOUR_MS
    assert shop.checkpoints.sign_hour(shop.now) == third
    assert not reminders.request_checkpoint(), "it was looked at"
    assert audit_log(shop.store, shop.checkpoints, shop.keyring).findings == []


def test_a_checkpoint_of_an_hour_cannot_be_replaced_without_the_log_of_acts(shop: SteppedInstallation) -> None:
    checkpoints = [shop.checkpoints.sign_hour(shop.now)]
    for _ in range(2):
        shop.start("alice", "bob")
        shop.now += HOUR_MS
        checkpoints.append(shop.checkpoints.sign_hour(shop.now))
    administration = shop.checkpoints._administration
    recorded = [act.facts["day"] for act in administration.acts() if act.act == CHECKPOINT_SIGNED]
    assert recorded == [checkpoint.day for checkpoint in checkpoints]
    first, second, _ = checkpoints
    stated = first.origin, second.day, first.size, first.root, second.signed_at, second.administration
    signature = shop.keyring.signing().sign(KIND, statement(*stated))
    other = second._replace(size=first.size, root=first.root, signature=signature)
    shop.client.hset(shop.checkpoints._places.checkpoints, second.day, write_checkpoint(other))
    present = audit_log(shop.store, shop.checkpoints, shop.keyring).checkpoints
    found = audit_administration(shop.store, administration, present).findings
    reason = "the log of administration knows it with another number of leaves or root"
    assert [(each.place, each.reason) for each in found] == [(f"checkpoint {second.day}", reason)]


def test_no_hour_is_signed_after_a_later_day(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.start("alice", "bob")
    shop.checkpoints.sign(shop.now)
    slow, next_day = CheckpointLog(shop.store, shop.keyring), list[Checkpoint]()
    log_changes = LogGrowth.log_changes

    def overtaken(growth: LogGrowth) -> None:
        monkeypatch.setattr(LogGrowth, "log_changes", log_changes)
        shop.now += 2 * HOUR_MS
        next_day.append(shop.checkpoints.sign_hour(shop.now))
        shop.start("alice", "bob")
        log_changes(growth)

    monkeypatch.setattr(LogGrowth, "log_changes", overtaken)
    shop.start("alice", "bob")
    assert slow.sign_hour(shop.now + HOUR_MS) == next_day[0] == slow.latest()
    assert next_day[0].day == "2023-11-15"
    assert audit_log(shop.store, shop.checkpoints, shop.keyring).findings == []


def test_a_replaced_key_is_in_its_successors_tree(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    log_changes = LogGrowth.log_changes

    def replaced(growth: LogGrowth) -> None:
        log_changes(growth)
        shop.keyring.rotate()

    monkeypatch.setattr(LogGrowth, "log_changes", replaced)
    signed = shop.checkpoints.sign(shop.now)
    assert signed.key == shop.keyring.signing().public.id
    keys = [leaf for leaf in map(read_leaf, shop.checkpoints.leaves(0, signed.size)) if isinstance(leaf, KeyLeaf)]
    assert [leaf.key for leaf in keys] == [key.id for key in shop.keyring.known()]
    assert audit_log(shop.store, shop.checkpoints, shop.keyring).findings == []


def test_a_key_revoked_meanwhile_signs_no_such_tree(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    log, logged_key = shop.checkpoints, LogGrowth.logged_key

    def revoked(growth: LogGrowth) -> SigningKey:
        found = logged_key(growth)
        monkeypatch.setattr(LogGrowth, "logged_key", logged_key)
        shop.keyring.revoke(found.public.id, shop.now)
        growth.log_changes()
        return found

    monkeypatch.setattr(LogGrowth, "logged_key", revoked)
    signed = log.sign(shop.now)
    leaves = [read_leaf(leaf) for leaf in log.leaves(0, signed.size)]
    [revocation] = [leaf for leaf in leaves if isinstance(leaf, RevocationLeaf)]
    assert signed.key == shop.keyring.signing().public.id != revocation.key
    assert audit_log(shop.store, log, shop.keyring).findings == []


def test_many_checkpoints_hide_no_later_act(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_growth, "ACTS_PER_LOOK", 2)
    for day in range(5):
        size = shop.checkpoints.sign(shop.now + day * DAY_MS).size
    shop.parts.administration.record("role-given", "operator", {}, "once")
    assert shop.checkpoints.sign(shop.now + 5 * DAY_MS).size == size + 1


def test_the_log_keeps_its_name_and_cosignatures_join_the_note_of_the_last_tree(shop: SteppedInstallation) -> None:
    log = CheckpointLog(shop.store, shop.keyring, host="rookery.example")
    shop.start("alice", "bob")
    log.sign(shop.now)
    note = log.note()
    assert note is not None
    assert note.startswith("rookery.example/rookery\n3\n")
    assert CheckpointLog(shop.store, shop.keyring, host="elsewhere.example").origin() == "rookery.example/rookery"
    cosigned = note + "— witness.example AAAAAAAA\n"
    assert [log.replace_note(note, cosigned), log.replace_note(note, cosigned)] == [True, False]
    shop.now += 24 * HOUR_MS
    log.sign(shop.now)
    assert log.note() == cosigned, "the same tree"
    shop.keyring.rotate()
    shop.now += 24 * HOUR_MS
    signed = log.sign(shop.now)
    assert log.note() == log.note_of(signed)
    parse_note(log.note() or "").check(note_key(log.origin(), shop.keyring.signing().public.raw))
    assert audit_log(shop.store, log, shop.keyring).findings == []


def test_the_proof_of_a_match_is_a_text_for_who_may_see_the_match(app: Any, anna: Caller, stranger: Caller) -> None:
    services: Services = app.extensions[EXTENSION]
    public, private = anna.create(ME, OPEN), anna.create(ME, OPEN, private=True)
    assert stranger.get(f"/matches/{public}/tlog-proof").json["code"] == "no-such-checkpoint"
    services.checkpoints.sign(services.now())
    answer = stranger.get(f"/matches/{public}/tlog-proof")
    proof = read_tlog_proof(answer.text)
    digest = services.store.head(public).digest.hex()
    check_tlog_proof(proof, MatchLeaf(public, 1, digest).entry)
    assert proof.extra == MatchLeaf(public, 1, digest).stored
    assert str(proof.note) == services.checkpoints.note()
    assert str(proof) == answer.text
    assert stranger.get(f"/matches/{private}/tlog-proof").status_code == 404
    assert anna.get(f"/matches/{private}/tlog-proof").status_code == 200
    bundle = stranger.get(f"/matches/{public}/bundle").json
    assert bundle["inclusion"]["note"] == services.checkpoints.note()
