"""The audit of what the people of a simulated year were told."""

from collections import Counter
from collections.abc import Iterable, Sequence
from email import message_from_bytes, policy
from typing import Protocol

from events.notify.notice import NoticeChannel
from tests.simulation.elsewhere import Accepted
from tests.simulation.notices import CHAT_MARK, ToldOf


class Check(Protocol):
    """Counts that a rule was checked in a place, and whether it holds there."""

    def __call__(self, rule: str, holds: bool, place: str) -> None:
        """Count it."""


def audit_notices(told: ToldOf, case_texts: Sequence[str], check: Check) -> None:
    """Check that every notice is explained, none doubled, none needless, and that nothing private was sent."""
    for notice in told.decided.values():
        check("every notice says what was decided and why", bool(notice.reason and notice.summary), notice.fact)
    for place in told.unexplained:
        check("every delivery says what became of it", False, place)
    for sent, times in told.sent.items():
        check("nobody was told of anything twice", times == 1, f"{sent}, {times} times")
    for fact in told.decided_again:
        check("no notice was decided twice", False, fact)
    for place in told.needless:
        check("nobody was told who had nothing to decide", False, place)
    check("nobody was told who had nothing to decide", True, "the year")
    for turn in told.missing:
        check("every turn is in the ledger", False, turn)
    check("every turn is in the ledger", told.counts["turns that people must be told of"] > 0, "the year")
    for turn in told.unreminded:
        check("no flag fell without a reminder to who wanted one", False, turn)
    check("no flag fell without a reminder to who wanted one", True, "the year")
    for place in told.disturbing:
        check("nothing that could wait came in quiet hours", False, place)
    check("nothing that could wait came in quiet hours", True, "the year")
    accepted = Counter((each.channel, each.id) for each in told.accepted if each.channel != NoticeChannel.PUSH)
    for (channel, id), times in accepted.items():
        check("no mail and no webhook was accepted twice", times == 1, f"{channel} {id}, {times} times")
    private = (CHAT_MARK, *case_texts)
    for each in told.accepted:
        text = "\n".join(_texts(each))
        leaked = [words for words in private if words in text]
        check("nothing private was sent", not leaked, f"{each.channel} {each.id}: {leaked[:1]}")


def _texts(accepted: Accepted) -> Iterable[str]:
    """Yield what can be read in ``accepted``: the headers and text parts of a mail, the body of a webhook."""
    if accepted.channel != NoticeChannel.MAIL:
        yield accepted.content.decode(errors="replace")
        return
    message = message_from_bytes(accepted.content, policy=policy.default)
    yield str(message["Subject"])
    yield str(message["To"])
    for part in message.walk():
        if part.get_content_maintype() == "text":
            yield str(part.get_content())
