"""What names and passwords people may have: without a store."""

import pytest

from events.passwords import UnfitPassword, check_password
from events.people import UnfitName, check_name


@pytest.mark.parametrize("name", ["bob", "supporter", "Anna_K-2", "x" * 24, "player", "pawn-stormer"])
def test_a_name_of_letters_digits_and_dashes_is_fit(name: str) -> None:
    assert check_name(name) is None


@pytest.mark.parametrize(
    "name", ["", "ab", "x" * 25, "with space", "ünal", "semi;colon", "new\nline", "trailing\n", "a/b", "٣٣٣"]
)
def test_a_name_of_other_characters_or_length_is_refused(name: str) -> None:
    with pytest.raises(UnfitName, match="3 to 24 characters"):
        check_name(name)


@pytest.mark.parametrize(
    "name", ["opponent-4", "Opponent-x", "guest-abcdef", "GUEST-1", "paaaabbbbccccdddd", "Admin", "support"]
)
def test_names_of_opponents_guests_ids_and_offices_are_kept(name: str) -> None:
    with pytest.raises(UnfitName, match="kept"):
        check_name(name)


@pytest.mark.parametrize(
    ("password", "fit"), [("1234567", False), ("12345678", True), ("x" * 128, True), ("x" * 129, False)]
)
def test_a_password_has_8_to_128_characters(password: str, fit: bool) -> None:
    if fit:
        assert check_password(password) is None
    else:
        with pytest.raises(UnfitPassword, match="8 to 128"):
            check_password(password)
