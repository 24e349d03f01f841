"""Where players can be reached, and all else that decides whether and when, read from the stores."""

from typing import NamedTuple

from domain.match import vacation
from events.notify.addresses import AddressStore
from events.notify.endpoints import Endpoints
from events.notify.policy import Circumstances, Reach
from events.notify.preferences import PreferencesStore
from events.notify.presence import Presence
from events.notify.subscriptions import Subscriptions
from events.people.availability import AvailabilityStore, zone_of
from events.people.blocks import Blocks
from events.people.chats import ChatMessage, Chats
from events.people.reports import Reports


class CircumstancesReader(NamedTuple):
    """Reads the circumstances of players; ``sends_mail`` tells whether this server does."""

    availability: AvailabilityStore
    preferences: PreferencesStore
    presence: Presence
    addresses: AddressStore
    subscriptions: Subscriptions
    endpoints: Endpoints
    sends_mail: bool

    def read(self, player: str, match: str | None, now: int) -> Circumstances:
        """Return the circumstances of ``player`` at ``now`` with regard to ``match``."""
        availability = self.availability.read([player])[player]
        away = vacation.current(availability.book, now)
        is_announced = away is not None and not away.automatic
        return Circumstances(
            now=now,
            zone=zone_of(availability.zone),
            preferences=self.preferences.read(player),
            reach=self._reach(player),
            watching=match is not None and self.presence.watching(player, match, now),
            vacation_until=away.until if away is not None and is_announced else None,
        )

    def _reach(self, player: str) -> Reach:
        address, no_mail = self.addresses.read(player), None
        if address.address is not None and not address.reachable:
            no_mail = f"Not sent by mail, because {address.why_not}."
        elif address.address is not None and not self.sends_mail:
            no_mail = "Not sent by mail, because this server sends no mail."
        return Reach(
            mail=address.reachable and no_mail is None,
            no_mail=no_mail,
            push=tuple(subscription.id for subscription in self.subscriptions.live(player)),
            webhooks={
                endpoint.id: frozenset(endpoint.kinds)
                for endpoint in self.endpoints.of(player)
                if endpoint.disabled is None
            },
        )


class ChatReader(NamedTuple):
    """Reads chats as one of the players sees them."""

    chats: Chats
    reports: Reports
    blocks: Blocks

    def messages_for(self, player: str, match: str, after: int, count: int) -> list[ChatMessage]:
        """Return those of the next ``count`` messages ``after`` a number that others wrote and ``player`` sees."""
        hidden, silenced = self.reports.hidden(match), self.blocks.of(player)
        return [
            message
            for message in self.chats.read(match, after, count)
            if message.author not in (player, *silenced) and message.number not in hidden
        ]
