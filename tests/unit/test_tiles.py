"""Paths of tiles, bundles of entries and proofs in the forms of C2SP."""

import pytest

from events.proof.documents import DocumentError
from events.transparency.tiles import NoTileError, TilePlace, bundle_of_entries, parse_level, parse_place
from tests.support.log_tiles import entries_of_bundle, places_of
from tests.support.tables import table
from tests.support.tlog_proofs import read_tlog_proof

PLACES = {
    "000": TilePlace(0),
    "067": TilePlace(67),
    "x001/000": TilePlace(1000),
    "x001/x234/067": TilePlace(1_234_067),
    "000.p/1": TilePlace(0, 1),
    "x273/112.p/255": TilePlace(273_112, 255),
}


@pytest.mark.parametrize(("path", "place"), PLACES.items())
def test_a_path_names_one_tile(path: str, place: TilePlace) -> None:
    assert parse_place(path) == place
    assert place.path == path


@pytest.mark.parametrize(
    "path",
    ["", "0", "1000", "x000/001", "001/000", "x1/000", "000.p/", "000.p/0", "000.p/01", "000.p/256", "-01", "٠٠٠"],
)
def test_other_forms_of_a_path_name_none(path: str) -> None:
    with pytest.raises(NoTileError):
        parse_place(path)


@pytest.mark.parametrize("text", ["", "00", "64", "-1", "data", "٣"])
def test_a_level_has_one_form(text: str) -> None:
    assert [parse_level("0"), parse_level("63")] == [0, 63]
    with pytest.raises(NoTileError):
        parse_level(text)


def test_the_tiles_of_a_log_are_those_of_the_example_in_the_specification() -> None:
    of_level = [places_of(70_000, level) for level in range(4)]
    assert [(len(places), places[-1].width) for places in of_level if places] == [(274, 112), (2, 17), (1, 1)]
    assert places_of(256, 0) == [TilePlace(0)]
    assert places_of(256, 1) == [TilePlace(0, 1)]
    assert places_of(600, 0, known=300) == [TilePlace(1), TilePlace(2, 88)]
    assert places_of(600, 1, known=520) == []


def test_entries_are_read_as_they_were_bundled() -> None:
    entries = [b"one", b"", b"x" * 65_535]
    assert entries_of_bundle(bundle_of_entries(entries)) == entries
    with pytest.raises(ValueError, match="ends within entry 2"):
        entries_of_bundle(bundle_of_entries(entries)[:-1])


NOTE = "example.com/log\n1\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n\n— example.com/log AAAAAAAA\n"
NODE = "A" * 43 + "="


@pytest.mark.parametrize(("text", "place"), table(__file__, "a proof is refused with the place of its fault"))
def test_a_proof_is_refused_with_the_place_of_its_fault(text: str, place: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read_tlog_proof(text)
    assert caught.value.place == place


def test_a_proof_is_written_as_it_was_read() -> None:
    for extra in ("", "extra AAAA\n"):
        text = f"c2sp.org/tlog-proof@v1\n{extra}index 0\n{NODE}\n\n{NOTE}"
        assert str(read_tlog_proof(text)) == text
