"""The persistent vector: equal to the tuple it stands for, and cheap to extend."""

from domain.vector import Vector, with_item

ITEMS = tuple(range(500))


def vector(length: int) -> Vector[int]:
    made: Vector[int] = Vector()
    for item in range(length):
        made = made.with_item(item)
    return made


def test_a_vector_is_read_like_the_tuple_of_its_items() -> None:
    made = vector(len(ITEMS))
    assert made == ITEMS
    assert (len(made), list(made), hash(made), repr(made)) == (len(ITEMS), list(ITEMS), hash(ITEMS), repr(ITEMS))
    assert [made[place] for place in (0, 31, 32, 33, 499, -1, -500)] == [0, 31, 32, 33, 499, 499, 0]
    for place in (slice(40), slice(-3, None), slice(100, 300), slice(None, None, -7), slice(300, 100), slice(900)):
        assert made[place] == ITEMS[place]


def test_no_item_is_beyond_the_ends() -> None:
    for place in (3, -4):
        try:
            vector(3)[place]
        except IndexError:
            continue
        raise AssertionError(place)


def test_two_vectors_may_be_made_of_one() -> None:
    made = vector(100)
    one, other = made.with_item(1), made.with_item(2)
    assert (made, one, other) == (ITEMS[:100], (*ITEMS[:100], 1), (*ITEMS[:100], 2))
    assert with_item((7, 8), 9) == (7, 8, 9)


def test_the_parts_stay_few_so_that_adding_copies_little() -> None:
    for length in (1, 33, 1000, 10_000):
        assert len(vector(length)._parts) <= length.bit_length()
