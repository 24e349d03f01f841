"""Sets of up to 52 squares as machine integers, a bit for each square, for positions that are compiled."""

from domain.machine_integers import i64


def set_of(square: i64) -> i64:
    """Return ``square`` as a set. A literal 1 would be shifted as an integer of 32 bits by mypyc 2.4."""
    return (0 * square + 1) << square


def square_of(bit: i64) -> i64:
    """Return the square of a set of one."""
    return int(bit).bit_length() - 1


def count(squares: i64) -> i64:
    """Return the number of squares in a set."""
    squares -= squares >> 1 & 0x5555555555555
    squares = (squares & 0x3333333333333) + (squares >> 2 & 0x3333333333333)
    squares = squares + (squares >> 4) & 0xF0F0F0F0F0F0F
    squares += squares >> 8
    squares += squares >> 16
    return squares + (squares >> 32) & 63
