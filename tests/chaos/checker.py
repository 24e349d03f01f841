"""Judges a campaign from what its clients have recorded and what is left: pure, nothing is asked.

No acknowledged event may be missing. One that was only seen may: it was shown before all replicas had it.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from tests.chaos.history import NOTHING, Answered, Disturbed, Read, Record, Tag

LATE_REFUSALS = frozenset(("stale-version", "not-your-turn", "match-over", "already-seated", "seats-taken"))
"""Refusals of what was pending a moment ago and has been done since."""


class Stored(NamedTuple):
    """An event as it is stored. ``ply`` and ``move`` are those of a move; ``by_person`` tells moves from opponents'."""

    tag: Tag
    ply: int = 0
    move: str = ""
    by_person: bool = False


class Notified(NamedTuple):
    """An entry in the ledger of what a player was told."""

    player: str
    id: str
    fact: str


class Left(NamedTuple):
    """What a campaign has left: the streams, the ledgers of notices, and the incidents that were recorded."""

    streams: Mapping[str, Sequence[Stored]]
    notices: Sequence[Notified] = ()
    incidents: Sequence[str] = ()


class Verdict(NamedTuple):
    """What must not have happened, in words. An incident must not be recorded, for nothing acknowledged may be lost."""

    lost: tuple[str, ...] = ()
    doubled: tuple[str, ...] = ()
    disordered: tuple[str, ...] = ()
    backward: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    incidents: tuple[str, ...] = ()

    @property
    def faults(self) -> tuple[str, ...]:
        return self.lost + self.doubled + self.disordered + self.backward + self.refused + self.incidents


def judge(history: Iterable[Record], left: Left) -> Verdict:
    """Return what is wrong with ``history``, given what is ``left``."""
    records = list(history)
    answered = [record for record in records if isinstance(record, Answered)]
    ends = _Ends(left)
    acknowledged = {(each.match, tag) for each in answered for tag in each.events}
    lost = sorted(event for event in acknowledged if not ends.is_there(*event))
    return Verdict(
        lost=tuple(f"{match}: {_text(tag)} was acknowledged and is not there" for match, tag in lost),
        doubled=(*_acknowledged_twice(answered, ends), *_stored_wrongly(answered, left), *_told_twice(left.notices)),
        disordered=tuple(_disordered(answered, ends)), backward=tuple(_backward(records, acknowledged)),
        refused=tuple(_refused(answered)), incidents=tuple(left.incidents),
    )  # fmt: skip


class _Ends:
    def __init__(self, left: Left) -> None:
        self._there = {match: {event.tag for event in events} for match, events in left.streams.items()}

    def is_there(self, match: str, tag: Tag) -> bool:
        return tag == NOTHING or tag in self._there.get(match, ())


def _told_by(record: Record) -> list[tuple[str, Tag]]:
    """Return the events of which a client was told, in their order."""
    match record:
        case Answered():
            return [(record.match, tag) for tag in record.events]
        case Read():
            return [(record.match, record.tag)]
    return []


def _acknowledged_twice(answered: Sequence[Answered], ends: _Ends) -> list[str]:
    """Return the events that answer several requests, and the requests that were done several times."""
    keys_of: defaultdict[tuple[str, Tag], set[tuple[str, str]]] = defaultdict(set)
    done: defaultdict[tuple[str, str], set[tuple[str, Tag]]] = defaultdict(set)
    for each in answered:
        for tag in each.events:
            keys_of[each.match, tag].add((each.client, each.key))
            if ends.is_there(each.match, tag):
                done[each.client, each.key].add((each.match, each.events[0]))
    found = [
        f"{match}: {_text(tag)} acknowledges {sorted(keys)}" for (match, tag), keys in keys_of.items() if len(keys) > 1
    ]
    return found + [
        f"{key} was done {len(times)} times: {sorted(times)}" for key, times in done.items() if len(times) > 1
    ]


def _stored_wrongly(answered: Sequence[Answered], left: Left) -> list[str]:
    """Return the moves of people that nobody was told of or that are others, and the matches that count plies wrongly.

    Every request was sent until it was answered, so every stored move has been acknowledged.
    """
    acknowledged = {
        (each.match, tag): move for each in answered for tag, move in zip(each.events, each.moves, strict=True)
    }
    found = []
    for match, events in left.streams.items():
        plies = [event.ply for event in events if event.ply]
        if plies != list(range(1, len(plies) + 1)):
            found.append(f"{match}: the plies are {plies}, not 1 to {len(plies)}")
        for event in events:
            if event.by_person and acknowledged.get((match, event.tag)) != event.move:
                told = acknowledged.get((match, event.tag), "nothing")
                found.append(f"{match}: {_text(event.tag)} is the move {event.move}; acknowledged was {told}")
    return found


def _told_twice(notices: Iterable[Notified]) -> list[str]:
    facts = Counter((notice.player, notice.fact) for notice in notices)
    ids = Counter((notice.player, notice.id) for notice in notices)
    return [
        f"{player} was told {count} times of {fact}" for (player, fact), count in (facts | ids).items() if count > 1
    ]


def _disordered(answered: Sequence[Answered], ends: _Ends) -> list[str]:
    """Return the events that follow, in time, one that they precede in the match."""
    found = []
    for match, of_match in _by_match(each for each in answered if each.events).items():
        there = [each for each in of_match if all(ends.is_there(match, tag) for tag in each.events)]
        by_sending = sorted(there, key=lambda each: each.sent_at)
        by_answer = sorted(there, key=lambda each: each.at)
        latest, place = NOTHING, 0
        for each in by_sending:
            while by_answer[place].at < each.sent_at:
                latest = max(latest, by_answer[place].events[-1])
                place += 1
            if each.events[0].version <= latest.version:
                found.append(f"{match}: {_text(each.events[0])} was appended after {_text(latest)}")
    return found


def _backward(records: Iterable[Record], acknowledged: Collection[tuple[str, Tag]]) -> list[str]:
    """Return where a client has seen a match at an acknowledged event, and later at an earlier or another one.

    A client does one thing after the other, and its records are in that order.
    """
    latest: dict[tuple[str, str], Tag] = {}
    found = []
    for record in records:
        if isinstance(record, Disturbed):
            continue
        for match, tag in _told_by(record)[-1:]:
            before = latest.get((record.client, match), NOTHING)
            back = tag.version < before.version or (tag.version == before.version and tag != before)
            if back and (match, before) in acknowledged:
                found.append(f"{record.client} has seen {match} at {_text(before)}, then at {_text(tag)}")
            latest[record.client, match] = tag
    return found


def _refused(answered: Iterable[Answered]) -> list[str]:
    return [
        f"{each.client} {each.key}, {each.match or 'a new match'}: {each.status} {each.code}"
        for each in answered
        if not (each.events or each.status == 429 or (each.status == 409 and each.code in LATE_REFUSALS))
    ]


def _by_match(answered: Iterable[Answered]) -> dict[str, list[Answered]]:
    found: defaultdict[str, list[Answered]] = defaultdict(list)
    for each in answered:
        found[each.match].append(each)
    return found


def _text(tag: Tag) -> str:
    return f"{tag.version}-{tag.digest}"
