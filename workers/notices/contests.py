"""From events of contests to notices."""

from typing import Any, NamedTuple

from events.contests.contests import Contests, UnknownContestError
from events.notify.contest_facts import facts_of_seek, facts_of_tournament
from events.notify.facts import Fact
from events.store.codec import CODECS
from events.store.kinds import StreamKind, kind_of
from workers.notices.decide import Decider


class ContestObserver(NamedTuple):
    """Lets ``decider`` decide about the facts of contests. Crash-safe: a repetition tells nothing new."""

    seeks: Contests[Any, Any, Any]
    tournaments: Contests[Any, Any, Any]
    decider: Decider

    def look_at_contest(self, contest: str) -> None:
        """Decide about the latest events of a contest. Raises as ``Contests.load``."""
        for fact in self._facts(contest):
            if self.decider.is_recent(fact):
                self.decider.tell(fact)

    def _facts(self, contest: str) -> list[Fact]:
        kind = kind_of(contest)
        is_seek = kind == StreamKind.SEEK
        contests = self.seeks if is_seek else self.tournaments
        try:
            state = contests.load(contest).state
        except UnknownContestError:
            return []  # a failover has lost it
        events = map(CODECS[kind].event_of, contests.events(contest))
        return facts_of_seek(state, events) if is_seek else facts_of_tournament(state, events)
