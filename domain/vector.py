"""A persistent vector: an immutable sequence that is cheap to extend; and tuples with one value changed."""

from collections.abc import Iterator, Sequence
from typing import TypeVar, overload

MAX_LAST = 32
"""Items that are copied with every one that is added."""

T = TypeVar("T")


class Vector(Sequence[T]):
    """The items of a sequence in parts, each longer than the one after it, and the last few.

    To add n items one by one takes about n log n steps, and not n squared as with a tuple, which it equals.
    """

    __slots__ = ("_last", "_length", "_parts")

    def __init__(self, items: Sequence[T] = ()) -> None:
        self._parts: tuple[tuple[T, ...], ...] = (tuple(items),) if items else ()
        self._last: tuple[T, ...] = ()
        self._length = len(items)

    def with_item(self, item: T) -> "Vector[T]":
        """Return the vector with ``item`` after its last one."""
        longer: Vector[T] = object.__new__(Vector)
        longer._length = self._length + 1
        if len(self._last) < MAX_LAST:
            longer._parts, longer._last = self._parts, (*self._last, item)
            return longer
        parts, merged = list(self._parts), self._last
        while parts and len(parts[-1]) <= len(merged):
            merged = parts.pop() + merged
        longer._parts, longer._last = (*parts, merged), (item,)
        return longer

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[T]:
        for part in self._parts:
            yield from part
        yield from self._last

    @overload
    def __getitem__(self, place: int) -> T: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[T, ...]: ...

    def __getitem__(self, place: int | slice) -> T | tuple[T, ...]:
        if isinstance(place, slice):
            return self._slice(place)
        place = place if place >= 0 else self._length + place
        if 0 <= place < self._length:
            for part in self._parts:
                if place < len(part):
                    return part[place]
                place -= len(part)
            return self._last[place]
        raise IndexError("there is no such item")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vector | tuple) and len(self) == len(other) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))

    def _slice(self, place: slice) -> tuple[T, ...]:
        start, stop, step = place.indices(self._length)
        if step != 1:
            return tuple(self)[place]
        elements: list[T] = []
        for part in (*self._parts, self._last):
            elements += part[max(start, 0) : max(stop, 0)]
            start, stop = start - len(part), stop - len(part)
        return tuple(elements)


def with_value(values: tuple[T, ...], place: int, value: T) -> tuple[T, ...]:
    """Return a tuple, such as one with a value for each seat, with ``value`` at ``place``."""
    return (*values[:place], value, *values[place + 1 :])


def with_item(items: Sequence[T], item: T) -> Vector[T]:
    """Return ``items`` with ``item`` after the last one, as a vector."""
    return (items if isinstance(items, Vector) else Vector(items)).with_item(item)
