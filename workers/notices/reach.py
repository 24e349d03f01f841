"""Where players can be reached, and all else that decides whether and when, read from the stores."""

from domain.match import vacation
from events.installation import Installation
from events.notify.policy import Circumstances, Reach
from events.people.availability import zone_of
from events.people.chats import ChatMessage


def circumstances_of(installation: Installation, player: str, match: str | None, now: int) -> Circumstances:
    """Return the circumstances of ``player`` at ``now`` with regard to ``match``."""
    availability = installation.availability.read([player])[player]
    away = vacation.current(availability.book, now)
    is_announced = away is not None and not away.automatic
    return Circumstances(
        now=now,
        zone=zone_of(availability.zone),
        preferences=installation.preferences.read(player),
        reach=reach_of(installation, player),
        watching=match is not None and installation.presence.watching(player, match, now),
        vacation_until=away.until if away is not None and is_announced else None,
    )


def messages_for(installation: Installation, player: str, match: str, after: int, count: int) -> list[ChatMessage]:
    """Return those of the next ``count`` chat messages ``after`` a number that others wrote and ``player`` sees."""
    hidden, silenced = installation.reports.hidden(match), installation.blocks.of(player)
    return [
        message
        for message in installation.chats.read(match, after, count)
        if message.author not in (player, *silenced) and message.number not in hidden
    ]


def reach_of(installation: Installation, player: str) -> Reach:
    """Return where ``player`` can be reached."""
    address, no_mail = installation.addresses.read(player), None
    if address.address is not None and not address.reachable:
        no_mail = f"Not sent by mail, because {address.why_not}."
    elif address.address is not None and installation.settings.mail is None:
        no_mail = "Not sent by mail, because this server sends no mail."
    return Reach(
        mail=address.reachable and no_mail is None,
        no_mail=no_mail,
        push=tuple(each.id for each in installation.subscriptions.live(player)),
        webhooks={
            each.id: frozenset(each.kinds) for each in installation.endpoints.of(player) if each.disabled is None
        },
    )
