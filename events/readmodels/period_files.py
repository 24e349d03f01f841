"""Files of rating periods: what was played and rated in a run of days, by pool and player, and the results by match.

Blocks of about ENTRIES_PER_BLOCK rated matches are compressed each for itself, with an index at the end, so that the
days of one player are read from a file in three small parts. Rows are those of the live store (``standings``): what is
brought back from a file is bit for bit what was put into it.
"""

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import orjson

from events.archive.errors import DamagedArchiveError, MissingFileError
from events.archive.framing import FileWriter, Frame, compress, footer_bytes, index_frame, read_json
from events.archive.remembered import Measured, Remembered
from events.archive.storage import Storage
from events.readmodels.standings import DayEnd, Entry, Part
from events.readmodels.summary import RatedResult
from events.store.converter import SchemaError, row_of

KIND = "ratings"
"""The folder of these files in the storage."""

MAGIC = b"rookery rating periods 1\n"
ENTRIES_PER_BLOCK = 1024
MAX_REMEMBERED_BYTES = 8 * 2**20
BYTES_PER_PACKED_BYTE = 16
"""Bytes in memory for one of a compressed block, about."""

T = TypeVar("T")


_Place = tuple[str, str, int]
"""Pool, player, and the first of some days."""


class PlayedDay(NamedTuple):
    """A player's day: the rating after it, and its matches in the parts in which they were stored."""

    end: DayEnd
    parts: tuple[Part, ...]

    @property
    def entries(self) -> list[Entry]:
        """Its matches in order."""
        return [entry for part in self.parts for entry in part.entries]


class PlayerPeriods(NamedTuple):
    """Days of a player in a pool, in order, and the end of the last rated day before them."""

    pool: str
    player: str
    previous: DayEnd | None
    days: tuple[PlayedDay, ...]

    @property
    def place(self) -> "_Place":
        """Where these days stand in a file."""
        return self.pool, self.player, self.days[0].end.day

    def up_to(self, day: int) -> list[PlayedDay]:
        """Return the days until ``day``, that one included."""
        return [played for played in self.days if played.end.day <= day]

    def end_before(self, day: int) -> DayEnd | None:
        """Return the end of the last rated day before ``day``."""
        earlier = self.up_to(day - 1)
        return earlier[-1].end if earlier else self.previous

    def in_runs(self) -> Iterator["PlayerPeriods"]:
        """Yield these days in runs of about ENTRIES_PER_BLOCK matches, so that a file can be read by the day."""
        previous = self.previous
        for run in _blocks(self.days, lambda played: len(played.entries)):
            yield self._replace(previous=previous, days=tuple(run))
            previous = run[-1].end


class PeriodFile(NamedTuple):
    """A file: the first day in it, its name, and its size in bytes."""

    first: int
    name: str
    size: int


class _FileIndex(NamedTuple):
    """The first place in each block of players, the first match in each block of results, and the blocks.

    ``made`` tells files with the same content apart: one that was made again is not one that nothing has referred to
    for long.
    """

    made: str
    players: list[_Place]
    player_blocks: list[Frame]
    results: list[str]
    result_blocks: list[Frame]


def build_period_file(made: str, players: Iterable[PlayerPeriods], results: Iterable[RatedResult]) -> bytes:
    """Return a file of rating periods; ``made`` is in no other."""
    file, index = FileWriter(MAGIC), _FileIndex(made, [], [], [], [])
    runs = sorted((run for periods in players for run in periods.in_runs()), key=lambda run: run.place)
    for of_players in _blocks(runs, _entry_count):
        index.players.append(of_players[0].place)
        index.player_blocks.append(_add_rows(file, of_players))
    for of_results in _blocks(sorted(results), lambda _: 1):
        index.results.append(of_results[0].match)
        index.result_blocks.append(_add_rows(file, of_results))
    return file.finish(index._asdict())


class PeriodFiles:
    """Reads files of rating periods in ``storage``, and remembers parts of them. Safe to share between threads.

    Methods raise ArchiveUnavailableError, and DamagedArchiveError for a file that is not what was written.
    """

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self._remembered = Remembered(MAX_REMEMBERED_BYTES)

    def write(self, content: bytes, first: int) -> PeriodFile:
        """Store a file whose first day is ``first``; it is durable, and reads as it was written."""
        return PeriodFile(first, self.storage.write(KIND, content), len(content))

    def played(self, file: PeriodFile, pool: str, player: str, day: int) -> PlayerPeriods:
        """Return days of a player in a pool up to ``day``, a rated one, and not all that the file has."""
        index, place = self._index(file), (pool, player, day)
        block = bisect_right(index.players, place) - 1
        rows = self._rows(file, index.player_blocks[block]) if block >= 0 else []
        at = bisect_right(rows, place, key=_place_of_row) - 1
        for run in _made_of(PlayerPeriods, rows[at : at + 1]) if at >= 0 else ():
            days = run.up_to(day)
            if days and run.place[:2] == (pool, player) and days[-1].end.day == day:
                return run._replace(days=tuple(days))
        raise DamagedArchiveError(f"the file {file.name} lacks day {day} of {player} in {pool}")

    def result(self, file: PeriodFile, match_id: str) -> RatedResult | None:
        """Return the result of a match; None when it is not in the file."""
        index = self._index(file)
        block = bisect_right(index.results, match_id) - 1
        rows = self._rows(file, index.result_blocks[block]) if block >= 0 else []
        at = bisect_left(rows, match_id, key=_match_of_row)
        found = _made_of(RatedResult, rows[at : at + 1])
        return found[0] if found and found[0].match == match_id else None

    def players(self, file: PeriodFile) -> Iterator[PlayerPeriods]:
        """Yield all that a file has of players, by pool, player and day."""
        for block in self._index(file).player_blocks:
            yield from _made_of(PlayerPeriods, read_json(self._read(file, block)))

    def results(self, file: PeriodFile) -> Iterator[RatedResult]:
        """Yield all results in a file, by match."""
        for block in self._index(file).result_blocks:
            yield from _made_of(RatedResult, read_json(self._read(file, block)))

    def find_fault(self, file: PeriodFile) -> str | None:
        """Return what is wrong with a file, None when all of it reads as it was written."""
        try:
            if hashlib.sha256(self.storage.read(file.name)).hexdigest() != file.name.rpartition("/")[2]:
                return "the file was changed"
            for _ in chain(self.players(file), self.results(file)):
                pass
        except (DamagedArchiveError, MissingFileError) as error:
            return str(error)
        return None

    def _index(self, file: PeriodFile) -> _FileIndex:
        def load(_: object) -> list[Measured]:
            length = footer_bytes(MAGIC)
            footer = self.storage.read_range(file.name, file.size - length, length)
            packed = self._read(file, index_frame(file.size, footer, MAGIC))
            return [(_read_index(read_json(packed)), BYTES_PER_PACKED_BYTE * len(packed))]

        found: _FileIndex = self._remembered.get([file.name], load)[0]
        return found

    def _rows(self, file: PeriodFile, block: Frame) -> list[Any]:
        """Return the rows of a block as JSON: making objects of all of them costs ten times what reading them does."""

        def load(_: object) -> list[Measured]:
            packed = self._read(file, block)
            return [(read_json(packed), BYTES_PER_PACKED_BYTE * len(packed))]

        found: list[Any] = self._remembered.get([(file.name, block)], load)[0]
        return found

    def _read(self, file: PeriodFile, frame: Frame) -> bytes:
        return self.storage.read_range(file.name, *frame)


def _entry_count(periods: PlayerPeriods) -> int:
    return sum(len(played.entries) for played in periods.days)


def _blocks(items: Iterable[T], size_of: Callable[[T], int]) -> Iterator[list[T]]:
    block: list[T] = []
    size = 0
    for item in items:
        block.append(item)
        size += size_of(item)
        if size >= ENTRIES_PER_BLOCK:
            yield block
            block, size = [], 0
    if block:
        yield block


def _add_rows(file: FileWriter, values: Sequence[Any]) -> Frame:
    row = row_of(type(values[0]))
    return file.add(compress(orjson.dumps([row.write(value) for value in values], default=tuple)))


def _place_of_row(row: Any) -> _Place:
    """Return the place of the PlayerPeriods in a row."""
    try:
        pool, player, _, ((end, _), *_) = row
        return str(pool), str(player), int(end[0])
    except (TypeError, ValueError, LookupError) as error:
        raise DamagedArchiveError(f"a row of rating periods has no place ({error})") from error


def _match_of_row(row: Any) -> str:
    """Return the match of the RatedResult in a row."""
    try:
        return str(row[0])
    except (TypeError, LookupError) as error:
        raise DamagedArchiveError(f"a row of rated results has no match ({error})") from error


def _made_of(made: type[T], rows: Iterable[Any]) -> list[T]:
    try:
        return [row_of(made).read(each) for each in rows]
    except (SchemaError, TypeError) as error:
        raise DamagedArchiveError(f"a block of rating periods cannot be read ({error})") from error


def _read_index(fields: Any) -> _FileIndex:
    try:
        blocks, results = ([(start, length) for start, length in fields[f"{of}_blocks"]] for of in ("player", "result"))
        players = [(pool, player, day) for pool, player, day in fields["players"]]
        return _FileIndex(str(fields["made"]), players, blocks, list(fields["results"]), results)
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedArchiveError(f"the index of a file of rating periods cannot be read ({error})") from error
