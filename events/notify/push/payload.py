"""Push messages as declarative web push, which Safari shows without a script, and their urgency and topics."""

import hashlib
import json
from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo

from events.notify.notice import Notice, NoticeKind
from events.notify.push.encryption import to_base64url
from events.notify.wording import headline, news_of

MAX_TTL_S = 28 * 86_400
"""Push services keep messages no longer."""

MIN_TTL_S = 60
WITHOUT_DEADLINE_TTL_S = 7 * 86_400
MAX_TITLE_LENGTH = 120
MAX_BODY_LENGTH = 300
_URGENCY = {NoticeKind.DEADLINE: "high", NoticeKind.CHAT: "low"}
_TO_BE_DEALT_WITH = (NoticeKind.TURN, NoticeKind.DEADLINE, NoticeKind.OFFER, NoticeKind.INVITATION)
_TOPIC_BYTES = 18
"""24 characters; push services allow 32 (RFC 8030, section 5.4)."""


def message(title: str, body: str, navigate: str, tag: str) -> bytes:
    """Return the content of a push message, which replaces an earlier one with the same ``tag``; long texts are cut."""
    notification = {
        "title": _cut(title, MAX_TITLE_LENGTH),
        "body": _cut(body, MAX_BODY_LENGTH),
        "navigate": navigate,
        "tag": tag,
        "lang": "en",
        "dir": "ltr",
        "silent": False,
    }
    return json.dumps({"web_push": 8030, "notification": notification}, ensure_ascii=False).encode()


def title_of(notice: Notice, game: str, others: Sequence[str]) -> str:
    """Return the title of the message about ``notice``; ``game`` is the title of the game, ``others`` are players."""
    return headline([news_of(notice.fact)], game, others)


def body_of(notice: Notice, zone: tzinfo) -> str:
    """Return the body of the message about ``notice``; the deadline is in the player's ``zone``."""
    if notice.deadline is None or notice.kind not in _TO_BE_DEALT_WITH:
        return notice.summary
    at = datetime.fromtimestamp(notice.deadline / 1000, UTC).astimezone(zone)
    return f"{notice.summary} You have until {at:%A, %-d %B, %H:%M}."


def topic_of(notice: Notice) -> str:
    """Return the topic, and tag, of a message: a newer one takes its place; all news of a match but chats share one."""
    subject = f"{notice.match or notice.id}{' chat' if notice.kind == NoticeKind.CHAT else ''}"
    return to_base64url(hashlib.sha256(subject.encode()).digest()[:_TOPIC_BYTES])


def urgency_of(kind: NoticeKind) -> str:
    """Return how urgent a message about a fact of ``kind`` is (RFC 8030, section 5.3)."""
    return _URGENCY.get(kind, "normal")


def ttl_of(deadline: int | None, now: int) -> int:
    """Return for how many seconds a message is worth delivering: until the ``deadline`` (None: some days)."""
    if deadline is None:
        return WITHOUT_DEADLINE_TTL_S
    return max(MIN_TTL_S, min(MAX_TTL_S, (deadline - now) // 1000))


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
