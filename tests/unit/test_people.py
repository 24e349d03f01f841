"""What names, passwords and bots people may have: without a store."""

from dataclasses import replace

import pytest

from api.pages.player_page import capacity_sentences
from domain.match.terms import DAY, STANDARD, days_per_move
from events.people.capacity import Capacity, Invitations, ProposedMatch, excess_of, full
from events.people.names import InvalidNameError, check_name, skeleton
from events.people.passwords import InvalidPasswordError, check_password
from events.store.converter import read_value, write_value
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


@pytest.mark.parametrize("name", table(__file__, "names of opponents guests ids and offices are reserved"))
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


CAPACITY = Capacity(games=("bashni", "towers/two-player"), concurrent=3)
PROPOSAL = ProposedMatch("bashni", None, rated=True, private=True, terms=STANDARD)


@pytest.mark.parametrize(
    ("limits", "proposed", "inviter", "limit"),
    [
        *table(__file__, "a match is refused for the limit that it exceeds"),
        ({"min_move_ms": DAY}, {"terms": STANDARD._replace(increment=0)}, "person", "min_move_time"),
        ({"min_move_ms": 3 * DAY}, {"terms": days_per_move(3)}, "person", None),
        ({"min_move_ms": 3 * DAY}, {"terms": days_per_move(3)._replace(ceiling=DAY)}, "person", "min_move_time"),
        ({"max_move_ms": 20 * DAY}, {}, "person", None),
        ({"max_move_ms": 20 * DAY - 1}, {}, "person", "max_move_time"),
        ({"max_move_ms": 2 * DAY}, {"terms": STANDARD._replace(ceiling=2 * DAY)}, "person", None),
    ],
)
def test_a_match_is_refused_for_the_limit_that_it_exceeds(
    limits: dict[str, object], proposed: dict[str, object], inviter: str | None, limit: str | None
) -> None:
    excess = excess_of(replace(CAPACITY, **limits), PROPOSAL._replace(**proposed), inviter)  # type: ignore[arg-type]
    assert (excess and excess.limit) == limit


def test_a_reason_names_the_limit_and_what_was_proposed() -> None:
    capacity = replace(CAPACITY, min_move_ms=2 * DAY)
    assert excess_of(capacity, PROPOSAL, "person") == (
        "min_move_time",
        "needs 2 days for every move; these terms leave 1 day",
    )
    assert full(CAPACITY).reason == "plays 3 matches at once at most, invitations included, and has none free"
    assert full(replace(CAPACITY, concurrent=0)).reason == "takes no new matches at present"


def test_a_capacity_is_stored_with_all_that_was_declared() -> None:
    declared = replace(CAPACITY, min_move_ms=DAY, invitations=Invitations.NO_BOTS, accepts_at_once=True)
    assert read_value(Capacity, write_value(declared)) == declared


def test_a_profile_says_the_whole_capacity_in_sentences() -> None:
    declared = replace(CAPACITY, rated=False, private=False, min_move_ms=DAY, max_move_ms=9 * DAY, accepts_at_once=True)
    assert capacity_sentences(declared, matches=3) == [
        "It plays Bashni and Towers (Two players).", "It plays 3 matches at once, and can begin none now.",
        "It plays unrated matches only.", "It plays public matches only.", "It needs 1 day for every move.",
        "No move may take longer than 9 days.", "It takes invitations, which the server accepts for it at once.",
    ]  # fmt: skip
