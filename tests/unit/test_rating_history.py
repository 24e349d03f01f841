"""Histories of ratings as others see them: two of them never tell who met whom in private."""

from api.representations.ratings import DAY_MS, PublicChange, public_changes
from events.matches.readmodels import RatingChange

DAY = 20_000 * DAY_MS
ENDED = DAY + 51_234_567
ANNA = [
    RatingChange("public", DAY + 1000, 1500, 1520, 200),
    RatingChange("secret", ENDED, 1520, 1540, 190),
    RatingChange("secret-too", ENDED + 60_000, 1540, 1555, 180),
    RatingChange("secret-tomorrow", ENDED + DAY_MS, 1555, 1530, 175),
]
BORIS = [RatingChange("secret", ENDED, 1600, 1585, 90)]


def test_two_histories_share_no_instant_that_a_stranger_could_join_them_by() -> None:
    shown = [change.at for change in [*public_changes(ANNA, {"public"}), *public_changes(BORIS, set())]]
    assert ENDED not in shown
    assert all(at % DAY_MS == 0 for at in shown if at != DAY + 1000)


def test_private_matches_of_a_day_are_one_change_from_the_first_to_the_last() -> None:
    assert public_changes(ANNA, {"public"}) == [
        PublicChange("public", DAY + 1000, 1500, 1520, 200),
        PublicChange(None, DAY, 1520, 1555, 180),
        PublicChange(None, DAY + DAY_MS, 1555, 1530, 175),
    ]


def test_who_has_a_part_in_a_match_sees_it_as_it_was() -> None:
    assert public_changes(BORIS, {"secret"}) == [PublicChange(*BORIS[0])]
