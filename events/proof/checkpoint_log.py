"""The log of checkpoints in the store: leaves are appended, the tree is signed, proofs are computed from it."""

from collections.abc import Iterable, Iterator, Sequence

import structlog

from events.people.administration import SERVER, Administration
from events.proof import merkle
from events.proof.checkpoints import (
    DAY_LETTERS,
    FORMAT,
    KIND,
    AdministrationHead,
    Checkpoint,
    Consistency,
    Inclusion,
    day_of,
    hour_of,
    read_checkpoint,
    statement,
    write_checkpoint,
)
from events.proof.documents import DocumentError
from events.proof.guard import CheckpointGuard, GuardedTree
from events.proof.keys import KeyRing, SigningKey, record_keys
from events.proof.leaf_store import LeafStore
from events.proof.log_growth import CHECKPOINT_SIGNED, LeafNotes, LogGrowth
from events.proof.notes import parse_note
from events.proof.tree_heads import TreeHead, note_key, parse_tree_head, sign_tree_head
from events.runtime.connections import StorePipeline
from events.runtime.errors import StoreError
from events.runtime.keys import ProofKeys
from events.runtime.transactions import transact
from events.store.archive.store import ArchivingStore
from events.store.converter import Digest
from events.store.logged_leaves import LoggedLeaf, unpack_logged

ROLLBACK_ACCEPTED = "rollback-accepted"

log = structlog.get_logger("checkpoints")


class NoCheckpointError(LookupError):
    """There is no checkpoint of this day or hour."""


class RolledBackError(StoreError):
    """The log of ``size`` leaves does not extend the largest signed tree: the operator must decide."""

    def __init__(self, guarded: GuardedTree, size: int) -> None:
        self.guarded = guarded
        self.size = size
        super().__init__(
            f"no checkpoint is signed: the log of matches has {size} leaves and does not extend the tree of "
            f"{guarded.size} leaves with the root {guarded.root} that this server has signed. The store was restored "
            "from an older backup, has lost events, or was changed. Look for newer files of the store first; if there "
            "are none, rookery audit accept-rollback records the loss for everyone to see and lets it sign again"
        )


class CheckpointLog:
    """The log of one installation; ``guard`` remembers outside the store, ``host`` names the log in notes."""

    def __init__(
        self, store: ArchivingStore, keys: KeyRing, guard: CheckpointGuard | None = None, host: str | None = None
    ) -> None:
        self._guard = guard
        self._host = host
        self._store = store
        self._client = store.client
        self._keys = keys
        self._administration = Administration(store.client, store.prefix, keys.now)
        self._places = ProofKeys(store.prefix)
        self.leaf_store = LeafStore(store.client, self._places, store.storage)
        self._notes = LeafNotes(store)
        self.growth = LogGrowth(store, keys, self._administration, self.leaf_store, self._notes)

    def sign(self, now: int) -> Checkpoint:
        """Return the checkpoint of the day of ``now``, which is made if there is none.

        Crash-safe: leaves join in transactions, none twice; the first to sign the day has signed it. Raises
        ClockMismatchError, since a checkpoint of a day to come would be the last one until then, and RolledBackError.
        """
        self._check_extends()
        day = day_of(now)
        latest = self._latest_recorded()
        if latest is not None and latest.day[:DAY_LETTERS] >= day:
            return self._of_day_or(latest, day)
        self.growth.log_changes()
        signed = self._sign(day, now)
        self._record(signed)
        return signed

    def sign_hour(self, now: int) -> Checkpoint:
        """Return the last checkpoint after a look, at most one an hour, at the matches that have changed since.

        A further checkpoint of the day is named by the hour. Crash-safe: killed before the look is noted, the next call
        looks again.
        """
        day, hour = day_of(now), hour_of(now)
        latest = self._latest_recorded()
        if latest is None or latest.day[:DAY_LETTERS] < day:
            return self.sign(now)
        if not self.is_look_due(latest, now):
            return latest
        self._check_extends()
        self.growth.log_changes()
        if self.size() > latest.size:
            latest = self._sign(hour, now)
            self._record(latest)
        self._client.set(self._places.looked_hour, hour)
        return latest

    def is_look_due(self, latest: Checkpoint, now: int) -> bool:
        """Return whether nothing was signed or looked for in the hour of ``now``; ``latest`` is the last checkpoint."""
        looked = (self._client.get(self._places.looked_hour) or b"").decode(errors="replace")
        return max(hour_of(latest.signed_at), looked) < hour_of(now)

    def _check_extends(self) -> None:
        self._store.check_clock()
        if (guarded := self.find_rollback()) is not None:
            raise RolledBackError(guarded, self.size())

    def _latest_recorded(self) -> Checkpoint | None:
        """Return the last checkpoint, None before the first or where it is damaged.

        Crash-safe: it is recorded before the next one is signed, if its signer was killed before that.
        """
        try:
            latest = self.latest()
            if latest is not None:
                self._record(latest)
        except (DocumentError, NoCheckpointError) as error:
            log.error("the last checkpoint cannot be read", error=str(error))
            return None
        return latest

    def _of_day_or(self, latest: Checkpoint, day: str) -> Checkpoint:
        """Return the checkpoint of ``day``, or ``latest`` where that is of a later day, or there is none of it."""
        try:
            return self.of_day(day) if latest.day.startswith(day) else latest
        except NoCheckpointError:
            return latest

    def find_rollback(self) -> GuardedTree | None:
        """Return the tree that was signed and that the log does not extend; None when it extends all of them."""
        return None if self._guard is None else self._contradicted(self._guard, self.size())

    def accept_rollback(self, guarded: GuardedTree, actor: str) -> None:
        """Let the log be signed although it does not extend the tree ``guarded``.

        Crash-safe: the log of administration has it before the guard forgets the tree; a repetition records nothing.
        """
        if self._guard is None:
            return
        size = self.size()
        root = merkle.root(size, self.leaf_store.tree()).hex()
        facts = {"size": size, "root": root, "signed_size": guarded.size, "signed_root": guarded.root}
        once = f"rollback:{guarded.size}:{guarded.root}:{size}:{root}"
        self._administration.record(ROLLBACK_ACCEPTED, actor, facts, once)
        self._guard.replace(self._store.installation().id, GuardedTree(size, root))

    def _contradicted(self, guard: CheckpointGuard, size: int) -> GuardedTree | None:
        for tree in guard.largest(self._store.installation().id):
            if tree.size > size or merkle.root(tree.size, self.leaf_store.tree()).hex() != tree.root:
                return tree
        return None

    def latest(self) -> Checkpoint | None:
        """Return the last checkpoint, None before the first."""
        day = self.latest_day()
        return None if day is None else self.of_day(day)

    def of_day(self, day: str) -> Checkpoint:
        """Return the checkpoint of ``day`` (2026-01-31, UTC) or hour (2026-01-31T04); raises NoCheckpointError."""
        packed = self._client.hget(self._places.checkpoints, day)
        if packed is None:
            raise NoCheckpointError(f"there is no checkpoint of {day}")
        return read_checkpoint(packed)

    def days(self) -> list[str]:
        """Return the days that have a checkpoint, the oldest first."""
        names = self._client.hkeys(self._places.checkpoints)
        return sorted(day.decode() for day in names if len(day) == DAY_LETTERS)

    def inclusion(self, match_id: str) -> Inclusion | None:
        """Return the proof that the last checkpoint knows ``match``, None as long as it does not."""
        [logged], checkpoint = self._notes.packed([match_id]), self.latest()
        if logged is None or checkpoint is None:
            return None
        place, tag = unpack_logged(logged)
        if place >= checkpoint.size:
            return None
        path = merkle.inclusion_path(place, checkpoint.size, self.leaf_store.tree())
        return Inclusion(checkpoint, place, tag.version, _digests(path), self.note_of(checkpoint))

    def note(self) -> str | None:
        """Return the last signed tree as a note; None before the first or where it is damaged, until the next."""
        packed = self.stored_note()
        if packed is None:
            return None
        try:
            parse_tree_head(parse_note(packed).text)
        except DocumentError as error:
            log.error("the note of the last tree cannot be read", error=str(error))
            return None
        return packed.decode()

    def stored_note(self) -> bytes | None:
        """Return the note as it is stored, None before the first."""
        return self._client.get(self._places.note)

    def note_of(self, checkpoint: Checkpoint) -> str | None:
        """Return the note of the same tree as ``checkpoint``; None when another one was signed meanwhile, or none."""
        note = self.note()
        if note is None:
            return None
        head = parse_tree_head(parse_note(note).text)
        return note if (head.size, head.root.hex()) == (checkpoint.size, checkpoint.root) else None

    def replace_note(self, present: str, changed: str) -> bool:
        """Put ``changed``, with more cosignatures, in the place of ``present``; False if another is there."""

        def replace(pipeline: StorePipeline) -> bool:
            if pipeline.get(self._places.note) != present.encode():
                return False
            pipeline.multi()
            pipeline.set(self._places.note, changed)
            return True

        return transact(self._client, [self._places.note], replace)

    def origin(self) -> str:
        """Return the name of the log in its notes. It does not change any more once a note was signed."""
        stored = self._client.get(self._places.log_origin)
        if stored is not None:
            return stored.decode()
        return f"{self._host}/rookery" if self._host else f"rookery.local/{self._store.installation().id}"

    def consistency(self, first: int, second: int) -> Consistency:
        """Return the proof that ``first`` leaves begin ``second``; raises ValueError when there are fewer."""
        size = self.size()
        if not 0 <= first <= second <= size:
            raise ValueError(f"The log has {size} leaves, there is no proof from {first} to {second}")
        return Consistency((first, second), _digests(merkle.consistency_path(first, second, self.leaf_store.tree())))

    def size(self) -> int:
        """Return the number of leaves."""
        return self.leaf_store.size()

    def leaves(self, start: int, count: int) -> list[bytes]:
        """Return up to ``count`` leaves from the one at index ``start`` on, as they are stored (``leaves``)."""
        return self.leaf_store.read(start, count)

    def move_tiles(self) -> int:
        """Move tiles that a checkpoint covers to the storage of the archive; see ``LeafStore.move_tiles``."""
        latest = self.latest()
        return 0 if latest is None else self.leaf_store.move_tiles(latest.size)

    def move_notes(self, match_ids: Iterable[str] | None = None) -> int:
        """Move to the catalogue where last leaves of archived matches are (None: all); return how many went."""
        try:
            latest = self.latest()
        except (DocumentError, NoCheckpointError) as error:
            log.error("the last checkpoint cannot be read", error=str(error))
            return 0
        covered = 0 if latest is None else latest.size
        return self._notes.move_all(covered) if match_ids is None else self._notes.move(match_ids, covered)

    def logged(self) -> Iterator[tuple[str, LoggedLeaf | None]]:
        """Return every match with its last leaf as it is noted, in no order; None for a note that cannot be read."""
        return self._notes.all()

    def logged_others(self) -> dict[str, bytes]:
        """Return the last leaf of each subject that is no match, as it is noted."""
        packed = self._client.hgetall(self._places.others)
        return {subject.decode(errors="backslashreplace"): leaf for subject, leaf in packed.items()}

    def administration_digest(self, number: int) -> str | None:
        """Return the digest of an entry of the log of administration; None when there is none that can be read."""
        try:
            acts = self._administration.acts(number - 1, 1)
        except (ValueError, KeyError, TypeError):
            return None
        return acts[0].id if acts and acts[0].number == number else None

    def stored(self) -> dict[str, bytes]:
        """Return the documents of all checkpoints by their days and hours, the oldest first."""
        notes = self._client.hgetall(self._places.checkpoints)
        return {day.decode(errors="backslashreplace"): notes[day] for day in sorted(notes)}

    def latest_day(self) -> str | None:
        """Return the recorded day, or hour, of the last checkpoint, None when there is none."""
        day = self._client.get(self._places.latest_day)
        return None if day is None else day.decode(errors="backslashreplace")

    def _sign(self, day: str, now: int) -> Checkpoint:
        """Sign the log as the checkpoint of a day or hour; return it, or a later one that another process signed."""
        origin = self._store.installation().id
        record_keys(self._administration, self._keys.known())
        last = self._administration.last()
        administration = AdministrationHead(last.version, Digest(last.digest.hex()))

        def sign(pipeline: StorePipeline) -> Checkpoint:
            latest = (pipeline.get(self._places.latest_day) or b"").decode(errors="replace")
            later = pipeline.hget(self._places.checkpoints, latest) if latest > day else None
            signed = later or pipeline.hget(self._places.checkpoints, day)
            if signed is not None:
                return read_checkpoint(signed)
            # Read while the size is watched: no tree with the revocation of a key is signed by that key.
            key = self.growth.logged_key()
            size = int(pipeline.get(self._places.log_size) or 0)
            root = Digest(merkle.root(size, self.leaf_store.tree()).hex())
            if self._guard is not None:
                if (guarded := self._contradicted(self._guard, size)) is not None:
                    raise RolledBackError(guarded, size)
                # Crash-safe: the guard knows the tree before anybody can have the checkpoint. Killed in between it
                # knows one that was never signed, which the log still extends.
                self._guard.note(origin, GuardedTree(size, root))
            signed_at = key.instant(now)
            signature = key.sign(KIND, statement(origin, day, size, root, signed_at, administration))
            checkpoint = Checkpoint(FORMAT, origin, day, size, root, signed_at, key.id, signature, administration)
            head = TreeHead(self.origin(), size, bytes.fromhex(root))
            note = self._signed_note(head, key, pipeline.get(self._places.note))
            pipeline.multi()
            pipeline.hset(self._places.checkpoints, day, write_checkpoint(checkpoint))
            pipeline.set(self._places.latest_day, day)
            pipeline.set(self._places.log_origin, head.origin)
            pipeline.set(self._places.note, note)
            return checkpoint

        watched = [self._places.log_size, self._places.checkpoints, self._places.log_origin, self._places.note]
        return transact(self._client, watched, sign)

    def _signed_note(self, head: TreeHead, key: SigningKey, present: bytes | None) -> bytes:
        """Return the note of ``head``: the ``present`` one, with its cosignatures, if ``key`` has signed the same."""
        if present is not None:
            try:
                note = parse_note(present)
                if note.text == head.text:
                    note.check(note_key(head.origin, key.public.raw))
                    return present
            except DocumentError as error:
                log.info("the tree is signed again as a note", reason=str(error))
        return str(sign_tree_head(head, key)).encode()

    def _record(self, checkpoint: Checkpoint) -> None:
        """Record once in the log of administration that ``checkpoint`` was signed; the next one makes up for it."""
        facts = {"day": checkpoint.day, "size": checkpoint.size, "root": checkpoint.root}
        self._administration.record(CHECKPOINT_SIGNED, SERVER, facts, f"checkpoint:{checkpoint.day}")


def _digests(nodes: Sequence[bytes]) -> tuple[Digest, ...]:
    return tuple(Digest(node.hex()) for node in nodes)
