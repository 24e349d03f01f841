"""The read models of contests: the content of each, and lists by an instant. All of it can be deleted and rebuilt."""

from collections.abc import Mapping, Sequence
from itertools import chain, islice
from typing import Any

from events.matches.readmodels import paging
from events.runtime.connections import StoreClient
from events.runtime.keys import ContestKeys
from events.runtime.scripts import load_script

MAX_LISTED = 1000

UNFINISHED = "unfinished"
"""The list of all contests that are not over."""


class ContestLists:
    """The read models of all contests of an installation; milliseconds behind their events."""

    def __init__(self, client: StoreClient, prefix: str) -> None:
        self._client = client
        self._keys = ContestKeys(prefix)
        self._update = load_script(client, __package__, "update_lists")

    def update(self, contest: str, version: int, content: bytes, lists: Mapping[str, int]) -> None:
        """Store the ``content`` of a contest at ``version`` and put it into ``lists`` by these scores, and no others.

        An older version changes nothing. Names of lists have no spaces.
        """
        arguments: list[str | bytes | int] = [self._keys.lists, contest, version, content]
        arguments += chain.from_iterable(lists.items())
        self._update([self._keys.content(contest)], arguments)

    def page(self, name: str, cursor: str | None = None, limit: int = 50) -> paging.Page[str]:
        """Return a page of the contests in a list, the highest score first. Raises ValueError for an invalid cursor."""
        paging.check_page_size(limit)

        def read(queue: paging.Queue) -> list[Any]:
            with self._client.pipeline(transaction=False) as pipeline:
                queue(pipeline, {})
                return pipeline.execute()

        def listed(pipeline: Any, _: Any, part: paging.Range) -> None:
            key = self._keys.listed(name)
            pipeline.zrevrangebyscore(key, part.first, part.last, start=0, num=part.size, withscores=True)

        places = paging.merge(read, [listed], True, paging.parse_cursor(cursor), limit + 1)
        return paging.page_of([(place, place.member) for place in islice(places, limit + 1)], limit)

    def oldest(self, name: str, limit: int = MAX_LISTED) -> list[str]:
        """Return up to ``limit`` contests in a list, the lowest score first."""
        return [contest.decode() for contest in self._client.zrange(self._keys.listed(name), 0, limit - 1)]

    def latest(self, names: Sequence[str], limit: int, since: int) -> list[list[str]]:
        """Return up to ``limit`` contests of each of the lists ``names`` with a score of ``since`` or more."""
        with self._client.pipeline(transaction=False) as pipeline:
            for name in names:
                pipeline.zrevrangebyscore(self._keys.listed(name), "+inf", since, start=0, num=limit)
            return [[contest.decode() for contest in contests] for contests in pipeline.execute()]

    def count(self, name: str) -> int:
        """Return how many contests are in a list."""
        return int(self._client.zcard(self._keys.listed(name)))

    def versions(self, contests: Sequence[str]) -> list[int]:
        """Return the version that the read model of each of ``contests`` has reached, 0 for none. One round trip."""
        with self._client.pipeline(transaction=False) as pipeline:
            for contest in contests:
                pipeline.hget(self._keys.content(contest), "version")
            return [int(version or 0) for version in (pipeline.execute() if contests else [])]

    def contents(self, contests: Sequence[str]) -> list[bytes | None]:
        """Return the content of each of ``contests``, None where there is none. One round trip."""
        with self._client.pipeline(transaction=False) as pipeline:
            for contest in contests:
                pipeline.hget(self._keys.content(contest), "content")
            contents: list[bytes | None] = pipeline.execute() if contests else []
        return contents
