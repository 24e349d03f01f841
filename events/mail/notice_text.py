"""What the mails about notices say: one notice, or a digest of many. Pure."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from domain.games import GAMES
from domain.match import clock as clocks
from domain.match.enums import Status
from domain.match.state import MatchState
from events.mail.language import MARKER
from events.mail.match_words import has_rules, instant_words
from events.mail.messages import Addressee, Content, Picture, Site, stop_page
from events.mail.transcript import WIDTH, View, board_text, clock_text, prompt_text
from events.notices.notice import Notice
from events.notices.wording import digest_headline, headline

MAX_DIGEST_ITEMS = 40
"""Notices that a digest lists; further ones are counted."""


@dataclass(frozen=True, slots=True)
class NoticeView:
    """A notice with the match that it is about as its reader sees it; None for one without a seat for the reader.

    ``others`` are the names of the other players.
    """

    notice: Notice
    view: View | None
    others: Sequence[str] = ()


def wrap(sentences: str) -> str:
    """Return a paragraph in lines of at most WIDTH columns; a link stays whole."""
    return textwrap.fill(sentences, WIDTH, break_long_words=False, break_on_hyphens=False)


def notice_content(site: Site, to: Addressee, about: NoticeView, picture: Picture | None) -> Content:
    """Return the mail about one notice."""
    notice, view = about.notice, about.view
    parts = [MARKER, wrap(notice.summary)]
    if view is not None and has_rules(view.state):
        parts += [prompt_text(view), *board_text(view).split("\n\n"), clock_text(view)]
    if notice.match is not None:
        parts.append(wrap(f"The match: {site.link(f'/matches/{notice.match}')}"))
    parts += [wrap(f"Why you get this: {notice.reason}"), *_foot(site, to)]
    return Content(subject=subject_of(about), paragraphs=[part for part in parts if part], picture=picture, after=2)


def digest_content(site: Site, to: Addressee, views: Sequence[NoticeView]) -> Content:
    """Return the digest of ``views``: those whose time runs out first at the top, then the latest."""
    ordered = sorted(views, key=lambda about: (_deadline(about) or 2**62, -about.notice.at))
    shown = ordered[:MAX_DIGEST_ITEMS]
    parts = [MARKER, *(_digest_item(site, to, about) for about in shown)]
    if left_out := len(ordered) - len(shown):
        more = f"{left_out} more {'is' if left_out == 1 else 'are'} not listed here"
        parts.append(wrap(f"{more}: {site.link('/notices')}"))
    parts.append(wrap("To act, open the match, or answer the mail about it if you had one."))
    return Content(subject=digest_headline(len(ordered)), paragraphs=[*parts, *_foot(site, to)])


def subject_of(about: NoticeView) -> str:
    """Return the subject line; it does not change from move to move, so that mail programs keep a match together."""
    if about.view is None:
        return about.notice.summary.rstrip(".")
    return headline(about.notice.fact, _title(about.view.state), about.others)


def _digest_item(site: Site, to: Addressee, about: NoticeView) -> str:
    notice, deadline = about.notice, _deadline(about)
    until = "" if deadline is None else f" The time is up on {instant_words(deadline, to.zone)}."
    lines = wrap(f"* {subject_of(about)}. {notice.summary}{until}")
    return lines if notice.match is None else f"{lines}\n{site.link(f'/matches/{notice.match}')}"


def _deadline(about: NoticeView) -> int | None:
    """Return when the time of the reader is up, as it stands now: a vacation or a gift has moved it perhaps."""
    if about.view is None or about.view.state.clock is None:
        return about.notice.deadline
    expected = clocks.forecast(about.view.state.clock)
    runs = about.view.state.status == Status.PLAYING and expected is not None and expected.seat == about.view.seat
    return expected.at if expected is not None and runs else None


def _title(state: MatchState) -> str:
    return GAMES[state.game].title if state.game in GAMES else state.game


def _foot(site: Site, to: Addressee) -> list[str]:
    return [
        wrap(f"What you are told, and when: {site.link('/settings/notices')}"),
        wrap(f"To stop all notices by mail: {stop_page(site, to)}"),
    ]
