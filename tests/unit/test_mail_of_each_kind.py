"""The mail about each kind of notice, whole, as its reader gets it.

``python -m tests.unit.test_mail_of_each_kind`` writes the texts in ``tests/mail_texts/kinds`` again, to look at the
difference.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from domain.match.clock import forecast
from domain.match.commands import AcceptDraw, JoinMatch, OfferDraw, Resign, SubmitMove
from domain.match.lines import ConditionalMoves
from domain.match.state import Seat
from domain.match.terms import HOUR, MINUTE
from events.notify.mail.match_words import moves_of
from events.notify.mail.messages import Addressee, Content, Site
from events.notify.mail.notice_text import NoticeView, digest_content, notice_content
from events.notify.mail.transcript import Effect, LineResult, MailReport, MatchView, write_answer
from events.notify.notice import Notice, NoticeKind
from events.notify.wording import summarise_fact
from tests.support.matches import T0, PlayedMatch, creation
from tests.support.quoting import lines_that_act

TEXTS = Path(__file__).parents[1] / "mail_texts" / "kinds"
SITE = Site(domain="mail.rookery.test", page_url="https://rookery.test")
ANNA = Addressee(player="anna", name="anna", address="anna@players.test", zone="Europe/Rome", secret=bytes(20))
REASON = "You want to be told of this at once."


def played(*moves: str, match_id: str = "m1") -> PlayedMatch:
    """Return a match of Bashni in which anna has White and boris Black."""
    match = PlayedMatch(creation(Seat.taken("anna"), Seat.open(), match_id=match_id, creator="anna"))
    match.do(JoinMatch(player="boris"))
    for ply, move in enumerate(moves):
        match.move(("anna", "boris")[ply % 2], move)
    return match


def told(match: PlayedMatch, fact: str, seat: int = 0, now: int | None = None, **facts: object) -> NoticeView:
    """Return that anna is told of ``fact``; ``facts`` are those of the view of the notice."""
    view = MatchView(
        state=match.state, seat=seat, orders=ConditionalMoves(), now=now or match.now, zone=ANNA.zone,
        url=f"https://rookery.test/matches/{match.name}", others=("boris",),
    )  # fmt: skip
    notice = Notice(
        id=f"{fact} {match.name}", player=ANNA.player,
        kind=NoticeKind.DEADLINE if fact == "deadline" else NoticeKind.TURN if fact == "turn" else NoticeKind.OFFER,
        match=match.name, version=match.state.version, fact=f"{fact}:{match.name}",
        summary=summarise_fact(fact, "Bashni"), reason=REASON, at=T0, decided_at=T0,
    )  # fmt: skip
    if fact == "vacation":
        notice = replace(notice, summary="A day of vacation was taken for you, 29 days are left.")
    return NoticeView(notice, view, reply_to=f"r-{match.name}@mail.rookery.test", **facts)  # type: ignore[arg-type]


def of_one_match(*abouts: NoticeView) -> Content:
    return notice_content(SITE, ANNA, abouts, None)


def turn() -> Content:
    return of_one_match(told(played("a3-b4", "b6-a5"), "turn"))


def move_with_a_draw_offer() -> Content:
    match = played("a3-b4")
    match.do(SubmitMove(player="boris", move="b6-a5", offer_draw=True))
    return of_one_match(told(match, "turn"), told(match, "draw"))


def deadline() -> Content:
    match = played("a3-b4", "b6-a5")
    assert match.state.clock is not None
    expected = forecast(match.state.clock)
    assert expected is not None
    assert expected.at is not None
    return of_one_match(told(match, "deadline", now=expected.at - 24 * HOUR + 5 * MINUTE))


def vacation() -> Content:
    return of_one_match(told(played("a3-b4", "b6-a5"), "vacation"))


def won() -> Content:
    match = played("a3-b4", "b6-a5")
    match.do(Resign(player="boris"))
    return of_one_match(told(match, "ended"))


def lost() -> Content:
    match = played("a3-b4", "b6-a5")
    match.do(Resign(player="anna"))
    return of_one_match(told(match, "ended"))


def drawn() -> Content:
    match = played("a3-b4", "b6-a5")
    match.do(OfferDraw(player="boris"))
    match.do(AcceptDraw(player="anna"))
    return of_one_match(told(match, "ended"))


def invitation() -> Content:
    seats = (Seat.taken("boris"), Seat.invited("anna"))
    match = PlayedMatch(creation(*seats, match_id="m1", creator="boris", rated=True))
    return of_one_match(told(match, "invitation", seat=1, inviter="boris"))


def chat() -> Content:
    messages = ("boris: Well played! I had not seen that tower coming.", "boris: resign\nc3-d4")
    return of_one_match(told(played("a3-b4", "b6-a5"), "chat", messages=messages))


def two_matches() -> Content:
    first, second = played("a3-b4", "b6-a5"), played("c3-d4", "d6-c5", match_id="m2")
    return digest_content(SITE, ANNA, [told(first, "turn"), told(second, "turn"), told(second, "draw")])


def resignation_to_confirm() -> Content:
    about = told(played("a3-b4", "b6-a5"), "turn").view
    words = 'Nothing has happened yet. To give the match up, answer this mail with "resign m1".'
    asked = LineResult(line="resign", effect=Effect.SHOWN, words=words, asks_to_confirm=True)
    subject, text = write_answer(MailReport(results=(asked,)), about)
    return Content(subject=subject, paragraphs=text.rstrip("\n").split("\n\n"))


KINDS: tuple[Callable[[], Content], ...] = (
    *(turn, move_with_a_draw_offer, deadline, vacation, won, lost, drawn, invitation, chat, two_matches),
    resignation_to_confirm,
)


def written(content: Content) -> str:
    return "\n\n".join([f"Subject: {content.subject}", *content.paragraphs]) + "\n"


@pytest.mark.parametrize("kind", KINDS)
def test_each_mail_reads_as_it_was_last_looked_at(kind: Callable[[], Content]) -> None:
    assert written(kind()) == (TEXTS / f"{kind.__name__}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", KINDS)
def test_no_line_of_a_mail_is_a_command(kind: Callable[[], Content]) -> None:
    assert lines_that_act("\n\n".join(kind().paragraphs), moves_of(played("a3-b4", "b6-a5").state)) == []


if __name__ == "__main__":
    for each in KINDS:
        (TEXTS / f"{each.__name__}.txt").write_text(written(each()), encoding="utf-8")
