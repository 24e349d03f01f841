"""What is not a member of a closed set never becomes part of a command or an event."""

from enum import StrEnum

import pytest

from domain.match import enums

ENUMS = [kind for kind in vars(enums).values() if isinstance(kind, type) and issubclass(kind, StrEnum)][1:]


@pytest.mark.parametrize("kind", ENUMS)
def test_every_member_is_found_by_what_is_stored_and_nothing_else_is_one(kind: type[StrEnum]) -> None:
    assert [kind(member.value) for member in kind] == list(kind)
    for unknown in ("", "weather", "shout", "dinner", "blitz", "never", "sing", next(iter(kind)).value.upper()):
        with pytest.raises(ValueError, match=f"'{unknown}' is not a valid {kind.__name__}"):
            kind(unknown)


def test_a_member_is_the_text_that_is_stored() -> None:
    assert all(type(member.value) is str and f"{member}" == member.value for kind in ENUMS for member in kind)
