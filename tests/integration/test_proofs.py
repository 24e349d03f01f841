"""Keys, checkpoints and bundles on a real store: agreed on by all processes, and a rewritten past is found."""

import json
import threading
from typing import Any

import pytest
from click.testing import CliRunner
from flask import Flask

from api.resources import proofs
from api.services import Services
from deploy.cli import main
from domain.games import GAMES
from events.proof import merkle
from events.proof.bundle import BundleContent, make_bundle, make_content, read_bundle
from events.proof.checkpoint_log import CheckpointLog, NoCheckpointError
from events.proof.checkpoints import Checkpoint, read_checkpoint, read_consistency, write_checkpoint
from events.proof.documents import DocumentError, write_document
from events.proof.keys import RESERVED_MS, KeyRing
from events.proof.leaves import hash_of_stored
from events.proof.public_keys import KeySet, key_set, read_key_set
from events.proof.receipts import Comparison, ReceiptSigner, compare, read_receipt
from events.proof.verification import verify
from events.store.contract import Head
from tests.support.bundles import envelopes, resigned, unread
from tests.support.callers import ME, OPEN, Caller, opponent, started
from tests.support.matches import T0
from tests.support.rulesets import register, variant
from tests.support.stepped_installation import OTHER_LEAVES, PREFIX, SteppedInstallation

DAY_MS = 86_400_000


def trusted(shop: SteppedInstallation) -> KeySet:
    return read_key_set(json.dumps(key_set(shop.keyring.public())).encode())


def sign(shop: SteppedInstallation, days: int) -> Checkpoint:
    shop.now = T0 + days * DAY_MS
    return shop.checkpoints.sign(shop.now)


def rewrite(shop: SteppedInstallation, match_id: str) -> None:
    """Play a match anew from its first move, as somebody does who has the store in his hands."""
    keys = [f"{PREFIX}{{s{shop.keys.shard_of(match_id):02d}}}:m:{match_id}:{part}" for part in "ehs"]
    events = shop.store.read(match_id)
    shop.client.delete(*keys)
    shop.client.lrem(f"{PREFIX}{{s{shop.keys.shard_of(match_id):02d}}}:streams", 0, match_id)
    shop.create(match=match_id, creator="alice")
    assert shop.store.read(match_id)[0] != events[0]


class TestKeys:
    """One key signs, whoever asks first; those before it are kept with their time."""

    def test_processes_that_start_at_once_agree_on_one_key(self, shop: SteppedInstallation) -> None:
        rings = [KeyRing(shop.client, PREFIX, lambda: T0) for _ in range(6)]
        found: list[str] = []
        threads = [threading.Thread(target=lambda ring=ring: found.append(ring.signing().id)) for ring in rings]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (len(found), len(set(found))) == (6, 1)
        assert [key.id for key in shop.keyring.public()] == found[:1]

    def test_a_rotated_key_keeps_its_public_part_and_its_time(self, shop: SteppedInstallation) -> None:
        old = shop.keyring.signing()
        shop.now += 5000
        new = shop.keyring.rotate()
        assert new.id != old.id
        assert shop.keyring.signing().id == new.id
        assert [(key.id, key.since, key.until) for key in shop.keyring.public()] == [
            (old.id, T0, T0 + RESERVED_MS),
            (new.id, T0 + 5000, None),
        ]

    def test_receipts_have_another_key_five_seconds_after_a_revocation(self, shop: SteppedInstallation) -> None:
        signer, head = ReceiptSigner(shop.keyring, lambda: "0123456789abcdef", lambda: shop.now), Head(1, bytes(32))
        revoked = signer.sign("m", head).key
        present = shop.keyring.revoke(revoked, shop.now)
        shop.now += 5000
        receipt = signer.sign("m", head)
        assert present is not None
        assert receipt.key == present.id
        receipt.check(trusted(shop))

    def test_what_a_process_signs_while_another_rotates_the_key_verifies(self, shop: SteppedInstallation) -> None:
        for minutes_ahead in (0, 5, 600, -600):
            # It reads the key, is overtaken by a rotation on a machine with another clock, and signs then.
            key = shop.keyring.signing()
            KeyRing(shop.client, PREFIX, lambda ahead=minutes_ahead: shop.now + ahead * 60_000).rotate()  # type: ignore[misc]
            packed = make_bundle("m", envelopes(resigned().events), key, shop.now + 1000, None)
            assert list(verify(packed, trusted(shop)))
            shop.now += 120_000

    def test_a_lagging_clock_at_a_rotation_invalidates_nothing(self, shop: SteppedInstallation) -> None:
        made = [sign(shop, day) for day in range(3)]
        KeyRing(shop.client, PREFIX, lambda: T0 - 30 * DAY_MS).rotate()
        made.append(sign(shop, 3))
        for checkpoint in made:
            checkpoint.check(trusted(shop))

    def test_a_key_of_a_store_of_an_earlier_release_can_be_rotated(self, shop: SteppedInstallation) -> None:
        old = shop.keyring.signing()
        shop.client.delete(f"{PREFIX}{{proof}}:key-horizon")
        shop.now += 5000
        shop.keyring.rotate()
        assert shop.keyring.public()[0] == old.public._replace(until=T0 + 5000 + RESERVED_MS)

    def test_a_revoked_key_gives_way_to_a_new_one(self, shop: SteppedInstallation, cli: Any, tmp_path: Any) -> None:
        before, after = sign(shop, 1), sign(shop, 2)
        since = "2023-11-16T12:00:00Z"
        revoked = cli("revoke-key", after.key, "--since", since)
        assert revoked.stdout.startswith(f"Key {after.key} is revoked from 2023-11-16T12:00:00.000Z on.\nThe store")
        assert shop.keyring.signing().id != after.key
        keys = trusted(shop)
        before.check(keys)
        with pytest.raises(
            DocumentError, match=r"is revoked from 2023-11-16T12:00:00\.000Z on, and this was signed later"
        ):
            after.check(keys)
        assert cli("revoke-key", after.key, "--since", "2023-11-16T13:00:00Z").exit_code == 0
        assert trusted(shop)[after.key].revoked == keys[after.key].revoked
        for key, instant, said in (
            (after.key, "yesterday", "'yesterday' is not an instant such as 2026-01-31T12:00:00Z"),
            (after.key, "2023-11-16T12:00:00", "is not an instant"),
            ("-body", since, "there is no key -body"),
        ):
            refused = cli("revoke-key", key, "--since", instant)
            assert (refused.exit_code != 0, said in refused.output) == (True, True)

    def test_no_key_is_shown(self, shop: SteppedInstallation, cli: Any, capsys: pytest.CaptureFixture[str]) -> None:
        ring = shop.keyring
        secrets = [shop.client.get(f"{PREFIX}{{proof}}:private-key") if ring.signing() else b""]
        said = [repr(ring.signing()), str(vars(ring.signing())), cli("keys").output, cli("rotate-key").output]
        secrets.append(shop.client.get(f"{PREFIX}{{proof}}:private-key") or b"")
        said += [capsys.readouterr().err, cli("keys").output, repr(ring)]
        for secret in secrets:
            assert isinstance(secret, bytes)
            assert len(secret) == 32
            assert not any(secret.hex() in text or repr(secret)[2:-1] in text for text in said)
        assert secrets[0] != secrets[1]

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            (lambda key: key.update(kid="x"), "keys[0].kid: this key has the id "),
            (lambda key: key.update(x="A" * 20), "keys[0]: it is no Ed25519 key"),
            (lambda key: key.update(x="?"), "keys[0].x: it is not base64url"),
            (lambda key: key.update(crv="P-256"), "keys[0]: it is no Ed25519 key"),
            (lambda key: key.pop("since"), "keys[0]: the field 'since' is missing"),
        ],
    )
    def test_a_tampered_key_set_is_refused(self, shop: SteppedInstallation, change: Any, said: str) -> None:
        shown = key_set(shop.keyring.public())
        change(shown["keys"][0])
        with pytest.raises(DocumentError) as caught:
            read_key_set(json.dumps(shown).encode())
        assert str(caught.value).startswith(said)


class TestCheckpoints:
    """Every day one, of all that has changed, each the beginning of the next."""

    def test_each_day_adds_the_heads_that_have_changed(self, shop: SteppedInstallation) -> None:
        matches = [shop.start("alice", "bob") for _ in range(5)]
        shop.create(creator="alice")
        first = sign(shop, 1)
        assert (first.size, first.day, first.origin) == (6 + OTHER_LEAVES, "2023-11-15", shop.store.installation().id)
        first.check(trusted(shop))
        shop.play(matches[2], 2)
        shop.play(matches[4], 3)
        second = sign(shop, 2)
        assert (second.size, shop.checkpoints.days()) == (8 + OTHER_LEAVES, ["2023-11-15", "2023-11-16"])
        assert sign(shop, 3).root == second.root
        leaves = [leaf for leaf in map(json.loads, shop.checkpoints.leaves(0, 100)) if "match" in leaf]
        assert {leaf["match"] for leaf in leaves[6:]} == {matches[2], matches[4]}
        events = [shop.store.read(leaf["match"], leaf["version"] - 1, 1)[0] for leaf in leaves]
        assert [event.id for event in events] == [leaf["digest"] for leaf in leaves]

    def test_a_day_is_signed_once_however_many_processes_ask(self, shop: SteppedInstallation) -> None:
        for _ in range(9):
            shop.start("alice", "bob")
        made: list[Checkpoint] = []
        logs = [CheckpointLog(shop.store, shop.keyring) for _ in range(4)]
        threads = [threading.Thread(target=lambda log=log: made.append(log.sign(T0))) for log in logs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(made) == 4
        assert len(set(made)) == 1
        assert made[0].size == len(shop.checkpoints.leaves(0, 100)) == 9 + OTHER_LEAVES
        shop.start("alice", "bob")
        assert shop.checkpoints.sign(T0 + 60_000) == made[0]
        assert shop.checkpoints.sign(T0 - 5 * DAY_MS) == made[0]

    def test_a_killed_signing_is_finished(self, shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
        matches = [shop.start("alice", "bob") for _ in range(4)]

        def killed(*_: object) -> Checkpoint:
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(CheckpointLog, "_sign", killed)
            with pytest.raises(KeyboardInterrupt):
                shop.checkpoints.sign(T0)
        assert shop.checkpoints.latest() is None
        assert shop.checkpoints.inclusion(matches[0]) is None
        shop.play(matches[1], 1)
        assert sign(shop, 0).size == 5 + OTHER_LEAVES

    def test_every_match_is_proved_to_be_in_the_last_checkpoint(self, shop: SteppedInstallation) -> None:
        matches = [shop.start("alice", "bob") for _ in range(7)]
        sign(shop, 1)
        for match in matches[::2]:
            shop.play(match, 1)
        checkpoint = sign(shop, 2)
        for match in matches:
            inclusion = shop.checkpoints.inclusion(match)
            assert inclusion is not None
            assert inclusion.checkpoint == checkpoint
            head = shop.store.head(match)
            assert inclusion.version == head.version
            inclusion.check(match, head.digest.hex())
        assert shop.checkpoints.inclusion("no-such-match") is None

    def test_every_checkpoint_is_proved_to_begin_every_later_one(self, shop: SteppedInstallation) -> None:
        made = []
        for day in range(5):
            for _ in range(day + 1):
                shop.create(creator="alice")
            made.append(sign(shop, day))
        assert [checkpoint.size - OTHER_LEAVES for checkpoint in made] == [1, 3, 6, 10, 15]
        for number, first in enumerate(made):
            for second in made[number:]:
                shop.checkpoints.consistency(first.size, second.size).check(first, second)
        proof = shop.checkpoints.consistency(made[0].size, made[1].size)
        with pytest.raises(DocumentError, match="no proof for the sizes"):
            proof.check(made[0], made[2])
        with pytest.raises(DocumentError, match="of two servers"):
            proof.check(made[0], made[1]._replace(origin="elsewhere"))
        with pytest.raises(ValueError, match="The log has 17 leaves"):
            shop.checkpoints.consistency(3, 18)
        with pytest.raises(NoCheckpointError):
            shop.checkpoints.of_day("2020-01-01")

    def test_nodes_of_a_large_log_are_split(self, shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("events.proof.leaf_store.TILE_HEIGHT", 1)
        monkeypatch.setattr("events.proof.leaf_store.TILE_WIDTH", 2)
        monkeypatch.setattr("events.proof.leaf_store.NODES_PER_KEY", 4)
        monkeypatch.setattr("events.proof.log_growth.MATCHES_PER_BATCH", 3)
        matches = [shop.create(creator="alice") for _ in range(23)]
        checkpoint = sign(shop, 1)
        leaves = [hash_of_stored(leaf) for leaf in shop.client.lrange(f"{PREFIX}{{proof}}:log:leaves", 0, -1)]
        nodes = merkle.appended_nodes(0, leaves, unread)
        assert checkpoint.root == merkle.root(23 + OTHER_LEAVES, lambda level, index: nodes[level, index]).hex()
        for match in matches:
            inclusion = shop.checkpoints.inclusion(match)
            assert inclusion is not None
            inclusion.check(match, shop.store.head(match).digest.hex())

    def test_the_sweeper_asks_for_it_once_a_day_until_it_is_there(self, shop: SteppedInstallation) -> None:
        sweeper = shop.sweeper()
        sweeper.sweep()
        sweeper.sweep()
        assert shop.checkpoints_asked == ["2023-11-14"]
        shop.now += 60_000
        sweeper.sweep()
        assert shop.checkpoints_asked == ["2023-11-14"] * 2
        shop.checkpoints.sign(shop.now)
        shop.now += 3_600_000 // 2
        sweeper.sweep()
        assert len(shop.checkpoints_asked) == 2
        shop.now += DAY_MS
        sweeper.sweep()
        assert shop.checkpoints_asked[2:] == ["2023-11-15"]


def test_a_rewritten_past_is_found_by_log_and_checkpoint(shop: SteppedInstallation, cli: Any, tmp_path: Any) -> None:
    matches = [shop.start("alice", "bob") for _ in range(3)]
    shop.play(matches[0], 4)
    kept = tmp_path / "kept.json"
    kept.write_bytes(write_checkpoint(sign(shop, 1)))
    examined = cli("all", "--processes", 1)
    assert (examined.exit_code, "5 leaves in 1 checkpoints, " in examined.output) == (0, True)
    assert "3 matches, 13 events, 4 plies in " in examined.output
    rewrite(shop, matches[0])
    sign(shop, 2)
    examined = cli("all", "--processes", 1)
    assert examined.exit_code == 1
    assert f"DIFFERENT {matches[0]} at version 7: a checkpoint has it with the digest " in examined.output
    # Who covers that up by a log of his own breaks with the checkpoint that was kept.
    for key in shop.client.scan_iter(f"{PREFIX}{{proof}}:log*"):
        shop.client.delete(key)
    shop.create(creator="alice")
    forged = tmp_path / "forged.json"
    forged.write_bytes(write_checkpoint(sign(shop, 3)))
    keys = tmp_path / "keys.json"
    keys.write_text(cli("keys").stdout)
    refused = cli("consistency", kept, forged, "--keys", keys)
    assert (refused.exit_code, refused.stdout) == (1, "")
    _, said = refused.stderr.splitlines()  # the first line names the store
    assert said == "NOT CONSISTENT: path: the later log does not begin with the earlier one"


def test_the_whole_way_from_a_move_over_the_api_to_a_proof_offline(
    app: Flask, anna: Caller, boris: Caller, stranger: Caller, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    match_id = started(anna, boris)
    anna.move(match_id)
    private = anna.create(ME, OPEN, private=True)
    against = anna.create(ME, opponent(1))
    services = app.extensions["rookery"]
    first = services.checkpoints.sign(services.now())
    boris.move(match_id)
    second = services.checkpoints.sign(services.now() + DAY_MS)

    assert stranger.get("/checkpoints").json == {"days": [first.day, second.day]}
    shown = {day: stranger.get(f"/checkpoints/{day}").data for day in (first.day, "latest")}
    assert [read_checkpoint(packed) for packed in shown.values()] == [first, second]
    assert stranger.get("/checkpoints/2020-01-01").json["code"] == "no-such-checkpoint"
    sizes = f"first={first.size}&second={second.size}"
    proof = stranger.get(f"/checkpoints/consistency?{sizes}").data
    read_consistency(proof).check(first, second)
    assert stranger.get("/checkpoints/consistency?first=0&second=99").status_code == 404

    answer = stranger.get(f"/matches/{match_id}/bundle")
    assert answer.headers["Content-Disposition"] == f'attachment; filename="rookery-{match_id}.json"'
    keys = stranger.client.get("/.well-known/rookery-keys.json").data
    found = {step.name: step for step in verify(answer.data, read_key_set(keys))}
    assert all(step.proved for step in found.values())
    assert found["checkpoint"].finding.startswith(f"version 5 is in that of {second.day} ")
    assert read_bundle(answer.data).head.version == 5
    assert stranger.get("/schemas/bundle-1").json["title"] == "Rookery bundle, format 1"

    assert (
        f'href="/api/v1/matches/{match_id}/bundle?positions=true" download'
        in stranger.client.get(f"/matches/{match_id}").text
    )
    assert stranger.get(f"/matches/{private}/bundle").json["code"] == "no-such-match"
    assert boris.get(f"/matches/{private}/bundle").status_code == 404
    assert read_bundle(anna.get(f"/matches/{private}/bundle").data).match == private
    assert read_bundle(stranger.get(f"/matches/{against}/bundle").data).events[0].withheld == ("seed",)
    assert stranger.get("/matches/no-such-match/bundle").status_code == 404

    # Without a server: the files are all there is.
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")
    for name, content in (
        ("b", answer.data),
        ("k", keys),
        ("p", proof),
        ("1", shown[first.day]),
        ("2", shown["latest"]),
    ):
        (tmp_path / name).write_bytes(content)
    run = CliRunner()
    verified = run.invoke(main, ["audit", "verify", str(tmp_path / "b"), "--keys", str(tmp_path / "k")])
    assert (verified.exit_code, verified.output.count("proved")) == (0, 7)
    files = [str(tmp_path / name) for name in "12"]
    command = ["audit", "consistency", *files, "--proof", str(tmp_path / "p")]
    proved = run.invoke(main, [*command, "--keys", str(tmp_path / "k")])
    said = f"The 6 leaves of {second.day} extend the 5 leaves of {first.day}.\n"
    assert (proved.exit_code, proved.output) == (0, said)
    unchecked = "The signatures of the checkpoints were NOT checked: pass the keys of the server with --keys.\n"
    assert run.invoke(main, command).output == said + unchecked


def test_a_bundle_that_an_act_and_a_checkpoint_overtake_is_true_of_the_match_before_both(
    services: Services, anna: Caller, boris: Caller, stranger: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    match_id = started(anna, boris)
    now, receipts = services.now, []

    def overtaken(*arguments: Any, **options: Any) -> BundleContent:
        content: BundleContent = make_content(*arguments, **options)
        receipts.append(write_document(anna.move(match_id).json["receipt"]))
        services.checkpoints.sign(now())
        monkeypatch.setattr(services, "now", lambda: now() + 10_000)
        return content

    monkeypatch.setattr(proofs, "make_content", overtaken)
    packed = stranger.get(f"/matches/{match_id}/bundle").data
    keys = read_key_set(stranger.client.get("/.well-known/rookery-keys.json").data)
    assert {step.name for step in verify(packed, keys) if not step.proved} == {"checkpoint"}
    assert compare(read_receipt(receipts[0]), read_bundle(packed)) is Comparison.EARLIER


def test_a_match_that_cannot_be_replayed_is_exported_all_the_same_to_who_may_see_it(
    app: Flask, anna: Caller, boris: Caller, stranger: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    public, private = started(anna, boris), started(anna, boris, private=True)

    def broken(*_: object) -> None:
        raise ZeroDivisionError

    for match in (public, private):
        anna.move(match)
    app.extensions["rookery"].matches._cache.clear()
    register(monkeypatch, variant(GAMES["bashni"], play=broken))
    for caller in (anna, boris, stranger):
        bundle = read_bundle(caller.get(f"/matches/{public}/bundle").data)
        assert (bundle.facts.replayed, bundle.head.version) == (3, 4)
    assert read_bundle(boris.get(f"/matches/{private}/bundle").data).match == private
    assert stranger.get(f"/matches/{private}/bundle").status_code == 404
