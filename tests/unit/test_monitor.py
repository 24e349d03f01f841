"""A monitor computes the roots of a log itself, and finds out when the log shows another past."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from events.proof import merkle, monitor as module
from events.proof.keys import SigningKey
from events.proof.monitor import ContradictionError, FetchError, GrowingTree, Monitor, RunFinding
from events.proof.notes import NoteKey
from events.proof.public_keys import PublicKey, base64url
from events.proof.tree_heads import TreeHead, note_key, sign_tree_head
from events.store.envelope import canonical_json

ORIGIN = "club.example/rookery"
KEY, NEW_KEY = SigningKey(bytes([1] * 32), since=0), SigningKey(bytes([2] * 32), since=0)


def entry(number: int) -> bytes:
    return canonical_json({"commitment": f"{number:064x}", "form": 1, "kind": "match"})


ENTRIES = [entry(number) for number in range(1200)]


class TiledLog:
    """A log whose tiles are made when they are asked for."""

    def __init__(self, entries: Sequence[bytes], key: SigningKey = KEY) -> None:
        self.entries, self.key = list(entries), key
        self.asked: list[str] = []
        self.hidden = 0
        self.levels = [[merkle.leaf_hash(each) for each in entries]]
        for _ in range(16):
            below = self.levels[-1]
            pairs = range(0, len(below) // 2 * 2, 2)
            self.levels.append([merkle.node_hash(*below[place : place + 2]) for place in pairs])
        tree = GrowingTree()
        tree.add(self.levels[0])
        self.note = str(sign_tree_head(TreeHead(ORIGIN, len(entries), tree.root()), self.key)).encode()

    def fetch(self, path: str, max_bytes: int) -> bytes | None:
        self.asked.append(path)
        if path == "checkpoint":
            return self.note
        _, level, *rest = path.split("/")
        number, _, width = "".join(rest).replace("x", "").partition(".p")
        first = int(number) * 256
        if level == "entries":
            bundle = self.entries[first : first + int(width or 256)]
            return None if first < self.hidden else b"".join(len(each).to_bytes(2, "big") + each for each in bundle)
        tile = self.levels[8 * int(level)][first : first + 256]
        return b"".join(tile) if len(tile) == int(width or 256) else None


def watch(log: TiledLog, directory: Path, key: SigningKey = KEY) -> RunFinding:
    log.asked.clear()
    return Monitor(log.fetch, directory, [key.public.raw], ORIGIN).run()


def test_a_log_that_grows_is_read_once(tmp_path: Path) -> None:
    log = TiledLog(ENTRIES[:700])
    found = watch(log, tmp_path)
    assert (found.head.size, found.grown_by, found.entries["match"]) == (700, 700, 700)
    assert found.key == NoteKey(ORIGIN, 1, KEY.public.raw)
    log = TiledLog(ENTRIES)
    found = watch(log, tmp_path)
    assert (found.head.size, found.grown_by, found.entries["match"]) == (1200, 500, 500)
    tiles = {f"tile/{kind}/00{number}" for kind in ("0", "entries") for number in (2, 3)}
    assert {path for path in log.asked if ".p/" not in path} == {"checkpoint", *tiles}
    assert watch(log, tmp_path).grown_by == 0
    assert log.asked == ["checkpoint"]


@pytest.mark.parametrize("rewritten", [0, 300, 511, 699])
def test_a_log_that_was_rewritten_is_found_out_with_the_place(tmp_path: Path, rewritten: int) -> None:
    watch(TiledLog(ENTRIES[:700]), tmp_path)
    forged = [*ENTRIES[:rewritten], entry(9999), *ENTRIES[rewritten + 1 :]]
    with pytest.raises(ContradictionError, match="the log was rewritten: leaves ") as caught:
        watch(TiledLog(forged), tmp_path)
    first, _, last = str(caught.value).partition("leaves ")[2].split()[:3]
    assert int(first) <= rewritten <= int(last)
    (kept,) = tmp_path.glob("contradiction-*.txt")
    assert kept.read_text().count(ORIGIN) == 4
    assert watch(TiledLog(ENTRIES), tmp_path).grown_by == 500


def test_a_log_never_has_fewer_leaves_than_it_had_nor_others(tmp_path: Path) -> None:
    watch(TiledLog(ENTRIES[:700]), tmp_path)
    for entries, words in (
        (ENTRIES[:699], "fewer leaves: now 699"),
        (ENTRIES[1:701], "as many leaves and another root"),
    ):
        with pytest.raises(ContradictionError, match=words):
            watch(TiledLog(entries), tmp_path)


def test_tiles_and_entries_must_be_those_of_the_checkpoint(tmp_path: Path) -> None:
    log = TiledLog(ENTRIES[:300])
    log.entries = log.entries[1:]
    with pytest.raises(ContradictionError, match="entry 0 of the log is not the one that its tile has the hash of"):
        watch(log, tmp_path)
    log = TiledLog(ENTRIES[:300])
    log.hidden = 256
    with pytest.raises(FetchError, match="does not show the 256 entries of the tile 0"):
        watch(log, tmp_path)


def test_a_new_key_must_be_in_the_log(tmp_path: Path) -> None:
    watch(TiledLog(ENTRIES[:300]), tmp_path)
    with pytest.raises(ContradictionError, match="signed by no key that is trusted, nor by one that is in the log"):
        watch(TiledLog(ENTRIES[:301], NEW_KEY), tmp_path)
    public = PublicKey(NEW_KEY.public.raw, 5)
    begun = canonical_json({"form": 1, "key": public.id, "kind": "key", "public": base64url(public.raw), "since": 5})
    found = watch(TiledLog([*ENTRIES[:301], begun], NEW_KEY), tmp_path)
    assert (found.key, found.is_new_key) == (note_key(ORIGIN, NEW_KEY.public.raw), True)
    assert watch(TiledLog([*ENTRIES[:301], begun, *ENTRIES[301:]], NEW_KEY), tmp_path).grown_by == 899


def test_a_key_that_the_log_says_is_revoked_signs_no_more(tmp_path: Path) -> None:
    watch(TiledLog(ENTRIES[:300]), tmp_path)
    stolen = PublicKey(KEY.public.raw, 0)
    revoked = [*ENTRIES[:300], canonical_json({"form": 1, "key": stolen.id, "kind": "revocation", "since": 5})]
    for entries in (revoked, [*revoked, ENTRIES[300]]):
        with pytest.raises(ContradictionError, match="or only by one that is revoked there"):
            watch(TiledLog(entries), tmp_path)
    public = PublicKey(NEW_KEY.public.raw, 5)
    begun = canonical_json({"form": 1, "key": public.id, "kind": "key", "public": base64url(public.raw), "since": 5})
    assert watch(TiledLog([*revoked, begun], NEW_KEY), tmp_path).is_new_key
    with pytest.raises(ContradictionError, match="or only by one that is revoked there"):
        watch(TiledLog([*revoked, begun, ENTRIES[300]]), tmp_path)


def test_an_entry_that_cannot_be_read_is_of_no_known_kind(tmp_path: Path) -> None:
    nested = b"[" * 60_000
    assert watch(TiledLog([nested, *ENTRIES[:2]]), tmp_path).entries == {"of no known kind": 1, "match": 2}


def test_an_interrupted_run_goes_on_where_it_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TILES_AT_ONCE", 1)
    log = TiledLog(ENTRIES)
    whole = log.fetch

    def broken(path: str, max_bytes: int) -> bytes | None:
        if path.startswith("tile/0/003"):
            raise FetchError("the connection broke")
        return whole(path, max_bytes)

    log.fetch = broken  # type: ignore[method-assign]
    with pytest.raises(FetchError):
        watch(log, tmp_path)
    log.fetch = whole  # type: ignore[method-assign]
    assert watch(log, tmp_path).head.size == 1200
    assert "tile/0/002" not in log.asked
