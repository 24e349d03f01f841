"""What names and passwords people may have: without a store."""

import pytest

from events.people.names import InvalidNameError, check_name, skeleton
from events.people.passwords import InvalidPasswordError, check_password
from tests.support.tables import table


@pytest.mark.parametrize(
    "name",
    [
        *("bob", "supporter", "Anna_K-2", "x" * 24, "player", "pawn-stormer", "systematic", "guesthouse", "rooky"),
        *("judgement", "Dredd-the-judge", "clockwork", "model", "serverless", "modest", "judith"),
    ],
)
def test_a_name_of_letters_digits_and_dashes_is_fit(name: str) -> None:
    check_name(name)


@pytest.mark.parametrize(
    "name", ["", "ab", "x" * 25, "with space", "ünal", "semi;colon", "new\nline", "trailing\n", "a/b", "٣٣٣"]
)
def test_a_name_of_other_characters_or_length_is_refused(name: str) -> None:
    with pytest.raises(InvalidNameError, match="3 to 24 characters"):
        check_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *("opponent-4", "Opponent-x", "guest-abcdef", "GUEST-1", "paaaabbbbccccdddd", "Admin", "support"),
        *("judge", "clock", "admins", "administrator", "administrators", "referee", "server", "security", "staff"),
        *("system", "moderator", "official", "mods", "owner", "umpire"),
        *("postmaster", "abuse", "noreply", "no-reply", "anonymous", "deleted", "null", "sysop", "bot", "engine"),
    ],
)
def test_names_of_opponents_guests_ids_and_offices_are_reserved(name: str) -> None:
    with pytest.raises(InvalidNameError, match="reserved"):
        check_name(name)


@pytest.mark.parametrize("name", table(__file__, "names that look like those of offices are reserved too"))
def test_names_that_look_like_those_of_offices_are_reserved_too(name: str) -> None:
    with pytest.raises(InvalidNameError, match="reserved"):
        check_name(name)


@pytest.mark.parametrize(("one", "other"), table(__file__, "names that look alike have one skeleton"))
def test_names_that_look_alike_have_one_skeleton(one: str, other: str) -> None:
    assert skeleton(one) == skeleton(other)


@pytest.mark.parametrize(
    ("one", "other"), [("anna", "hanna"), ("boris", "doris"), ("player1", "player2"), ("player6", "player8")]
)
def test_names_that_differ_to_the_eye_have_different_skeletons(one: str, other: str) -> None:
    assert skeleton(one) != skeleton(other)


@pytest.mark.parametrize(
    ("password", "fit"), [("7 chars", False), ("8 chars.", True), ("wxyz" * 32, True), ("wxyz" * 32 + "w", False)]
)
def test_a_password_has_8_to_128_characters(password: str, fit: bool) -> None:
    if fit:
        check_password(password)
    else:
        with pytest.raises(InvalidPasswordError, match="8 to 128"):
            check_password(password)


@pytest.mark.parametrize("password", ["password1", "PassWord1", "12345678", "qwertyuiop"])
def test_a_password_that_many_people_use_is_refused(password: str) -> None:
    with pytest.raises(InvalidPasswordError, match="too common"):
        check_password(password)


@pytest.mark.parametrize("password", ["aaaaaaaaaa", " " * 8, "aAaAbBbBcCcC", "a  b  c  a"])
def test_a_password_of_few_different_characters_is_refused(password: str) -> None:
    with pytest.raises(InvalidPasswordError, match="at least 4 different characters"):
        check_password(password)


def test_a_password_is_not_the_name() -> None:
    with pytest.raises(InvalidPasswordError, match="differ from the name"):
        check_password("Stormpawn", "stormpawn")
