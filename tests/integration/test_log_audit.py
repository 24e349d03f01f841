"""What somebody does who can write to the store, with its key in his hands: all of it is found, and named."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner, Result

from deploy.cli import main
from domain.match.commands import RaiseDispute, Rule
from domain.match.enums import Ground, RulingKind
from events.people.statements import Statements
from events.proof import merkle
from events.proof.checkpoints import write_checkpoint
from events.proof.keys import KeyRing
from events.proof.leaves import hash_of_stored
from events.store.contract import VersionTag
from events.store.logged_leaves import LoggedLeaf, pack_logged
from tests.integration.test_proof_commands import key_of
from tests.integration.test_proofs import rewrite, sign
from tests.support.draws import sampled
from tests.support.matches import T0
from tests.support.stepped_installation import PREFIX, SteppedInstallation

LOG = f"{PREFIX}{{proof}}:log"
ADMINISTRATION = f"{PREFIX}{{administration}}"

Attack = Callable[[SteppedInstallation, str], Any]


@pytest.fixture
def matches(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return matches of which three checkpoints know, each a part. Tiles are small, so that nodes are stored."""
    monkeypatch.setattr("events.proof.leaf_store.TILE_HEIGHT", 1)
    monkeypatch.setattr("events.proof.leaf_store.TILE_WIDTH", 2)
    shop.checkpoints._administration.grant("ann", "arbiter", "console")
    found = [shop.start("alice", "bob") for _ in range(3)]
    for day in range(3):
        shop.play(found[day], 2)
        sign(shop, day)
    return found


@pytest.fixture
def checked(cli: Any) -> Callable[..., tuple[Result, Result]]:
    """Return what runs ``rookery audit all``, with the arguments it is given, and ``rookery verify``."""

    def run(*arguments: object) -> tuple[Result, Result]:
        return cli("all", "--processes", 1, *arguments), CliRunner().invoke(main, ["verify"])

    return run


def take_out_of_the_log(shop: SteppedInstallation, match_id: str) -> None:
    """Remove the leaves of a match from the list and its entry from the table of what was logged."""
    for leaf in shop.client.lrange(f"{LOG}:leaves", 0, -1):
        if json.loads(leaf).get("match") == match_id:
            shop.client.lrem(f"{LOG}:leaves", 1, leaf)
    shop.client.hdel(f"{LOG}:logged", match_id)


def rewrite_and_take_out(shop: SteppedInstallation, match_id: str) -> None:
    """Rewrite a match with chain and head, and let the log forget that it has known it."""
    rewrite(shop, match_id)
    take_out_of_the_log(shop, match_id)


def build_again(shop: SteppedInstallation, match_id: str) -> None:
    """Rewrite a match and build the tree again over what is left of the leaves."""
    rewrite_and_take_out(shop, match_id)
    leaves = shop.client.lrange(f"{LOG}:leaves", 0, -1)
    shop.client.set(f"{LOG}:size", len(leaves))
    for (level, index), node in merkle.appended_nodes(0, map(hash_of_stored, leaves), _unread).items():
        if level > 0:
            shop.client.setrange(*shop.checkpoints.leaf_store.place_of_node(level, index), node)


def _unread(*_: int) -> bytes:
    raise AssertionError("a tree that begins empty reads no node")


def change_checkpoint(shop: SteppedInstallation, **changed: Any) -> None:
    """Write another checkpoint in the place of that of the second day, signed with the store's key."""
    packed = shop.client.hget(f"{LOG}:checkpoints", "2023-11-15")
    assert packed is not None
    content = json.loads(packed) | changed
    shop.client.hset(f"{LOG}:checkpoints", "2023-11-15", json.dumps(content, sort_keys=True, separators=(",", ":")))


def delete(*names: str) -> Attack:
    return lambda shop, _: shop.client.delete(*(key for name in names for key in shop.client.scan_iter(name)))


ATTACKS: dict[str, tuple[Attack, str]] = {
    "a stream is rewritten and taken out of the log": (rewrite_and_take_out, "the leaves: there are "),
    "a stream is rewritten and the tree built again": (
        build_again,
        "checkpoint 2023-11-16: it has 7 leaves, and the log 6",
    ),
    "a leaf is removed": (
        lambda shop, _: shop.client.lrem(f"{LOG}:leaves", 1, shop.client.lindex(f"{LOG}:leaves", 0)),
        "checkpoint 2023-11-14: its root is not that of the first 5 leaves",
    ),
    "a node is changed": (
        lambda shop, _: shop.client.setrange(f"{LOG}:nodes:1:0", 0, bytes(32)),
        "node 0 of level 1: it does not follow from its leaves",
    ),
    "a node is lost": (delete(f"{LOG}:nodes:2:*"), "node 0 of level 2: it is missing"),
    "a checkpoint has another root": (
        lambda shop, _: change_checkpoint(shop, root="0" * 64),
        "checkpoint 2023-11-15: it cannot be read",
    ),
    "a checkpoint is that of another day": (
        lambda shop, _: shop.client.hset(
            f"{LOG}:checkpoints", "2023-11-15", shop.client.hget(f"{LOG}:checkpoints", "2023-11-16") or b""
        ),
        "checkpoint 2023-11-15: it is that of 2023-11-16",
    ),
    "a checkpoint is deleted": (
        lambda shop, _: shop.client.hdel(f"{LOG}:checkpoints", "2023-11-15"),
        "checkpoint 2023-11-15: it is missing, and the log of administration knows that it was signed",
    ),
    "the last checkpoint is deleted": (
        lambda shop, _: (
            shop.client.hdel(f"{LOG}:checkpoints", "2023-11-16"),
            shop.client.set(f"{LOG}:latest", "2023-11-15"),
        ),
        "checkpoint 2023-11-16: it is missing, and the log of administration knows that it was signed",
    ),
    "the table forgets a match": (
        lambda shop, match: shop.client.hdel(f"{LOG}:logged", match),
        "a leaf has it, and it is not noted as logged",
    ),
    "the table has another digest": (
        lambda shop, match: note_another_digest(shop, match),
        "it is not noted as logged in its last leaf",
    ),
    "the whole log is deleted": (delete(f"{LOG}:*"), "checkpoint 2023-11-14: it is missing"),
    "the whole log is deleted and what was recorded of it": (
        delete(f"{LOG}:*", f"{ADMINISTRATION}:*", f"{PREFIX}{{proof}}:*"),
        "no checkpoint knows it; matches went on until 2023-11-16T",
    ),
    "a match is taken off the list of matches": (
        lambda shop, match: shop.client.lrem(f"{PREFIX}{{s{shop.keys.shard_of(match):02d}}}:streams", 0, match),
        "a checkpoint has it, and the store does not list it",
    ),
    "the end of a match is cut off": (
        lambda shop, match: cut(shop, match, 4),
        "at version 5: a checkpoint has it with the digest ",
    ),
}


def note_another_digest(shop: SteppedInstallation, match_id: str) -> None:
    leaf = dict(shop.checkpoints.logged())[match_id]
    assert leaf is not None
    changed = LoggedLeaf(leaf.place, VersionTag(leaf.tag.version, "0" * 16))
    shop.client.hset(f"{LOG}:logged", match_id, pack_logged(changed))


def cut(shop: SteppedInstallation, match_id: str, version: int) -> None:
    """Cut everything after a version off a match, with its head."""
    events = key_of(shop, match_id, "e")
    for id, _ in shop.client.xrange(events, f"{version + 1}-0"):
        shop.client.xdel(events, id)
    digest = shop.store.read(match_id)[-1].digest
    shop.client.hset(key_of(shop, match_id, "h"), mapping={"v": version, "d": digest})


@sampled("attack", ATTACKS)
def test_attacks_are_named(shop: SteppedInstallation, matches: list[str], checked: Any, attack: str) -> None:
    shop.play(matches[0], 2)
    before = checked()
    assert [result.exit_code for result in before] == [0, 0], [result.output for result in before]
    strike, said = ATTACKS[attack]
    strike(shop, matches[0])
    for result in checked():
        assert result.exit_code == 1
        assert said in result.output
        assert "Traceback" not in result.output


def test_rewritten_matches_are_found_days_later(shop: SteppedInstallation, matches: list[str], checked: Any) -> None:
    rewrite_and_take_out(shop, matches[0])
    sign(shop, 3)
    for result in checked():
        assert result.exit_code == 1
        assert "checkpoint 2023-11-14: its root is not that of the first 5 leaves" in result.output


def test_a_match_without_its_leaf_is_named(shop: SteppedInstallation, matches: list[str], checked: Any) -> None:
    shop.now = T0
    secret = shop.start("alice", "bob")
    for result in checked():
        assert result.exit_code == 1
        assert f"{secret} at version 1: it is of 2023-11-14T" in result.output
        assert "and the checkpoint of 2023-11-16 does not know it" in result.output


def test_forgeries_are_contradicted(shop: SteppedInstallation, matches: list[str], checked: Any, tmp_path: Any) -> None:
    kept = tmp_path / "kept.json"
    made = shop.checkpoints.of_day("2023-11-14")
    kept.write_bytes(write_checkpoint(made))
    assert checked("--checkpoint", kept)[0].exit_code == 0
    delete(f"{PREFIX}{{proof}}:*", f"{ADMINISTRATION}:*")(shop, "")
    shop.now = T0
    rewrite(shop, matches[0])
    for day in range(3):
        sign(shop, day)
    unseen = checked()
    assert [result.exit_code for result in unseen] == [0, 0], unseen[0].output
    assert "pass a checkpoint kept elsewhere with --checkpoint" in unseen[0].output
    found = checked("--checkpoint", kept)[0]
    assert found.exit_code == 1
    for said in (
        f"kept checkpoint 2023-11-14: key: key {made.key} is not among the keys given",
        "kept checkpoint 2023-11-14: the store has another checkpoint of this day",
        f"kept checkpoint 2023-11-14: its root is not that of the first {made.size} leaves",
        "kept checkpoint 2023-11-14: the log of administration has another entry ",
    ):
        assert said in found.output


def test_kept_ones_are_validated(shop: SteppedInstallation, matches: list[str], checked: Any, tmp_path: Any) -> None:
    kept = tmp_path / "kept.json"
    kept.write_text("{}\n")
    assert checked("--checkpoint", kept)[0].output == f"{kept}: the field 'format' is missing\n"
    kept.write_bytes(write_checkpoint(shop.checkpoints.of_day("2023-11-15")._replace(origin="0123456789abcdef")))
    found = checked("--checkpoint", kept)[0]
    assert "kept checkpoint 2023-11-15: it is of another server, 0123456789abcdef" in found.output


def test_the_next_key_vouches_for_a_revoked_one(shop: SteppedInstallation, matches: list[str], checked: Any) -> None:
    last = shop.checkpoints.latest()
    assert last is not None
    shop.keyring.revoke(last.key, T0)
    for result in checked():
        assert result.exit_code == 1
        assert "and this was signed later, and no later checkpoint vouches for its leaves" in result.output
    sign(shop, 3)
    assert [result.exit_code for result in checked()] == [0, 0]


ADMINISTRATIVE_ATTACKS: dict[str, tuple[Attack, str]] = {
    "an entry is changed": (
        lambda shop, _: replace_entry(shop, 1, lambda body: body.replace(b"arbiter", b"ARBITER")),
        "entry 1 of the log of administration: its content, its digest or an entry before it was changed",
    ),
    "an entry is not readable": (
        lambda shop, _: replace_entry(shop, 2, lambda _: b"nonsense"),
        "entry 2 of the log of administration: it cannot be read",
    ),
    "an entry is deleted": (
        lambda shop, _: shop.client.xdel(f"{ADMINISTRATION}:log", "2-0"),
        "entry 3 of the log of administration: the entries 2 to 2 are missing",
    ),
    "its end is cut off": (lambda shop, _: cut_log(shop, 1), "the log of administration: it ends with entry "),
    "its end is cut off with the head": (
        lambda shop, _: cut_log(shop, 3, head=True),
        "checkpoint 2023-11-16: it has the log of administration up to entry ",
    ),
    "all of it is deleted": (
        delete(f"{ADMINISTRATION}:log", f"{ADMINISTRATION}:head", f"{ADMINISTRATION}:once"),
        "roles of ann: the log of administration gives none, and arbiter stand in the store",
    ),
    "all of it is deleted with the roles": (
        delete(f"{ADMINISTRATION}:*"),
        "checkpoint 2023-11-16: it has the log of administration up to entry ",
    ),
    "a role is given behind its back": (
        lambda shop, _: shop.client.hset(f"{ADMINISTRATION}:roles", "eve", "operator"),
        "roles of eve: the log of administration gives none, and operator stand in the store",
    ),
}


def replace_entry(shop: SteppedInstallation, number: int, change: Callable[[bytes], bytes]) -> None:
    """Write an entry of the log again after ``change`` to its bytes."""
    entries: Any = shop.client.xrange(f"{ADMINISTRATION}:log")
    shop.client.delete(f"{ADMINISTRATION}:log")
    for id, fields in entries:
        changed = {**fields, b"b": change(fields[b"b"])} if id == b"%d-0" % number else fields
        shop.client.xadd(f"{ADMINISTRATION}:log", changed, id=id)


def cut_log(shop: SteppedInstallation, count: int, head: bool = False) -> None:
    """Cut the last entries off the log, and write its head again if that is wanted."""
    entries: Any = shop.client.xrevrange(f"{ADMINISTRATION}:log", count=count + 1)
    for id, _ in entries[:-1]:
        shop.client.xdel(f"{ADMINISTRATION}:log", id)
    id, fields = entries[-1]
    if head:
        shop.client.hset(f"{ADMINISTRATION}:head", mapping={"n": id.partition(b"-")[0], "d": fields[b"h"]})


@sampled("attack", ADMINISTRATIVE_ATTACKS)
def test_tampered_logs_are_named(shop: SteppedInstallation, matches: list[str], checked: Any, attack: str) -> None:
    shop.checkpoints._administration.grant("bob", "arbiter", "console")
    sign(shop, 2)
    strike, said = ADMINISTRATIVE_ATTACKS[attack]
    strike(shop, matches[0])
    for result in checked():
        assert result.exit_code == 1
        assert said in result.output, result.output
        assert "Traceback" not in result.output


def test_an_unlogged_act_of_an_arbiter_is_named(shop: SteppedInstallation, matches: list[str], checked: Any) -> None:
    match_id = matches[2]
    shop.do(match_id, RaiseDispute(player="bob", ply=2, ground=Ground.CLOCK, statement="0" * 64), "bob")
    shop.do(match_id, Rule(arbiter="ann", ruling=RulingKind.LET_STAND, reason="0" * 64, rule="0" * 64), "ann")
    (ruling,) = (event for event in shop.store.read(match_id) if event.type == "ruling-made")
    said = f"DIFFERENT {match_id} at version {ruling.version}: ruling-made is not in the log of administration\n"
    assert said in checked()[0].output
    act = shop.checkpoints._administration.record_event(ruling)
    assert act is not None
    assert said not in checked()[0].output
    rewrite(shop, match_id)
    for result in checked():
        reason = f"entry {act.number} of the log of administration has it with the digest {ruling.id}"
        assert f"{match_id} at version {ruling.version}: {reason}" in result.output


def test_a_log_that_has_lost_entries_goes_on(shop: SteppedInstallation, matches: list[str], checked: Any) -> None:
    before = shop.checkpoints._administration.last().version
    cut_log(shop, 2)
    shop.checkpoints._administration.grant("bob", "arbiter", "console")
    assert shop.checkpoints._administration.last().version == before + 1
    for result in checked():
        said = f"entry {before + 1} of the log of administration: the entries {before - 1} to {before} are missing"
        assert (result.exit_code, said in result.output) == (1, True)


def test_the_id_of_a_key_is_never_read_as_an_option(cli: Any) -> None:
    for key in ("-yIrh", "--Irh=1"):
        assert f"there is no key {key}" in cli("revoke-key", key, "--since", "2023-11-15T00:00:00Z").output


def test_keys_that_were_put_in_place_or_revoked_are_in_the_log(shop: SteppedInstallation, cli: Any) -> None:
    first = sign(shop, 0).key
    cli("rotate-key")
    cli("revoke-key", first, "--since", "2023-11-15T00:00:00Z")
    KeyRing(shop.client, PREFIX, lambda: shop.now).rotate()
    sign(shop, 1)
    acts = [(act.act, act.facts.get("key")) for act in shop.checkpoints._administration.acts()]
    keys = [key.id for key in shop.keyring.public()]
    assert [act for act in acts if act[1] is not None] == [
        ("key-begun", keys[0]), ("key-begun", keys[1]), ("key-revoked", keys[0]), ("key-begun", keys[2])
    ]  # fmt: skip


def test_a_text_of_another_digest_is_named(shop: SteppedInstallation, matches: list[str], checked: Any) -> None:
    texts = Statements(shop.client, PREFIX, lambda: shop.now)
    said = texts.compose(matches[0], "bob", "He moved twice.")
    texts.save(matches[0], "bob", said)
    shop.do(matches[0], RaiseDispute(player="bob", ply=2, ground=Ground.CONDUCT, statement=said.digest), "bob")
    assert checked()[0].exit_code == 0
    shop.client.hset(f"{PREFIX}{{cases}}:{matches[0]}", f"bob:{said.digest}", said.salt + "He moved once.")
    found = checked()[0]
    assert found.exit_code == 1
    reason = "statement: the stored text is not the one whose digest was recorded"
    assert f"DIFFERENT {matches[0]} at version 6: {reason}\n" in found.output
    shop.client.set(f"{PREFIX}{{cases}}:{matches[0]}", "mine")
    assert f"DIFFERENT {matches[0]}: the texts of its cases cannot be read: " in checked()[0].output
