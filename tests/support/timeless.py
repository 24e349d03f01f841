"""Commands executed without a timekeeper, for tests in which no time passes."""

from types import MappingProxyType
from typing import cast

from domain.match.commands import Command
from events.matches.match_service import MatchService
from events.matches.matches import Executed, Loaded, Matches
from events.matches.timekeeper import Settled, Timekeeper
from events.store.contract import Request, VersionTag


class NoTime:
    """A timekeeper for which nothing is ever due."""

    def __init__(self, matches: Matches) -> None:
        self._matches = matches

    def record_time(self, loaded: Loaded | None, *_: object) -> Loaded | None:
        return loaded

    def settle(self, match_id: str, _: int) -> Settled:
        tag = self._matches.load(match_id).head.tag
        return Settled(tag, tag)


def execute(
    matches: Matches, match_id: str, command: Command, actor: str, request: Request, expected: VersionTag | None = None
) -> Executed:
    """Execute ``command`` as ``MatchService`` does where no time passes."""
    service = MatchService(matches, cast("Timekeeper", NoTime(matches)), lambda: 0)
    return service.execute(match_id, command, actor, request, expected, availability=MappingProxyType({}))
