"""Typed values as JSON: read strictly, written, and described by a schema that says the same."""

from collections.abc import Mapping
from dataclasses import dataclass, make_dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import jsonschema_rs
import pytest

from events.store import converter
from tests.support.tables import table


class Leg(NamedTuple):
    to: str
    hours: float | None = None


class Trip(NamedTuple):
    at: int
    legs: tuple[Leg, ...]
    paid: bool
    marks: tuple[int | None, ...]
    proof: converter.Digest
    signed: converter.SignatureText | None = None
    extras: Mapping[str, Any] | None = None


TRIP = Trip(
    7,
    (Leg("Oslo"), Leg("Bergen", 6.5)),
    True,
    (3, None),
    converter.Digest("a" * 64),
    converter.SignatureText("0" * 128),
    {"x": [1]},
)
APART = frozenset({"at"})
WRITTEN = {name: value for name, value in converter.write_value(TRIP).items() if name != "at"}


def test_what_is_written_is_read_back_as_it_was() -> None:
    assert converter.shape_of(Trip, APART).read(WRITTEN, at=7) == TRIP
    assert WRITTEN["legs"] == [{"to": "Oslo"}, {"to": "Bergen", "hours": 6.5}]


@pytest.mark.parametrize(("change", "said"), table(__file__, "what does not fit is refused with its place"))
def test_what_does_not_fit_is_refused_with_its_place_and_by_the_schema_too(change: dict[str, Any], said: str) -> None:
    with pytest.raises(converter.SchemaError) as caught:
        converter.shape_of(Trip, APART).read({**WRITTEN, **change}, at=7)
    assert f"{caught.value.path}: {caught.value}".startswith(said)
    assert not jsonschema_rs.is_valid(converter.schema_of(Trip, APART), {**WRITTEN, **change})


def test_the_schema_allows_what_is_read() -> None:
    least = {"legs": [], "paid": False, "marks": [], "proof": "0" * 64}
    assert converter.shape_of(Trip, APART).read(least, at=7) == Trip(7, (), False, (), converter.Digest("0" * 64))
    for content in (WRITTEN, least):
        assert jsonschema_rs.is_valid(converter.schema_of(Trip, APART), content)


class Colour(StrEnum):
    """An enum whose values are stored."""

    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """A class that holds instances of itself."""

    colour: Colour
    next: tuple["Branch", ...] = ()


class Stop(NamedTuple):
    at: int
    to: Leg
    marks: tuple[tuple[str, float], ...]
    colours: Mapping[str, Colour]
    note: str | None = None


STOP = Stop(3, Leg("Oslo"), (("a", 0.5), ("b", 1.0)), {"x": Colour.RED})


def test_dataclasses_with_enums_and_instances_of_themselves_are_written_and_read() -> None:
    tree = Branch(colour=Colour.RED, next=(Branch(colour=Colour.BLUE),))
    written = converter.shape_of(Branch).write(tree)
    assert written == {"colour": "red", "next": [{"colour": "blue", "next": []}]}
    assert type(written["colour"]) is str
    assert converter.read_value(Branch, written) == tree
    with pytest.raises(ValueError, match=r"^\.next\[0\]\.colour: one of red, blue was expected, not str 'green'$"):
        converter.read_value(Branch, {"colour": "red", "next": [{"colour": "green", "next": []}]})


def test_a_row_has_every_field_in_its_place() -> None:
    packed = converter.pack(STOP)
    assert packed == b'[3,["Oslo",null],[["a",0.5],["b",1.0]],{"x":"red"},null]'
    assert converter.unpack(Stop, packed) == STOP


@pytest.mark.parametrize(
    "packed", ['[3,["Oslo",null],[["a"]],{},null]', '[3,["Oslo","x"],[],{},null]', "[3]", "{}", "["]
)
def test_a_row_that_does_not_fit_is_refused(packed: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        converter.unpack(Stop, packed)


def test_the_layout_changes_with_every_name_and_type_of_a_field_at_any_depth() -> None:
    def with_leg(*fields: tuple[str, object]) -> type:
        leg = make_dataclass("Leg", fields)
        return make_dataclass("Journey", [("at", int), ("legs", tuple[leg, ...])])  # type: ignore[valid-type]

    kinds = [
        with_leg(("to", str), ("hours", float)),
        with_leg(("to", str), ("hours", int)),
        with_leg(("to", str), ("time", float)),
        with_leg(("to", str), ("hours", float | None)),
        with_leg(("to", str), ("hours", float), ("paid", bool)),
        with_leg(("hours", float), ("to", str)),
    ]
    assert len(set(map(converter.layout_of, kinds))) == len(kinds)
    assert converter.layout_of(kinds[0]) == converter.layout_of(with_leg(("to", str), ("hours", float)))
    assert converter.layout_of(Branch) == converter.layout_of(Branch) != converter.layout_of(Trip)
