"""The lists that a match is in, and how its summary is written.

All keys carry the hash tag of the shard: they are written in one transaction with the acknowledgement of the event.
Lists are sorted sets of instants; readers gather from all shards.
"""

from collections.abc import Iterable, Iterator

from domain.match.enums import Status
from domain.match.state import Seat
from domain.rating import pairwise
from events.matches.readmodels.summary import Projected, Summary, pack_summary, rated_result
from events.runtime.connections import StorePipeline
from events.runtime.keys import ReadModelKeys

WON, DRAWN, LOST = "+", "=", "-"

NO_DEADLINE = 2**53
"""Sorts after all deadlines; a sorted set stores it exactly."""

Entry = tuple[str, str]


def lists_of(summary: Summary) -> dict[Entry, int]:
    """Return the lists that a match is in, each with the member and its score, an instant.

    - ``open``: public matches with a free seat, by creation; ``recent``: all public ones not aborted, by last event;
    both also per game, as ``open:<game>``.
    - ``awaiting:<player>``, by last event, and ``queue:<player>``, by deadline; ``invited:<player>``, by creation;
    ``active:<player>`` and ``finished:<player>``, by last event.
    - ``met:<player>:<player>`` in ASCII order, ``met-privately:...``: finished matches by their end.
    - ``rated``, by end; ``cases``: waiting for a ruling, by last event.
    """
    match, updated = summary.match, summary.updated_at
    lists: dict[Entry, int] = {}
    if not summary.private:
        public = []
        if summary.status == Status.OPEN and any(seat.player is None for seat in summary.seats):
            public.append(("open", summary.created_at))
        if summary.status != Status.ABORTED:
            public.append(("recent", updated))
        for name, score in public:
            lists[name, match] = lists[f"{name}:{summary.game}", match] = score
    for player in summary.awaiting:
        lists[f"awaiting:{player}", match] = updated
        lists[f"queue:{player}", match] = NO_DEADLINE if summary.deadline is None else summary.deadline
    ended = summary.status in (Status.FINISHED, Status.ABORTED)
    involved = "finished" if ended else "active"
    for player in {summary.creator, *_players(seat for seat in summary.seats if seat.joined)}:
        lists[f"{involved}:{player}", match] = updated
    if summary.status == Status.OPEN:
        for player in _players(seat for seat in summary.seats if not seat.joined):
            lists[f"invited:{player}", match] = summary.created_at
    if summary.status == Status.FINISHED:
        end = updated if summary.ended_at is None else summary.ended_at
        lists |= dict.fromkeys(_meetings(summary), end)
        if rated_result(summary):
            lists["rated", match] = end
    if summary.case:
        lists["cases", match] = updated
    return lists


def write_summary(
    pipeline: StorePipeline,
    keys: ReadModelKeys,
    generation: int,
    match_id: str,
    old: Projected | None,
    new: Projected | None,
) -> None:
    """Queue on ``pipeline`` the changes of the read models of a match from ``old`` to ``new`` (None: there are none).

    The caller must watch the key of the summary since before it read ``old`` and loaded the match.
    """
    if old == new:
        return
    shard = keys.shard_of(match_id)
    before = lists_of(old.summary) if old else {}
    after = lists_of(new.summary) if new else {}
    for name, member in before.keys() - after.keys():
        pipeline.zrem(keys.listed(shard, name, generation), member)
    for (name, member), score in after.items():
        if before.get((name, member)) != score:
            pipeline.zadd(keys.listed(shard, name, generation), {member: score})
    if new is None:
        pipeline.delete(keys.summary(match_id, generation))
    else:
        pipeline.set(keys.summary(match_id, generation), pack_summary(new))


def _meetings(summary: Summary) -> Iterator[Entry]:
    met = "met-privately" if summary.private else "met"
    for seat, results in enumerate(pairwise(summary.scores or ())):
        for other, score in results:
            first, second = summary.seats[seat].player, summary.seats[other].player
            if first is not None and second is not None and first < second:
                result = WON if score > 0.5 else LOST if score < 0.5 else DRAWN
                yield f"{met}:{first}:{second}", f"{summary.pool} {result} {summary.match} {seat}-{other}"


def _players(seats: Iterable[Seat]) -> list[str]:
    return [seat.player for seat in seats if seat.player is not None]
