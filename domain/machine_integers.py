"""The type of machine integers, for code that is compiled; and numbers that serve as hashes.

This module itself is left in Python, where ``i64`` is ``int``. Both work alike as long as no number exceeds 63 bits.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_extensions import i64
else:
    i64 = int

__all__ = ["hash_numbers", "i64"]


def hash_numbers(count: int) -> list[int]:
    """Return numbers below 2**61 without a pattern (SplitMix64, Steele, Lea and Flood 2014)."""
    numbers = []
    for number in range(1, count + 1):
        mixed = number * 0x9E3779B97F4A7C15 % 2**64
        mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB % 2**64
        numbers.append((mixed ^ mixed >> 31) >> 3)
    return numbers
