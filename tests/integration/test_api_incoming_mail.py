"""The last mails of a person, with what became of each."""

import io
import json
import zipfile

from api.services import Services
from events.notices.inbox import ReceivedMail, Verdict
from tests.support.callers import Caller

AT = 1_700_000_000_000


def test_the_last_mails_are_shown_with_their_verdicts(anna: Caller, boris: Caller, services: Services) -> None:
    assert anna.get("/me/incoming-mail").json == {"items": []}
    for number in range(12):
        mail = ReceivedMail(
            digest=str(number),
            player=anna.id,
            recipient="r-secret",
            return_path="anna@home.example",
            sender="anna@home.example",
            subject=f"Re: {number}",
            size=100,
            at=AT + number * 1000,
        )
        services.inbox.add(mail, b"")
    taken = [services.inbox.take() for _ in range(12)][-1]
    assert taken is not None
    services.inbox.finish(taken, Verdict.READ, "1 move was played.", answered=True)
    shown = anna.get("/me/incoming-mail")
    assert [item["subject"] for item in shown.json["items"]] == [f"Re: {number}" for number in range(11, 1, -1)]
    assert shown.json["items"][0] == {
        "at": "2023-11-14T22:13:31.000Z",
        "sender": "anna@home.example",
        "subject": "Re: 11",
        "bytes": 100,
        "verdict": "read",
        "reason": "1 move was played.",
        "answered": True,
    }
    assert shown.json["items"][1]["verdict"] == "waiting"
    assert "r-secret" not in shown.text
    assert boris.get("/me/incoming-mail").json == {"items": []}


def test_incoming_mail_is_in_the_archive_and_is_erased(anna: Caller, services: Services) -> None:
    mail = ReceivedMail(
        digest="1", player=anna.id, recipient="r-x", return_path="", sender="a@x.example", subject="Re", size=1, at=AT
    )
    services.inbox.add(mail, b"")
    with zipfile.ZipFile(io.BytesIO(anna.client.get("/api/v1/me/archive").data)) as archive:
        assert json.loads(archive.read("incoming-mail.json"))[0]["sender"] == "a@x.example"
    assert anna.post("/me/erasure", {"name": "anna"}).status_code == 200
    assert services.inbox.recent(anna.id, 10) == []
    assert services.inbox.take() is None
