"""The closed language of commands by mail: a line of the writer is a whole command or nothing.

Reading ends where a signature or unmarked quotation may begin: text may be missed, but is never misread.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from events.notify.mail.quotation import answer_lines, is_closing

MARKER = "----- Write above this line -----"
"""The first line of every mail of ours that can be answered."""

MAX_COMMANDS = 12
MAX_PLACEMENTS = 40
"""Commands of a mail that sets up an army: one for each piece."""

MAX_UNKNOWN_LINES = 5
"""Before the first command, and again after it: then reading ends."""

MAX_MOVE_CHARACTERS = 120
MAX_CONDITIONAL_STEPS = 20


class Verb(StrEnum):
    """The act that a command asks for."""

    MOVE = "move"
    IF = "if"
    FORCED = "forced"
    DRAW = "draw"
    ACCEPT = "accept"
    DECLINE = "decline"
    RESIGN = "resign"
    TAKE_BACK = "take back"
    SAY = "say"
    BOARD = "board"
    QUEUE = "queue"
    CLEAR_QUEUE = "clear queue"
    HELP = "help"
    ENTER = "enter"
    LEAVE = "leave"
    STOP_MAIL = "stop mail"


@dataclass(frozen=True, slots=True)
class LineStep:
    """Part of a conditional line: after the moves ``after`` of other seats ("*": any), the own move ``answer``."""

    after: tuple[str, ...]
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A ``line`` that is a command; ``argument`` follows the verb: moves, "on", "draw", the id of the match, words."""

    line: str
    verb: Verb
    argument: tuple[str, ...] = ()
    steps: tuple[LineStep, ...] = ()


class Unread(StrEnum):
    """Why a line is not read as a command, in words for its writer."""

    NO_COMMAND = "This line is no command."
    QUOTED_MOVE = "A move in quotation marks is not played: write it alone on its line, without them."
    BELOW_QUOTATION = "Below quoted text only a move is read, and what follows it: write this above."


@dataclass(frozen=True, slots=True)
class UnknownLine:
    """A ``line`` that is not read, though it stands after the first command, or could be meant as one."""

    line: str
    reason: Unread = Unread.NO_COMMAND


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The commands of a mail; ``passed_over`` precede them, ``gave_up`` tells that reading ended at too many lines."""

    items: tuple[Command | UnknownLine, ...]
    passed_over: tuple[str, ...] = ()
    gave_up: bool = False

    @property
    def commands(self) -> tuple[Command, ...]:
        """The lines that are commands."""
        return tuple(item for item in self.items if isinstance(item, Command))


@dataclass(frozen=True, slots=True)
class Moves:
    """How the moves of a match are written; ``several`` says that a turn takes several, perhaps on one line."""

    is_move: Callable[[str], bool]
    several: bool = False


NO_MOVES = Moves(lambda _: False)
"""For mail that is about no match."""


def read_commands(lines: Sequence[str], moves: Moves) -> Reading:
    """Return the commands of a mail, whose ``lines`` are as ``read_body`` returns them.

    They stand at its top or, where nothing there plays a move, between and below marked quoted lines: only a move
    there.
    """
    items: list[Command | UnknownLine] = []
    passed_over: list[str] = []
    unknown = commands = 0
    plays = plays_above = False
    read = cache(lambda line: read_command(line, moves))
    for line, is_below in answer_lines(lines, lambda line: read(line) is not None):
        if (is_below and plays_above) or (commands and is_closing(line)):
            break
        command = read(line)
        if command is not None and (plays or not is_below or command.verb == Verb.MOVE):
            plays = plays or command.verb in (Verb.MOVE, Verb.IF)
            plays_above = plays and not is_below
            unknown = unknown if commands else 0
            commands += 1
            if commands > (MAX_PLACEMENTS if moves.several else MAX_COMMANDS):
                return Reading(items=tuple(items), gave_up=True)
            items.append(command)
            continue
        unknown += bool(commands) or not is_below
        if unknown > MAX_UNKNOWN_LINES:
            return Reading(items=tuple(items), passed_over=tuple(passed_over), gave_up=True)
        reason = _reason_unread(line, command, moves)
        if commands or reason is not Unread.NO_COMMAND:
            items.append(UnknownLine(line, reason))
        elif len(passed_over) < MAX_UNKNOWN_LINES:
            passed_over.append(line)
    return Reading(items=tuple(items), passed_over=tuple(passed_over))


def _reason_unread(line: str, command: Command | None, moves: Moves) -> "Unread":
    if command is not None:
        return Unread.BELOW_QUOTATION
    bare = line.strip(_QUOTATION_MARKS)
    return Unread.QUOTED_MOVE if bare != line and _moves_in(bare, moves) else Unread.NO_COMMAND


def read_command(line: str, moves: Moves) -> Command | None:
    """Return the command that a whole ``line`` is; None when it is none."""
    text = " ".join(line.lower().split())
    if text in _WORDS:
        verb, *argument = _WORDS[text]
        return Command(line=line, verb=Verb(verb), argument=tuple(argument))
    if resigned := _RESIGN.fullmatch(text):
        return Command(line=line, verb=Verb.RESIGN, argument=(resigned[1],))
    if contest := _TOURNAMENT.fullmatch(text):
        return Command(line=line, verb=Verb(contest[1]), argument=(contest[2],))
    if said := _SAY.fullmatch(line):
        return Command(line=line, verb=Verb.SAY, argument=(said[1],))
    if text.startswith("if "):
        steps = _steps(line, moves)
        return Command(line=line, verb=Verb.IF, steps=steps) if steps else None
    if moved := _moves_in(line, moves):
        return Command(line=line, verb=Verb.MOVE, argument=moved)
    return None


_WORDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("draw", "offer draw"), (Verb.DRAW,)),
    **dict.fromkeys(("take back", "takeback"), (Verb.TAKE_BACK,)),
    **dict.fromkeys(("board", "show board"), (Verb.BOARD,)),
    **{
        f"{verb}{word}": (verb, *argument)
        for verb in (Verb.ACCEPT, Verb.DECLINE)
        for word, argument in (
            ("", ()),
            (" draw", ("draw",)),
            (" takeback", ("takeback",)),
            (" take back", ("takeback",)),
        )
    },
    "forced on": (Verb.FORCED, "on"),
    "forced off": (Verb.FORCED, "off"),
    "resign": (Verb.RESIGN,),
    "queue": (Verb.QUEUE,),
    "clear queue": (Verb.CLEAR_QUEUE,),
    "help": (Verb.HELP,),
    "stop mail": (Verb.STOP_MAIL,),
}
_SAY = re.compile(r"say(?: ?: ?| )(.+)", re.IGNORECASE)
_RESIGN = re.compile(r"resign ([a-z0-9-]{1,40})")
_TOURNAMENT = re.compile(r"(enter|leave) (tournament-[a-z0-9]{1,40})")
MAX_PEELED = 4
_BEFORE_MOVE = re.compile(r"(?:[-*\u2022] +|\d{1,3} ?\.{1,3} *|(?:my )?(?:move|play)(?: *: *| +))(.+)", re.IGNORECASE)
"""A bullet, the number of the move, the word for it."""

_EMPHASISED = re.compile(r"(\*\*?|_)(.+)\1[.!]*")
_QUOTATION_MARKS = "\"'`.!\u00ab\u00bb\u2018\u2019\u201a\u201c\u201d\u201e\u300c\u300d"


def _moves_in(line: str, moves: Moves) -> tuple[str, ...]:
    """Return the move that ``line`` is, or the moves of a turn, without the words around one; else none."""
    text = line
    for _ in range(MAX_PEELED):
        for bare in (text, text.rstrip(".! ")):
            if _has_form(bare, moves):
                return (bare,)
            words = tuple(bare.split())
            if moves.several and len(words) > 1 and all(_has_form(word, moves) for word in words):
                return words
        if inner := _BEFORE_MOVE.fullmatch(text):
            text = inner[1]
        elif inner := _EMPHASISED.fullmatch(text):
            text = inner[2]
        else:
            break
    return ()


_MOVE_CHARACTERS = re.compile(r"[A-Za-z0-9@+#=<>:;,*/().\- -]+", re.ASCII)
_WORD_MOVE = re.compile(r"(?:pass|done|[o0]-[a-z])[+#]{0,2}", re.IGNORECASE)


def _has_form(text: str, moves: Moves) -> bool:
    """Tell whether ``text`` is written like a move: with a digit, since words are prose, but for a few fixed ones."""
    if len(text) > MAX_MOVE_CHARACTERS or not _MOVE_CHARACTERS.fullmatch(text):
        return False
    if not any(letter.isdigit() for letter in text) and not _WORD_MOVE.fullmatch(text):
        return False
    return moves.is_move(text)


_IF = re.compile(r"(?:^|,? +)if +", re.IGNORECASE)
_THEN = re.compile(r",? +then +", re.IGNORECASE)
_AND = re.compile(r" +and +", re.IGNORECASE)
ANY_WORDS = ("any", "anything", "*")


def _steps(line: str, moves: Moves) -> tuple[LineStep, ...] | None:
    """Return the steps of ``if A then B, if C and D then E``; None when a part is no move."""
    parts = _IF.split(line)
    if parts[0] or not 1 < len(parts) <= MAX_CONDITIONAL_STEPS + 1:
        return None
    steps = []
    for part in parts[1:]:
        halves = _THEN.split(part)
        if len(halves) != 2:
            return None
        after = tuple("*" if move.lower() in ANY_WORDS else move for move in _AND.split(halves[0].strip()))
        answer = halves[1].strip(" ,")
        if not all(move == "*" or _has_form(move, moves) for move in after) or not _has_form(answer, moves):
            return None
        steps.append(LineStep(after, answer))
    return tuple(steps)
