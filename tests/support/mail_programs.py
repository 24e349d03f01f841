"""How mail programs quote what they answer: each in its manner, with its introduction in each language."""

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from textwrap import fill
from typing import NamedTuple

ALICE = ("Alice Example", "alice@home.example")
ROOKERY = ("Rookery", "r-aecqa4adliadliadliadlorjuwtdjc553qfmzkyc7i@play.example")


class Language(NamedTuple):
    """The names of the fields of a mail in a language, and the line that introduces a quotation."""

    name: str
    sender: str
    sent: str
    to: str
    subject: str
    wrote: str


LANGUAGES = [
    Language(*map(str.strip, line.split(" | ")))
    for line in (Path(__file__).parents[1] / "mail" / "languages.txt").read_text().splitlines()
]


class Quoted(NamedTuple):
    """The mail that is answered: its writer (name and address), its reader and its text."""

    writer: tuple[str, str]
    reader: tuple[str, str]
    text: str


Introduction = Callable[[Language, Quoted], str]


@dataclass(frozen=True, slots=True)
class Program:
    """A mail program: its ``introduction``, and the ``mark`` before each quoted line, "" for none."""

    name: str
    introduction: Introduction
    mark: str = ""
    html: str = ""
    """Where the mail is HTML: what is around the quotation, with {introduction} and {text} in it."""

    @property
    def marks_lines(self) -> bool:
        """Whether answers below the quotation can be told from it."""
        return ">" in self.mark

    def answer(self, top: str, quoted: Quoted, language: Language, *, below: str = "", after: int = 10**6) -> bytes:
        """Return the mail with ``top`` above the quotation, and ``below`` after this number of its lines."""
        introduction = self.introduction(language, quoted)
        if self.html:
            shown = self.html.format(introduction=_html(introduction), text=_html(quoted.text))
            return _mail(f"<html><body><div>{_html(top)}</div><br>{shown}</body></html>", "html")
        lines = [f"{self.mark}{line}".rstrip() for line in quoted.text.splitlines()]
        if below:
            lines[after:after] = ["", below, ""]
        return _mail("\n".join([top, "", introduction, *lines, ""]), "plain")


def _html(text: str) -> str:
    return "<br>\n".join(escape(line) for line in text.splitlines())


def _mail(text: str, subtype: str) -> bytes:
    head = f"Content-Type: text/{subtype}; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n"
    return (head + text.replace("\n", "\r\n")).encode()


def _full(person: tuple[str, str]) -> str:
    return f"{person[0]} <{person[1]}>"


def _name(person: tuple[str, str]) -> str:
    return person[0]


def _wrote(
    who: Callable[[tuple[str, str]], str], *, width: int = 1000, before: str = "", after: str = "\n"
) -> Introduction:
    def introduction(language: Language, quoted: Quoted) -> str:
        line = language.wrote.format(who=who(quoted.writer))
        return f"{before}{fill(line, width, break_long_words=False, break_on_hyphens=False)}{after}"

    return introduction


def _fields(
    who: Callable[[tuple[str, str]], str],
    *,
    form: str = "{}: {}",
    before: str = "",
    after: str = "\n",
    between: str = "\n",
) -> Introduction:
    def introduction(language: Language, quoted: Quoted) -> str:
        fields = (
            (language.sender, who(quoted.writer)),
            (language.sent, "22.11.2026 17:00"),
            (language.to, who(quoted.reader)),
            (language.subject, "Re: Bashni"),
        )
        return before + between.join(form.format(*field) for field in fields) + after

    return introduction


def _spaced(language: Language, quoted: Quoted) -> str:
    return _fields(_name, between="\n\n")(language, quoted)


PROGRAMS = [
    Program("Gmail", _wrote(_full), "> "),
    Program("Gmail, introduction broken into lines", _wrote(_full, width=60), "> "),
    Program("Gmail for Android", _wrote(_full, before="\n"), ">"),
    Program("Apple Mail", _wrote(_full, before="\n", after="\n\n"), "> "),
    Program("Apple Mail for iPhone", _wrote(_full, before="Sent from my iPhone\n\n", after="\n"), "> "),
    Program("Thunderbird", _wrote(_name, after=""), "> "),
    Program("mutt", _wrote(_name, after=""), "> "),
    Program("K-9 Mail", _wrote(_full, after="", width=72), ">"),
    Program("Roundcube", _wrote(_name, after=""), "> "),
    Program("Evolution", _wrote(_name, after=""), "> "),
    Program("Proton", _wrote(_full, before="------- Original Message -------\n"), "> "),
    Program("Outlook Express", _fields(_full, before="----- Original Message -----\n", after="\n\n"), "> "),
    Program("Gnus", _wrote(_name), "RO> "),
    Program("The Bat!", _wrote(_full), "r> "),
    Program("Alpine", _wrote(_name), "| "),
    Program("Outlook", _fields(_full)),
    Program("Outlook with Exchange", _fields(_name)),
    Program("Outlook with Exchange, spaced", _spaced),
    Program("Outlook on the web", _fields(_full, before="________________________________\n")),
    Program("Outlook for iOS", _fields(_name, form="*{}:* {}", before="Get Outlook for iOS\n________________\n")),
    Program("Samsung", _fields(_name, form="{} : {}", before="-------- Original message --------\n")),
    Program("GMX", _fields(_name, form="*{}:* {}", before="\n")),
    Program("eM Client", _fields(_name, before="------ Original Message ------\n")),
    Program("QQ", _fields(_full, form='{}:"{}";', before="------------------ Original ------------------\n")),
    Program("Notes", _fields(_full, form="{}:\t{}", after="\n\n\n")),
    Program("Yahoo", _wrote(_full, before="    ", after="\n\n")),
    Program("Mail.ru", _wrote(_full, after="")),
    Program("Spark", _wrote(_full, before="\n")),
    Program("Zoho", lambda language, quoted: f"---- {language.wrote.format(who=_full(quoted.writer))} ----\n"),
    Program("Gmail, HTML", _wrote(_full), html='<div class="gmail_quote"><div>{introduction}</div>{text}</div>'),
    Program("Apple Mail, HTML", _wrote(_full), html='{introduction}<blockquote type="cite">{text}</blockquote>'),
    Program("Outlook, HTML", _fields(_name), html="<div><p>{introduction}</p><p>{text}</p></div>"),
    Program("plain HTML", _fields(_full), html="<hr><div>{introduction}</div><div>{text}</div>"),
]
