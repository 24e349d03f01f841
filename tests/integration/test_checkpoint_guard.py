"""The server signs nothing that does not extend what it has signed before, until an operator accepts that."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from deploy.cli import main
from events.matches.readmodels.summary import DAY_MS
from events.proof.checkpoint_log import CheckpointLog, RolledBackError
from events.proof.checkpoints import Checkpoint, Consistency
from events.proof.documents import DocumentError
from events.proof.guard import CheckpointGuard, GuardedTree
from events.proof.signed_checkpoints import sign_checkpoint_of
from tests.support.dumps import copied, write_copy
from tests.support.matches import T0
from tests.support.server import RealServer
from tests.support.stepped_installation import OTHER_LEAVES, PREFIX, SteppedInstallation


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "guard"


@pytest.fixture
def shop(server: RealServer, place: Path) -> SteppedInstallation:
    shop = SteppedInstallation(server.url)
    shop.parts.settings = shop.settings._replace(checkpoint_guard=str(place))
    shop.checkpoints = CheckpointLog(shop.store, shop.keyring, CheckpointGuard(str(place)))
    return shop


def sign(shop: SteppedInstallation, day: int) -> Checkpoint:
    shop.now = T0 + day * DAY_MS
    return sign_checkpoint_of(shop.checkpoints, shop.parts.incidents, shop.now)


def roll_back(shop: SteppedInstallation) -> tuple[Checkpoint, Checkpoint]:
    """Sign twice and put the store back to the first time; return both checkpoints."""
    shop.start("alice", "bob")
    first, before = sign(shop, 0), copied(shop.client)
    shop.start("alice", "bob")
    second = sign(shop, 1)
    shop.client.flushdb()
    write_copy(shop.client, before)
    return first, second


def run(shop: SteppedInstallation, place: Path, *arguments: str) -> Result:
    environment = {
        "REDIS_URL": shop.settings.redis_url,
        "ROOKERY_PREFIX": PREFIX,
        "ROOKERY_CHECKPOINT_GUARD": str(place),
    }
    return CliRunner().invoke(main, list(arguments), env=environment)


def test_what_extends_the_log_is_signed_and_known_to_the_guard(shop: SteppedInstallation, place: Path) -> None:
    for day in range(3):
        shop.start("alice", "bob")
        signed = sign(shop, day)
        [known] = CheckpointGuard(str(place)).largest(signed.origin)
        assert known == (signed.size, signed.root)
    assert signed.size == 3 + OTHER_LEAVES
    assert sign(shop, 3)[3:5] == signed[3:5]


def test_a_store_from_an_older_backup_signs_nothing_more(shop: SteppedInstallation, place: Path) -> None:
    first, second = roll_back(shop)
    shop.start("alice", "bob", match="fork")
    shop.start("alice", "bob", match="fork-2")
    for _ in range(2):
        with pytest.raises(RolledBackError, match="rookery audit accept-rollback"):
            sign(shop, 2)
    assert shop.checkpoints.latest() == first
    assert shop.checkpoints.size() == first.size
    [incident] = shop.parts.incidents.all()
    assert f"the tree of {second.size} leaves" in incident.words
    refused = run(shop, place, "audit", "checkpoint")
    assert (refused.exit_code, "no checkpoint is signed" in refused.output) == (1, True)


def test_a_log_that_was_rewritten_is_not_signed_though_it_is_as_long(shop: SteppedInstallation) -> None:
    roll_back(shop)
    shop.start("alice", "bob", match="fork")
    shop.checkpoints.growth.log_heads(["fork"])
    assert shop.checkpoints.size() == 2 + OTHER_LEAVES
    with pytest.raises(RolledBackError):
        sign(shop, 2)


def test_an_operator_who_accepts_it_lets_it_sign_for_all_to_see(shop: SteppedInstallation, place: Path) -> None:
    _, second = roll_back(shop)
    nothing = CheckpointGuard(str(place))
    accepted = run(shop, place, "audit", "accept-rollback")
    assert accepted.exit_code == 0, accepted.output
    signed = sign(shop, 2)
    assert nothing.largest(signed.origin) == [(signed.size, signed.root)]
    [act] = [act for act in shop.parts.administration.acts() if act.act == "rollback-accepted"]
    assert (act.actor, act.facts["signed_size"], act.facts["signed_root"]) == ("console", second.size, second.root)
    assert len(shop.parts.incidents.all()) == 1
    again = run(shop, place, "audit", "accept-rollback")
    assert (again.exit_code, "nothing to accept" in again.output) == (1, True)
    with pytest.raises(DocumentError):
        Consistency((signed.size, second.size), ()).check(signed, second)


@pytest.mark.parametrize("noted", [False, True])
def test_a_signer_that_is_killed_around_the_guard_does_no_harm(
    shop: SteppedInstallation, place: Path, noted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.start("alice", "bob")
    note = CheckpointGuard.note

    class KilledError(BaseException):
        pass

    def killed(guard: CheckpointGuard, origin: str, tree: GuardedTree) -> None:
        if noted:
            note(guard, origin, tree)
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(CheckpointGuard, "note", killed)
        with pytest.raises(KilledError):
            sign(shop, 0)
    assert shop.checkpoints.latest() is None
    shop.start("alice", "bob")
    assert sign(shop, 1).size == 2 + OTHER_LEAVES
    assert shop.parts.incidents.all() == []


def test_the_guard_knows_a_tree_before_its_readers(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.start("alice", "bob")
    seen: list[Checkpoint | None] = []
    note = CheckpointGuard.note

    def look(guard: CheckpointGuard, origin: str, tree: GuardedTree) -> None:
        note(guard, origin, tree)
        seen.append(shop.checkpoints.latest())

    monkeypatch.setattr(CheckpointGuard, "note", look)
    assert sign(shop, 0).size == 1 + OTHER_LEAVES
    assert seen == [None]
