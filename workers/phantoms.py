"""Phantoms: read models of what no stream has, found by walking the read models themselves.

The streams show which read models are missing or old, but not which are left of matches that a failover has taken as a
whole, or that were written to one server from the events of another. So every sweep looks at the next keys of the
store: summaries and members of lists are compared with the streams, ratings with the matches. The last leaves of the
log of checkpoints name events, too, that were there once. What is not backed by an event is removed, and the event,
which somebody may have seen, is recorded as lost.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import NamedTuple

import structlog

from events.installation import Installation
from events.readmodels.generations import Generations
from events.readmodels.lists import lists_of
from events.readmodels.rating_generations import RatingGenerations
from events.readmodels.summary import Projected, unpack_summary
from events.runtime import beats
from events.runtime.connections import StorePipeline
from events.runtime.keys import RatingKeys, literal_pattern
from events.runtime.transactions import transact
from events.store.contract import EMPTY
from events.store.told import Claim, Claims

PLACES_PER_STEP = 2000
RATED_PER_STEP = 200
LEAVES_PER_STEP = 200
KEYS_PER_SCAN = 500

SUMMARY, LIST = "m", "l"
"""Kinds of keys, see ``ReadModelKeys.parse_model``."""

UNKNOWN = Claim("")
"""Of an event of which only its version is known."""

log = structlog.get_logger("phantoms")


class Place(NamedTuple):
    """Something in a generation of the read models of a shard: the summary ``name`` or a ``member`` of that list."""

    shard: int
    generation: int
    kind: str
    name: str
    member: str = ""

    @property
    def match_id(self) -> str:
        """The match that is summarised or listed; members of lists of meetings have more in them."""
        if self.kind == SUMMARY:
            return self.name
        return self.member.split(" ")[2] if " " in self.member else self.member


class PhantomWalk:
    """Walks all read models of an installation, over and over, a bounded part of them in each step.

    ``request_rating`` has a match rated again. Methods raise StoreUnavailableError; the next step goes on behind.
    """

    def __init__(self, installation: Installation, request_rating: Callable[[str], object]) -> None:
        self._parts = installation
        self._client = installation.client
        self._store = installation.store
        self._request_rating = request_rating
        self._places = self._all_places()
        self._rated = self._all_rated()
        self._leaves = self._all_leaves()

    def step(self) -> int:
        """Look at the next read models and leaves; return how many phantoms were found, all of which are removed."""
        places = list(islice(self._places, PLACES_PER_STEP))
        if len(places) < PLACES_PER_STEP:
            self._places = self._all_places()
        found = 0
        models = sorted(place for place in places if place is not None)
        for _, of_generation in groupby(models, key=lambda place: place[:2]):
            beats.beat()
            found += self._check_models(list(of_generation))
        return found + self._check_rated() + self._check_leaves()

    def _check_models(self, places: Sequence[Place]) -> int:
        """Compare places of one generation of a shard with the streams; remove what is not backed by events."""
        shard, generation = places[0][:2]
        keys = self._parts.readmodels.keys
        if generation not in Generations.parse(self._client.get(keys.generation(shard))).written:
            return 0  # left behind by a rebuild: it is never read, and deleted by the next one
        match_ids = list(dict.fromkeys(place.match_id for place in places))
        with self._client.pipeline(transaction=False) as pipeline:
            for match_id in match_ids:
                pipeline.get(keys.summary(match_id, generation))
            summaries = dict(zip(match_ids, map(unpack_summary, pipeline.execute()), strict=True))
        summarised = [place.match_id for place in places if place.kind == SUMMARY]
        found = self._check_summaries({match_id: summaries[match_id] for match_id in summarised})
        for place in places:
            if place.kind == LIST and not _is_listed(place, summaries[place.match_id]):
                found += self._remove_member(place)
        return found

    def _check_summaries(self, summaries: Mapping[str, Projected | None]) -> int:
        found = 0
        for (match_id, projected), head in zip(summaries.items(), self._store.heads(list(summaries)), strict=True):
            if projected is not None and (projected.summary.version, projected.digest) != head.tag:
                # Perhaps it is only old: the relay is behind.
                claimed = {match_id: {projected.summary.version: Claim(projected.digest)}}
                found += bool(self._parts.lost_tails.compare(claimed))
                for error in self._parts.projector.project([match_id]).values():
                    log.error("a match cannot be replayed", match=match_id, error=str(error))
        return found

    def _remove_member(self, place: Place) -> bool:
        """Take a member out of a list unless the summary of its match says by now that it belongs there."""
        keys, (shard, generation, _, name, _) = self._parts.readmodels.keys, place
        summary, listed = keys.summary(place.match_id, generation), keys.listed(shard, name, generation)

        def remove(pipeline: StorePipeline) -> bool:
            if _is_listed(place, unpack_summary(pipeline.get(summary))):
                return False
            if pipeline.zscore(listed, place.member) is None:
                return False  # it has gone since it was met, with the summary
            pipeline.multi()
            pipeline.zrem(listed, place.member)
            return True

        if keys.shard_of(place.match_id) == shard:
            removed = transact(self._client, [summary], remove)
        else:  # such a member no projection writes; on a cluster the summary may be on another server
            removed = bool(self._client.zrem(listed, place.member))
        if removed:
            log.warning("a phantom is removed", list=name, match=place.match_id)
        return removed

    def _check_rated(self) -> int:
        """Have matches that do not exist rated again: then they are in no rating."""
        match_ids = list(islice(self._rated, RATED_PER_STEP))
        if len(match_ids) < RATED_PER_STEP:
            self._rated = self._all_rated()
        heads = zip(match_ids, self._store.heads(match_ids), strict=True)
        gone = [match_id for match_id, head in heads if head == EMPTY]
        lost = self._parts.lost_tails.compare({match_id: {1: UNKNOWN} for match_id in gone})
        for match_id in {event.match for event in lost}:
            self._request_rating(match_id)
        return len({event.match for event in lost})

    def _check_leaves(self) -> int:
        """Compare the last leaves of matches in the log of checkpoints with the streams; return how many are lost."""
        leaves = list(islice(self._leaves, LEAVES_PER_STEP))
        if len(leaves) < LEAVES_PER_STEP:
            self._leaves = self._all_leaves()
        return len({event.match for event in self._parts.lost_tails.compare(dict(leaves))})

    def _all_places(self) -> Iterator[Place | None]:
        """Yield all places, and None for each key that has none."""
        keys = self._parts.readmodels.keys
        for key in self._client.scan_iter(f"{literal_pattern(keys.prefix)}*", KEYS_PER_SCAN):
            name = key.decode(errors="backslashreplace")
            model = keys.parse_model(name)
            if model is None:
                yield None
            elif model[2] == SUMMARY:
                yield Place(*model)
            else:
                for member, _ in self._client.zscan_iter(name):
                    yield Place(*model, member.decode())

    def _all_rated(self) -> Iterator[str]:
        for match_id, _ in self._client.hscan_iter(self._rating_keys().rated, count=RATED_PER_STEP):
            yield match_id.decode()

    def _all_leaves(self) -> Iterator[tuple[str, Claims]]:
        for match_id, noted in self._parts.checkpoints.logged():
            if noted is not None:  # else it is damaged, which the audit of the log reports
                yield match_id, {noted.tag.version: Claim(noted.tag.digest)}

    def _rating_keys(self) -> RatingKeys:
        keys = self._parts.readmodels.keys
        return keys.rating_keys(RatingGenerations.parse(self._client.get(keys.rating_generation)).current)


def _is_listed(place: Place, projected: Projected | None) -> bool:
    return projected is not None and (place.name, place.member) in lists_of(projected.summary)
