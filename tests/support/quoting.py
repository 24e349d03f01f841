"""What mail programs make of a mail of ours when it is answered, forwarded or copied."""

from collections.abc import Iterator
from html import escape
from textwrap import wrap

from events.notify.mail.body import plain_line, read_body
from events.notify.mail.language import Command, Moves, Verb, read_command, read_commands

HARMLESS = (Verb.BOARD, Verb.HELP, Verb.QUEUE)
PREFIXES = ("", "> ", ">", ">> ", "| ", "\t", "    ", "AB> ", "» ", "* ")
WIDTHS = (30, 50, 72)
"""At which programs break lines; below, hardly a move of the longer notations fits."""

ATTRIBUTIONS = (
    "", "On Sun, Nov 22, 2026 at 5:00 PM Rookery <r-abc@play.example> wrote:", "Am 22.11.26 um 17:00 schrieb Rookery:",
    "-----Original Message-----\nFrom: Rookery <r-abc@play.example>\nSent: Sunday\nTo: me\nSubject: Your turn",
    "________________________________\nVon: Rookery\nGesendet: Sonntag",
)  # fmt: skip


def broken(text: str, width: int) -> Iterator[str]:
    """Yield the lines of ``text``, broken at ``width``."""
    for line in text.splitlines():
        yield from wrap(line, width, break_long_words=False) or [""]


def acting(line: str, moves: Moves) -> bool:
    command = read_command(plain_line(line), moves)
    return command is not None and command.verb not in HARMLESS


def lines_that_act(text: str, moves: Moves) -> list[str]:
    """Return what of a mail of ours would be a command if it stood alone, however lines were broken."""
    pieces = {piece for width in (*WIDTHS, 1000) for piece in broken(text, width)}
    pieces |= {line.lstrip("> ") for line in text.splitlines()}
    return sorted(piece for piece in pieces if acting(piece, moves))


def quotings(text: str) -> Iterator[bytes]:
    """Yield mails that have all of ``text`` in them and nothing that their writer has added."""
    for prefix in PREFIXES:
        for width in (50, 1000):
            quoted = "\n".join(prefix + line for line in broken(text, width))
            yield _mail(quoted, "plain")
    for attribution in ATTRIBUTIONS:
        yield _mail(f"{attribution}\n\n{text}", "plain")
        yield _mail(f"{attribution}\n\n{text}", "plain; format=flowed; delsp=yes")
    shown = escape(text)
    for around in ("<blockquote>{}</blockquote>", "<div class='gmail_quote'><div>{}</div></div>", "<pre>{}</pre>"):
        yield _mail(around.format(shown), "html")
    yield _mail("".join(f"<p>{line}</p>" for line in shown.splitlines()), "html")
    yield _mail("<br>".join(shown.splitlines()), "html")


def commands_in(content: bytes, moves: Moves) -> list[Command]:
    reading = read_commands(read_body(content).lines, moves)
    return [command for command in reading.commands if command.verb not in HARMLESS]


def _mail(text: str, kind: str) -> bytes:
    return f"Content-Type: text/{kind}\nContent-Transfer-Encoding: 8bit\n\n{text}".encode()
