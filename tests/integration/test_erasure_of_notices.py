"""What is stored to reach a person: all of it is in the archive, and nothing of it is left after the erasure."""

import io
import re
import zipfile

from api.services import EXTENSION, Services
from events.notify.endpoints import SentWebhook
from events.notify.inbox import ReceivedMail, Verdict, mail_digest
from events.notify.mail.tokens import PlayerToken, TokenKind, write_token
from events.operations.personal_archive import make_archive
from events.people.person import Person
from tests.support.callers import Caller, app_on, started
from tests.support.looks import look_at_match
from tests.support.projected import project
from tests.support.push_service import Browser
from tests.support.server import RealServer
from tests.support.stored import stored
from tests.support.watch import Watch
from workers.composition import make_observer

ADDRESS, WANTED, FORMER = "anke.secret@home.example", "anke.wanted@home.example", "anke.former@home.example"
HOOK, PUSH, SUBJECT = "https://hooks.example/anke-hook", "https://web.push.apple.com/anke-browser", "Re: anke-subject"


def reached(services: Services, anna: Caller, boris: Caller) -> Person:
    """Leave something about anna in every store of notices; return her account."""
    now = services.now()
    person = services.people.person(anna.id)
    assert person is not None
    for address in (FORMER, ADDRESS, WANTED):
        asked = {"address": address, "password": f"the secret of {anna.name}"}
        assert anna.put("/me/mail-address", asked).status_code == 200
        if address != WANTED:
            assert services.addresses.confirm(person.id, address, now)
    for name in (anna.name, ADDRESS):
        assert anna.post("/password-resets", {"name": name}).status_code == 202
    made = anna.post("/me/webhooks", {"url": HOOK, "kinds": ["turn", "offer", "chat"]})
    assert made.status_code == 201, made.text
    assert anna.post("/me/push-subscriptions", Browser(PUSH).subscription).status_code == 201
    assert anna.post("/me/feed-address").status_code == 201
    assert anna.put("/me/bot", {"games": ["bashni"], "concurrent": 9}).status_code == 200
    match_id = started(anna, boris)
    assert anna.put("/me/presence", {"match": match_id, "visible": True}).status_code == 204
    settings = {"mail": {"turn": "digest"}, "push": {}, "digest_hour": 7, "quiet": None, "remind_before_h": 5}
    assert anna.put("/me/notice-settings", settings).status_code == 200
    observer = make_observer(services)
    assert boris.post(f"/matches/{match_id}/chat", {"text": "hello"}).status_code == 201
    look_at_match(observer, match_id, set(range(1, 5)))
    project(services)
    secret = services.addresses.secret(person.id)
    token = "r-" + write_token(PlayerToken(kind=TokenKind.ACCOUNT, player=person.id), secret)
    for number in (1, 2):
        content = f"From: {ADDRESS}\r\nMessage-ID: <{number}>\r\n\r\nhello\r\n".encode()
        mail = ReceivedMail(
            digest=mail_digest(f"<{number}>", token, content), player=person.id, recipient=token, return_path=ADDRESS,
            sender=ADDRESS, subject=SUBJECT, size=len(content), at=now,
        )  # fmt: skip
        assert services.inbox.add(mail, content)
    taken = services.inbox.take()
    assert taken is not None
    assert services.inbox.count_refusal(taken.mail, "") == 1
    services.inbox.finish(taken, Verdict.READ, "It was refused.", answered=True)
    services.inbox.take()
    while (dispatch := services.outbox.take()) is not None:
        services.outbox.record_progress(dispatch, f"begun <{token}@play.example>")
    attempt = SentWebhook(
        webhook_id="n1", type="match.turn", match=match_id, at=now, took_ms=1, url=HOOK, headers={}, body="{}",
        status=200, answer="", delivered=True, outcome="Taken.",
    )  # fmt: skip
    services.endpoints.log(person.id, made.json["id"], attempt)
    return person


def test_all_that_is_stored_to_reach_a_person_is_in_the_archive_and_is_erased(server: RealServer) -> None:
    app = app_on(server.url, now=Watch())
    services: Services = app.extensions[EXTENSION]
    anna, boris = Caller(app).sign_up("annekathrin"), Caller(app).sign_up("boris")
    person = reached(services, anna, boris)
    with zipfile.ZipFile(io.BytesIO(make_archive(services, person))) as files:
        archive = "".join(files.read(name).decode() for name in files.namelist())
    words = (ADDRESS, WANTED, FORMER, HOOK, PUSH, SUBJECT)
    assert not [word for word in words if word not in archive]

    before = keys_with(services, person.id, anna.name, *words)
    assert {"checks", "inbox", "outbox", "notice", "webhook-log", "push", "feeds"} <= before
    assert {"mail", "mails", "mail-contents", "ledger", "preferences", "presence", "places"} <= before
    assert anna.post("/me/erasure", {"name": anna.name}).status_code == 200
    assert keys_with(services, anna.name, *words) == set()
    # Streams, what follows from them, the log of administration; and what expires within an hour.
    assert keys_with(services, person.id) == {"m", "rm", "once", "log", "erasures", "mail-refusals"}
    # Whatever happens in the match later is told to the others alone.
    (match_id,) = services.readmodels.matches_of(person.id)
    look_at_match(make_observer(services), match_id, {services.store.head(match_id).version})
    assert keys_with(services, person.id) == {"m", "rm", "once", "log", "erasures", "mail-refusals"}


def keys_with(services: Services, *words: str) -> set[str]:
    """Return the families of the keys that have any of ``words`` in their names or contents."""
    return {
        re.sub(r".*}:", "", key).partition(":")[0]
        for key, content in stored(services.client)
        if any(word.encode() in key.encode() + content for word in words)
    }
