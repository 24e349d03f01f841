"""Archiving: matches that have been over for some time are moved out of live memory, in rounds.

Crash-safe: the live copy is dropped last, in one step, after its pack was written, registered, read back and compared.
The files of a killed round are not referenced, passed over, and deleted weeks later. A paused round can drop nothing
once another one has begun.
"""

import heapq
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

import structlog

from domain.match.enums import Status
from events.matches.readmodels import Projected, ReadModels, lists_of, rated_result
from events.matches.readmodels.generations import Generations
from events.matches.readmodels.projector import EventSummaries
from events.matches.readmodels.ratings import Ratings
from events.matches.readmodels.summary import pack_summary, unpack_summary
from events.proof.checkpoint_log import CheckpointLog
from events.runtime import beats
from events.store.archive import tables
from events.store.archive.archive import Archive
from events.store.archive.catalogue import Archived, PackFile, pack_name
from events.store.archive.framing import DamagedArchiveError
from events.store.archive.pack import ArchivedMatch, Dictionary, build_pack, dictionary_for
from events.store.archive.store import ArchivingStore, DroppedModels
from events.store.archive.tables import ListEntry, Locator, TableFile

MATCHES_PER_PACK = 256
MATCHES_PER_READ = 64
MATCHES_PER_LOOK = 500
KINDS_OF_FILES = ("packs", "tables", "dictionaries")
DAY_MS = 24 * 3600 * 1000
UNUSED_KEPT_DAYS = 30
"""How long a file stays to which nothing refers any more: a failover or a restored backup may refer to it again."""

log = structlog.get_logger("archive")


class Archiver:
    """Moves matches of ``store`` to its archive that have been over for ``after_days`` and are in ``log``."""

    def __init__(
        self,
        store: ArchivingStore,
        readmodels: ReadModels,
        ratings: Ratings,
        now: Callable[[], int],
        after_days: int,
        log: CheckpointLog,
    ) -> None:
        self._log = log
        self._store = store
        self._readmodels = readmodels
        self._ratings = ratings
        self._now = now
        self._after_ms = after_days * DAY_MS
        self._summaries = EventSummaries(store)

    @property
    def _archive(self) -> Archive:
        return self._store.archive

    def due(self, match_ids: Sequence[str]) -> list[Projected]:
        """Return those that are to be archived: over for long enough, without a case, rated."""
        until = self._now() - self._after_ms
        projections = [
            projected
            for projected in self._readmodels.live_projected(match_ids)
            if projected is not None
            and projected.summary.status in (Status.FINISHED, Status.ABORTED)
            and projected.summary.updated_at <= until
            and not projected.summary.case
        ]
        included = self._ratings.included([projected.summary.match for projected in projections])
        return [
            projected
            for projected in projections
            if rated_result(projected.summary) == included[projected.summary.match]
        ]

    def archive_all(self, match_ids: Iterable[str]) -> int:
        """Archive those of ``match_ids`` that are due; return how many matches were archived."""
        waiting: dict[str, list[Projected]] = {}
        archived, left = 0, iter(match_ids)
        while batch := list(islice(left, MATCHES_PER_LOOK)):
            beats.beat()
            for projected in self.due(batch):
                of_game = waiting.setdefault(projected.summary.game, [])
                of_game.append(projected)
                if len(of_game) == MATCHES_PER_PACK:
                    archived += self.archive(projected.summary.game, waiting.pop(projected.summary.game))
        return archived + sum(self.archive(game, due) for game, due in waiting.items())

    def archive(self, game: str, due: Sequence[Projected]) -> int:
        """Move up to MATCHES_PER_PACK matches of ``game`` that are ``due``; return how many went.

        Others have changed meanwhile. Raises DamagedArchiveError for a pack that reads otherwise; nothing was dropped
        then.
        """
        rounds = self._archive.catalogue.begin_round()
        matches = list(self._read(due))
        if not matches:
            return 0
        pack = self._write_pack(game, max(rounds), matches)
        lists = {projected.summary.match: lists_of(projected.summary) for projected in due}
        table = self._write_table(
            sorted(
                ListEntry(name, score, member, match.stream, Locator(pack.name, place))
                for place, match in enumerate(matches)
                for (name, member), score in lists[match.stream].items()
            )
        )
        self._archive.catalogue.replace_tables([table])
        self._check(pack, matches)
        # A match that changes after this is not dropped.
        self._log.growth.log_heads(match.stream for match in matches)
        dropped = 0
        for place, (match, models) in enumerate(zip(matches, self._models(matches, lists), strict=True)):
            beats.beat()
            if models is not None:
                dropped += self._store.drop(
                    match, Locator(pack.name, place), rounds[self._store.shard_of(match.stream)], models
                )
        self._log.move_notes([match.stream for match in matches])
        log.info("matches were archived", game=game, pack=pack.name, matches=dropped)
        return dropped

    def move_notes(self) -> int:
        """Move notes of last leaves that rounds, kills or backups have left to the catalogue; return how many."""
        return self._log.move_notes()

    def merge_tables(self) -> None:
        """Replace tables that are too many of a size by one."""
        while old := tables.to_merge(self._archive.catalogue.tables()):
            beats.beat()
            merged = self._write_table(heapq.merge(*map(self._archive.table_entries, old)))
            self._archive.catalogue.replace_tables([merged], old)

    def relist(self) -> int:
        """Write all tables again from the packs; return how many matches are in them.

        Crash-safe: they are replaced in one step at the end. Earlier rounds drop nothing any more; later tables stay.
        """
        catalogue = self._archive.catalogue
        while True:
            replaced = catalogue.tables()
            catalogue.begin_round()
            places: dict[str, set[int]] = {}
            for archived in catalogue.archived():
                places.setdefault(archived.locator.pack, set()).add(archived.locator.place)
            made = [self._write_table(sorted(self._listed(name, of_pack))) for name, of_pack in sorted(places.items())]
            if catalogue.replace_tables(made, replaced):
                return sum(map(len, places.values()))

    def _listed(self, pack: str, places: Collection[int]) -> Iterator[ListEntry]:
        for place, match in enumerate(self._archive.matches(self._archive.pack(pack))):
            beats.beat()
            projected = unpack_summary(match.summary) or self._summaries.read(match.stream, 0, None)
            if place in places and projected is not None:
                for (name, member), score in lists_of(projected.summary).items():
                    yield ListEntry(name, score, member, match.stream, Locator(pack, place))

    def collect(self) -> list[str]:
        """Delete the files to which nothing has referred for UNUSED_KEPT_DAYS, and return their names.

        Earlier rounds drop nothing any more, and files of later ones are not looked at. Crash-safe: a file that is not
        deleted is found again.
        """
        storage, catalogue, now = self._archive.storage, self._archive.catalogue, self._now()
        packs, files = (catalogue.packs(), [name for kind in ("packs", "tables") for name in storage.names(kind)])
        unfinished = [name for kind in KINDS_OF_FILES for name in storage.unfinished(kind)]
        catalogue.begin_round()
        used = {archived.locator.pack for archived in catalogue.archived()}
        in_use = {table.file for table in catalogue.tables()}
        earlier = catalogue.unused()
        unused = {
            file: earlier.get(file, now)
            for file in (*files, *unfinished)
            if file not in in_use and pack_name(file) not in used
        }
        gone = [file for file, since in unused.items() if since + UNUSED_KEPT_DAYS * DAY_MS <= now]
        for pack in packs:
            if pack.name not in used:
                catalogue.forget_pack(pack)
        catalogue.note_unused({file: since for file, since in unused.items() if file not in gone})
        for name in gone:
            storage.delete(name)
            log.info("a file that nothing refers to was deleted", file=name)
        return gone

    def recheck(self, match_ids: Sequence[str]) -> tuple[list[str], dict[str, Exception]]:
        """Return which matches are live, having restored those with outdated summaries, and the unreadable ones."""
        unreadable: dict[str, Exception] = {}
        for match_id, archived in zip(match_ids, self._store.find_archived(match_ids), strict=True):
            beats.beat()
            try:
                if archived is not None and not self._has_right_summary(match_id, archived):
                    self._store.restore(match_id)
            except DamagedArchiveError as error:
                unreadable[match_id] = error
        gone = zip(match_ids, self._store.are_archived(match_ids), strict=True)
        return [match_id for match_id, is_archived in gone if not is_archived], unreadable

    def _has_right_summary(self, match_id: str, archived: Archived) -> bool:
        summary = self._summaries.read(match_id, 0, None)
        try:
            return summary == unpack_summary(self._archive.summaries([archived])[0])
        except DamagedArchiveError:
            return False

    def _read(self, due: Sequence[Projected]) -> Iterator[ArchivedMatch]:
        """Yield the matches that are to be archived; one whose summary is not of its head has changed meanwhile."""
        left = iter(due)
        while batch := list(islice(left, MATCHES_PER_READ)):
            beats.beat()
            live = self._store.live_matches([match.summary.match for match in batch])
            for projected, match in zip(batch, live, strict=True):
                if match is not None and match.head.tag == (projected.summary.version, projected.digest):
                    try:
                        match.envelopes()
                    except DamagedArchiveError as error:
                        log.error("a damaged match is not archived", match=match.stream, error=str(error))
                    else:
                        yield match._replace(summary=pack_summary(projected))

    def _write_pack(self, game: str, round_number: int, matches: Sequence[ArchivedMatch]) -> PackFile:
        storage, catalogue = self._archive.storage, self._archive.catalogue
        name = catalogue.dictionary(game)
        if name is None and (trained := dictionary_for(matches)) is not None:
            name = storage.write("dictionaries", trained)
            catalogue.set_dictionary(game, name)
        content = self._archive.dictionary(name)
        dictionary = None if name is None or content is None else Dictionary(name, content)
        packed = build_pack(game, round_number, matches, dictionary)
        pack = PackFile(storage.write("packs", packed), len(packed), len(matches), game)
        catalogue.add_pack(pack)
        return pack

    def _write_table(self, entries: Iterable[ListEntry]) -> TableFile:
        content, count = tables.build_table(entries)
        return TableFile(self._archive.storage.write("tables", content), len(content), count)

    def _check(self, pack: PackFile, matches: Sequence[ArchivedMatch]) -> None:
        """Raise DamagedArchiveError unless the pack reads as ``matches``, whose events lead to their heads."""
        for match, read in zip(matches, self._archive.matches(pack), strict=True):
            beats.beat()
            read.envelopes()
            if read != match:
                raise DamagedArchiveError(f"{match.stream} reads otherwise than it was written")

    def _models(
        self, matches: Sequence[ArchivedMatch], lists: Mapping[str, Mapping[tuple[str, str], int]]
    ) -> list[DroppedModels | None]:
        """Return the live read models of matches; None where they differ from the archived ones by now."""
        keys, client = self._readmodels.keys, self._store.client
        places = [(match, self._store.shard_of(match.stream)) for match in matches]
        with client.pipeline(transaction=False) as pipeline:
            for _, shard in places:
                pipeline.get(keys.generation(shard))
            generations = [Generations.parse(packed) for packed in pipeline.execute()]
            for (match, _), shard_generations in zip(places, generations, strict=True):
                pipeline.get(keys.summary(match.stream, shard_generations.current))
            stored: list[bytes | None] = pipeline.execute()
        dropped: list[DroppedModels | None] = []
        for (match, shard), shard_generations, packed in zip(places, generations, stored, strict=True):
            if packed is None or unpack_summary(packed) != unpack_summary(match.summary):
                dropped.append(None)
                continue
            written = shard_generations.written
            summaries = [keys.summary(match.stream, generation) for generation in written]
            members = [
                (keys.listed(shard, name, generation), member)
                for generation in written
                for name, member in lists[match.stream]
            ]
            dropped.append(DroppedModels(keys.generation(shard), shard_generations.packed, packed, summaries, members))
        return dropped
