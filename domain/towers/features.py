"""The features of a board that the rules ask about: one integer, updated incrementally where a move changes towers.

The features of a board are the sum of those of its towers (``FEATURES``), each in bits of its own:

- four bits a square: its height;
- four bits a square: a bit for the seat that controls a tower of two or more pieces there, which may be pushed;
- 56 bits a seat, one a square: the seat may build there (supply permitting);
- four bits a seat: how many castles it controls; then four bits a seat: how many of them are crowned.

With heights side by side in one integer, one subtraction compares every square with its neighbour, and the legal
actions of a seat come out as a set of bits without a loop. The number of a bit in that set is the move itself: builds
are the numbers of their squares, a push from a square in a direction is FIRST_PUSH + 4 * square + direction. Moves so
numbered are in the ASCII order of their strings, although the last square of a push is not part of the number.
"""

from typing import Final

from domain.towers.board import CASTLES, HEIGHT, MAX_HEIGHT, SQUARES, controller

FIRST_PUSH: Final = 56
"""The number of the first push; builds are below."""

_PUSHERS: Final = 196
_BUILDS: Final = 392
_GOALS: Final = 616

_NIBBLES: Final = sum(1 << 4 * square for square in range(49))
_HEIGHTS: Final = 15 * _NIBBLES
_GUARDS: Final = 8 * _NIBBLES
_BELOW_SOMETHING: Final = sum(8 << 4 * square for square in range(49) if square % 7 < 6)
_LEFT_OF_SOMETHING: Final = sum(8 << 4 * square for square in range(42))
_BUILD_BITS: Final = (1 << 49) - 1
_BUILDS_OF: Final = tuple(_BUILDS + 56 * seat for seat in range(4))
_PUSHERS_OF: Final = tuple(_PUSHERS + seat for seat in range(4))

TO_GOAL: Final = {2: 0x5555_4444, 4: 0x6666_5555}
"""The addend that lifts the count of castles (low half) or crowned castles to 8 exactly at its goal, seat by seat."""
REACHED: Final = 0x8888_8888


def _features(square: int, height: int, seat: int) -> int:
    features = height << 4 * square
    if seat < 0:
        return features
    if height >= 2:
        features |= 1 << _PUSHERS_OF[seat] + 4 * square
    if square in CASTLES:
        features |= 1 << _GOALS + 4 * seat
        if height == MAX_HEIGHT:
            features |= 1 << _GOALS + 16 + 4 * seat
    elif height < MAX_HEIGHT:
        features |= 1 << _BUILDS_OF[seat] + square
    return features


# Thousands of towers share few facts: height and controller say it all, and controllers differ at castles only.
_KINDS: Final = {
    square in CASTLES: tuple((height, controller(square, tower)) for tower, height in enumerate(HEIGHT))
    for square in (0, min(CASTLES))
}


def _table(square: int) -> tuple[int, ...]:
    shared = {
        (height, seat): _features(square, height, seat) for height in range(MAX_HEIGHT + 1) for seat in range(-1, 4)
    }
    return tuple(map(shared.__getitem__, _KINDS[square in CASTLES]))


FEATURES: Final[tuple[tuple[int, ...], ...]] = tuple(_table(square) for square in range(len(SQUARES)))
"""The facts of every tower on every square: FACTS[square][tower]."""


def features_of(board: tuple[int, ...]) -> int:
    """Return the facts of a whole board."""
    return sum(table[tower] for table, tower in zip(FEATURES, board, strict=True))


def possible_pushes(features: int) -> int:
    """Return the pushes that heights allow, of any player's towers, as a set of bits counted from FIRST_PUSH.

    A push needs a lower neighbour (section 3.2). Single pieces over empty squares are included; they are no pushers.
    """
    heights = features & _HEIGHTS
    guarded = heights | _GUARDS
    over = guarded - (heights >> 4)
    beside = guarded - (heights >> 28)
    # The guard bit stays set where a square is at least as high as the next one, and after one more where it is higher.
    return (
        (over - _NIBBLES & _BELOW_SOMETHING) >> 1
        | (over & _BELOW_SOMETHING ^ _BELOW_SOMETHING) << 2
        | beside - _NIBBLES & _LEFT_OF_SOMETHING
        | (beside & _LEFT_OF_SOMETHING ^ _LEFT_OF_SOMETHING) << 25
    )


def pushers(features: int, seat: int) -> int:
    """Return a bit for every direction of every tower of two or more pieces that ``seat`` controls."""
    return (features >> _PUSHERS_OF[seat] & _NIBBLES) * 15


def legal_actions(features: int, seat: int, supply: int) -> int:
    """Return the legal actions of ``seat`` with ``supply`` pieces left, as if it were its turn, as a set of bits."""
    pushes = (possible_pushes(features) & pushers(features, seat)) << FIRST_PUSH
    return pushes | features >> _BUILDS_OF[seat] & _BUILD_BITS if supply else pushes


def can_act(features: int, seat: int, supply: int) -> bool:
    """Return whether ``seat`` has a legal action, as if it were its turn."""
    if supply and features >> _BUILDS_OF[seat] & _BUILD_BITS:
        return True
    return possible_pushes(features) & pushers(features, seat) != 0


def goal_reached(features: int, players: int) -> bool:
    """Return whether any player has enough castles or enough crowned castles (section 7, rule 1)."""
    return (features >> _GOALS) + TO_GOAL[players] & REACHED != 0


def goals_reached_by(features: int, players: int, seat: int) -> tuple[bool, bool]:
    """Return whether ``seat`` has enough castles, and whether it has enough crowned castles."""
    reached = (features >> _GOALS) + TO_GOAL[players] >> 4 * seat
    return reached & 8 != 0, reached & 8 << 16 != 0


def castle_counts(features: int) -> int:
    """Return the castles (low 16 bits) and the crowned castles of the seats, four bits each."""
    return features >> _GOALS


def could_lose_all_builds(features: int, seat: int, supply: int) -> bool:
    """Return whether one push could deprive ``seat`` of all its builds: it changes four squares besides its own."""
    return not supply or (features >> _BUILDS_OF[seat] & _BUILD_BITS).bit_count() < MAX_HEIGHT
