"""Generations of ratings: a rebuild fills a new one beside the present one and switches to it; see ``Ratings``."""

from collections.abc import Callable
from typing import Any, NamedTuple

from events.readmodels.generations import Current, scan
from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.keys import ReadModelKeys, literal_pattern

RATINGS = -1
"""Stands for the ratings where others name a shard."""


class RatingGenerations(NamedTuple):
    """The generation that is read, and the one that a rebuild fills; stored as ``3``, ``3 4``, or ``3 4 1``.

    While it is ``closing``, with little left to take over, whatever writes next also switches.
    """

    current: int = 0
    building: int | None = None
    closing: bool = False

    @classmethod
    def parse(cls, packed: bytes | None) -> "RatingGenerations":
        """Return what is stored as ``packed``."""
        current, building, closing = [*(packed or b"0").split(), None, None][:3]
        return cls(int(current or 0), None if building is None else int(building), closing is not None)

    @property
    def written(self) -> list[int]:
        """All that have to be kept."""
        return [self.current] if self.building is None else [self.current, self.building]

    @property
    def packed(self) -> str:
        """What is stored."""
        numbers = self.written
        return " ".join(map(str, [*numbers, 1] if self.closing else numbers))


class RatingReader:
    """Reads from the current generation of ratings, which it remembers from the last read."""

    def __init__(self, client: StoreClient, keys: ReadModelKeys) -> None:
        self._client = client
        self._name = keys.rating_generation
        self._known = 0

    def read(self, queue: Callable[[StorePipeline, Current], object]) -> list[Any]:
        """Return the replies to what ``queue`` queues, given the present generation; again after a switch."""
        while True:
            current = self._known
            with self._client.pipeline(transaction=False) as pipeline:
                queue(pipeline, {RATINGS: current})
                # Last: a generation that is current after the reads was so, and complete, while they were made.
                pipeline.get(self._name)
                *replies, packed = pipeline.execute()
            self._known = RatingGenerations.parse(packed).current
            if self._known == current:
                return replies


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
    # The keys of generation 0 begin with the name of a pool, which is no number, or with what they are.
    return int(begin) if begin.isdigit() else 0
