"""The answer to a mail: each command and its outcome, the match as it stands and possible commands. Pure.

No line of an answer, whole or broken, is a command, so an answer that is sent back does nothing.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from textwrap import wrap

from domain.game import AnyGame
from domain.match import clock as clocks
from domain.match.clock_words import in_words
from domain.match.enums import FlagRule, Limit, Status
from domain.match.lines import ConditionalMoves
from domain.match.state import MatchState
from domain.match.terms import duration
from events.notify.mail.language import MARKER, NO_MOVES, Moves, Verb, read_command
from events.notify.mail.match_words import example_move, game_of, instant_words, moves_of, outcome_words
from events.notify.wording import game_against

WIDTH = 72
QUOTED_WIDTH = 60
MAX_BREAKABLE = 24
"""Characters of a quoted line; longer ones have no spaces at which a program could break them."""

MAX_SUBJECT_CHARACTERS = 120
LAST_MOVES = 4

NO_COMMAND = (
    "No command was found in your mail, so nothing was done. Write the move alone on a line at the top. Reading ends "
    "where a signature or quoted text seems to begin, as at a line with a mail address; below quoted text a move is "
    'read only where each quoted line begins with ">".'
)


class Effect(StrEnum):
    """The outcome of a line."""

    PLAYED = "played"
    DONE = "done"
    SHOWN = "shown"
    """It changes nothing, or not yet."""

    REFUSED = "refused"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class LineResult:
    """The outcome of a ``line``. With ``asks_to_confirm`` the same line in answer to this answer is carried out."""

    line: str
    effect: Effect
    words: str
    plies: int = 0
    asks_to_confirm: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MailReport:
    """The outcome of a mail; ``remark`` says why nothing was read, ``receipt`` is for the last command that acted."""

    results: tuple[LineResult, ...] = ()
    passed_over: tuple[str, ...] = ()
    gave_up: bool = False
    wants_help: bool = False
    remark: str = ""
    receipt: str = ""

    @property
    def plies(self) -> int:
        """How many moves of the writer were played."""
        return sum(result.plies for result in self.results)

    @property
    def asks_to_confirm(self) -> bool:
        """Whether something is done only once it is confirmed, in answer to this answer."""
        return any(result.asks_to_confirm for result in self.results)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchView:
    """A match as the player of ``seat`` sees it at ``now`` in ``zone``, with the page and the names of the others."""

    state: MatchState
    seat: int
    orders: ConditionalMoves
    now: int
    zone: str
    url: str
    others: Sequence[str] = ()


def write_answer(report: MailReport, view: MatchView | None) -> tuple[str, str]:
    """Return subject and text of the answer to a mail; ``view`` None for one that is about no match."""
    moves = NO_MOVES if view is None else moves_of(view.state)
    parts = [MARKER, *_results(report, moves)]
    if report.wants_help or not report.results:
        parts.append(help_text(None if view is None else view.state))
    if view is not None:
        parts += [board_text(view), clock_text(view), prompt_text(view), view.url]
    text = "\n\n".join(part for part in parts if part) + "\n"
    return _subject(report, view), text


def _subject(report: MailReport, view: MatchView | None) -> str:
    refused = [result for result in report.results if result.effect == Effect.REFUSED]
    unread = [result for result in report.results if result.effect == Effect.UNKNOWN]
    if report.plies:
        said = f"{report.plies} move{'s' * (report.plies > 1)} played"
    elif report.asks_to_confirm:
        said = "please confirm that you resign"
    elif done := [result for result in report.results if result.effect == Effect.DONE]:
        said = done[0].words.partition("\n")[0].rstrip(".")
    elif errors := refused or unread:
        said = f"nothing played: {errors.pop(0).words.rstrip('.')}"
    elif report.results:
        said = "the board" if view is not None else "help"
    else:
        said = "nothing played: there was no command in your mail"
    if refused:
        said += f", with {len(refused)} {'error' if len(refused) == 1 else 'errors'}"
    if unread:
        said += f"; {len(unread)} {'line was' if len(unread) == 1 else 'lines were'} not read"
    title = "" if view is None else f"{game_against(game_of(view.state).title, view.others)}: "
    subject = title + said
    return subject if len(subject) <= MAX_SUBJECT_CHARACTERS else f"{subject[: MAX_SUBJECT_CHARACTERS - 3]}..."


def _results(report: MailReport, moves: Moves) -> list[str]:
    parts = []
    for number, result in enumerate(report.results, 1):
        parts.append(f"{_quoted(number, result.line)}\n{_filled(result.words, moves)}")
    if report.gave_up:
        parts.append(_filled("Reading ended here: too many lines followed. Write commands only, at the top."))
    if not report.results:
        parts.append(_filled(report.remark or NO_COMMAND))
        if report.passed_over:
            lines = [_quoted(number, line) for number, line in enumerate(report.passed_over, 1)]
            parts.append("\n".join(["These lines were read:", *lines]))
    return parts


def _quoted(number: int, line: str) -> str:
    """Return a line of the mail as it is quoted: long ones in pieces that no program breaks once more."""
    first, *others = wrap(line, QUOTED_WIDTH) or [""]
    pieces = [f"{number}: {first}", *(f"... {other}" for other in others)]
    if len(line) > MAX_BREAKABLE:
        pieces = [piece.replace(" ", "\N{NO-BREAK SPACE}") for piece in pieces]
    return "\n".join(f"> {piece}" for piece in pieces)


# The match


def board_text(view: MatchView, *, after_notice: bool = False) -> str:
    """Return the game, the seat, the last moves and the board; ``after_notice`` leaves out the words of the notice."""
    state, game = view.state, game_of(view.state)
    names = game.setups[state.setup].seat_names
    if state.status == Status.OPEN and after_notice:
        return ""
    if state.status == Status.OPEN:
        return _filled(f"{game.title}: the match has not started. Your seat would be {names[view.seat]}.")
    if state.play.position is None:
        return _filled(f"{game.title}: the match cannot be replayed ({state.play.broken}).")
    heading = f"{game.title}: you are {names[view.seat]}. {_standing(state, view.seat)}"
    if after_notice:
        standing = _standing(state, view.seat).removeprefix("It is your turn.")
        heading = f"You {'were' if state.ended else 'are'} {names[view.seat]}. {standing.strip()}".strip()
    mover = f"{names[game.to_move(state.play.position)]} to move"
    diagram = game.diagram(state.play.position).splitlines()
    # The heading has said whose turn it is.
    kept = [re.sub(f"^{mover}[,;] ", "", line) for line in diagram if line != mover]
    lines = [f"| {line}".rstrip() for line in "\n".join(kept).rstrip().splitlines()]
    return "\n".join([_filled(heading, moves_of(state)), *_last_moves(state, game), "", *lines])


def _standing(state: MatchState, seat: int) -> str:
    game = game_of(state)
    names = game.setups[state.setup].seat_names
    if state.status != Status.PLAYING:
        return outcome_words(state)
    if state.cases.frozen:
        return "The match is frozen until an arbiter has ruled."
    mover = game.to_move(state.play.position)
    demand = game.demand(state.play.position)
    return f"It is your turn. {demand}".strip() if mover == seat else f"It is the turn of {names[mover]}."


def _last_moves(state: MatchState, game: AnyGame) -> list[str]:
    names = game.setups[state.setup].seat_names
    first = max(0, len(state.play.moves) - LAST_MOVES)
    shown = []
    for ply in range(first, len(state.play.moves)):
        mover = names[game.to_move(state.play.position_after(ply))]
        shown.append(f'{mover} "{state.play.moves[ply]}"')
    return [_filled(f"Last moves: {', '.join(shown)}.")] if shown else []


def clock_text(view: MatchView) -> str:
    """Return the time of each seat, and the instant by which the seat to move must have moved."""
    state = view.state
    if state.status != Status.PLAYING:
        return ""
    game = game_of(state)
    names, gone = game.setups[state.setup].seat_names, game.eliminated(state.play.position)
    expected = clocks.forecast(state.clock)
    if expected is None:
        return ""
    sentences = list(in_words(state.clock, view.now, names[expected.seat]))
    if expected.at is None:
        sentences.append("When the time is up is not known yet.")
    else:
        who = "You have" if expected.seat == view.seat else f"{names[expected.seat]} has"
        sentences.append(f"{who} to move by {instant_words(expected.at, view.zone)}; {_consequence(view, expected)}.")
    for seat, name in enumerate(names):
        if seat not in (expected.seat, *gone):
            left = duration(clocks.left(state.clock, seat, view.now))
            sentences.append(f"You have {left}." if seat == view.seat else f"{name} has {left}.")
    return _filled(" ".join(sentences))


def _consequence(view: MatchView, expected: clocks.Forecast) -> str:
    if expected.limit == Limit.FIRST_MOVE:
        return "otherwise the match is cancelled"
    if view.state.terms.flag != FlagRule.AUTOMATIC:
        return "after that another player may claim that time is up"
    return "after that the time is up"


# Possible commands


def prompt_text(view: MatchView) -> str:
    """Return the offers that wait for an answer of the seat, an example of a legal move, and its conditional moves."""
    state = view.state
    if state.ended:
        return ""
    if state.status == Status.OPEN:
        invited = not state.seats[view.seat].joined
        words = f"{unbroken('Write accept')} to take your seat, or {unbroken('decline to')} refuse it."
        return _filled(words if invited else "")
    sentences = [offers_text(view)]
    if state.play.broken is None and not state.cases.frozen:
        sentences.append(_move_prompt(state, view.seat))
    if view.orders.lines is not None and view.orders.lines.first:
        sentences.append('You have conditional moves: "queue" shows them.')
    sentences.append('"help" shows all that you can write.')
    return _filled(" ".join(filter(None, sentences)))


def offers_text(view: MatchView) -> str:
    """Return the offers to the seat or by it that wait for an answer, and how to answer; empty for none."""
    return _filled(" ".join(_open_offers(view.state, view.seat)))


def _open_offers(state: MatchState, seat: int) -> Iterable[str]:
    names = game_of(state).setups[state.setup].seat_names
    if agreed := state.offers.draw_agreed:
        if seat in agreed:
            done = "offered" if seat == agreed[0] else "agreed to"
            yield f"You have {done} a draw; the others have not answered yet."
        else:
            yield f'{names[agreed[0]]} offers a draw: write "accept draw" or "decline draw"; a move declines it too.'
    takeback = state.offers.takeback
    if takeback is not None:
        if seat in takeback.agreed:
            done = "asked" if seat == takeback.seat else "agreed"
            yield f"You have {done} to take moves back; the others have not answered yet."
        else:
            yield (
                f'{names[takeback.seat]} asks to go back to the position after move {takeback.ply}: write "accept '
                'takeback" or "decline takeback".'
            )
    proposal = state.cases.proposal
    if proposal is not None and seat not in proposal.agreed:
        yield "An arbiter proposes to go on under another version of the rules: answer that on the page of the match."


def _move_prompt(state: MatchState, seat: int) -> str:
    game, position = game_of(state), state.play.position
    if game.to_move(position) != seat:
        return 'You can enter conditional moves, which are played at once: "if MOVE then MOVE".'
    example = example_move(state)
    form = f" (in the form {example})" if example else ""
    if game.draft(position) is not None:
        return (
            f"To set your army up, write one piece on each line at the top of your answer{form}, and at last the word "
            '"done".'
        )
    return f"To move, write the move alone on a line at the top of your answer{form}."


_HELP = (
    ("MOVE", "play a move, in any notation that the page takes"),
    ("if MOVE then MOVE", "enter conditional moves; several steps may follow: if A then B, if C then D"),
    ("queue", "show your conditional moves"),
    ("clear queue", "remove them all"),
    ("forced on, forced off", "whether your only legal move is played for you"),
    ("draw", "offer a draw; together with a move, offer it with the move"),
    ("accept, decline", "answer a draw offer, a takeback or an invitation"),
    ("take back", "ask to take your last move back"),
    ("resign", "give the match up; you are asked to confirm it"),
    ("say TEXT", "write the text, which stands on the same line, into the chat of the match"),
    ("board", "show the match"),
    ("enter TOURNAMENT", "enter a tournament, by the name that its address ends with: enter tournament-..."),
    ("leave TOURNAMENT", "leave it, or take your entry back"),
    ("stop mail", "send no more notices by mail"),
    ("stop", "end of the commands"),
)


def help_text(state: MatchState | None) -> str:
    """Return all commands with their meaning; with an example for the game of ``state``."""
    lines = ["These commands are understood, each alone on a line at the top of a mail:"]
    lines += [f'| "{form}": {meaning}' for form, meaning in _HELP]
    if state is not None and game_of(state).draft(game_of(state).initial(state.setup)) is not None:
        lines.append('| to set your army up: one piece on each line, such as "K@b2", and at last "done"')
    return "\n".join(lines)


def unbroken(words: str) -> str:
    """Return ``words`` so that no program breaks a line between them: none of them can stand alone as a command."""
    return words.replace(" ", "\N{NO-BREAK SPACE}")


def _filled(text: str, moves: Moves = NO_MOVES) -> str:
    """Return ``text`` in lines, its moves in quotation marks: a client may break a line where nothing else is left."""
    words = [_marked(word, moves) for word in text.split(" ")]
    return "\n".join(wrap(" ".join(words), WIDTH, break_long_words=False, break_on_hyphens=False))


def _marked(word: str, moves: Moves) -> str:
    bare = word.strip(".,;:()")
    command = read_command(bare, moves) if any(letter.isdigit() for letter in bare) else None
    return word if command is None or command.verb != Verb.MOVE else word.replace(bare, f'"{bare}"')
