"""What a bot takes on, in sentences."""

from domain.games import GAMES
from domain.match.terms import duration
from events.people.capacity import Capacity, Invitations

INVITATIONS = {
    Invitations.ANYONE: "It takes invitations",
    Invitations.NO_BOTS: "It takes invitations, but not from other bots",
    Invitations.NOBODY: "It takes no invitations and joins matches by itself",
}


def capacity_sentences(capacity: Capacity, matches: int) -> list[str]:
    """Return what a bot that plays ``matches`` matches takes on."""
    games = [game_title(name) for name in capacity.games]
    *others, last = games or ["nothing at present"]
    free = max(0, capacity.concurrent - matches)
    number = "1 match" if capacity.concurrent == 1 else f"{capacity.concurrent} matches"
    sentences = [f"It plays {', '.join(others) + ' and ' if others else ''}{last}."]
    if capacity.concurrent:
        sentences.append(f"It plays {number} at once, and can begin {free or 'none'} now.")
    else:
        sentences.append("It takes no new matches at present.")
    if not capacity.rated:
        sentences.append("It plays unrated matches only.")
    if not capacity.private:
        sentences.append("It plays public matches only.")
    if capacity.min_move_ms is not None:
        sentences.append(f"It needs {duration(capacity.min_move_ms)} for every move.")
    if capacity.max_move_ms is not None:
        sentences.append(f"No move may take longer than {duration(capacity.max_move_ms)}.")
    accepting = ", which the server accepts for it at once" if capacity.accepts_at_once else ""
    sentences.append(f"{INVITATIONS[capacity.invitations]}{accepting}.")
    return sentences


def game_title(name: str) -> str:
    """Return the title of a game as capacities name it, with that of its setup if ``name`` names one."""
    id, _, setup = name.partition("/")
    game = GAMES.get(id)
    if game is None:
        return name
    return f"{game.title} ({game.setups[setup].title})" if setup in game.setups else game.title
