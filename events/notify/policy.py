"""Whether, when and through which channels a player is told of a fact, each time with the reason. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import NamedTuple

from events.notify.facts import Fact
from events.notify.notice import DeliveryState, Notice, NoticeChannel, NoticeDelivery, NoticeKind, Timing, notice_id
from events.notify.preferences import Preferences

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
MAX_AGE_MS = 24 * HOUR_MS
"""Facts that are older when they are first seen are not told any more; outages do not count towards their age."""

LOOK_AGAIN_MS = 5 * MINUTE_MS
"""After so long it is looked at again whether a player with the match open has left it without acting."""

LOOK_AGAIN_ON_VACATION_MS = 12 * HOUR_MS
"""A vacation may be ended early."""

DIGEST_MARGIN_MS = 6 * HOUR_MS
QUIET_MARGIN_MS = HOUR_MS
"""A digest, or the end of the quiet hours, must leave so much time before a deadline; else the player is told now."""

MIN_REMINDED_MS = 2 * HOUR_MS
"""For a turn that is shorter there is no reminder: the notice of the turn is recent enough."""

ABOUT: Mapping[NoticeKind, str] = {
    NoticeKind.TURN: "your turns",
    NoticeKind.DEADLINE: "deadlines",
    NoticeKind.OFFER: "offers and requests",
    NoticeKind.CHAT: "messages",
    NoticeKind.INVITATION: "invitations",
    NoticeKind.STARTED: "matches that start",
    NoticeKind.ENDED: "matches that end",
    NoticeKind.CASE: "cases",
    NoticeKind.RULING: "rulings",
    NoticeKind.CONTEST: "seeks and tournaments",
}
NEEDS_ANSWER = frozenset({NoticeKind.TURN, NoticeKind.DEADLINE, NoticeKind.OFFER, NoticeKind.INVITATION})
"""A player with the match open who does not act is told of these later; anything else is seen on the page."""

NO_CHANNEL = "Not sent, because you have no confirmed mail address, push device or webhook."
SEEN = "Not sent, because you had the match open when it happened."


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """Where a player can be reached: mail (or why not), push devices, webhook endpoints by id with their kinds."""

    mail: bool = False
    no_mail: str | None = None
    push: tuple[str, ...] = ()
    webhooks: Mapping[str, frozenset[NoticeKind]]

    @property
    def any(self) -> bool:
        """Whether there is a way at all."""
        return bool(self.mail or self.no_mail or self.push or self.webhooks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """The circumstances of a player at ``now``.

    ``watching``: the match is open in a visible tab. ``vacation_until`` is an announced vacation only. ``outage_ms`` is
    how long since the fact the server did not work; ``many_strangers`` puts an invitation into the digest.
    """

    now: int
    zone: tzinfo
    preferences: Preferences
    reach: Reach
    watching: bool = False
    vacation_until: int | None = None
    outage_ms: int = 0
    many_strangers: bool = False


class Hold(NamedTuple):
    """Why a player is not told now, and when it is looked at again."""

    until: int
    reason: str


class NoticeDecision(NamedTuple):
    """A notice, and whether its mail waits for the player's digest."""

    notice: Notice
    digest: bool


def decide(fact: Fact, player: str, circumstances: Circumstances) -> NoticeDecision | None:
    """Return the notice of ``fact`` to ``player``; None when it is so old that it is not even worth an entry."""
    deliveries: list[NoticeDelivery] = []
    digest = False
    if circumstances.now - fact.at - circumstances.outage_ms > MAX_AGE_MS:
        if fact.kind not in (NoticeKind.TURN, NoticeKind.OFFER, NoticeKind.INVITATION):
            return None
        reason = "Not sent, because it was more than a day old when it was first seen."
    elif not circumstances.reach.any:
        reason = NO_CHANNEL
    else:
        by_mail, digest = _by_mail(fact, circumstances)
        deliveries = [*by_mail, *_by_push(fact, circumstances), *_by_webhook(fact, circumstances)]
        reason = _reason(fact, deliveries)
    notice = Notice(
        id=notice_id(fact.name, player),
        player=player,
        kind=fact.kind,
        match=fact.match,
        version=fact.version,
        fact=fact.name,
        summary=fact.summary,
        reason=reason,
        at=fact.at,
        decided_at=circumstances.now,
        deadline=fact.deadline,
        deliveries=tuple(deliveries),
    )
    return NoticeDecision(notice, digest)


def hold_of(kind: NoticeKind, deadline: int | None, circumstances: Circumstances) -> Hold | None:
    """Return why a player is not told now (never a webhook, nor beyond ``deadline``); None for no reason."""
    if circumstances.watching and kind in NEEDS_ANSWER:
        return Hold(
            circumstances.now + LOOK_AGAIN_MS, "You have the match open; sent later if you leave it without acting."
        )
    vacation = circumstances.vacation_until
    if kind == NoticeKind.TURN and vacation is not None and not _presses(deadline, vacation, QUIET_MARGIN_MS):
        again = min(vacation, circumstances.now + LOOK_AGAIN_ON_VACATION_MS)
        return Hold(again, "You are on vacation; sent when it ends.")
    quiet = quiet_until(circumstances.preferences.quiet, circumstances.zone, circumstances.now)
    if quiet is not None and not _presses(deadline, quiet, QUIET_MARGIN_MS):
        return Hold(quiet, "These are your quiet hours; sent when they end.")
    return None


def reminder_at(since: int, deadline: int, before_h: int) -> int | None:
    """Return when to remind of ``deadline``: ``before_h`` hours before, in short turns at a fifth; None for never."""
    whole, before = deadline - since, before_h * HOUR_MS
    if not before or whole < MIN_REMINDED_MS:
        return None
    return deadline - (before if 2 * before <= whole else min(before, whole // 5))


def next_digest(preferences: Preferences, zone: tzinfo, now: int) -> int:
    """Return the instant of the next digest after ``now``."""
    return _next_hour(preferences.digest_hour, zone, now)


def quiet_until(quiet: tuple[int, int] | None, zone: tzinfo, now: int) -> int | None:
    """Return the end of the quiet hours if ``now`` is in them, else None. Equal hours are none."""
    if quiet is None or quiet[0] == quiet[1]:
        return None
    first, end = quiet
    hour = _local(now, zone).hour
    is_quiet = first <= hour < end if first < end else hour >= first or hour < end
    return _next_hour(end, zone, now) if is_quiet else None


def _by_mail(fact: Fact, circumstances: Circumstances) -> tuple[list[NoticeDelivery], bool]:
    """Return the delivery by mail, if there is one, and whether it waits for the digest."""
    reach, preferences = circumstances.reach, circumstances.preferences
    if not reach.mail:
        return ([_not_sent(NoticeChannel.MAIL, reach.no_mail, circumstances.now)] if reach.no_mail else []), False
    timing = preferences.mail[fact.kind]
    if timing == Timing.NEVER:
        return [_not_sent(NoticeChannel.MAIL, _unwanted(fact.kind, "by mail"), circumstances.now)], False
    if _is_seen(fact, circumstances):
        return [_not_sent(NoticeChannel.MAIL, SEEN, circumstances.now)], False
    if timing == Timing.AT_ONCE and not circumstances.many_strangers:
        return [_at_once(NoticeChannel.MAIL, "", fact, circumstances)], False
    digest = next_digest(preferences, circumstances.zone, circumstances.now)
    if _presses(fact.deadline, digest, DIGEST_MARGIN_MS):
        reason = "Sent at once, because the deadline comes before or soon after your next digest."
        return [_at_once(NoticeChannel.MAIL, "", fact, circumstances, reason)], False
    why = "Many people whom you have never played with have invited you today. " if circumstances.many_strangers else ""
    return [_waiting(NoticeChannel.MAIL, "", f"{why}Waits for your digest.", digest, circumstances.now)], True


def _by_push(fact: Fact, circumstances: Circumstances) -> list[NoticeDelivery]:
    if circumstances.reach.push and circumstances.preferences.push[fact.kind] == Timing.NEVER:
        return [_not_sent(NoticeChannel.PUSH, _unwanted(fact.kind, "by push message"), circumstances.now)]
    if circumstances.reach.push and _is_seen(fact, circumstances):
        return [_not_sent(NoticeChannel.PUSH, SEEN, circumstances.now)]
    return [_at_once(NoticeChannel.PUSH, device, fact, circumstances) for device in circumstances.reach.push]


def _by_webhook(fact: Fact, circumstances: Circumstances) -> list[NoticeDelivery]:
    return [
        _waiting(
            NoticeChannel.WEBHOOK,
            endpoint,
            f"This webhook is told of {ABOUT[fact.kind]}.",
            circumstances.now,
            circumstances.now,
        )
        for endpoint, kinds in circumstances.reach.webhooks.items()
        if fact.kind in kinds
    ]


def _at_once(
    channel: NoticeChannel, target: str, fact: Fact, circumstances: Circumstances, reason: str | None = None
) -> NoticeDelivery:
    hold = hold_of(fact.kind, fact.deadline, circumstances)
    if hold is not None:
        return _waiting(channel, target, hold.reason, hold.until, circumstances.now)
    if (
        reason is None
        and quiet_until(circumstances.preferences.quiet, circumstances.zone, circumstances.now) is not None
    ):
        reason = "Sent in your quiet hours, because the deadline comes before or soon after their end."
    return _waiting(
        channel,
        target,
        reason or f"You want to be told of {ABOUT[fact.kind]} at once.",
        circumstances.now,
        circumstances.now,
    )


def _reason(fact: Fact, deliveries: list[NoticeDelivery]) -> str:
    waiting = [delivery for delivery in deliveries if delivery.state == DeliveryState.WAITING]
    if waiting:
        return min(waiting, key=lambda delivery: delivery.due or 0).reason
    if deliveries:
        return deliveries[0].reason
    return f"Not sent, because no webhook of yours is told of {ABOUT[fact.kind]}."


def _waiting(channel: NoticeChannel, target: str, reason: str, due: int, now: int) -> NoticeDelivery:
    return NoticeDelivery(channel=channel, target=target, state=DeliveryState.WAITING, reason=reason, due=due, at=now)


def _not_sent(channel: NoticeChannel, reason: str | None, now: int) -> NoticeDelivery:
    return NoticeDelivery(channel=channel, state=DeliveryState.NOT_SENT, reason=reason or "", at=now)


def _unwanted(kind: NoticeKind, how: str) -> str:
    return f"Not sent, because you do not want to be told of {ABOUT[kind]} {how}."


def _is_seen(fact: Fact, circumstances: Circumstances) -> bool:
    return circumstances.watching and fact.kind not in NEEDS_ANSWER


def _presses(deadline: int | None, until: int, margin: int) -> bool:
    return deadline is not None and deadline < until + margin


def _next_hour(hour: int, zone: tzinfo, now: int) -> int:
    day = _local(now, zone).replace(hour=hour, minute=0, second=0, microsecond=0, fold=0)
    at = _instant(day)
    return at if at > now else _instant(day + timedelta(days=1))


def _local(at: int, zone: tzinfo) -> datetime:
    return datetime.fromtimestamp(at // 1000, zone)


def _instant(local: datetime) -> int:
    return int(local.timestamp()) * 1000
