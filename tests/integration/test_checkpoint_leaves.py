"""The leaves of the log of checkpoints, public: hashes alone, from which every root follows."""

import hashlib
import json
from typing import Any

import pytest

from events.proof import merkle
from events.proof.checkpoints import Checkpoint
from tests.integration.test_proofs import DAY_MS
from tests.support.bundles import unread
from tests.support.callers import ME, OPEN, Caller
from tests.support.stepped_installation import OTHER_LEAVES


def test_anybody_can_compute_the_root_of_every_checkpoint_and_finds_a_match_among_the_leaves(
    app: Any, anna: Caller, stranger: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("events.proof.log_growth.MATCHES_PER_BATCH", 3)
    services = app.extensions["rookery"]
    made: list[Checkpoint] = []
    for day in range(3):
        public, private = anna.create(ME, OPEN), anna.create(ME, OPEN, private=True)
        made.append(services.checkpoints.sign(services.now() + day * DAY_MS))
    hashes: list[str] = []
    pages, following = 0, 0
    while following is not None:
        page = stranger.get(f"/checkpoints/leaves?after={following}&limit=4").json
        assert (page["after"], page["size"]) == (len(hashes), 6 + OTHER_LEAVES)
        hashes += page["hashes"]
        following, pages = page["next"], pages + 1
    assert (pages, len(hashes)) == (2, 6 + OTHER_LEAVES)
    nodes = merkle.appended_nodes(0, map(bytes.fromhex, hashes), unread)
    for checkpoint in made:
        root = merkle.root(checkpoint.size, lambda level, index: nodes[level, index])
        assert root.hex() == checkpoint.root
    event = stranger.get(f"/matches/{public}/events").json["items"][0]
    head = json.dumps({"digest": event["id"], "match": public, "version": 1}, separators=(",", ":"))
    commitment = hashlib.sha256(head.encode()).hexdigest()
    leaf = json.dumps({"commitment": commitment, "form": 1, "kind": "match"}, separators=(",", ":"))
    assert merkle.leaf_hash(leaf.encode()).hex() in hashes
    assert private not in stranger.get("/checkpoints/leaves").text
    assert stranger.get("/checkpoints/leaves?after=8").json["hashes"] == []
    assert stranger.get("/checkpoints/leaves?limit=1001").status_code == 422
