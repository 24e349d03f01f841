"""The text of mails about notices: those of one match, or of several. Pure."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from domain.games import GAMES
from domain.match import clock as clocks
from domain.match.due import deadline_of
from domain.match.enums import Status
from domain.match.state import MatchState
from domain.match.terms import in_short
from events.notify.mail.language import MARKER
from events.notify.mail.match_words import game_of, has_rules, instant_words, result_words, soon_words
from events.notify.mail.messages import Addressee, Content, Picture, Site, stop_page
from events.notify.mail.transcript import (
    QUOTED_WIDTH,
    WIDTH,
    MatchView,
    board_text,
    clock_text,
    offers_text,
    prompt_text,
    unbroken,
)
from events.notify.mail_links import CONFIRMATION_MS, PASSWORD_RESET_MS
from events.notify.notice import Notice, NoticeKind
from events.notify.wording import (
    about as about_fact,
    digest_headline,
    enumerated,
    game_against,
    headline,
    news_of,
    page_of,
    summarise_fact,
)

MAX_DIGEST_ITEMS = 40
"""Matches that a digest lists; further ones are counted."""

MAX_BOARDS = 10
"""Matches of which a mail about several has the board."""


OFFERS = ("draw", "takeback", "ruleset")
YOUR_TURN = (NoticeKind.TURN, NoticeKind.DEADLINE)
TO_ANSWER_IN_THE_CHAT = (
    'To answer in the chat, write the word "say" and your words on one line\nat the top of your answer.'
)
TO_ANSWER_ONE_OF_SEVERAL = (
    "To move, write to the address that stands below the match: the move alone on a line at the top of your mail, as "
    "the last moves are written. To answer this mail itself moves nothing."
)


@dataclass(frozen=True, slots=True)
class NoticeView:
    """A notice, the match as its reader sees it (None: no seat), its creator, where to reply, and its chat messages."""

    notice: Notice
    view: MatchView | None
    inviter: str = ""
    reply_to: str = ""
    messages: Sequence[str] = ()


def wrap(sentences: str) -> str:
    """Return a paragraph in lines of at most WIDTH columns; a link stays whole."""
    return textwrap.fill(sentences, WIDTH, break_long_words=False, break_on_hyphens=False)


def notice_content(site: Site, to: Addressee, abouts: Sequence[NoticeView], picture: Picture | None) -> Content:
    """Return the mail about the notices of one match, or about one of no match."""
    parts = [MARKER, *_match_parts(abouts)]
    first = abouts[0].notice
    if first.match:
        parts.append(wrap(f"The match: {site.link(page_of(first.fact, first.match))}"))
    elif first.kind == NoticeKind.CONTEST:
        parts += _contest_parts(site, first)
    why = " ".join(dict.fromkeys(about.notice.reason for about in abouts))
    parts += [wrap(f"Why you get this: {why}"), *_foot(site, to)]
    return Content(subject=subject_of(abouts), paragraphs=[part for part in parts if part], picture=picture, after=2)


def digest_content(site: Site, to: Addressee, views: Sequence[NoticeView]) -> Content:
    """Return the mail about notices of several matches: those whose time runs out first at the top, then the latest."""
    ordered = sorted(views, key=lambda about: (_deadline(about) or 2**62, -about.notice.at))
    matches: dict[str, list[NoticeView]] = {}
    names = list(dict.fromkeys(name for about in ordered if about.view for name in about.view.others))
    for about in ordered:
        of = about.notice.id if about.view is None else about.view.state.match_id
        matches.setdefault(of, []).append(about)
    parts = [MARKER]
    for number, abouts in enumerate(list(matches.values())[:MAX_DIGEST_ITEMS]):
        parts += _item_parts(site, abouts, with_board=number < MAX_BOARDS)
    if (left_out := len(matches) - MAX_DIGEST_ITEMS) > 0:
        more = f"{left_out} more {'is' if left_out == 1 else 'are'} not listed here"
        parts.append(wrap(f"{more}: {site.link('/notices')}"))
    parts.append(wrap(TO_ANSWER_ONE_OF_SEVERAL))
    turns = sum(any(about.notice.kind in YOUR_TURN for about in abouts) for abouts in matches.values())
    others = sum(about.notice.kind not in YOUR_TURN for about in ordered)
    return Content(subject=digest_headline(turns, others, names), paragraphs=[*parts, *_foot(site, to)])


def subject_of(abouts: Sequence[NoticeView]) -> str:
    """Return the subject line of a mail about the notices of one match."""
    first = abouts[0]
    if first.view is None:
        return first.notice.summary.rstrip(".")
    others = [name for name in first.view.others if name != first.inviter or not _is_invitation(first)]
    return headline([_news(about) for about in abouts], _title(first.view.state), others)


def _item_parts(site: Site, abouts: Sequence[NoticeView], *, with_board: bool) -> list[str]:
    """Return the part of a mail about several matches for one of them: subject, board, addresses."""
    first = abouts[0]
    parts = [f"* {wrap(_with_names(subject_of(abouts), first.view))}"]
    if with_board and first.view is not None and has_rules(first.view.state):
        parts += [wrap(_with_names(_sentence(about), about.view)) for about in abouts if _is_invitation(about)]
        parts += [*_chat_parts(abouts), offers_text(first.view), *_board_parts(first.view)]
    elif deadline := _deadline(first):
        parts.append(wrap(f"The time is up on {instant_words(deadline, first.view.zone if first.view else 'UTC')}."))
    if first.notice.kind == NoticeKind.CONTEST:
        parts += _contest_parts(site, first.notice)
    if first.notice.match is not None:
        reply = f"\nMoves and answers to: {first.reply_to}" if first.reply_to else ""
        parts.append(f"The match: {site.link(f'/matches/{first.notice.match}')}{reply}")
    return [part for part in parts if part]


def _contest_parts(site: Site, notice: Notice) -> list[str]:
    """Return the address of a seek or tournament, and how a mail leaves a tournament."""
    page = page_of(notice.fact, None)
    parts = [f"Its page: {site.link(page)}"]
    if about_fact(notice.fact) in ("tournament-postponed", "tournament-started", "tournament-place"):
        command = unbroken(f'"leave {page.rpartition("/")[2]}"')
        parts.append(wrap(f"To leave it, answer with the line {command}. The page says what leaving costs."))
    return parts


def _match_parts(abouts: Sequence[NoticeView]) -> list[str]:
    """Return the news of a match, the commands that can be written, the board and the clocks."""
    view = abouts[0].view
    # Offers stand in the prompt.
    shown = [about for about in abouts if view is None or about_fact(about.notice.fact) not in OFFERS]
    sentences = [_sentence(about) for about in shown]
    if not sentences and view is not None:
        sentences = [f"There is an offer in your match of {game_against(_title(view.state), view.others)}."]
    parts = [wrap(_with_names(" ".join(sentences), view))]
    parts += _chat_parts(abouts)
    if view is not None and has_rules(view.state):
        parts += [prompt_text(view), *_board_parts(view)]
    return parts


def _chat_parts(abouts: Sequence[NoticeView]) -> list[str]:
    messages = [message for about in abouts for message in about.messages]
    return ["\n".join(map(_behind_bars, messages)), TO_ANSWER_IN_THE_CHAT] if messages else []


def _board_parts(view: MatchView) -> list[str]:
    return [*board_text(view, after_notice=True).split("\n\n"), clock_text(view)]


def _behind_bars(message: str) -> str:
    return "\n".join(f"| {unbroken(line)}" for line in textwrap.wrap(message, QUOTED_WIDTH))


def _is_invitation(about: NoticeView) -> bool:
    return about.view is not None and about_fact(about.notice.fact) in ("invitation", "rematch")


def _news(about: NoticeView) -> str:
    notice, view, kind = about.notice, about.view, about_fact(about.notice.fact)
    if view is not None and kind == "deadline" and (deadline := _deadline(about)) and deadline > view.now:
        return soon_words(deadline, view.now, view.zone)
    if view is not None and kind == "ended" and has_rules(view.state):
        return result_words(view.state, view.seat) or news_of(notice.fact)
    if _is_invitation(about) and about.inviter:
        return f"{about.inviter} invites you{' again' if kind == 'rematch' else ''}"
    return notice.summary.rstrip(".") if kind == "vacation" else news_of(notice.fact)


def _sentence(about: NoticeView) -> str:
    notice, view, kind = about.notice, about.view, about_fact(about.notice.fact)
    if view is None:
        return notice.summary
    state, game = view.state, game_against(_title(view.state), view.others)
    if _is_invitation(about) and has_rules(state) and state.status == Status.OPEN:
        return _invitation(about, view, kind)
    if kind == "ended" and has_rules(state) and (result := result_words(state, view.seat)):
        return f"The match of {game} is a draw." if result == "Draw" else f"{result} the match of {game}."
    is_first = kind == "turn" and not state.play.plies
    return summarise_fact("first-turn" if is_first else notice.fact, _title(state), view.others)


def _with_names(text: str, view: MatchView | None) -> str:
    """Return ``text`` with the names of players unbroken: one that is a command must not stand alone on a line."""
    names = "" if view is None else enumerated(view.others)
    return text.replace(names, unbroken(names)).replace(f" {unbroken(names)}", unbroken(f" {names}")) if names else text


def _invitation(about: NoticeView, view: MatchView, kind: str) -> str:
    state, game = view.state, game_of(view.state)
    who = unbroken(f"{about.inviter} invites you") if about.inviter else "You are invited"
    others = [name for name in view.others if name != about.inviter]
    beside = unbroken(f" with {enumerated(others)}") if others else ""
    seat = game.setups[state.setup].seat_names[view.seat]
    terms = "" if state.terms is None else f"; time: {in_short(state.terms)}"
    until = deadline_of(state)
    answer = "" if until is None else f" Please answer by {instant_words(until, view.zone)}; the invitation ends then."
    return (
        f"{who} to {'another' if kind == 'rematch' else 'a'} match of {game.title}{beside}. You would be {seat}. The "
        f"match is {'rated' if state.rated else 'not rated'}{' and private' if state.private else ''}{terms}.{answer}"
    )


def _deadline(about: NoticeView) -> int | None:
    """Return when the time of the reader is up, as it stands now: a vacation or a gift has moved it perhaps."""
    if about.view is None:
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


MAX_ACCOUNTS = 20
"""Accounts with one mail address that a letter offers new passwords for."""


def confirmation_content(site: Site, name: str, link: str, zone: str, now: int) -> Content:
    """Return the request to confirm an address for the account ``name`` by following ``link``."""
    until = instant_words(now + CONFIRMATION_MS, zone)
    return Content(
        subject="Confirm your mail address",
        paragraphs=[
            wrap(f'The account "{name}" at {site.page_url} asks to get its notices at this mail address.'),
            wrap(f"If it is yours, open this page and press the button: {site.link(f'/mail/confirm/{link}')}"),
            wrap(f"The link is valid until {until}. If you know nothing of this, do nothing: nothing else is sent."),
        ],
    )


def address_changed_content(site: Site, name: str) -> Content:
    """Return the word to a former address that the account ``name`` has another one."""
    return Content(
        subject="Your mail address was changed",
        paragraphs=[
            wrap(f'The account "{name}" at {site.page_url} has another mail address now; this one gets no more mail.'),
            wrap("If it was not you who changed it, sign in, change your password, and ask the operator for help."),
        ],
    )


def password_reset_content(site: Site, accounts: Sequence[tuple[str, str]], now: int) -> Content:
    """Return the offer of new passwords for ``accounts``, each a name and a link."""
    shown = accounts[:MAX_ACCOUNTS]
    parts = [wrap(f"Somebody, probably you, has asked for a new password at {site.page_url}.")]
    for name, link in shown:
        parts.append(wrap(f'To choose one for the account "{name}": {site.link(f"/password-reset/{link}")}'))
    if len(accounts) > len(shown):
        parts.append(wrap(f"{len(accounts) - len(shown)} more accounts have this address: ask by their names."))
    until = instant_words(now + PASSWORD_RESET_MS, "UTC")
    parts.append(
        wrap(
            f"Each link can be used once, until {until}. If you know nothing of this, do nothing: your password stays "
            "as it is."
        )
    )
    return Content(subject="A new password", paragraphs=parts)
