"""The sentences of notices, the same in all channels: the event, and nothing that only some may know."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

MAX_NAMES = 4
"""In the subject of a mail about several matches."""


class Wording(NamedTuple):
    """``summary`` is a sentence with places for the game and the other players, ``news`` begins a subject line."""

    summary: str
    news: str


WORDINGS: Mapping[str, Wording] = {
    "turn": Wording("It is your turn in a match of {game}.", "Your turn"),
    "first-turn": Wording("A match of {game} has started, and it is your turn.", "Your turn"),
    "deadline": Wording("Your time in a match of {game} is running out.", "Your time is running out"),
    "vacation": Wording(
        "Your time in a match of {game} was up, and a day of vacation was taken for you.",
        "A day of vacation was taken for you",
    ),
    "draw": Wording("You are offered a draw in a match of {game}.", "Draw offered"),
    "takeback": Wording("You are asked to let a move be taken back in a match of {game}.", "Takeback asked for"),
    "ruleset": Wording(
        "An arbiter proposes to go on under another version of the rules in a match of {game}.",
        "Another version of the rules proposed",
    ),
    "chat": Wording("There are new messages in the chat of a match of {game}.", "New messages"),
    "invitation": Wording("You are invited to a match of {game}.", "Invitation"),
    "rematch": Wording("You are invited to another match of {game} with the same people.", "Rematch"),
    "started": Wording("A match of {game} has started.", "Started"),
    "ended": Wording("A match of {game} is over.", "Over"),
    "aborted": Wording("A match of {game} was cancelled.", "Cancelled"),
    "flag": Wording("Your time in a match of {game} is up; the others play on.", "Your time is up"),
    "case": Wording("A case about a match of {game} was opened.", "Case opened"),
    "appeal": Wording("A ruling about a match of {game} was appealed.", "Ruling appealed"),
    "reopened": Wording("A case about a match of {game} was reopened.", "Case reopened"),
    "seek-expired": Wording(
        "Your seek has expired: nobody has answered it within 14 days. You can post the same again.", "Seek expired"
    ),
    "seek-cleared": Wording(
        "A match that was to come of a seek could not begin: somebody has no place for it. The seek is open again.",
        "Match could not begin",
    ),
    "tournament-postponed": Wording(
        'Too few have entered "{title}": its start is put off by 14 days. Your entry stands: take it back if the new '
        "date does not suit you.",
        "Start put off",
    ),
    "tournament-cancelled": Wording('"{title}" was cancelled {reason}.', "Tournament cancelled"),
    "tournament-started": Wording('"{title}" has started. Its matches begin when all players have room.', "Started"),
    "tournament-place": Wording(
        'A place in "{title}" has become free, and you play in it now. Its page says which matches are yours.',
        "A place for you",
    ),
    "tournament-ended": Wording('"{title}" is over, and its table is final.', "Tournament over"),
    "tournament-corrected": Wording(
        'The final table of "{title}" was corrected: the result of a match has changed.', "Table corrected"
    ),
    "ruling": Wording("An arbiter has ruled on a case about a match of {game}.", "Ruling"),
}
"""By the subject of a fact, with which its name begins."""


def about(fact: str) -> str:
    """Return the subject of ``fact``, a key of WORDINGS."""
    return fact.partition(":")[0]


def page_of(fact: str, match: str | None) -> str:
    """Return the path of the page about ``fact``: that of its ``match``, or of the contest that its name has."""
    if match is not None:
        return f"/matches/{match}"
    kind, _, rest = fact.partition(":")
    begins = kind.partition("-")[0]
    return f"/{begins}s/{rest.partition(':')[0]}" if begins in ("seek", "tournament") else "/notices"


def summarise_fact(fact: str, game: str, others: Sequence[str] = ()) -> str:
    """Return the sentence about ``fact`` in a match of ``game`` (its title), in the ledger without the ``others``."""
    return WORDINGS[about(fact)].summary.format(game=game_against(game, others))


def headline(news: Sequence[str], game: str, others: Sequence[str] = ()) -> str:
    """Return the subject of a mail or title of a push message with ``news`` of a match with ``others``."""
    first, *more = dict.fromkeys(news)
    said = ", ".join([first, *(f"{sentence[:1].lower()}{sentence[1:]}" for sentence in more)])
    return f"{said}: {game_against(game, others)}"


def news_of(fact: str) -> str:
    """Return ``fact`` in a few words."""
    return WORDINGS[about(fact)].news


def digest_headline(turns: int, notices: int, names: Sequence[str]) -> str:
    """Return the subject of a mail about several matches: ``turns`` of the reader, and other ``notices``."""
    shown = names if len(names) <= MAX_NAMES else [*names[: MAX_NAMES - 1], "others"]
    against = f" against {enumerated(shown)}" if names else ""
    said = f"{notices} notice{'s' * (notices != 1)}"
    if not turns:
        return f"{said} from your matches{against}"
    return f"Your turn in {turns} match{'es' * (turns > 1)}{against}{f', and {said}' if notices else ''}"


def game_against(game: str, others: Sequence[str]) -> str:
    """Return the title of a ``game`` with the names of the ``others`` who play it: "Bashni against Ann and Ben"."""
    return f"{game} against {enumerated(others)}" if others else game


def enumerated(words: Sequence[str]) -> str:
    """Return ``words`` as one reads them aloud: "Ann", "Ann and Ben", "Ann, Ben and Cem"."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
