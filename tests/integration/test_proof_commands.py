"""The commands that prove: exports, replays, checkpoints, and all matches of a store examined by several processes."""

from typing import Any

from domain.match.commands import Resign
from events.proof.bundle import read_bundle
from events.proof.checkpoints import read_checkpoint
from events.proof.leaves import MatchLeaf
from tests.support.stepped_installation import OTHER_LEAVES, PREFIX, SteppedInstallation
from tests.support.tlog_proofs import check_tlog_proof, read_tlog_proof


def key_of(shop: SteppedInstallation, match_id: str, part: str) -> str:
    """Return the key of the events (e) or the head (h) of a match."""
    return f"{PREFIX}{{s{shop.keys.shard_of(match_id):02d}}}:m:{match_id}:{part}"


def make_unreadable(shop: SteppedInstallation, match_id: str, version: int) -> None:
    """Write nonsense in the place of an event."""
    events = key_of(shop, match_id, "e")
    stored: Any = shop.client.xrange(events)
    shop.client.delete(events)
    for id, fields in stored:
        place = int(id.split(b"-")[0])
        shop.client.xadd(events, {**fields, b"b": b"nonsense"} if place == version else fields, id=id)


def make_empty(shop: SteppedInstallation, match_id: str) -> None:
    shop.client.delete(key_of(shop, match_id, "e"), key_of(shop, match_id, "h"))


def test_the_command_line_exports_replays_and_checkpoints(shop: SteppedInstallation, cli: Any, tmp_path: Any) -> None:
    match = shop.start("alice", "bob")
    shop.play(match, 2)
    shop.do(match, Resign(player="alice"), "alice")
    made = cli("checkpoint")
    assert read_checkpoint(made.stdout.encode()).size == 1 + OTHER_LEAVES
    assert cli("checkpoint").stdout == made.stdout
    assert cli("checkpoint", "--day", "2020-01-01").exit_code == 1
    file, keys = tmp_path / "match.json", tmp_path / "keys.json"
    assert cli("export", match, "--output", file).exit_code == 0
    assert cli("export", match, "--output", file, "--tlog-proof", tmp_path / "proof").exit_code == 0
    digest = shop.store.read(match)[-1].id
    proof = read_tlog_proof((tmp_path / "proof").read_text())
    check_tlog_proof(proof, MatchLeaf(match, shop.store.head(match).version, digest).entry)
    assert read_bundle(cli("export", match).stdout.encode()).match == match
    assert cli("export", "no-such-match").exit_code == 1
    keys.write_text(cli("keys").stdout)
    assert cli("verify", file, "--keys", keys).exit_code == 0
    for source in (match, file):
        replayed = cli("replay", source, "--boards")
        assert replayed.exit_code == 0
        assert "ply 1, White: " in replayed.output
        assert replayed.output.endswith("7 events, all according to the rules\n")
    assert cli("replay", "no-such-match").exit_code == 1
    examined = cli("all", "--processes", 2, "--opponents")
    assert examined.exit_code == 0
    assert "1 matches, 7 events, 2 plies in " in examined.output


def test_every_damage_is_told_at_its_place_and_the_rest_is_examined(shop: SteppedInstallation, cli: Any) -> None:
    whole, damaged, empty, opponent_of = (shop.start("alice", other) for other in ("bob", "bob", "bob", "opponent-1"))
    shop.play(damaged, 4)
    shop.play(whole, 2)
    make_unreadable(shop, damaged, 5)
    make_empty(shop, empty)
    examined = cli("all", "--processes", 1)
    assert examined.exit_code == 1
    lines = [line for line in examined.output.splitlines() if line.startswith("DIFFERENT")]
    assert sorted(line.split(":")[0] for line in lines) == sorted(
        [f"DIFFERENT {damaged} at version 5", f"DIFFERENT {empty} at version 1"]
    )
    assert "4 matches, " in examined.output
    assert examined.output.endswith("2 of 4 matches are faulty, see above\n")
    assert opponent_of not in "".join(lines)
