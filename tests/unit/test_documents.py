"""Documents: one way to write each, and everything else refused with its place."""

from typing import Any

import pytest
import rfc8785
from hypothesis import given, strategies as st

from events.proof import documents
from tests.support.draws import draws
from tests.support.tables import table

PACKED = b'{"a":[1,{"b":"\xc3\xa9"}],"c":{"d":null}}\n'
VALUE = {"a": [1, {"b": "é"}], "c": {"d": None}}

ascii_names = st.text(st.characters(max_codepoint=127), max_size=5)
plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ascii_names, inner, max_size=3),
    max_leaves=6,
)


def read(packed: bytes, most: int = 1000) -> dict[str, Any]:
    return documents.read_document(packed, {"format": 1}, most)


def fault(packed: bytes, most: int = 1000) -> str:
    """Return how ``packed`` is refused."""
    with pytest.raises(documents.DocumentError) as caught:
        read(packed, most)
    return str(caught.value)


def test_a_document_reads_back_as_it_was_written() -> None:
    assert documents.write_document(VALUE) == PACKED
    assert read(PACKED) == VALUE


@draws(40)
@given(st.dictionaries(ascii_names, plain, max_size=4))
def test_documents_are_written_as_another_implementation_of_rfc_8785_writes_them(value: dict[str, Any]) -> None:
    assert documents.write_document(value) == rfc8785.dumps(value) + b"\n"


@pytest.mark.parametrize("number", [0.5, 1 / 3, 0.6667, 1e15, 123456.789, -0.0, 2**53 - 1.0, 1e-4])
def test_numbers_are_written_as_another_implementation_of_rfc_8785_writes_them(number: float) -> None:
    assert documents.write_document([number]) == rfc8785.dumps([number]) + b"\n"


@pytest.mark.parametrize(
    ("packed", "said"),
    [
        (b"", "byte 1 is the end, in the middle of the document"),
        (PACKED[:11], "a[1]: byte 10 begins a string that does not end"),
        (PACKED[:-9], "c: byte 26 begins a string that does not end"),
        (PACKED[:-7], "c.d: byte 30 is the end, in the middle of the document"),
        (b"nonsense", "byte 1 is not JSON: expecting value"),
        (PACKED.replace(b"null", b"nil"), "c.d: byte 30 is not JSON: expecting value"),
        (PACKED.replace(b"null", b"NaN"), "c.d: byte 30 is not JSON: NaN"),
        (PACKED.replace(b"\xc3\xa9", b"\xc3("), "a[1].b: byte 15 is not UTF-8"),
        (b"[]\n", "it is no JSON object"),
        (
            PACKED.replace(b"1,", b"1, "),
            'a[1]: byte 9 is not in canonical form (RFC 8785): \'{"b":"é"}],"\' was expected',
        ),
        (PACKED.replace(b"1,", b"1.0,"), "a[0]: byte 8 is not in canonical form"),
        (PACKED.replace(b"\xc3\xa9", b"\\u00e9"), "a[1].b: byte 15 is not in canonical form"),
        (PACKED.replace(b'"a":[1', b'"a":[1,1],"a":[1'), "a[1]: the member 'a' stands twice in one object"),
        (b'{"b":1,"a":2}\n', "b: byte 3 is not in canonical form"),
        (PACKED[:-1], "it ends without its line feed"),
        (PACKED + b"\n", "byte 37 follows the end"),
        (PACKED + b"x", "byte 37 is not JSON: extra data"),
        (b'{"format":2}', "format: format 2 is not known here, only 1"),
        (
            b'{"a":' + b"[" * documents.MAX_DEPTH + b"]" * documents.MAX_DEPTH + b"}",
            f"it is nested deeper than {documents.MAX_DEPTH} levels",
        ),
        (b'{"a":' + b"[" * 100_000, f"it is nested deeper than {documents.MAX_DEPTH} levels"),
        (b'{"a":9007199254740993}\n', "a: it has no canonical form: 9007199254740993 is beyond"),
        (b'{"a":' + b"9" * 5000 + b"}\n", "a: it has no canonical form: inf is no number"),
        (b'{"a":1,"b":[{"c":[0,-1e400]}]}\n', "b[0].c[1]: it has no canonical form: -inf is no number"),
        (b'{"a":{"\xc3\xa9":1}}\n', "a: it has no canonical form: the JSON key '\\xe9' is not ASCII"),
        (b'{"a":["\\ud800"]}\n', "a[0]: it has no canonical form: half of a surrogate pair is no character"),
        (b'{"\\ud800":1e400}\n', "\\ud800: it has no canonical form: inf is no number"),
        (PACKED.replace(b"1,", b"-0,"), "a[0]: byte 7 is not in canonical form"),
    ],
    ids=lambda value: "" if isinstance(value, str) else repr(value[:24]),
)
def test_whatever_else_is_refused_with_its_place(packed: bytes, said: str) -> None:
    assert fault(packed, most=1_000_000).startswith(said)


@pytest.mark.parametrize("repeated", [b"[],", b"0,", b'"a":1,', b'{"a":1},'], ids=repr)
def test_more_values_than_any_document_has_are_refused_unread(repeated: bytes) -> None:
    packed = b'{"a":[' + repeated * (documents.MAX_VALUES + 1) + b"]}\n"
    assert fault(packed, most=len(packed)) == "it has more than the 1,000,000 values that are read"


def test_a_document_beyond_the_limit_is_refused_unread() -> None:
    assert fault(b"x" * 1001) == "it is larger than the 1,000 bytes that are read"


def test_brackets_inside_strings_do_not_count() -> None:
    packed = documents.write_document({"a": "[" * 100 + '"{\\'})
    assert read(packed) == {"a": "[" * 100 + '"{\\'}


@pytest.mark.parametrize(("before", "path"), table(__file__, "the path of a place is told by what stands before it"))
def test_the_path_of_a_place_is_told_by_what_stands_before_it(before: str, path: str) -> None:
    assert documents.path_at(before + "!!", len(before)) == path


def test_the_first_difference_of_two_values_is_found() -> None:
    assert documents.difference(VALUE, VALUE) is None
    assert documents.difference(VALUE, {**VALUE, "c": {"d": 0}}) == (".c.d", None, 0)
    assert documents.difference({"a": [1, 2]}, {"a": [1, 3]}) == (".a[1]", 2, 3)
    assert documents.difference({"a": [1, 2]}, {"a": [1]}) == (".a", [1, 2], [1])
    assert documents.difference({}, {"b": {}}) == (".b", None, {})
    assert documents.difference({"a": 1}, {"a": True}) == (".a", 1, True)
