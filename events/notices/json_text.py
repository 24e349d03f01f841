"""Values of notices as JSON text: objects, so that a field which may be None can be added later."""

import json
from typing import Any, TypeVar

from events.store.converter import read_value, write_value

T = TypeVar("T")


def to_json(value: Any) -> str:
    """Return ``value``, the instance of a class, as JSON text."""
    return json.dumps(write_value(value), separators=(",", ":"))


def from_json(made: type[T], text: str | bytes) -> T:
    """Return the instance of ``made`` that ``to_json`` wrote. Raises ValueError with the place and the reason."""
    return read_value(made, json.loads(text))
