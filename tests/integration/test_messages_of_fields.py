"""What is said of fields that are not right, by every schema that reads a request."""

from collections.abc import Iterator
from typing import Any

import marshmallow as ma
import pytest

from api.http.schemas import ExactlyOne, StrictSchema, flattened
from tests.support.callers import ME, OPEN, Caller

STRANGE: tuple[Any, ...] = (
    None, True, -1, 0.5, 10**18, "", " ", "x", "x" * 70_000, [], ["x"], [[]], [None] * 500, {}, {"x": 1},
)  # fmt: skip
"""Values of every kind: each field refuses some of them."""

BEGINNINGS = ("must ", "is ", "goes ", "has ")
"""How the rest of a sentence begins of which the name of the field is the subject."""

WORDS_OF_A_LIBRARY = ("missing data", "field", "valid", "invalid", "longer", "shorter", "none", "null value")


def schemas_that_read(base: type[StrictSchema] = StrictSchema) -> Iterator[type[StrictSchema]]:
    for schema in base.__subclasses__():
        if schema.__module__.startswith("api."):
            if schema is not ExactlyOne:
                yield schema
            yield from schemas_that_read(schema)


def refusals(schema: type[ma.Schema], sent: Any) -> list[tuple[str, str]]:
    """Return what is said of ``sent``, field by field."""
    try:
        schema().load(sent)
    except ma.ValidationError as error:
        return [(field, message) for field, found in flattened(error.messages).items() for message in found]
    return []


# Sorted: the order in which modules are imported differs between the processes of a run.
@pytest.mark.parametrize(
    "schema", sorted(schemas_that_read(), key=str), ids=lambda schema: f"{schema.__module__}.{schema.__name__}"
)
def test_every_schema_says_in_words_for_people_what_is_wrong_with_a_field(schema: type[StrictSchema]) -> None:
    names = schema().fields
    sent = [*STRANGE[1:], {"colour": "white"}, *({name: value} for name in names for value in STRANGE)]
    said = [refusal for each in sent for refusal in refusals(schema, each)]
    assert ("colour", "is not known here") in said
    assert {(name, "is missing") for name, field in names.items() if field.required} <= set(said)
    for field, message in said:
        assert message.startswith(BEGINNINGS), f"{field} {message}"
        assert not message.endswith((".", "!", "?")), f"{field} {message}"
        assert not message.lower().startswith(WORDS_OF_A_LIBRARY), f"{field} {message}"
    for name in (name for name, field in names.items() if not field.allow_none):
        assert name in dict(refusals(schema, {name: None}))


def test_the_reason_of_a_refusal_is_made_of_sentences_that_name_the_fields(anna: Caller) -> None:
    refused = anna.post("/matches", {"seats": [ME, {"kind": "opponent", "level": 9}], "colour": "white"}).json
    assert refused["detail"] == (
        "The field game is missing. The field seats.1.level must be 1 to 8. The field colour is not known here."
    )
    assert refused["errors"]["game"] == ["is missing"]
    many = anna.post("/matches", {f"x{number}": 1 for number in range(30)}).json
    assert many["detail"].endswith(" more fields are invalid.")
    query = anna.get("/matches?view=secret&cursor=").json
    assert query["detail"] == (
        "The field cursor must have 1 to 500 characters. The field view must be one of open, recent."
    )
    rules = anna.post("/matches", {"game": "towers", "seats": [ME, OPEN]}).json
    assert rules["detail"].endswith(".")
    assert ".." not in rules["detail"]


def test_the_setup_may_be_left_out_where_the_game_has_one(anna: Caller) -> None:
    made = anna.post("/matches", {"game": "bashni", "seats": [ME, OPEN]})
    assert (made.status_code, made.json["setup"]) == (201, "start")
    refused = anna.post("/matches", {"game": "towers", "seats": [ME, OPEN]})
    assert (refused.status_code, refused.json["code"]) == (422, "unknown-setup")
    assert refused.json["detail"] == "Say which setup of Towers: two-player, four-player or four-player-diagram."
    assert list(refused.json["errors"]) == ["setup"]
