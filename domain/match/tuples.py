"""Tuples with one value per seat."""

from typing import TypeVar

T = TypeVar("T")


def with_item(values: tuple[T, ...], index: int, value: T) -> tuple[T, ...]:
    """Return ``values`` with ``value`` at ``index``."""
    return (*values[:index], value, *values[index + 1 :])
