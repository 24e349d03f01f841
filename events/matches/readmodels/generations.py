"""Generations of summaries and lists: a rebuild writes a new one beside the present one and switches to it.

One key of each shard names its generations and is watched by every transaction that writes read models. Crash-safe: an
unfinished generation is never switched to; the next rebuild deletes it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.keys import ReadModelKeys, literal_pattern
from events.runtime.reads import Read, read_alone
from events.runtime.transactions import transact

KEYS_PER_SCAN = 5000


class RebuildOvertakenError(Exception):
    """Another rebuild has begun: the generation of this one is not switched to any more."""

    def __init__(self) -> None:
        super().__init__("another rebuild has begun, and this one is given up")


class Generations(NamedTuple):
    """The generation that is read and the one being built; stored as ``3`` or ``3 4``, 0 without a stored value.

    That of ratings is ``closing`` (``3 4 1``) when little is left to take over: the next write also switches.
    """

    current: int = 0
    building: int | None = None
    closing: bool = False

    @classmethod
    def parse(cls, packed: bytes | None) -> "Generations":
        """Return the generations that are stored as ``packed``."""
        current, building, closing = [*map(int, (packed or b"0").split()), None, None][:3]
        return cls(current or 0, building, closing is not None)

    @property
    def written(self) -> tuple[int, ...]:
        """All that have to be written."""
        return (self.current,) if self.building is None else (self.current, self.building)

    @property
    def packed(self) -> str:
        """The stored form."""
        return " ".join(map(str, (*self.written, 1) if self.closing else self.written))


Current = Mapping[int, int]
RATINGS = -1
"""Stands for the ratings where others name a shard."""


class Reader:
    """Reads from the current generations, which it remembers, of ``shards``; ``name`` is the key that names those."""

    def __init__(self, client: StoreClient, name: Callable[[int], str], shards: Iterable[int]) -> None:
        self._client = client
        self._name = name
        self._shards = shards
        self._generations: dict[int, int] = {}

    def read(self, queue: Callable[[StorePipeline, Current], object], shards: Iterable[int] | None = None) -> list[Any]:
        """Return the replies to the commands queued for the generations of ``shards``; repeated after a switch."""
        return read_alone(self._client, self.read_of(queue, shards))

    def read_of(
        self, queue: Callable[[StorePipeline, Current], object], shards: Iterable[int] | None = None
    ) -> Read[list[Any]]:
        """Return the read whose result is a list of the replies: see ``read``."""
        wanted = list(self._shards if shards is None else shards)
        current = {shard: self._generations.get(shard, 0) for shard in wanted}

        def queue_all(pipeline: StorePipeline) -> None:
            queue(pipeline, current)
            # Last: a generation that is current after the reads was so, and complete, while they were made. One GET
            # for each: shards may be on several servers, each of which answers in the order of the commands.
            for shard in wanted:
                pipeline.get(self._name(shard))

        def parse(answers: list[Any]) -> list[Any]:
            replies, packed = answers[: len(answers) - len(wanted)], answers[len(answers) - len(wanted) :]
            present = {shard: Generations.parse(names).current for shard, names in zip(wanted, packed, strict=True)}
            if present == current:
                return replies
            self._generations.update(present)
            return self.read(queue, wanted)

        return Read(queue_all, parse)


def begin_generation(client: StoreClient, keys: ReadModelKeys, shard: int) -> int:
    """Let a new generation of the shard be written from now on, besides the current one; return it."""

    def begin(pipeline: StorePipeline) -> int:
        generations = Generations.parse(pipeline.get(keys.generation(shard)))
        begun = Generations(generations.current, max(generations.written) + 1)
        pipeline.multi()
        pipeline.set(keys.generation(shard), begun.packed)
        return max(begun.written)

    return transact(client, [keys.generation(shard)], begin)


def switch_generation(client: StoreClient, keys: ReadModelKeys, shard: int, generation: int) -> None:
    """Read from ``generation`` from now on, and delete all before it; raises RebuildOvertakenError.

    Crash-safe: keys that are left after a kill are deleted by a repetition or the next rebuild; later generations stay.
    """

    def switch(pipeline: StorePipeline) -> None:
        generations = Generations.parse(pipeline.get(keys.generation(shard)))
        if generations.current == generation:
            return
        if generations.building != generation:
            raise RebuildOvertakenError
        pipeline.multi()
        pipeline.set(keys.generation(shard), Generations(generation).packed)

    transact(client, [keys.generation(shard)], switch)
    begin = keys.of_shard(shard).encode()
    for names in scan(client, f"{literal_pattern(keys.of_shard(shard))}*"):
        with client.pipeline(transaction=False) as pipeline:
            for name in names:
                number = name.removeprefix(begin).partition(b":")[0]
                # Without a number it is generation 0.
                if not number.isdigit() or int(number) < generation:
                    pipeline.unlink(name)
            pipeline.execute()


def scan(client: StoreClient, pattern: str) -> Iterator[list[bytes]]:
    """Yield the names of all keys that match ``pattern``, many at a time; a name may come more than once."""
    cursor = None
    while cursor != 0:
        reply: Any = client.scan(cursor or 0, match=pattern, count=KEYS_PER_SCAN)
        cursor, names = reply
        if names:
            yield names


def dump_lists(client: StoreClient, keys: ReadModelKeys) -> dict[str, Any]:
    """Return all summaries and lists key by key, with the names that the keys have in generation 0."""
    by_key: dict[str, Any] = {}
    for shard in range(keys.shards):
        current = Generations.parse(client.get(keys.generation(shard))).current
        for kind in "ml":
            begin = f"{keys.of_generation(shard, current)}{kind}:"
            stored = contents(client, begin)
            by_key |= {f"{keys.of_generation(shard, 0)}{kind}:{name}": content for name, content in stored.items()}
    return by_key


def contents(client: StoreClient, begin: str) -> dict[str, Any]:
    """Return the contents of all keys that begin so, by the rest of their names."""
    by_name: dict[str, Any] = {}
    for names in scan(client, f"{literal_pattern(begin)}*"):
        with client.pipeline(transaction=False) as pipeline:
            for name in names:
                pipeline.type(name)
            kinds = pipeline.execute()
            for name, kind in zip(names, kinds, strict=True):
                match kind:
                    case b"string":
                        pipeline.get(name)
                    case b"zset":
                        pipeline.zrange(name, 0, -1, withscores=True)
                    case b"hash":
                        pipeline.hgetall(name)
                    case _:
                        pipeline.smembers(name)
            by_name |= zip((name.decode().removeprefix(begin) for name in names), pipeline.execute(), strict=True)
    return by_name


def delete_earlier_generations(client: StoreClient, keys: ReadModelKeys, current: int) -> None:
    """Delete the ratings of all generations before ``current``; those of a rebuild that has begun since are kept."""
    for names in scan(client, f"{literal_pattern(keys.ratings)}*"):
        with client.pipeline(transaction=False) as pipeline:
            for name in names:
                generation = generation_of(keys, name.decode())
                if generation is not None and generation < current:
                    pipeline.unlink(name)
            pipeline.execute()


def generation_of(keys: ReadModelKeys, name: str) -> int | None:
    """Return the generation to which a key of ratings belongs; None for the one that names the generations."""
    if name == keys.rating_generation:
        return None
    begin, *rest = name.removeprefix(keys.ratings).split(":")
    if begin == "late":
        return int(rest[0])
    # The keys of generation 0 begin with the name of a pool, which is no number, or with their kind.
    return int(begin) if begin.isdigit() else 0
