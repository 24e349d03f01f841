"""Whether an incoming mail may do anything, by its headers: automatic mail, loops and strangers are refused. Pure."""

import re
from contextlib import suppress
from dataclasses import dataclass
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.parser import BytesHeaderParser
from email.policy import compat32

from events.notify.addresses import InvalidAddressError, parse_address
from events.notify.inbox import Verdict
from events.notify.notice import WhoMayWrite

MAX_HOPS = 50
"""A mail with more Received headers goes round in circles (RFC 5321, 6.3)."""

MAX_HEADERS_BYTES = 64_000
"""Of all headers together: to read many more would take longer than a mail is worth."""

MAX_HEADER_CHARACTERS = 2000
"""Of one header that is looked at: longer ones are cut."""


@dataclass(frozen=True, slots=True)
class MailAdmission:
    """Whether a mail counts, and if not, why, in a sentence for the person whose token it was sent to."""

    verdict: Verdict | None

    reason: str


ADMITTED = MailAdmission(None, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionRules:
    """The confirmed address, the writers admitted, our domain, and the server whose Authentication-Results count."""

    address: str | None
    who_may_write: WhoMayWrite
    domain: str
    authserv_id: str | None


def admit(content: bytes, return_path: str, rules: AdmissionRules) -> MailAdmission:
    """Return whether the mail counts that arrived with the envelope sender ``return_path`` ("" for the null one)."""
    headers = read_headers(content)
    looped = _loop_mark(headers, return_path, rules.domain)
    if looped:
        return MailAdmission(Verdict.LOOP, f"The mail was not read: {looped}.")
    mark = automatic_mark(content, return_path, headers)
    if mark:
        return MailAdmission(Verdict.AUTOMATIC, f"The mail was not read, since it was sent by a program: {mark}.")
    author = author_of(headers)
    if rules.address is None:
        return MailAdmission(
            Verdict.NOT_ALLOWED, "Your account has no confirmed mail address, so no mail can act for it."
        )
    if author is None:
        form = f"{rules.address} or Name <{rules.address}>"
        return MailAdmission(
            Verdict.NOT_ALLOWED, f"A mail was refused whose From header is not one address in the form {form}."
        )
    if not same_address(author, rules.address):
        return MailAdmission(
            Verdict.NOT_ALLOWED, "A mail that was not sent from the confirmed address of your account was refused."
        )
    if rules.who_may_write is WhoMayWrite.TOKEN_FROM_AND_DMARC and not passes_dmarc(headers, rules.authserv_id):
        return MailAdmission(
            Verdict.NOT_ALLOWED,
            "A mail was refused because the mail server did not confirm its sender (DMARC), as your settings demand.",
        )
    return ADMITTED


def read_headers(content: bytes) -> "Message[str, str]":
    """Return the headers of a mail, which may be anything; bytes beyond MAX_HEADERS_BYTES are not read."""
    return BytesHeaderParser(policy=compat32).parsebytes(content[:MAX_HEADERS_BYTES])


def has_too_many_headers(content: bytes) -> bool:
    """Tell whether the headers of a mail go on beyond the bytes that are read of them."""
    end = content.find(b"\r\n\r\n")
    return (len(content) if end < 0 else end) > MAX_HEADERS_BYTES


def header(headers: "Message[str, str]", name: str) -> str:
    """Return the first header ``name``, decoded (RFC 2047), on one line; empty when it is missing."""
    return _decoded((_lines(headers, name) or [""])[0])


_ADDRESS = r"[^\s@<>()\[\]\",;:\\]+@[^\s@<>()\[\]\",;:\\]+"
_MAILBOX = re.compile(rf"\s*(?:([^<>]*)<\s*({_ADDRESS})\s*>|({_ADDRESS}))\s*")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_COMMENT = re.compile(r"\([^()]*\)")


def author_of(headers: "Message[str, str]") -> str | None:
    """Return the address in From; None unless there is one header with one address that all programs read alike."""
    lines = _lines(headers, "From")
    if len(lines) != 1:
        return None
    mailbox = _MAILBOX.fullmatch(_without_comments(_QUOTED.sub(" ", lines[0])))
    if mailbox is None:
        return None
    name, inside, alone = mailbox.groups()
    address: str = inside or alone
    return None if name and "@" in name and not same_address(name.strip(), address) else address


def same_address(one: str, other: str) -> bool:
    """Return whether two addresses are the same in any case, as all known servers see them."""
    return _comparable(one) == _comparable(other)


def _comparable(address: str) -> str:
    with suppress(InvalidAddressError):  # which is compared as it is written
        address = parse_address(address)
    return address.casefold()


# Loops


def _loop_mark(headers: "Message[str, str]", return_path: str, domain: str) -> str:
    own = f"@{domain}".casefold()
    if len(headers.get_all("Received", [])) > MAX_HOPS:
        return f"it has passed through more than {MAX_HOPS} servers"
    author = author_of(headers) or ""
    if author.casefold().endswith(own) or return_path.casefold().endswith(own):
        return "it comes from Rookery itself"
    if header(headers, "Message-ID").strip(" <>").casefold().endswith(own):
        return "it is a mail of Rookery's that came back"
    return ""


# Mail that no person has written

_AUTOMATIC_PRECEDENCE = ("list", "junk", "bulk", "auto_reply", "auto-reply")
_AUTOMATIC_HEADERS = (
    *("X-Autoreply", "X-Autorespond", "X-Autoresponder", "X-Auto-Reply", "X-AutoReply-From", "X-Mail-Autoreply"),
    *("X-FC-MachineGenerated", "X-POST-MessageClass", "Delivered-By-The-Graphical-Unicorn"),
    "X-Failed-Recipients",
)
_LIST_HEADERS = ("List-Id", "List-Post", "List-Help", "List-Subscribe", "List-Unsubscribe", "List-Archive")
_MACHINES = re.compile(
    r"(mailer-daemon|postmaster|(no|do-?not)[-_.]?reply|autoresponder|auto-?reply)([+-].*)?@", re.IGNORECASE
)
_BOUNCES = re.compile(r"bounces?([+-].*)?@", re.IGNORECASE)
"""In From only: forwarding servers give mail of people such a return path (SRS)."""

_AUTOMATIC_SUBJECT = re.compile(
    r"\W*(?:"
    # English
    r"auto(?:matic|mated)?[ -]?(?:reply|response|re)\b|auto ?: |out[ -]of[ -](?:the[ -])?office|on vacation\b|"
    r"vacation (?:reply|response|notice)|away from (?:my|the) (?:mail|office|desk)|i am (?:away|on (?:leave|holiday))|"
    r"undeliver(?:able|ed)|delivery (?:status notification|failure|failed|has failed)|mail delivery (?:failed|failure|"
    r"system)|returned mail|failure notice|message delivery (?:failure|delayed)|read ?: |not read ?: |accepted ?: |"
    r"declined ?: |tentative ?: |"
    # German, Dutch, Danish, Norwegian, Swedish, Finnish
    r"abwesen(?:d|heit)|automatische (?:antwort|abwesenheits)|urlaubs(?:meldung|vertretung)|nicht im b(?:ü|ue)ro|"
    r"unzustellbar|automatisch antwoord|afwezig|niet op kantoor|autosvar|automatisk svar|automatiskt svar|"
    r"frånvar|fravær|ikke på kontoret|automaattinen vastaus|poissa(?: toimistosta)?\b|"
    # French, Italian, Spanish, Portuguese, Romanian
    r"r(?:é|e)ponse automatique|absen(?:t|ce) (?:du|de) (?:bureau|.*)|absence ?: |risposta automatica|fuori (?:sede|"
    r"ufficio)|assente|respuesta autom(?:á|a)tica|fuera de (?:la )?oficina|ausente|resposta autom(?:á|a)tica|fora do "
    r"escrit(?:ó|o)rio|aus(?:ê|e)ncia tempor(?:á|a)ria|r(?:ă|a)spuns automat|"
    # Polish, Czech, Slovak, Hungarian, Turkish, Greek
    r"automatyczna odpowied(?:ź|z)|autoodpowied|nieobecno|automatick(?:á|a) odpov|mimo kancel|automatikus v(?:á|a)lasz|"
    r"otomatik yan(?:ı|i)t|αυτόματη απάντηση|εκτός γραφείου|"
    # Russian, Ukrainian, Japanese, Chinese, Korean, Arabic, Hebrew
    r"автоматический ответ|автоответ|вне офиса|нет на месте|автоматична відповідь|自動(?:応答|返信|回覆)|不在|"
    r"自动(?:回复|答复)|外出|자동 ?(?:회신|응답)|부재|رد تلقائي|תשובה אוטומטית|מענה אוטומטי"
    r")",
    re.IGNORECASE,
)
_CALENDAR_PART = re.compile(rb"(?im)^content-type:[ \t]*text/calendar\b[^\r\n]{0,200}(?:\r?\n[ \t][^\r\n]{0,200})?")


def automatic_mark(content: bytes, return_path: str, headers: "Message[str, str] | None" = None) -> str:
    """Return the sign that no person has written the mail, in a few words; empty for a person's.

    X-Auto-Response-Suppress is no such mark: Outlook puts it into mail of people (sisimai/p5-sisimai#491).
    """
    headers = read_headers(content) if headers is None else headers
    submitted = header(headers, "Auto-Submitted").partition(";")[0].strip().lower()
    if submitted and submitted != "no":
        return f"it is marked as {_quoted(submitted)} (Auto-Submitted)"
    if not return_path or header(headers, "Return-Path").strip() == "<>":
        return "it has no return path"
    precedence = header(headers, "Precedence").strip().lower()
    if precedence in _AUTOMATIC_PRECEDENCE:
        return f"its precedence is {_quoted(precedence)}"
    for name in (*_AUTOMATIC_HEADERS, *_LIST_HEADERS):
        if name in headers:
            return f"it has the header {name}"
    author = author_of(headers) or header(headers, "From")
    if _MACHINES.match(author.strip(" <")) or _BOUNCES.match(author.strip(" <")) or _MACHINES.match(return_path):
        return "its sender is a program"
    if _AUTOMATIC_SUBJECT.match(header(headers, "Subject")):
        return "its subject is that of an automatic reply"
    kind = headers.get_content_type()
    if kind in ("multipart/report", "message/delivery-status", "message/disposition-notification"):
        return "it reports on a delivery"
    if kind == "text/calendar" or any(b"method" in part.lower() for part in _CALENDAR_PART.findall(content)):
        return "it is about an appointment"
    return ""


# Authentication-Results (RFC 8601)

_RESULT = re.compile(r"\s*([a-z0-9-]+)\s*(?:/\s*[0-9]+\s*)?=\s*([a-z0-9-]+)(?=[\s;]|$)", re.IGNORECASE)
_PROPERTY = re.compile(r"\bheader\s*\.\s*from\s*=\s*\"?([^\s\";]+)", re.IGNORECASE)


def passes_dmarc(headers: "Message[str, str]", authserv_id: str | None) -> bool:
    """Return whether our own server says dmarc=pass for From, in the topmost header alone (RFC 8601, 5)."""
    author = author_of(headers)
    lines = _lines(headers, "Authentication-Results")
    if authserv_id is None or author is None or not lines:
        return False
    server, results = read_authentication_results(lines[0])
    if server.casefold() != authserv_id.casefold():
        return False
    domain = author.rpartition("@")[2].casefold()
    verdicts = [(result, named) for method, result, named in results if method == "dmarc"]
    return len(verdicts) == 1 and verdicts[0][0] == "pass" and verdicts[0][1].rpartition("@")[2].casefold() == domain


def read_authentication_results(line: str) -> tuple[str, list[tuple[str, str, str]]]:
    """Return the server that ``line`` names, and the method, the result and ``header.from`` of each of its results."""
    masked = _QUOTED.sub(lambda quoted: re.sub(r"[;()=]", "_", quoted[0]), line)
    server, *results = _without_comments(masked).split(";")
    methods = []
    for result in results:
        said = _RESULT.match(result)
        if said:
            named = _PROPERTY.search(result, said.end())
            methods.append((said[1].lower(), said[2].lower(), named[1] if named else ""))
    # A version may follow the name of the server.
    return (server.split() or [""])[0], methods


def _lines(headers: "Message[str, str]", name: str) -> list[str]:
    """Return the headers ``name`` as they stand, cut; 8-bit letters, which some clients send, are read as UTF-8."""
    lines = [str(line)[:MAX_HEADER_CHARACTERS] for other, line in headers.raw_items() if other.lower() == name.lower()]
    return [
        line.encode("ascii", "surrogateescape").decode("utf-8", "replace") if _is_raw(line) else line for line in lines
    ]


def _is_raw(line: str) -> bool:
    return all(ord(letter) < 128 or 0xDC80 <= ord(letter) <= 0xDCFF for letter in line)


def _without_comments(line: str) -> str:
    while (without := _COMMENT.sub(" ", line)) != line:
        line = without
    return line


def _decoded(line: str) -> str:
    try:
        parts = decode_header(line)
    except (HeaderParseError, ValueError):
        parts = [(line, None)]
    text = "".join(_part(part, charset) for part, charset in parts)
    return " ".join(text.split())


def _part(part: bytes | str, charset: str | None) -> str:
    if isinstance(part, str):
        text = part
    else:
        try:
            text = part.decode(charset or "utf-8", "replace")
        except (LookupError, ValueError):
            text = part.decode("latin-1")
    # Some charsets have halves of characters, which no answer of the API could have.
    return text.encode(errors="replace").decode()


def _quoted(word: str) -> str:
    return "".join(letter for letter in word[:30] if letter.isalnum() or letter in "-_")
