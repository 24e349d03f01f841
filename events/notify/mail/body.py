"""The text of a mail as plain lines, quoted ones behind ``>``. Any bytes have lines, perhaps none: nothing raises."""

import codecs
import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from email import message_from_bytes
from email.message import Message
from html.parser import HTMLParser

MAX_READ_BYTES = 256_000
"""Of a mail: commands stand at its top, attachments below."""

MAX_TEXT_CHARACTERS = 64_000
MAX_LINES = 1000
MAX_LINE_CHARACTERS = 400
MAX_BOUNDARIES = 16
"""Parts within parts within parts: each level costs the parser time for every line."""

MAX_PARAMETERS_BYTES = 2000
"""Of a header with parameters, which the parser reads in time that grows with the square of their number."""

NO_TEXT = "the mail has no text that can be read"
TOO_COMPLICATED = "the mail is put together in a way that is not read here: send it as plain text"


@dataclass(frozen=True, slots=True)
class Body:
    """The lines of a mail, without space around them and without invisible characters; ``fault`` says why none."""

    lines: tuple[str, ...]
    fault: str = ""


def read_body(content: bytes) -> Body:
    """Return the text of a mail: of its first text part, else of its first HTML part."""
    read = content[:MAX_READ_BYTES]
    if _is_costly(read):
        return Body((), TOO_COMPLICATED)
    try:
        text = _text_of(message_from_bytes(read))
    except Exception:
        # The parser raises errors of many kinds for malformed MIME.
        return Body((), TOO_COMPLICATED)
    text = without_armor(text[:MAX_TEXT_CHARACTERS])
    lines = tuple(map(plain_line, _LINE_END.split(text)[:MAX_LINES]))
    return Body(lines) if any(lines) else Body((), NO_TEXT)


_LINE_END = re.compile(r"\r\n?|\n")
"""Nothing else ends a line: one line to a program that quotes it is one line here."""

_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−﹣－"), "-") | {ord("×"): "x"}


def plain_line(line: str) -> str:
    """Return ``line`` in compatibility form (NFKC), without invisible characters and with single spaces."""
    plain = unicodedata.normalize("NFKC", line[:MAX_LINE_CHARACTERS]).translate(_DASHES)[:MAX_LINE_CHARACTERS]
    return " ".join("".join(letter for letter in plain if not _is_invisible(letter)).split())


def _is_invisible(letter: str) -> bool:
    # Halves of characters (Cs), which some charsets have, are no text at all.
    return unicodedata.category(letter) in ("Cf", "Cs") or "\ufe00" <= letter <= "\ufe0f" or letter == "\u034f"


_PARAMETERS = re.compile(rb"content-(?:type|disposition|transfer-encoding)[ \t]*:", re.IGNORECASE)


def _is_costly(content: bytes) -> bool:
    if content.lower().count(b"boundary") > 2 * MAX_BOUNDARIES:
        return True
    length = 0
    for line in content.splitlines():
        if line[:1] in (b" ", b"\t") and length:
            length += len(line)
        else:
            length = len(line) if _PARAMETERS.match(line) else 0
        if length > MAX_PARAMETERS_BYTES:
            return True
    return False


def _text_of(message: "Message[str, str]") -> str:
    html = ""
    for part in _text_parts(message):
        is_html = part.get_content_subtype() == "html"
        if is_html and html:
            continue
        text = _decoded(part)[:MAX_TEXT_CHARACTERS]
        if is_html:
            html = text_of_html(text)
        elif text.strip():
            is_flowed = _has_parameter(part, "format", "flowed")
            return unflowed(text, _has_parameter(part, "delsp", "yes")) if is_flowed else text
    return html


def _text_parts(message: "Message[str, str]") -> Iterator["Message[str, str]"]:
    """Yield the parts with text, in order; none of attached files and forwarded mails."""
    if message.get_content_disposition() == "attachment":
        return
    if message.get_content_maintype() == "text" and message.get_content_subtype() in ("plain", "html"):
        yield message
    elif message.is_multipart() and message.get_content_maintype() == "multipart":
        for part in message.get_payload():
            if isinstance(part, Message):
                yield from _text_parts(part)


def _has_parameter(part: "Message[str, str]", name: str, value: str) -> bool:
    return str(part.get_param(name, "")).lower() == value


# Characters

_CHARSETS = re.compile(
    r"(us-)?ascii|utf[-_]?(7|8|16|32).*|iso.*|latin.*|windows-.*|cp\d+|koi8.*|kz1048|ptcp154|tis-620|gb.*|hz.*|big5.*|"
    r"euc.*|shift.*|johab|mac.*|hp-roman8",
    re.ASCII | re.IGNORECASE,
)
"""Names of character sets of texts: Python has codecs of other kinds too."""


def _decoded(part: "Message[str, str]") -> str:
    content = part.get_payload(decode=True)
    if not isinstance(content, bytes):
        return ""
    declared = str(part.get_content_charset("utf-8"))
    for charset in (declared, "utf-8", "windows-1252"):
        if not _CHARSETS.fullmatch(charset):
            continue
        try:
            return content.decode(codecs.lookup(charset).name).lstrip("\ufeff")
        except (LookupError, UnicodeError):
            continue
    return content.decode("latin-1")


# Paragraphs that were broken into lines (RFC 3676)


def unflowed(text: str, delete_space: bool) -> str:
    """Return format=flowed ``text`` with its paragraphs as lines again; ``delete_space`` is the parameter DelSp."""
    paragraphs: list[str] = []
    depth, is_open = 0, False
    for line in _LINE_END.split(text):
        quotes = len(line) - len(line.lstrip(">"))
        content = line[quotes:].removeprefix(" ")
        is_flowed = content.endswith(" ") and content != "-- "
        content = content[:-1] if is_flowed and delete_space else content
        if is_open and quotes == depth and content != "-- ":
            paragraphs[-1] += content
        else:
            paragraphs.append(">" * quotes + (" " if quotes else "") + content)
        depth, is_open = quotes, is_flowed
    return "\n".join(paragraphs)


# Clear-signed text (RFC 9580, 7)

_ARMOR = re.compile(r"\s*-----BEGIN PGP SIGNED MESSAGE-----[ \t]*\r?\n(?:[A-Za-z-]+:.*\r?\n)*\s*")


def without_armor(text: str) -> str:
    """Return clear-signed ``text`` from its first line on and without escaped dashes, any other as it is."""
    armor = _ARMOR.match(text)
    return text if armor is None else re.sub(r"(?m)^- ", "", text[armor.end() :])


# HTML

_BLOCKS = re.compile(
    r"address|article|aside|br|center|d[dlt]|div|fieldset|footer|form|h[1-6]|header|hr|li|main|nav|[ou]l|p|pre|section|"
    r"table|tbody|t[dhr]|thead"
)
_UNSEEN = frozenset({"title", "style", "script", "template"})
_QUOTED_PARTS = re.compile(
    r"quote|moz-cite|moz-signature|divrplyfwdmsg|appendonsend|outlookmessageheader|reference-message|signature|"
    r"stopspelling|zmail_extra|yahoo_quoted|gmail_attr",
    re.IGNORECASE,
)
"""In the classes and ids of elements that mail programs put around the answered mail, or a signature."""


def text_of_html(html: str) -> str:
    """Return the words of ``html`` up to the first quoted part, for which a line ``>`` stands."""
    reader = _HtmlReader()
    # Malformed HTML ends the text. The tag at the end makes the parser hand over the text before it, but nothing
    # that is still open there.
    with suppress(AssertionError, ValueError):
        reader.feed(f"{html}<br>")
    return "".join(reader.words)


class _HtmlReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.words: list[str] = []
        self._ended = False
        self._unseen: list[str] = []
        self._preformatted = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._ended:
            return
        names = " ".join(value or "" for name, value in attrs if name in ("class", "id", "name"))
        if tag == "blockquote" or _QUOTED_PARTS.search(names):
            self.words.append("\n>\n")
            self._ended = True
        elif tag == "hr":
            self.words.append("\n________\n")
        elif _BLOCKS.fullmatch(tag):
            self.words.append("\n")
        if tag in _UNSEEN:
            self._unseen.append(tag)
        self._preformatted += tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        if self._unseen and self._unseen[-1] == tag:
            self._unseen.pop()
        if _BLOCKS.fullmatch(tag) and not self._ended:
            self.words.append("\n")
        self._preformatted -= tag == "pre" and self._preformatted > 0

    def handle_data(self, data: str) -> None:
        if self._ended or self._unseen:
            return
        self.words.append(data if self._preformatted else re.sub(r"\s+", " ", data))
