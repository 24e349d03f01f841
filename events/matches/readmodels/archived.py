"""The read models of archived matches: summaries, made from the events if they cannot be read, and lists."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from events.matches.readmodels.paging import Place
from events.matches.readmodels.summary import Projected, unpack_summary
from events.store.archive.store import ArchivingStore

KINDS_OF_LISTS = ("finished", "recent", "met", "met-privately", "rated")
"""The lists, by the beginnings of their names, that matches are in when they are over."""


class ArchivedModels:
    """The read models of the archived matches of ``store``. Methods raise ArchiveUnavailableError."""

    def __init__(self, store: ArchivingStore, summarise: Callable[[str], Projected | None]) -> None:
        self._store = store
        self._summarise = summarise

    def projected(self, match_ids: Sequence[str]) -> Mapping[str, Projected]:
        """Return the summaries of those matches that are archived."""
        locations = self._store.find_archived(match_ids)
        archived = {
            match_id: location for match_id, location in zip(match_ids, locations, strict=True) if location is not None
        }
        if not archived:
            return {}
        packed = self._store.archive.summaries(list(archived.values()))
        projected = {}
        for match_id, summary in zip(archived, packed, strict=True):
            model = unpack_summary(summary) or self._summarise(match_id)
            if model is not None:
                projected[match_id] = model
        return projected

    def places(self, names: Sequence[str], newest_first: bool, after: Place | None = None) -> Iterator[Place]:
        """Yield the places of archived matches in the lists ``names``, in one order, after ``after``."""
        for entry in self._store.archive.entries(names, newest_first, after):
            yield Place(float(entry.score), entry.member)
