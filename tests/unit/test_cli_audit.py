"""``rookery audit`` without a server: what it prints, where it stops, and how it exits."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from deploy.cli import main
from domain.match.commands import Resign
from events.proof.bundle import make_bundle
from events.proof.documents import write_document
from events.proof.public_keys import key_set
from events.store.codec import draft_of
from events.store.contract import EMPTY, Request
from tests.support import bundles
from tests.support.matches import PlayedMatch
from tests.support.memory_store import MemoryStore
from workers.fleet.audit import Audited, MatchFault, audit_opened, open_match

Change = Callable[[list[Any]], Any]


@pytest.fixture(autouse=True)
def no_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    file = tmp_path / "keys.json"
    file.write_text(json.dumps(key_set([bundles.KEY.public])))
    return file


def run(*arguments: object) -> Result:
    """Run a command of ``rookery audit``."""
    return CliRunner().invoke(main, ["audit", *map(str, arguments)])


def written(tmp_path: Path, packed: bytes, name: str = "match.json") -> Path:
    (tmp_path / name).write_bytes(packed)
    return tmp_path / name


def resealed(match: PlayedMatch, change: Change) -> bytes:
    """Return a bundle, with everything fitting but the rules, of ``match`` after ``change`` to its events."""
    events = list(match.events)
    change(events)
    return make_bundle(match.name, bundles.envelopes(events, match.name), bundles.KEY, bundles.SIGNED_AT, None)


def test_a_whole_bundle_is_proved_line_by_line(tmp_path: Path, keys: Path) -> None:
    result = run("verify", written(tmp_path, bundles.bundle_of(bundles.resigned(), logged=5)), "--keys", keys)
    lines = result.output.splitlines()
    assert result.exit_code == 0
    assert [line.split(":")[0].strip() for line in lines[1:-1]] == [
        f"proved  {name}"
        for name in ("well-formed", "chain", "signature", "replay", "authority", "result", "checkpoint")
    ]
    assert lines[-1] == "  Bundle verified."


def test_without_keys_the_key_that_nobody_vouches_for_is_named(tmp_path: Path) -> None:
    result = run("verify", written(tmp_path, bundles.bundle_of(bundles.resigned())))
    assert result.exit_code == 1
    assert f"NOT PROVED  signature: signed by key {bundles.KEY.id}, which is not vouched for" in result.output
    assert result.output.endswith("No fault found, but not everything is proved.\n")


def test_the_first_fault_is_told_with_its_place_and_ends_it(tmp_path: Path, keys: Path) -> None:
    damaged = bundles.bundle_of(bundles.resigned()).replace(b'"b6-a5"', b'"b6-c5"')
    whole = written(tmp_path, bundles.bundle_of(bundles.resigned(), logged=5), "whole.json")
    result = run("verify", written(tmp_path, damaged), whole, "--keys", keys)
    assert result.exit_code == 1
    assert "  FAULT  version 5: its content, its digest or an event before it was changed\n" in result.output
    assert result.output.endswith("Bundle verified.\n")


def test_keys_of_another_server_and_no_keys_at_all_are_refused(tmp_path: Path, keys: Path) -> None:
    forged = written(tmp_path, bundles.bundle_of(bundles.resigned(), key=bundles.OTHER_KEY))
    assert (
        f"FAULT  signature.key: key {bundles.OTHER_KEY.id} is not among the keys given"
        in run("verify", forged, "--keys", keys).output
    )
    nonsense = written(tmp_path, b"{", "nonsense.json")
    result = run("verify", forged, "--keys", nonsense)
    assert (result.exit_code, result.output) == (1, f"{nonsense}: byte 2 is the end, in the middle of the document\n")


def test_opponents_moves_are_computed_again_when_that_is_wanted(tmp_path: Path, keys: Path) -> None:
    match = bundles.against_an_opponent()
    match.do(Resign(player="alice"))
    result = run("verify", written(tmp_path, bundles.bundle_of(match, logged=3)), "--keys", keys, "--opponents")
    assert (result.exit_code, "1 answers of opponents computed again, all as recorded" in result.output) == (0, True)


def test_a_replay_prints_every_event_up_to_the_first_that_differs(tmp_path: Path) -> None:
    packed = resealed(bundles.after_two_plies(), lambda events: events.__setitem__(4, replace(events[4], move="h6-a1")))
    result = run("replay", written(tmp_path, packed))
    assert result.exit_code == 1
    assert "ply 1, White: c3-d4, one of 7 legal moves, channel not recorded" in result.output
    assert "clock   9 days 23 hours, then 10 days 23 hours" in result.output
    assert "DIFFERENT at version 5: it cannot be replayed: ply 2, h6-a1: " in result.output


def test_a_replay_computes_the_opponents_moves_again(tmp_path: Path) -> None:
    match = bundles.against_an_opponent()
    whole = run("replay", written(tmp_path, bundles.bundle_of(match)))
    assert (whole.exit_code, "seed" in whole.output.splitlines()[1]) == (0, False)
    other = resealed(match, lambda events: events.__setitem__(3, replace(events[3], move="h6-g5")))
    result = run("replay", written(tmp_path, other))
    assert (result.exit_code, "DIFFERENT at version 4: the opponent plays " in result.output) == (1, True)
    assert run("replay", tmp_path / "match.json", "--no-opponents").exit_code == 0


def test_a_replay_of_a_broken_file_tells_the_place(tmp_path: Path) -> None:
    content = json.loads(bundles.bundle_of(bundles.resigned()))
    del content["events"][2]["at"]
    file = written(tmp_path, write_document(content))
    result = run("replay", file)
    assert (result.exit_code, result.output) == (1, f"{file}: version 3: the field 'at' is missing\n")


def test_what_a_bundle_says_cannot_pass_for_what_is_proved(tmp_path: Path) -> None:
    content = json.loads(bundles.bundle_of(bundles.resigned()))
    content["match"] = "m\n  proved  signature: of the right key\x1b[2K\u202e"
    result = run("verify", written(tmp_path, write_document(content)))
    assert "match m\\n  proved  signature: of the right key\\x1b[2K\\u202e\n" in result.output
    assert result.exit_code == 1


def stored(events: list[Any]) -> MemoryStore:
    store = MemoryStore()
    store.append(
        "m",
        EMPTY,
        [draft_of(event, actor) for event, actor in zip(events, bundles.actors(events), strict=True)],
        Request("r", ""),
    )
    return store


def audit_match(store: MemoryStore, match_id: str, recompute: bool) -> Audited:
    """Return the result for one match, as of long after its last event."""
    return audit_opened(match_id, open_match(store, match_id), recompute, 2 * bundles.SIGNED_AT)


def test_a_match_is_examined_whole() -> None:
    found = audit_match(stored(bundles.against_an_opponent().events), "m", recompute=True)
    assert found == (1, 4, 2, 1, 0, (), ())


def test_the_seeds_of_opponents_are_examined_although_their_moves_are_not_computed_again() -> None:
    events: list[Any] = bundles.against_an_opponent().events
    events[3] = replace(events[3], seed=1)
    (finding,) = audit_match(stored(events), "m", recompute=False).findings
    assert (finding.version, finding.reason.endswith("follows from the match, and 1 is recorded")) == (4, True)


@pytest.mark.parametrize(
    ("change", "version", "said"),
    [
        (
            lambda events: events.__setitem__(3, replace(events[3], seat=1)),
            4,
            "seat 0 is to move, and a move of seat 1",
        ),
        (lambda events: events.pop(5), 6, "the rules give no result here"),
    ],
)
def test_the_first_fault_of_a_match_is_its_finding(change: Change, version: int, said: str) -> None:
    events = list(bundles.resigned().events)
    change(events)
    (finding,) = audit_match(stored(events), "m", recompute=False).findings
    assert (finding.match, finding.version, finding.reason[: len(said)]) == ("m", version, said)


def test_a_damaged_stream_is_a_finding() -> None:
    store = stored(bundles.resigned().events)
    entry = store._entries["m"][4]
    store._entries["m"][4] = entry._replace(packed=entry.packed.replace(b"b6-a5", b"b6-c5"))
    (finding,) = audit_match(store, "m", recompute=False).findings
    assert finding == MatchFault("m", 5, "its content, its digest or an event before it was changed")
