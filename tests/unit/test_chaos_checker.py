"""The checker of the campaign of kills finds each kind of fault, planted in a history without one."""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pytest

from tests.chaos.checker import Left, Notified, Stored, Verdict, judge
from tests.chaos.history import NOTHING, Answered, Disturbed, History, Read, Record, Tag, read_history

MATCH = "m1"
CREATED, FIRST, SECOND, THIRD = (Tag(version, f"{version:016x}") for version in (1, 2, 3, 4))
MOVES = ("c3-d4", "b6-a5", "d4-c5")


def answer(client: str, key: str, at: int, *tags: Tag, code: str = "", moves: Sequence[str] = ()) -> Answered:
    """Return a request that was sent at an instant and answered ten milliseconds later."""
    status = 409 if code else 201
    return Answered(client, key, MATCH, at, at + 10, status, code, tags, tuple(moves or ("",) * len(tags)))


def read(client: str, at: int, tag: Tag) -> Read:
    return Read(client, MATCH, at, at + 10, tag)


HISTORY: tuple[Record, ...] = (
    answer("anna", "open", 100, CREATED),
    Disturbed("kill", "api", 150),
    answer("anna", "k1", 200, FIRST, moves=[MOVES[0]]),
    read("anna", 250, FIRST),
    read("boris", 260, FIRST),
    answer("boris", "k2", 300, SECOND, moves=[MOVES[1]]),
    answer("boris", "k3", 350, code="not-your-turn"),
    answer("anna", "k4", 400, THIRD, moves=[MOVES[2]]),
    read("boris", 450, THIRD),
)
STREAM = (
    Stored(CREATED),
    Stored(FIRST, 1, MOVES[0], True),
    Stored(SECOND, 2, MOVES[1], True),
    Stored(THIRD, 3, MOVES[2], True),
)
OTHER = Tag(4, "f" * 16)


def left(stream: Iterable[Stored] = STREAM, notices: Sequence[Notified] = (), incidents: Sequence[str] = ()) -> Left:
    return Left({MATCH: list(stream)}, notices, incidents)


def without(*numbers: int) -> list[Record]:
    return [record for number, record in enumerate(HISTORY) if number not in numbers]


def test_a_history_that_is_as_the_store_has_no_fault() -> None:
    assert judge(HISTORY, left()) == Verdict()


def test_what_is_written_as_lines_is_read_as_it_was(tmp_path: Path) -> None:
    history = History(tmp_path / "history.jsonl")
    for record in HISTORY:
        history.add(record)
    with history.path.open() as lines:
        assert read_history(lines) == list(HISTORY)
    history.close()
    assert json.loads(history.path.read_text().splitlines()[1]) == ["Disturbed", "kill", "api", 150]


def test_an_acknowledged_event_that_is_missing_is_lost() -> None:
    (fault,) = judge(HISTORY, left(STREAM[:3])).lost
    assert fault == f"{MATCH}: 4-{THIRD.digest} was acknowledged and is not there"


def test_an_event_that_was_seen_before_it_was_acknowledged_may_be_missing() -> None:
    again = [*without(7), read("boris", 500, SECOND)]
    assert judge(again, left(STREAM[:3])).faults == ()


FAULTS: dict[str, tuple[Callable[[Verdict], tuple[str, ...]], Sequence[Record], Left]] = {
    "an event that answers two requests": (
        lambda verdict: verdict.doubled,
        [*HISTORY, answer("anna", "k5", 500, THIRD, moves=[MOVES[2]])],
        left(),
    ),
    "a request that was done twice": (
        lambda verdict: verdict.doubled,
        [*HISTORY, answer("anna", "k4", 500, Tag(5, "5" * 16), moves=["e5-d6"])],
        left([*STREAM, Stored(Tag(5, "5" * 16), 4, "e5-d6", True)]),
    ),
    "a move that nobody was told of": (lambda verdict: verdict.doubled, without(7), left()),
    "another move than the acknowledged one": (
        lambda verdict: verdict.doubled,
        HISTORY,
        left([*STREAM[:3], Stored(THIRD, 3, "d4-e5", True)]),
    ),
    "a ply that is stored twice": (
        lambda verdict: verdict.doubled,
        HISTORY,
        left([*STREAM[:3], Stored(THIRD, 2, MOVES[2], True)]),
    ),
    "a player who was told twice": (
        lambda verdict: verdict.doubled,
        HISTORY,
        left(notices=[Notified("boris", "n1", "turn m1 2"), Notified("boris", "n2", "turn m1 2")]),
    ),
    "an event that was appended before one acknowledged earlier": (
        lambda verdict: verdict.disordered,
        [HISTORY[0], answer("boris", "k2", 150, SECOND, moves=[MOVES[1]]), *without(0, 5)],
        left(),
    ),
    "a match that goes back": (lambda verdict: verdict.backward, [*HISTORY, read("boris", 500, SECOND)], left()),
    "a match that is gone": (lambda verdict: verdict.backward, [*HISTORY, read("anna", 500, NOTHING)], left()),
    "a match with another history": (lambda verdict: verdict.backward, [*HISTORY, read("boris", 500, OTHER)], left()),
    "an incident": (lambda verdict: verdict.incidents, HISTORY, left(incidents=["events are missing"])),
    "a refusal without a reason": (
        lambda verdict: verdict.refused,
        [*HISTORY, answer("anna", "k5", 500, code="no-such-match")],
        left(),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_the_checker_finds(name: str) -> None:
    of_kind, history, found = FAULTS[name]
    assert len(of_kind(judge(history, found))) == 1


def test_one_client_may_be_behind_another() -> None:
    assert judge([*HISTORY[:6], read("anna", 310, FIRST), *HISTORY[6:]], left()) == Verdict()
