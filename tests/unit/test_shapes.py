"""NamedTuple classes as JSON: read strictly, written, and described by a schema that says the same."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import jsonschema_rs
import pytest

from events.store.converter import Digest, Misfit, SignatureText, schema_of, shape_of, written


class Leg(NamedTuple):
    """A part of a trip."""

    to: str
    hours: float | None = None


class Trip(NamedTuple):
    """Every kind of field that there is."""

    at: int
    legs: tuple[Leg, ...]
    paid: bool
    marks: tuple[int | None, ...]
    proof: Digest
    signed: SignatureText | None = None
    extras: Mapping[str, Any] | None = None


TRIP = Trip(
    7, (Leg("Oslo"), Leg("Bergen", 6.5)), True, (3, None), Digest("a" * 64), SignatureText("0" * 128), {"x": [1]}
)
APART = frozenset({"at"})
WRITTEN = {name: value for name, value in written(TRIP).items() if name != "at"}


def test_what_is_written_is_read_back_as_it_was() -> None:
    assert shape_of(Trip, APART).read(WRITTEN, at=7) == TRIP
    assert WRITTEN["legs"] == [{"to": "Oslo"}, {"to": "Bergen", "hours": 6.5}]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"legs": [{"to": "Oslo"}, {"to": 5}]}, ".legs[1].to: a string was expected, not int 5"),
        ({"legs": [{"to": "Oslo", "by": "sea"}]}, ".legs[0]: the field 'by' is unknown"),
        ({"legs": [{}]}, ".legs[0]: the field 'to' is missing"),
        ({"legs": "Oslo"}, ".legs: a list was expected, not str 'Oslo'"),
        ({"paid": 1}, ".paid: true or false was expected, not int 1"),
        ({"marks": [1, None, "x"]}, ".marks[2]: a whole number was expected, not str 'x'"),
        ({"proof": "A" * 64}, ".proof: a string of 64 lower-case hexadecimal digits was expected"),
        ({"proof": "a" * 63}, ".proof: a string of 64 lower-case hexadecimal digits was expected"),
        ({"signed": None}, ".signed: a string of 128 lower-case hexadecimal digits was expected, not null"),
        ({"extras": []}, ".extras: an object was expected, not list []"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place_and_by_the_schema_too(change: dict[str, Any], said: str) -> None:
    with pytest.raises(Misfit) as caught:
        shape_of(Trip, APART).read({**WRITTEN, **change}, at=7)
    assert f"{caught.value.path}: {caught.value}".startswith(said)
    assert not jsonschema_rs.is_valid(schema_of(Trip, APART), {**WRITTEN, **change})


def test_the_schema_allows_what_is_read() -> None:
    least = {"legs": [], "paid": False, "marks": [], "proof": "0" * 64}
    assert shape_of(Trip, APART).read(least, at=7) == Trip(7, (), False, (), Digest("0" * 64))
    for content in (WRITTEN, least):
        assert jsonschema_rs.is_valid(schema_of(Trip, APART), content)
