"""The audit of the log of checkpoints: matches against leaves, leaves against nodes, roots and signatures."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

from events.proof import leaf_store, merkle
from events.proof.checkpoint_log import CheckpointLog
from events.proof.checkpoints import Checkpoint, read_checkpoint, write_checkpoint
from events.proof.documents import DocumentError
from events.proof.keys import KeyRing
from events.proof.leaves import (
    AdministrationLeaf,
    KeyLeaf,
    MatchLeaf,
    OtherLeaf,
    RevocationLeaf,
    hash_of_stored,
    leaves_of_key,
    read_leaf,
)
from events.proof.notes import NoteKey, SignedNote, parse_note
from events.proof.public_keys import KeySet
from events.proof.tree_heads import note_key, parse_tree_head
from events.runtime.errors import StoreUnavailableError
from events.runtime.wall_clock import rfc3339
from events.store.contract import DIGEST_DIGITS, EMPTY, Head, VersionTag
from events.store.logged_leaves import LoggedLeaf
from events.store.redis import RedisStore

PAGE = 1000
MAX_FINDINGS = 1000
LAG_MS = 60_000
"""An event dated this long before a checkpoint may be missing from it: it was being appended."""

OVERDUE_MS = 48 * 3_600_000
"""A checkpoint includes an event when other matches have continued for this long after it."""


class LogFinding(NamedTuple):
    """A fault and its place; ``match`` is the only match concerned, None for none or several."""

    place: str
    reason: str
    match: str | None = None


class AuditedLog(NamedTuple):
    """Leaves, readable checkpoints by day, the first MAX_FINDINGS ``findings``, and the ``unchecked`` parts."""

    size: int
    checkpoints: dict[str, Checkpoint]
    findings: list[LogFinding]
    unlisted: int
    unchecked: list[LogFinding]


def audit_log(store: RedisStore, log: CheckpointLog, keyring: KeyRing, saved: Sequence[Checkpoint] = ()) -> AuditedLog:
    """Return the findings in the log, compared with the matches (not their chains) and ``saved`` checkpoints."""
    return _Audit(store, log, keyring).run(saved)


class _Leaf(NamedTuple):
    """The last leaf of a match."""

    place: int
    version: int
    digest: str


class _Audit:
    def __init__(self, store: RedisStore, log: CheckpointLog, keyring: KeyRing) -> None:
        self._store, self._log, self._keyring = store, log, keyring
        self._findings: list[LogFinding] = []
        self._unchecked: list[LogFinding] = []
        self._unlisted = 0
        self._size = 0
        self._roots: dict[int, list[tuple[str, str]]] = {}
        self._last: Checkpoint | None = None
        self._keys: KeySet = {}
        self._others: dict[str, OtherLeaf] = {}
        self._last_leaves: dict[str, _Leaf] = {}
        self._covered: dict[str, int] = {}

    def run(self, saved: Sequence[Checkpoint]) -> AuditedLog:
        """Audit part by part; a part that cannot be read is a finding."""
        checkpoints: dict[str, Checkpoint] = {}
        self._part("the number of leaves", self._read_size)
        self._part("the public keys", self._read_keys)
        self._part("the signing key", self._examine_signing_key)
        self._part("the checkpoints", lambda: checkpoints.update(self._stored()))
        self._part("the note of the last tree", self._read_note)
        for checkpoint in saved:
            self._compare(checkpoint, checkpoints)
        self._part("the leaves", self._leaves)
        self._part("the table of logged matches", self._table)
        self._matches()
        return AuditedLog(self._size, checkpoints, self._findings, self._unlisted, self._unchecked)

    def _part(self, place: str, look: Callable[[], None]) -> None:
        try:
            look()
        except StoreUnavailableError:
            raise
        except Exception as error:
            self._add(place, f"cannot be read: {error}")

    def _add(self, place: str, reason: str, match_id: str | None = None) -> None:
        if len(self._findings) < MAX_FINDINGS:
            self._findings.append(LogFinding(place, reason, match_id))
        else:
            self._unlisted += 1

    def _read_size(self) -> None:
        self._size = self._log.size()

    def _stored(self) -> dict[str, Checkpoint]:
        """Return the stored checkpoints that can be read; their roots are compared when the leaves are read."""
        origin, keys = self._store.installation().id, self._keys
        checkpoints: dict[str, Checkpoint] = {}
        unvouched: list[tuple[str, str]] = []
        for day, packed in self._log.stored().items():
            place = f"checkpoint {day}"
            try:
                checkpoint = read_checkpoint(packed)
            except DocumentError as fault:
                self._add(place, f"it cannot be read: {fault}")
                continue
            if checkpoint.day != day:
                self._add(place, f"it is that of {checkpoint.day}")
            if checkpoint.origin != origin:
                self._add(place, f"it is of another server, {checkpoint.origin}")
            before = self._last
            if before is not None and not (checkpoint.size >= before.size and checkpoint.signed_at >= before.signed_at):
                self._add(place, f"it has fewer leaves, or was signed earlier, than that of {before.day}")
            try:
                checkpoint.check(keys)
            except DocumentError as fault:
                revoked = keys[checkpoint.key].revoked if checkpoint.key in keys else None
                if revoked is None or checkpoint.signed_at < revoked:
                    self._add(place, str(fault))
                else:
                    unvouched.append((place, str(fault)))
            else:
                # The tree of a later checkpoint includes that of an earlier one, so its signature covers both.
                unvouched.clear()
            self._expect_root(place, checkpoint)
            checkpoints[day] = self._last = checkpoint
        for place, reason in unvouched:
            self._add(place, f"{reason}, and no later checkpoint vouches for its leaves")
        if (latest := self._log.latest_day()) != (last := max(checkpoints, default=None)):
            self._add("the last checkpoint", f"{latest or 'none'} is noted, and {last or 'none'} is there")
        return checkpoints

    def _read_note(self) -> None:
        place, note = "the note of the last tree", self._log.stored_note()
        if note is None:
            return
        head = parse_tree_head(parse_note(note).text)
        if head.origin != self._log.origin():
            self._add(place, f"it is of another log, {head.origin}")
        if not any(self._is_signed(parse_note(note), note_key(head.origin, key.raw)) for key in self._keys.values()):
            self._add(place, "no key of the store has signed it")
        if self._last is not None and head.size != self._last.size:
            self._add(place, f"it has {head.size} leaves, and the last checkpoint {self._last.size}")
        self._expect(place, head.size, head.root.hex())

    def _is_signed(self, note: SignedNote, key: NoteKey) -> bool:
        try:
            note.check(key)
        except DocumentError:
            return False
        return True

    def _read_keys(self) -> None:
        self._keys = {key.id: key for key in self._keyring.known()}

    def _examine_signing_key(self) -> None:
        faults, unchecked = self._keyring.examine()
        for fault in faults:
            self._add("the signing key", fault)
        if unchecked is not None:
            self._unchecked.append(LogFinding("the signing key", unchecked))

    def _compare(self, saved: Checkpoint, stored: dict[str, Checkpoint]) -> None:
        place = f"kept checkpoint {saved.day}"
        if saved.origin != self._store.installation().id:
            self._add(place, f"it is of another server, {saved.origin}")
            return
        try:
            saved.check(self._keys)
        except DocumentError as fault:
            self._add(place, str(fault))
        here = stored.get(saved.day)
        if here is None:
            self._add(place, "the store has no checkpoint of this day")
        elif write_checkpoint(here) != write_checkpoint(saved):
            self._add(place, "the store has another checkpoint of this day")
        self._expect_root(place, saved)

    def _expect_root(self, place: str, checkpoint: Checkpoint) -> None:
        self._expect(place, checkpoint.size, checkpoint.root)

    def _expect(self, place: str, size: int, root: str) -> None:
        if size > self._size:
            self._add(place, f"it has {size} leaves, and the log {self._size}")
        self._roots.setdefault(size, []).append((place, root))

    def _leaves(self) -> None:
        """Compare each leaf with its match, and all leaves with the nodes and the signed roots."""
        frontier: dict[int, bytes] = {}
        self._check_roots(0, frontier)
        ends = sorted(size for size in self._roots if 0 < size <= self._size)
        start = 0
        while start < self._size:
            end = next((size for size in ends if size > start), self._size)
            page = self._log.leaves(start, min(PAGE, end - start))
            if not page:
                break
            for index, packed in enumerate(page, start):
                self._leaf(index, packed)
            made = merkle.appended_nodes(start, map(hash_of_stored, page), lambda level, _: frontier[level])
            self._part(f"the nodes over the leaves from {start} on", partial(self._nodes, made))
            # Of each level the last node with an even index: later nodes and roots are computed from it.
            frontier.update({level: node for (level, index), node in made.items() if index % 2 == 0})
            start += len(page)
            self._check_roots(start, frontier)
        surplus = self._log.leaves(self._size, 1)
        if start < self._size or surplus:
            self._add("the leaves", f"there are {'more' if surplus else start}, and {self._size} were counted")

    def _leaf(self, index: int, packed: bytes) -> None:
        try:
            leaf = read_leaf(packed)
        except ValueError as error:
            self._add(f"leaf {index}", f"it cannot be read: {error}")
            return
        if not isinstance(leaf, MatchLeaf):
            self._others[leaf.subject] = leaf
            self._other_leaf(index, leaf)
            return
        match_id, version, digest = leaf
        before = self._last_leaves.get(match_id)
        if before is not None and version <= before.version:
            reason = f"leaf {index} has it after leaf {before.place}, which has version {before.version}"
            self._add(f"{match_id} at version {version}", f"{reason}: a match has one history", match_id)
        self._last_leaves[match_id] = _Leaf(index, version, digest)
        if self._last is not None and index < self._last.size:
            self._covered[match_id] = version
        event = self._event(match_id, version)
        if event is None or event[0] != digest:
            self._add(f"{match_id} at version {version}", f"a checkpoint has it with the digest {digest}", match_id)

    def _other_leaf(self, index: int, leaf: OtherLeaf) -> None:
        if isinstance(leaf, AdministrationLeaf):
            digest = self._log.administration_digest(leaf.number)
            if digest != leaf.digest:
                reason = f"entry {leaf.number} of the log of administration has it with the digest {leaf.digest}"
                self._add(f"leaf {index}", f"{reason}, and that has {digest or 'no such entry'}")
        elif isinstance(leaf, KeyLeaf | RevocationLeaf) and not self._says_the_same(leaf):
            self._add(f"leaf {index}", f"it is of key {leaf.key}, and the public keys of the store do not say the same")

    def _says_the_same(self, leaf: KeyLeaf | RevocationLeaf) -> bool:
        public_key = self._keys.get(leaf.key)
        if public_key is None or isinstance(leaf, KeyLeaf):
            return public_key is not None and leaf in leaves_of_key(public_key)
        # A key that is revoked can be revoked from an earlier instant on.
        return public_key.revoked is not None and public_key.revoked <= leaf.since

    def _event(self, match_id: str, version: int) -> tuple[str, int] | None:
        """Return digest and instant of an event; None when there is none that can be read."""
        try:
            events = self._store.read(match_id, version - 1, 1)
        except StoreUnavailableError:
            raise
        except Exception:
            # The chain of this match is audited separately.
            return None
        return (events[0].id, events[0].at) if events and events[0].version == version else None

    def _nodes(self, made: dict[tuple[int, int], bytes]) -> None:
        levels: dict[int, list[int]] = {}
        for level, index in made:
            if level < leaf_store.TILE_HEIGHT:
                continue  # it is computed when it is needed
            levels.setdefault(level, []).append(index)
        for level, indexes in levels.items():
            stored = self._log.leaf_store.nodes(level, indexes[0], len(indexes))
            for index, node in zip(indexes, stored, strict=True):
                if node != made[level, index]:
                    missing = (
                        "it is missing" if len(node) < leaf_store.NODE_BYTES else "it does not follow from its leaves"
                    )
                    self._add(f"node {index} of level {level}", missing)

    def _check_roots(self, size: int, frontier: dict[int, bytes]) -> None:
        if not (expected := self._roots.get(size)):
            return
        root = merkle.root(size, lambda level, _: frontier[level]).hex()
        for place, signed in expected:
            if root != signed:
                self._add(place, f"its root is not that of the first {size} leaves")

    def _table(self) -> None:
        missing = set(self._last_leaves)
        for match_id, noted in self._log.logged():
            leaf = self._last_leaves.get(match_id)
            missing.discard(match_id)
            if leaf is None:
                self._add(match_id, "it is noted as logged, and no leaf has it", match_id)
                continue
            if noted != LoggedLeaf(leaf.place, VersionTag(leaf.version, leaf.digest[:DIGEST_DIGITS])):
                self._add(
                    f"{match_id} at version {leaf.version}", "it is not noted as logged in its last leaf", match_id
                )
        for match_id in sorted(missing):
            self._add(match_id, "a leaf has it, and it is not noted as logged", match_id)
        noted_others = self._log.logged_others()
        for subject in sorted(noted_others.keys() | self._others.keys()):
            if noted_others.get(subject) != (self._others[subject].stored if subject in self._others else None):
                self._add(subject, "what is noted as logged is not its last leaf")

    def _matches(self) -> None:
        """Find matches that a checkpoint should include and does not, and those that the store has lost."""
        lost = set(self._last_leaves)
        late: list[tuple[int, str, int]] = []
        newest = 0
        for shard in range(self._store.shards):
            listed: list[str] = []
            self._part(f"the list of matches of shard {shard}", partial(self._list, shard, listed))
            lost.difference_update(listed)
            for match_id, version in self._ahead(listed):
                covered = self._covered.get(match_id, 0)
                first, last = self._event(match_id, covered + 1), self._event(match_id, version)
                if first is None or last is None:
                    continue
                newest = max(newest, last[1])
                late.append((first[1], match_id, covered + 1))
        for match_id in sorted(lost):
            self._add(match_id, "a checkpoint has it, and the store does not list it", match_id)
        for at, match_id, version in late:
            place = f"{match_id} at version {version}"
            if self._last is not None and at < self._last.signed_at - LAG_MS:
                reason = f"it is of {rfc3339(at)}, and the checkpoint of {self._last.day} does not know it"
                self._add(place, reason, match_id)
            elif at < newest - OVERDUE_MS:
                reason = f"it is of {rfc3339(at)}, and no checkpoint knows it; matches went on until {rfc3339(newest)}"
                self._add(place, reason, match_id)

    def _list(self, shard: int, listed: list[str]) -> None:
        listed.extend(self._store.streams(shard))

    def _ahead(self, matches: Iterable[str]) -> Iterator[tuple[str, int]]:
        """Yield the matches that have changed since their last leaf, with their versions."""
        names = iter(matches)
        while page := list(islice(names, PAGE)):
            for match, head in zip(page, self._heads(page), strict=True):
                if head.version > self._covered.get(match, 0):
                    yield match, head.version

    def _heads(self, names: Sequence[str]) -> list[Head]:
        try:
            return self._store.heads(names)
        except StoreUnavailableError:
            raise
        except Exception:
            # A head that cannot be read is found when the chain is computed again.
            return [EMPTY] if len(names) == 1 else [head for name in names for head in self._heads([name])]
