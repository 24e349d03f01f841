"""The closed language of commands by mail: a line is a whole command or nothing.

No attempt is made to tell the writer's words from quoted ones by their look. Reading begins at the top and ends at the
first line that may begin quoted text or a signature; before it, only a line that is nothing but a command counts. What
is not read can only be missed, never misread.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

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
    """What a command asks for."""

    MOVE = "move"
    IF = "if"
    FORCED = "forced"
    DRAW = "draw"
    ACCEPT = "accept"
    DECLINE = "decline"
    RESIGN = "resign"
    TAKE_BACK = "take back"
    BOARD = "board"
    QUEUE = "queue"
    CLEAR_QUEUE = "clear queue"
    HELP = "help"
    STOP_MAIL = "stop mail"


@dataclass(frozen=True, slots=True)
class Step:
    """Part of a conditional line: after the moves ``after`` of other seats ("*": any), the own move ``answer``."""

    after: tuple[str, ...]
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A ``line`` of a mail that is a command.

    ``argument`` is what follows the verb: the move or the moves of a turn, "on" or "off", "draw" or "takeback", the id
    of the match. ``steps`` belong to a conditional line.
    """

    line: str
    verb: Verb
    argument: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class UnknownLine:
    """A ``line`` after the first command that is none."""

    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a mail asks for, in its order. ``gave_up`` tells that reading ended at too many lines of either kind."""

    items: tuple[Command | UnknownLine, ...]
    gave_up: bool = False

    @property
    def commands(self) -> tuple[Command, ...]:
        """The lines that are commands."""
        return tuple(item for item in self.items if isinstance(item, Command))


@dataclass(frozen=True, slots=True)
class Moves:
    """How the moves of a match are written.

    ``is_move`` tells whether a text has the form of a move, legal or not. ``several`` says that a turn takes several,
    which may stand on one line.
    """

    is_move: Callable[[str], bool]
    several: bool = False


NO_MOVES = Moves(lambda _: False)
"""For mail that is about no match."""


def read_commands(lines: Sequence[str], moves: Moves) -> Reading:
    """Return the commands at the top of a mail, whose ``lines`` are as ``read_body`` returns them."""
    items: list[Command | UnknownLine] = []
    unknown, commands, found = 0, 0, False
    for number, line in enumerate(lines):
        if not line:
            continue
        if ends_reading(line):
            break
        command = read_command(line, moves)
        if command is None and ends_reading_broken(lines[number : number + 3]):
            break
        if command is not None:
            commands += 1
            unknown = unknown if found else 0
            found = True
            if commands > (MAX_PLACEMENTS if moves.several else MAX_COMMANDS):
                return Reading(items=tuple(items), gave_up=True)
            items.append(command)
            continue
        unknown += 1
        if unknown > MAX_UNKNOWN_LINES:
            return Reading(items=tuple(items), gave_up=True)
        if found:
            items.append(UnknownLine(line))
    return Reading(items=tuple(items))


def read_command(line: str, moves: Moves) -> Command | None:
    """Return the command that a whole ``line`` is; None when it is none."""
    text = " ".join(line.lower().split())
    if text in _WORDS:
        verb, *argument = _WORDS[text]
        return Command(line=line, verb=Verb(verb), argument=tuple(argument))
    if resigned := _RESIGN.fullmatch(text):
        return Command(line=line, verb=Verb.RESIGN, argument=(resigned[1],))
    if text.startswith("if "):
        steps = _steps(line, moves)
        return Command(line=line, verb=Verb.IF, steps=steps) if steps else None
    bare = _MOVE_WORD.sub("", line, count=1)
    if _has_form(bare, moves):
        return Command(line=line, verb=Verb.MOVE, argument=(bare,))
    words = tuple(bare.split())
    if moves.several and len(words) > 1 and all(_has_form(word, moves) for word in words):
        return Command(line=line, verb=Verb.MOVE, argument=words)
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
_RESIGN = re.compile(r"resign ([a-z0-9-]{1,40})")
_MOVE_WORD = re.compile(r"^(?:move|play) +", re.IGNORECASE)
_MOVE_CHARACTERS = re.compile(r"[A-Za-z0-9@+#=<>:;,*/().\- -]+", re.ASCII)
_WORD_MOVE = re.compile(r"pass|done|[o0]-[a-z]", re.IGNORECASE)


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


def _steps(line: str, moves: Moves) -> tuple[Step, ...] | None:
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
        steps.append(Step(after, answer))
    return tuple(steps)


# Where the writer's own words end


def ends_reading(line: str) -> bool:
    """Tell whether quoted text, a signature or the end of the commands begins with ``line``."""
    text = line.casefold()
    return (
        _MARK.match(text) is not None
        or text.rstrip(".!, ") in _ENDING_WORDS
        or text.lstrip("* ").startswith(_SENT_FROM)
        or text.lstrip("- ").startswith(_FORWARDED)
        or _HEADER.match(text) is not None
        or _is_marker(text)
        or _is_attribution(text)
    )


def ends_reading_broken(lines: Sequence[str]) -> bool:
    """Tell whether the first of ``lines``, which is no command, begins what a client has broken into two or three."""
    joined = [" ".join(lines[:count]).casefold() for count in range(2, len(lines) + 1)]
    return any(_is_marker(text) or _is_attribution(text) for text in joined)


def _is_marker(text: str) -> bool:
    return "abovethisline" in "".join(letter for letter in text if letter.isalpha())


def _casefold(*words: str) -> tuple[str, ...]:
    return tuple(word.casefold() for word in words)


_MARK = re.compile(r"[>|¦»«›]|[a-z]{1,4}>(?:[ >]|$)|--|__|==|\*\*\*|~~|\[image|\[cid:")
"""Quoted lines, also with the writer's initials; lines of signs; "-- " before a signature, with or without space."""

_ENDING_WORDS = frozenset(
    _casefold(
        *("stop", "quit", "end", "thanks", "thank you", "thankyou", "thx", "kthxbye", "regards", "best regards"),
        *("kind regards", "cheers", "danke", "viele grüße", "mit freundlichen grüßen", "mfg", "lg", "merci"),
        *("cordialement", "gracias", "saludos", "grazie", "saluti", "bedankt", "groeten", "tack", "tak", "mvh"),
        *("kiitos", "obrigado", "obrigada", "dziękuję", "pozdrawiam", "děkuji", "спасибо", "ありがとう", "谢谢"),
    )
)
_SENT_FROM = _casefold(
    *("sent from", "sent via", "sent with", "get outlook for", "gesendet von", "von meinem", "gesendet mit"),
    *("diese nachricht wurde von", "envoyé de", "envoyé depuis", "envoyé à partir", "enviado desde", "enviado do"),
    *(
        "enviado de",
        "enviado via",
        "enviado con",
        "obtener outlook",
        "télécharger outlook",
        "inviato da",
        "inviato con",
    ),
    *("verzonden vanaf", "verzonden met", "verstuurd vanaf", "skickat från", "skickades från", "sendt fra"),
    *(
        "lähetetty",
        "wysłane z",
        "wysłano z",
        "odesláno z",
        "отправлено с",
        "отправлено из",
        "надіслано з",
        "iphoneから",
    ),
    *("outlook for", "发自我的", "從我的", "从我的", "나의 iphone", "iphone에서", "elküldve", "trimis de", "στάλθηκε"),
    *("נשלח מ", "أُرسلت من", "أرسلت من", "gửi từ"),
)
_FORWARDED = _casefold(
    *("original message", "original-nachricht", "ursprüngliche nachricht", "message d'origine", "message original"),
    *("mensaje original", "mensagem original", "messaggio originale", "oorspronkelijk bericht", "originalmeddelande"),
    *("ursprungligt meddelande", "oprindelig meddelelse", "opprinnelig melding", "alkuperäinen viesti"),
    *("oryginalna wiadomość", "wiadomość oryginalna", "původní zpráva", "исходное сообщение", "begin forwarded"),
    *("forwarded message", "weitergeleitete nachricht", "reply above", "write above"),
)
_HEADER = re.compile(
    r"\*{0,2}(?:from|von|de|da|van|från|fra|lähettäjä|od|nadawca|от|кому|от кого|від|feladó|kimden|gönderen|από|de la|"
    r"expéditeur|mittente|remitente|afzender|发件人|寄件者|差出人|보낸 사람|מאת|من|to|an|subject|betreff|objet|"
    r"asunto|oggetto|onderwerp|sent|gesendet|envoyé|enviado|inviato|verzonden|date|datum)\s{0,3}\*{0,2}\s{0,3}:"
)
_WROTE = _casefold(
    *("wrote", "writes", "schrieb", "schreibt", "a écrit", "écrit", "escribió", "escribio", "escreveu", "ha scritto"),
    *("scrive", "schreef", "het volgende geschreven", "skrev", "kirjoitti", "napisał", "napisał(a)", "napisała"),
    *("napsal", "napsal(a)", "napsala", "írta", "a scris", "написал", "написал(а)", "написала", "пише", "пишет"),
    *("написав", "schrieb am", "yazdı", "şunu yazdı", "έγραψε", "написа", "כתב", "כתב/ה", "كتب", "写道", "寫道"),
    *("のメール", "wrote", "작성", "님이 작성", "đã viết", "menulis", "rašė", "kirjutas", "je napisao", "je napisal/a"),
)
_ATTRIBUTION_END = re.compile(r":\s{0,3}\*{0,2}$")
_ADDRESS = re.compile(r"<[^<>\s]{1,200}@[^<>\s]{1,200}>|\[mailto|<mailto|@[a-z0-9.-]{3,200}[>)\]]")
MAX_ATTRIBUTION_CHARACTERS = 700


def _is_attribution(text: str) -> bool:
    """Tell whether ``text`` is a line like "On Sunday, Rookery <address> wrote:"."""
    if len(text) > MAX_ATTRIBUTION_CHARACTERS or not _ATTRIBUTION_END.search(text):
        return False
    return any(words in text for words in _WROTE) or _ADDRESS.search(text) is not None
