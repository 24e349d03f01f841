"""From events of contests to notices."""

from typing import NamedTuple

from events.contests.contests import UnknownContestError
from events.contests.seeks import Seeks
from events.notify.contest_facts import facts_of_seek
from events.store.codec import CODECS
from events.store.kinds import StreamKind, kind_of
from workers.notices.decide import Decider


class ContestObserver(NamedTuple):
    """Lets ``decider`` decide about the facts of contests. Crash-safe: a repetition tells nothing new."""

    seeks: Seeks
    decider: Decider

    def look_at_contest(self, contest: str) -> None:
        """Decide about the events of a contest. Raises as ``Contests.load``."""
        if kind_of(contest) != StreamKind.SEEK:
            return
        try:
            seek = self.seeks.contests.load(contest).state
        except UnknownContestError:
            return  # a failover has lost it
        codec = CODECS[StreamKind.SEEK]
        for fact in facts_of_seek(seek, map(codec.event_of, self.seeks.contests.events(contest))):
            self.decider.tell(fact)
