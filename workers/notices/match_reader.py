"""Matches as one of their players sees them, for the messages to that player."""

from collections.abc import Mapping
from typing import NamedTuple

from domain.match.due import deadline_of
from domain.match.lines import ConditionalMoves
from domain.match.state import MatchState, people_seated
from events.matches.matches import Loaded, Matches, UnknownMatchError
from events.matches.timekeeper import Timekeeper
from events.notify.mail.transcript import MatchView
from events.notify.webhooks.payload import WebhookStanding
from events.people.accounts import People
from events.people.blocks import Blocks, blocked_by, names_of_others
from events.people.person import Person
from events.store.contract import DamagedStreamError


class MatchReader(NamedTuple):
    """Reads matches, with the availability of those who play, and without the names of those who are blocked."""

    matches: Matches
    timekeeper: Timekeeper
    people: People
    blocks: Blocks
    page_url: str

    def load(self, match_id: str | None) -> Loaded | None:
        """Return a match; None without an id, and for one that does not exist or is damaged."""
        if match_id is None:
            return None
        try:
            return self.matches.load(match_id)
        except (UnknownMatchError, DamagedStreamError):
            return None

    def persons(self, state: MatchState) -> Mapping[str, Person]:
        """Return the people of a match, and who created it, by their ids."""
        return self.people.persons([*people_seated(state.seats), state.creator])

    def view(
        self, loaded: Loaded, seat: int, zone: str, now: int, persons: Mapping[str, Person] | None = None
    ) -> MatchView:
        """Return the match as the player of ``seat`` sees it in a mail; ``persons`` if they have been read."""
        state = self.timekeeper.with_availability(loaded.state)
        player = state.seats[seat].player or ""
        persons = self.persons(state) if persons is None else persons
        return MatchView(
            state=state,
            seat=seat,
            orders=loaded.orders.get(seat, ConditionalMoves()),
            now=now,
            zone=zone,
            url=f"{self.page_url.rstrip('/')}/matches/{state.match_id}",
            others=names_of_others(state.seats, player, persons, blocked_by(self.blocks, player)),
        )

    def standing(self, loaded: Loaded, player: str) -> WebhookStanding:
        """Return how the match stands, for a webhook to ``player``."""
        state = self.timekeeper.with_availability(loaded.state)
        blocked = blocked_by(self.blocks, player)
        shown = {
            id: person._replace(name="") if id in blocked else person
            for id, person in self.people.persons(people_seated(state.seats)).items()
        }
        return WebhookStanding(state, loaded.head.tag, deadline_of(state), shown)
