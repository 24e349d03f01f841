"""Go's own packages for the log of its modules agree with our notes, proofs and tiles, and refuse forged ones."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from api.services import Services
from events.proof import merkle
from events.proof.monitor import TILE_WIDTH
from events.proof.notes import NoteSignature, parse_note, parse_vkey
from events.proof.tree_heads import CosigningKey, note_key
from tests.support.callers import ME, OPEN, Caller
from tests.support.judge import NO_JUDGE, find_judge, judge
from tests.unit.test_notes import GO_NOTE, NEUMANN
from tests.unit.test_witnessing import LOG

WITNESS = CosigningKey("witness.example/w1", bytes(range(32)))
Says = Callable[..., list[str]]


@pytest.fixture(scope="module")
def says() -> Says:
    program = find_judge()
    if program is None:
        pytest.skip(NO_JUDGE)
    return lambda *requests: judge(program, requests)


def test_it_accepts_our_notes_and_refuses_forged_ones(says: Says) -> None:
    note = LOG.note(7).joined_by([WITNESS.cosign(LOG.note(7).text, 1_800_000_000)])
    signed, cosigned = note.signatures
    forged = note._replace(signatures=(signed, NoteSignature(*cosigned[:2], bytes(72))))
    keys = [LOG.public.vkey, WITNESS.public.vkey]
    answers = says(
        {"kind": "note", "note": str(note), "vkeys": keys},
        {"kind": "note", "note": str(note).replace("\n7\n", "\n8\n"), "vkeys": keys[:1]},
        {"kind": "note", "note": str(forged), "vkeys": keys},
        {"kind": "note", "note": str(note), "vkeys": [parse_vkey(NEUMANN).vkey]},
        {"kind": "note", "note": GO_NOTE, "vkeys": [NEUMANN]},
    )
    assert answers[0] == "ok"
    assert all("invalid signature" in answer for answer in answers[1:3]), answers
    assert "no verifiable signatures" in answers[3]
    assert "no checkpoint" in answers[4]  # the signature was verified before


def test_it_accepts_all_proofs_of_small_trees_and_refuses_them_elsewhere(says: Says) -> None:
    requests: list[dict[str, Any]] = []
    for size in (*range(1, 18), 40):
        root = merkle.root(size, LOG.node)
        for index in range(size):
            path = merkle.inclusion_path(index, size, LOG.node)
            requests.append(_record(size, root, index, LOG.leaves[index], path))
            if index:
                path = merkle.consistency_path(index, size, LOG.node)
                requests.append(_tree(size, root, index, merkle.root(index, LOG.node), path))
    assert says(*requests) == ["ok"] * len(requests)
    forged = [{**request, "root": bytes(32)} for request in requests[-2:]]
    assert "ok" not in says(*forged)


def test_it_accepts_a_mirror_of_tiles_and_finds_what_was_changed_in_one(says: Says, tmp_path: Path) -> None:
    (tmp_path / "tile" / "0" / "000.p").mkdir(parents=True)
    tile = tmp_path / "tile" / "0" / "000.p" / "40"
    tile.write_bytes(b"".join(map(merkle.leaf_hash, LOG.leaves)))
    (tmp_path / "checkpoint").write_text(str(LOG.note(40)))
    entries = tmp_path / "tile" / "entries" / "000.p" / "40"
    entries.parent.mkdir(parents=True)
    entries.write_bytes(b"".join(len(leaf).to_bytes(2, "big") + leaf for leaf in LOG.leaves))
    mirror = {"kind": "tiles", "directory": str(tmp_path), "vkeys": [LOG.public.vkey], "entries": True}
    assert says(mirror) == ["ok"]
    entries.write_bytes(entries.read_bytes().replace(b"leaf 7", b"leaf 8"))
    assert says(mirror) == ["entry 7 of bundle 0 is not that of the tile"]
    tile.write_bytes(bytes(32) + tile.read_bytes()[32:])
    assert "the tiles have the root" in says({**mirror, "entries": False})[0]


def test_it_accepts_cosigned_tiles(services: Services, anna: Caller, app: Flask, says: Says, tmp_path: Path) -> None:
    anna.create(ME, OPEN)
    log = services.checkpoints
    size = log.sign(services.now()).size
    note = parse_note(log.note())
    log.replace_note(log.note(), str(note.joined_by([WITNESS.cosign(note.text, 1_800_000_000)])))
    client = app.test_client()
    for path in ("checkpoint", f"tile/0/000.p/{size % TILE_WIDTH}", f"tile/entries/000.p/{size % TILE_WIDTH}"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(client.get(f"/{path}").data)
    vkeys = [note_key(log.origin(), services.keys.signing().public.raw).vkey, WITNESS.public.vkey]
    assert says({"kind": "tiles", "directory": str(tmp_path), "vkeys": vkeys, "entries": True}) == ["ok"]


def _record(size: int, root: bytes, index: int, leaf: bytes, path: list[bytes]) -> dict[str, Any]:
    return {"kind": "record", "size": size, "root": root, "index": index, "leaf": leaf, "path": path}


def _tree(size: int, root: bytes, old_size: int, old_root: bytes, path: list[bytes]) -> dict[str, Any]:
    return {"kind": "tree", "size": size, "root": root, "oldSize": old_size, "oldRoot": old_root, "path": path}
