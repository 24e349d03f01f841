"""Where a writer's own lines end and quoted ones begin, by the structure of the lines that programs put between them.

In any language that is a line with a mail address or an instant, or a block of fields ("From: ..."). Own lines go on
around lines marked with ``>``; any other quotation ends them.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

MAX_BROKEN_LINES = 3
"""The number of lines into which programs break an introduction."""

MIN_FIELDS = 3
MAX_FIELD_CHARACTERS = 32
MAX_ATTRIBUTION_CHARACTERS = 700
IsCommand = Callable[[str], bool]


def answer_lines(lines: Sequence[str], is_command: IsCommand) -> Iterator[tuple[str, bool]]:
    """Yield the writer's own lines up to where reading ends, each with whether it stands below quoted ones."""
    at, is_below = 0, False
    while at < len(lines):
        if _is_marked(lines[at]):
            is_below = True
        elif _ends_reading(lines, at, is_command):
            return
        elif count := _introduction(lines, at, is_command):
            if not _introduces_marked(lines, at + count, is_command):
                return
            at += count
            continue
        elif lines[at]:
            yield lines[at], is_below
        at += 1


def is_closing(line: str) -> bool:
    """Tell whether ``line`` is a formula that closes a mail."""
    return line.casefold().rstrip(".!, ") in _CLOSING_WORDS


def _is_marked(line: str) -> bool:
    return _MARKED.match(line) is not None


def _ends_reading(lines: Sequence[str], at: int, is_command: IsCommand) -> bool:
    """Tell whether a signature, text that is quoted without ``>`` or the end of the commands is at line ``at``."""
    text = lines[at].casefold()
    return (
        _SIGNS.match(text) is not None
        or text.rstrip(".!, ") in _ENDING_WORDS
        or any(_is_first_line_of_ours(joined) for joined in _joined(lines, at, is_command))
    )


def _introduction(lines: Sequence[str], at: int, is_command: IsCommand) -> int:
    """Return how many lines from ``at`` on introduce quoted text, blank ones between and below included; 0 for none."""
    end = at
    while count := _introducing(lines, end, is_command, goes_on=end > at):
        end += count
        while end < len(lines) and not lines[end]:
            end += 1
    return end - at


def _introduces_marked(lines: Sequence[str], end: int, is_command: IsCommand) -> bool:
    """Tell whether the introduction before line ``end`` is that of a quotation marked line by line."""
    following = list(islice(filter(None, lines[end:]), 2))
    if following and lines[end - 1] and not _is_marked(following[0]) and not is_command(following[0]):
        following.pop(0)
    return bool(following) and _is_marked(following[0])


def _introducing(lines: Sequence[str], at: int, is_command: IsCommand, *, goes_on: bool) -> int:
    line = lines[at] if at < len(lines) else ""
    if not line or _is_marked(line) or is_command(line):
        return 0
    for count, text in enumerate(_joined(lines, at, is_command), 1):
        if _is_attribution(text):
            return count
    text = line.casefold()
    if (
        _SEPARATOR.match(line)
        or _ADDRESS.search(line)
        or _HEADER.match(text)
        or text.lstrip("* ").startswith(_SENT_FROM)
    ):
        return 1
    count = fields = 0
    for line in lines[at:]:
        if line and (not _FIELD.match(line) or is_command(line)):
            break
        count, fields = count + 1, fields + bool(line)
    return count if fields >= MIN_FIELDS or (goes_on and fields) else 0


def _joined(lines: Sequence[str], at: int, is_command: IsCommand) -> Iterator[str]:
    """Yield the line ``at``, then with the lines that a program may have broken off it."""
    text = lines[at].casefold()
    yield text
    for last, line in enumerate(lines[at + 1 : at + MAX_BROKEN_LINES], at):
        if not line or _is_marked(line) or is_command(line) or is_command(lines[last]):
            return
        text = f"{text} {line.casefold()}"
        yield text


def _is_first_line_of_ours(text: str) -> bool:
    return "abovethisline" in "".join(letter for letter in text if letter.isalpha())


def _is_attribution(text: str) -> bool:
    """Tell whether ``text`` is a line like "On Sunday at 17:00, Rookery <address> wrote:"."""
    if len(text) > MAX_ATTRIBUTION_CHARACTERS or not text.rstrip("* ").endswith(":"):
        return False
    return (
        any(words in text for words in _WROTE) or _INSTANT.search(text) is not None or _ADDRESS.search(text) is not None
    )


def _casefold(*words: str) -> tuple[str, ...]:
    return tuple(word.casefold() for word in words)


_MARKED = re.compile(r"[A-Za-z]{0,4}>(?:[> ]|$)|>")
_SIGNS = re.compile(r"[|¦»«›]|-{2,3}(?!-)|_{2,3}(?!_)|={2,3}(?!=)|\*\*\*|~~|\[image|\[cid:")
"""Quoted lines with other marks; lines of signs; "-- " before a signature, with or without space."""

_SEPARATOR = re.compile(r"-{4,}|_{4,}|={4,}")
_FIELD = re.compile(rf"\*{{0,2}}[^\W\d_][^\d:>|\"]{{0,{MAX_FIELD_CHARACTERS - 1}}}:")
_ADDRESS = re.compile(r"[^\s<>@]@(?:[^\s<>@]+\.[^\W\d_]{2}|[a-z0-9.-]{3,200}[>)\]])")
_INSTANT = re.compile(r"\d{1,2}[:.h]\d\d|\d{4}")
_ENDING_WORDS = ("stop", "quit", "end")
_CLOSING_WORDS = frozenset(
    _casefold(
        *("thanks", "thank you", "thankyou", "thx", "kthxbye", "regards", "best regards"),
        *("kind regards", "cheers", "danke", "viele grüße", "mit freundlichen grüßen", "mfg", "lg", "merci"),
        *("cordialement", "gracias", "saludos", "grazie", "saluti", "bedankt", "groeten", "tack", "tak", "mvh"),
        *("kiitos", "obrigado", "obrigada", "dziękuję", "pozdrawiam", "děkuji", "спасибо", "ありがとう", "谢谢"),
    )
)
_SENT_FROM = _casefold(
    *("sent from", "sent via", "sent with", "get outlook", "outlook for", "gesendet von", "gesendet mit", "von meinem"),
    *("diese nachricht wurde von", "envoyé d", "envoyé à partir", "télécharger outlook", "enviado", "obtener outlook"),
    *("inviato", "verzonden", "verstuurd", "skickat", "skickades", "sendt fra", "lähetetty", "wysłan", "odesláno"),
    *("отправлено", "надіслано", "elküldve", "trimis", "στάλθηκε", "נשלח מ", "أُرسلت من", "أرسلت من", "gửi từ"),
    *("iphoneから", "发自我的", "從我的", "从我的", "나의 iphone", "iphone에서"),
)
_HEADER = re.compile(
    r"\*{0,2}(?:from|von|de|da|van|från|fra|lähettäjä|od|nadawca|от|кому|от кого|від|feladó|kimden|gönderen|από|de la|"
    r"expéditeur|mittente|remitente|afzender|发件人|寄件者|差出人|보낸 사람|מאת|من|to|an|subject|betreff|objet|"
    r"asunto|oggetto|onderwerp|sent|gesendet|envoyé|enviado|inviato|verzonden|date|datum)\s{0,3}\*{0,2}\s{0,3}:"
)
_WROTE = _casefold(
    *("wrote", "writes", "schrieb", "schreibt", "écrit", "escribi", "escreveu", "scritto", "scrive", "schreef"),
    *("skrev", "geschreven", "kirjoitti", "napisa", "napsal", "írta", "a scris", "написа", "пише", "yazdı", "έγραψε"),
    *("כתב", "كتب", "写道", "寫道", "のメール", "작성", "đã viết", "menulis", "rašė", "kirjutas", "forwarded message"),
)
