"""JSON documents from outside, of which every byte counts: canonical (RFC 8785) and a line feed, or refused."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn, TypeVar

from events.store.converter import SchemaError, Shape
from events.store.envelope import canonical_json

LINE_FEED = b"\n"
MAX_DEPTH = 32
"""Levels of nesting; no document of Rookery has half as many."""

MAX_VALUES = 1_000_000
"""Of one document, roughly; a bundle of the largest size has half as many."""

MAX_INTEGER_DIGITS = 20
"""A whole number of this many digits or more has no canonical form."""

# Possessive quantifiers: no backtracking, so that matching takes constant memory.
_NO_BRACKETS = re.compile(r'(?:"(?:[^"\\]++|\\.)*+"?|[^"\[\]{}]++)++', re.DOTALL)
_CONSTANTS = re.compile(r'"(?:[^"\\]++|\\.)*+"|(NaN|-?Infinity)', re.DOTALL)
_TOKENS = re.compile(r'"((?:[^"\\]++|\\.?)*+)"?|[\[\]{}:,]', re.DOTALL)


T = TypeVar("T")


class DocumentError(Exception):
    """The first fault of a document: why, and its ``place``, such as ``events[3].data.move`` ("": everywhere)."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(f"{place}: {reason}" if place else reason)
        self.place = place
        self.reason = reason


def write_document(value: Any) -> bytes:
    """Return ``value`` as a document; raises ValueError and TypeError where it has no canonical form."""
    return canonical_json(value) + LINE_FEED


def read_document(packed: bytes, formats: Mapping[str, int], max_bytes: int) -> dict[str, Any]:
    """Return the object in a document of at most ``max_bytes``; ``formats`` are checked before all other members."""
    duplicates: list[str] = []

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        collected = dict(pairs)
        if len(collected) != len(pairs):
            seen: set[str] = set()
            duplicates.append(next(name for name, _ in pairs if name in seen or seen.add(name)))  # type: ignore[func-returns-value]
        return collected

    text, value = read_json(packed, max_bytes, collect)
    if not isinstance(value, dict):
        raise DocumentError("", "it is no JSON object")
    for name, expected in formats.items():
        if isinstance(value.get(name), bool):
            raise DocumentError(name, f"a whole number was expected, not bool {value[name]}")
        if name in value and value[name] != expected:
            raise DocumentError(name, f"{name} {value[name]!r:.20} is not known here, only {expected}")
    try:
        canonical = write_document(value)
    except ValueError:
        _refuse_uncanonical(value)
    if packed != canonical:
        _refuse_form(text, canonical.decode(), duplicates)
    return value


def read_json(packed: bytes, max_bytes: int, collect: Callable[[list[tuple[str, Any]]], Any] = dict) -> tuple[str, Any]:
    """Return text and JSON value (RFC 8259); very long integers are floats. Raises DocumentError."""
    if len(packed) > max_bytes:
        raise DocumentError("", f"it is larger than the {max_bytes:,} bytes that are read")
    try:
        text = packed.decode()
    except UnicodeDecodeError as error:
        before = packed[: error.start].decode()
        raise DocumentError(path_at(before, len(before)), f"byte {error.start + 1} is not UTF-8") from None
    if sum(map(text.count, "[{,")) > MAX_VALUES:
        raise DocumentError("", f"it has more than the {MAX_VALUES:,} values that are read")
    _refuse_depth(text)
    constants: list[str] = []
    try:
        value = json.loads(text, object_pairs_hook=collect, parse_int=_integer, parse_constant=constants.append)
    except json.JSONDecodeError as error:
        _refuse_constant(text, constants)
        raise DocumentError(
            path_at(text, error.pos), f"{_byte(text, error.pos)} {_syntax_error(text, error)}"
        ) from None
    _refuse_constant(text, constants)
    return text, value


def read_shape(shape: Shape[T], value: Any) -> T:
    """Return ``value`` as an instance of the class that has this ``shape``; raises DocumentError."""
    try:
        return shape.read(value)
    except SchemaError as error:
        raise DocumentError(error.path.removeprefix("."), str(error)) from None


def path_at(text: str, offset: int) -> str:
    """Return the path of the value at ``offset`` in JSON ``text``, which may end or be invalid from there on."""
    frames: list[str | int | None] = []
    for token in _TOKENS.finditer(text):
        if token.start() >= offset:
            break
        sign = token[0][0]
        if sign in "{[":
            frames.append(None if sign == "{" else 0)
        elif not frames:
            continue
        elif sign in "}]":
            frames.pop()
        elif sign == "," and isinstance(frames[-1], int):
            frames[-1] += 1
        elif sign == ",":
            frames[-1] = None
        elif sign == '"' and frames[-1] is None:
            frames[-1] = token[1]
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in frames if step is not None)
    return "".join(steps).removeprefix(".")


def difference(stated: Any, computed: Any) -> tuple[str, Any, Any] | None:
    """Return the path and values of the first difference of two JSON values; None if they are equal."""
    if isinstance(stated, Mapping) and isinstance(computed, Mapping):
        pairs = [(f".{name}", stated.get(name), computed.get(name)) for name in sorted({*stated, *computed})]
    elif isinstance(stated, list) and isinstance(computed, list) and len(stated) == len(computed):
        pairs = [(f"[{number}]", *pair) for number, pair in enumerate(zip(stated, computed, strict=True))]
    else:
        return None if stated == computed and type(stated) is type(computed) else ("", stated, computed)
    for step, one, other in pairs:
        differing = difference(one, other)
        if differing is not None:
            return (f"{step}{differing[0]}", *differing[1:])
    return None


def _refuse_depth(text: str) -> None:
    depth = 0
    for bracket in _NO_BRACKETS.sub("", text):
        depth = depth + 1 if bracket in "{[" else max(0, depth - 1)
        if depth > MAX_DEPTH:
            raise DocumentError("", f"it is nested deeper than {MAX_DEPTH} levels")


def _refuse_constant(text: str, constants: list[str]) -> None:
    """Raise the DocumentError of the first NaN or Infinity, if the parser, which takes them, has met one."""
    if constants:
        place = next(match.start(1) for match in _CONSTANTS.finditer(text) if match[1])
        raise DocumentError(path_at(text, place), f"{_byte(text, place)} is not JSON: {constants[0]}")


def _refuse_form(text: str, canonical: str, duplicates: list[str]) -> NoReturn:
    """Raise the DocumentError of a text with the content of ``canonical`` in another form."""
    pairs = zip(text, canonical, strict=False)
    offset = next((number for number, (one, other) in enumerate(pairs) if one != other), min(len(text), len(canonical)))
    if duplicates:
        reason = f"the member {duplicates[0]!r} stands twice in one object"
    elif offset == len(text):
        reason = "it ends without its line feed"
    elif offset == len(canonical):
        reason = f"{_byte(text, offset)} follows the end of the document"
    else:
        expected = canonical[offset : offset + 12]
        reason = f"{_byte(text, offset)} is not in canonical form (RFC 8785): {expected!r} was expected"
    raise DocumentError(path_at(text, offset), reason)


def _refuse_uncanonical(value: dict[str, Any]) -> NoReturn:
    """Raise the DocumentError of the first value without canonical form; there must be one."""
    fault = _find_uncanonical(value)
    if fault is None:
        raise AssertionError("every part of the document has a canonical form, and the whole has none")
    path, reason = fault
    raise DocumentError(path.removeprefix("."), f"it has no canonical form: {reason}")


def _find_uncanonical(value: Any) -> tuple[str, str] | None:
    """Return the path of the first value within ``value`` that has no canonical form, and why; None if all have one."""
    steps: Iterable[tuple[str, Any]]
    if isinstance(value, dict):
        steps = ((f".{_printable(name)}", item) for name, item in value.items())
    elif isinstance(value, list):
        steps = ((f"[{number}]", item) for number, item in enumerate(value))
    else:
        steps = ()
    for step, item in steps:
        fault = _find_uncanonical(item)
        if fault is not None:
            return step + fault[0], fault[1]
    try:
        canonical_json(dict.fromkeys(value) if isinstance(value, dict) else [] if isinstance(value, list) else value)
    except ValueError as error:
        return "", _escaped(str(error))
    return None


def _printable(name: str) -> str:
    # Half of a surrogate pair cannot be printed.
    return name.encode(errors="backslashreplace").decode()


def _escaped(text: str) -> str:
    return text.encode("ascii", "backslashreplace").decode()


def _integer(digits: str) -> int | float:
    # As a float it has no canonical form either, and is reported like other such numbers.
    return int(digits) if len(digits) < MAX_INTEGER_DIGITS else float(digits)


def _syntax_error(text: str, error: json.JSONDecodeError) -> str:
    if not text[error.pos :].strip():
        return "is the end, in the middle of the document"
    if error.msg.startswith("Unterminated"):
        return "begins a string that does not end"
    return f"is not JSON: {error.msg[0].lower()}{error.msg[1:]}"


def _byte(text: str, offset: int) -> str:
    return f"byte {len(text[:offset].encode()) + 1}"
