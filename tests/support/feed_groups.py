"""What consumer groups have not finished, and what they have put aside."""

from typing import NamedTuple

from events.store.feed import FeedGroup, Lag


class Parked(NamedTuple):
    """A feed entry that a group could not handle, with the reason."""

    shard: int
    group: str
    sequence: int
    stream: str
    version: int
    reason: str


def lags_of(group: FeedGroup) -> list[Lag]:
    """Return for each shard how far the group is behind; the whole feed where it does not exist."""
    return [state.lag(group.group) for state in group.states().values()]


def parked_by(group: FeedGroup) -> list[Parked]:
    """Return the parked entries of a group, shard by shard, oldest first."""
    names = ("group", "sequence", "stream", "version", "reason")
    parked = []
    for shard, keys in enumerate(group._keys):
        for _, fields in group.client.xrange(keys.parked):
            of, sequence, stream, version, reason = (fields[name.encode()].decode() for name in names)
            parked.append(Parked(shard, of, int(sequence), stream, int(version), reason))
    return [entry for entry in parked if entry.group == group.group]
