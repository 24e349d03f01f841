"""The audit of what people were told in a simulated year finds what is wrong."""

from collections import Counter
from typing import Any

import pytest

from events.notices.notice import Notice, NoticeChannel, NoticeKind
from tests.simulation.elsewhere import Accepted
from tests.simulation.notices import CHAT_MARK, SentNotice, ToldOf
from tests.simulation.notices_audit import audit_notices

MAIL = b"Message-ID: <1@rookery.example>\r\nSubject: Your turn\r\nTo: a@people.example\r\n\r\nIt is your turn.\r\n"
SENT = SentNotice("n1", NoticeChannel.MAIL, "")


def notice(reason: str = "You want to be told at once.") -> Notice:
    return Notice(
        id="n1",
        player="p000",
        kind=NoticeKind.TURN,
        match="m000",
        version=3,
        fact="turn:m000:1:0:0",
        summary="It is your turn.",
        reason=reason,
        at=1,
        decided_at=1,
    )


def failures(**changed: Any) -> list[str]:
    told = ToldOf(
        decided={"n1": notice()},
        accepted=[Accepted(NoticeChannel.MAIL, "<1@rookery.example>", MAIL)],
        sent=Counter({SENT: 1}),
        needless=(),
        missing=(),
        unreminded=(),
        disturbing=(),
        decided_again=(),
        unexplained=(),
        counts=Counter({"turns that people must be told of": 1}),
    )._replace(**changed)
    failed = []

    def check(rule: str, holds: bool, place: str) -> None:
        if not holds:
            failed.append(rule)

    audit_notices(told, ["the text of a case"], check)
    return failed


def test_a_year_in_which_all_is_well_has_no_failures() -> None:
    assert failures() == []


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({"decided": {"n1": notice(reason="")}}, "every notice says what was decided and why"),
        ({"unexplained": ["a delivery"]}, "every delivery says what became of it"),
        ({"sent": Counter({SENT: 2})}, "nobody was told of anything twice"),
        ({"decided_again": ["a turn"]}, "no notice was decided twice"),
        ({"needless": ["a turn that is over"]}, "nobody was told who had nothing to decide"),
        ({"missing": ["a turn"]}, "every turn is in the ledger"),
        ({"unreminded": ["a deadline"]}, "no flag fell without a reminder to who wanted one"),
        ({"disturbing": ["a mail"]}, "nothing that could wait came in quiet hours"),
        ({"counts": Counter()}, "every turn is in the ledger"),
        ({"accepted": [Accepted(NoticeChannel.MAIL, "<1>", MAIL)] * 2}, "no mail and no webhook was accepted twice"),
        (
            {"accepted": [Accepted(NoticeChannel.PUSH, "x", f'{{"body": "{CHAT_MARK} 7"}}'.encode())]},
            "nothing private was sent",
        ),
        ({"accepted": [Accepted(NoticeChannel.MAIL, "x", MAIL + b"the text of a case")]}, "nothing private was sent"),
    ],
)
def test_what_is_wrong_is_found(changed: dict[str, Any], rule: str) -> None:
    assert failures(**changed) == [rule]
