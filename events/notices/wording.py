"""The sentences of notices, the same in the ledger, in mails, push messages, webhooks and feeds.

Each says what happened, to the person who is told, and nothing that only some may know.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Wording(NamedTuple):
    """``summary`` is a sentence of the ledger, ``headline`` the subject of a mail or the title of a push message.

    Both name the game; the headline also has a place for the names of the other players.
    """

    summary: str
    headline: str


WORDINGS: Mapping[str, Wording] = {
    "turn": Wording("It is your turn in a match of {game}.", "Your turn: {game}{against}"),
    "first-turn": Wording("A match of {game} has started, and it is your turn.", "Your turn: {game}{against}"),
    "deadline": Wording("Your time in a match of {game} is running out.", "Your time is running out: {game}{against}"),
    "draw": Wording("You are offered a draw in a match of {game}.", "Draw offered: {game}{against}"),
    "takeback": Wording(
        "You are asked to let a move be taken back in a match of {game}.", "Take a move back? {game}{against}"
    ),
    "ruleset": Wording(
        "An arbiter proposes to go on under another version of the rules in a match of {game}.",
        "Another version of the rules proposed: {game}{against}",
    ),
    "chat": Wording("There are new messages in the chat of a match of {game}.", "New messages: {game}{against}"),
    "invitation": Wording("You are invited to a match of {game}.", "Invitation: {game}{against}"),
    "rematch": Wording("You are invited to another match of {game} with the same people.", "Rematch: {game}{against}"),
    "started": Wording("A match of {game} has started.", "Started: {game}{against}"),
    "ended": Wording("A match of {game} is over.", "Over: {game}{against}"),
    "aborted": Wording("A match of {game} was called off.", "Called off: {game}{against}"),
    "flag": Wording("Your time in a match of {game} is up; the others play on.", "Your time is up: {game}{against}"),
    "case": Wording("A case about a match of {game} was opened.", "Case opened: {game}{against}"),
    "appeal": Wording("A ruling about a match of {game} was appealed.", "Ruling appealed: {game}{against}"),
    "reopened": Wording("A case about a match of {game} was reopened.", "Case reopened: {game}{against}"),
    "ruling": Wording("An arbiter has ruled on a case about a match of {game}.", "Ruling: {game}{against}"),
}
"""By what a fact is about, which is how its name begins."""


def about(fact: str) -> str:
    """Return what ``fact`` is about, a key of WORDINGS."""
    return fact.partition(":")[0]


def summarise_fact(fact: str, game: str) -> str:
    """Return the sentence of the ledger about ``fact`` in a match of ``game`` (its title)."""
    return WORDINGS[about(fact)].summary.format(game=game)


def headline(fact: str, game: str, others: Sequence[str] = ()) -> str:
    """Return the subject of a mail or the title of a push message about ``fact``.

    ``game`` is the title of the game, ``others`` are the names of the other players.
    """
    against = f" against {enumerated(others)}" if others else ""
    return WORDINGS[about(fact)].headline.format(game=game, against=against)


def digest_headline(notices: int) -> str:
    """Return the subject of a digest with this number of notices."""
    return "1 notice from your matches" if notices == 1 else f"{notices} notices from your matches"


def enumerated(words: Sequence[str]) -> str:
    """Return ``words`` as one reads them aloud: "Ann", "Ann and Ben", "Ann, Ben and Cem"."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
