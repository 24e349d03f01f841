"""The canonical bytes of an event, and the chain."""

import hashlib
import json

import pytest
from hypothesis import given, strategies as st

from events.store.contract import GENESIS
from events.store.envelope import Draft, canonical_bytes, canonical_json, chain_digest, seal, unpack
from tests.support.draws import draws

DRAFT = Draft("move-submitted", 1, 1_700_000_000_000, "päul", {"seat": 0, "move": "c3-d4", "ply": 1})
CANONICAL = (
    '{"actor":"päul","at":1700000000000,"data":{"move":"c3-d4","ply":1,"seat":0},"schema":1,'
    '"stream":"m1","type":"move-submitted","version":7}'
)

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.floats(1e-4, 1e9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(max_codepoint=127)), inner),
    max_leaves=12,
)


def test_the_canonical_bytes_are_sorted_json_without_white_space() -> None:
    assert canonical_bytes(DRAFT, "m1", 7) == CANONICAL.encode()


def test_the_order_of_fields_does_not_matter() -> None:
    turned = DRAFT._replace(data=dict(reversed(list(DRAFT.data.items()))))
    assert canonical_bytes(turned, "m1", 7) == CANONICAL.encode()


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ('\u0000\u001f\u007f\u2028€"\\/', '"\\u0000\\u001f\x7f\u2028€\\"\\\\/"'),
        ("\b\t\n\f\r", '"\\b\\t\\n\\f\\r"'),
        ([1.0, -0.0, 0.5, 1 / 3, 1e15], "[1,0,0.5,0.3333333333333333,1000000000000000]"),
        ([1e-4, -1e-4, 2.0**53 - 1], "[0.0001,-0.0001,9007199254740991]"),
        ({"b": None, "a": [True, False], "A": ()}, '{"A":[],"a":[true,false],"b":null}'),
        (2**53 - 1, "9007199254740991"),
    ],
)
def test_values_are_written_as_rfc_8785_writes_them(value: object, written: str) -> None:
    assert canonical_json(value) == written.encode()


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), -float("inf"), 2**53, -(2**53), 1e300, 1e-7, "\ud800", {"é": 1}]
)
def test_values_without_a_canonical_form_are_refused(value: object) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - each has a reason of its own
        canonical_json(value)


@pytest.mark.parametrize("value", [b"bytes", {1: 2}, {1, 2}, object()])
def test_values_that_json_does_not_have_are_refused(value: object) -> None:
    with pytest.raises(TypeError):
        canonical_json(value)


@draws(50)
@given(plain)
def test_the_canonical_form_is_json_for_the_same_value(value: object) -> None:
    written = canonical_json(value)
    assert json.loads(written) == value
    assert canonical_json(json.loads(written)) == written


def test_a_digest_covers_the_digest_before_it() -> None:
    assert chain_digest(GENESIS, b"event") == hashlib.sha256(bytes(32) + b"event").digest()
    assert chain_digest(bytes(31) + b"\1", b"event") != chain_digest(GENESIS, b"event")


def test_sealed_events_follow_each_other() -> None:
    first, second = seal([DRAFT, DRAFT], "m1", 6, GENESIS)
    assert first.digest == chain_digest(GENESIS, CANONICAL.encode())
    assert second.digest == chain_digest(first.digest, canonical_bytes(DRAFT, "m1", 8))
    assert [event.envelope.version for event in (first, second)] == [7, 8]
    assert [event.envelope.digest for event in (first, second)] == [first.digest, second.digest]
    assert seal([], "m1", 6, GENESIS) == []


@pytest.mark.parametrize(
    ("stream", "version", "digest"), [("m2", 6, GENESIS), ("m1", 5, GENESIS), ("m1", 6, bytes(range(32)))]
)
def test_the_id_of_an_event_names_its_place_and_everything_before(stream: str, version: int, digest: bytes) -> None:
    (here,), (elsewhere,) = seal([DRAFT], "m1", 6, GENESIS), seal([DRAFT], stream, version, digest)
    assert here.envelope.id != elsewhere.envelope.id


@draws(50)
@given(
    st.dictionaries(st.text(st.characters(max_codepoint=127)), plain), st.text(st.characters(exclude_categories=["Cs"]))
)
def test_stored_bytes_give_back_the_event_and_its_canonical_bytes(content: dict[str, object], actor: str) -> None:
    draft = DRAFT._replace(data=content, actor=actor)
    (sealed,) = seal([draft], "m1", 0, GENESIS)
    restored = unpack(sealed.packed, "m1", 1, sealed.digest)
    assert restored == sealed.envelope
    assert chain_digest(GENESIS, canonical_bytes(restored.draft, "m1", 1)) == sealed.digest


@pytest.mark.parametrize(
    "packed", [b"", b"{}", b"[]", b'["t",1,2,"a",{},0]', b'["t",1,2.0,"a",{}]', b'["t",1,2,null,{}]']
)
def test_bytes_of_no_event_are_refused(packed: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - of the parser or of the shape
        unpack(packed, "m1", 1, bytes(32))


def test_a_digest_of_another_length_is_refused() -> None:
    (sealed,) = seal([DRAFT], "m1", 0, GENESIS)
    with pytest.raises(ValueError, match="not the fields"):
        unpack(sealed.packed, "m1", 1, bytes(31))
