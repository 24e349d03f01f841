"""The words of the pages about notices: kinds, channels, timings and states."""

from collections.abc import Mapping
from typing import NamedTuple

from events.notices.endpoints import PayloadForm
from events.notices.inbox import Verdict
from events.notices.notice import DeliveryState, NoticeChannel, NoticeKind, Timing, WhoMayInvite, WhoMayWrite


class KindWords(NamedTuple):
    """What a kind of notice is called, and when there is one."""

    title: str
    when: str


KINDS: Mapping[NoticeKind, KindWords] = {
    NoticeKind.TURN: KindWords("Your turn", "The others have moved, and now you are to move."),
    NoticeKind.DEADLINE: KindWords("Deadline near", "Your time runs out soon, and you still have something to decide."),
    NoticeKind.OFFER: KindWords("Offers", "A draw, a takeback or a rematch is proposed to you."),
    NoticeKind.INVITATION: KindWords("Invitations", "You are invited to a match."),
    NoticeKind.STARTED: KindWords("Start", "A match of yours has begun."),
    NoticeKind.ENDED: KindWords("End", "A match of yours is over."),
    NoticeKind.CHAT: KindWords("Chat", "There is a message in a match of yours."),
    NoticeKind.CASE: KindWords("Disputes", "There is a dispute in a match of yours."),
    NoticeKind.RULING: KindWords("Rulings", "An arbiter has ruled in a match of yours."),
}
"""All kinds in the order in which the pages list them."""

CHANNELS: Mapping[NoticeChannel, str] = {
    NoticeChannel.MAIL: "Mail",
    NoticeChannel.PUSH: "Push",
    NoticeChannel.WEBHOOK: "Webhook",
}

TIMINGS: Mapping[Timing, str] = {
    Timing.AT_ONCE: "At once",
    Timing.DIGEST: "Digest",
    Timing.NEVER: "Never",
}

STATES: Mapping[DeliveryState, str] = {
    DeliveryState.WAITING: "waiting",
    DeliveryState.SENT: "sent",
    DeliveryState.NOT_SENT: "not sent",
    DeliveryState.FAILED: "failed",
}

WRITERS: Mapping[WhoMayWrite, str] = {
    WhoMayWrite.TOKEN_AND_FROM: "The code, and your address as its sender",
    WhoMayWrite.TOKEN_FROM_AND_DMARC: "Both, and the word of your mail server (DMARC)",
}

VERDICTS: Mapping[Verdict, str] = {
    Verdict.WAITING: "not read yet",
    Verdict.READ: "read",
    Verdict.AUTOMATIC: "automatic",
    Verdict.LOOP: "our own",
    Verdict.BOUNCE: "not delivered",
    Verdict.NOT_ALLOWED: "not allowed",
    Verdict.UNSUBSCRIBED: "stopped notices",
    Verdict.REPEATED: "same Message-ID again",
    Verdict.FAILED: "failed",
}

INVITERS: Mapping[WhoMayInvite, str] = {
    WhoMayInvite.ANYONE: "Anyone",
    WhoMayInvite.NO_GUESTS: "Anyone but guests",
    WhoMayInvite.ACQUAINTED: "Those I have finished a match with",
    WhoMayInvite.NOBODY: "Nobody",
}

PAYLOADS: Mapping[PayloadForm, str] = {
    PayloadForm.FULL: "With position and legal moves",
    PayloadForm.THIN: "Only what has happened",
}


def hour_words(hour: int) -> str:
    """Return an hour of the day (0 to 23) as a clock shows it: 08:00."""
    return f"{hour:02d}:00"
