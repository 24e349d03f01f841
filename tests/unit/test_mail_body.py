"""The text of a mail: of any client, in any charset, and of anything else that may arrive."""

import base64

import pytest
from hypothesis import given, strategies as st

from events.notify.mail.body import (
    MAX_LINE_CHARACTERS,
    MAX_READ_BYTES,
    NO_TEXT,
    TOO_COMPLICATED,
    Body,
    plain_line,
    read_body,
    text_of_html,
    unflowed,
)
from tests.support.tables import table


def mail(text: str | bytes, kind: str = "text/plain; charset=utf-8", encoding: str = "8bit") -> bytes:
    content = text.encode() if isinstance(text, str) else text
    return f"Content-Type: {kind}\r\nContent-Transfer-Encoding: {encoding}\r\n\r\n".encode() + content


def lines(content: bytes) -> list[str]:
    return [line for line in read_body(content).lines if line]


@pytest.mark.parametrize(
    "charset",
    ["utf-8", "windows-1252", "iso-8859-15", "utf-16", "unknown-8bit", "x-made-up", "us-ascii", "rot13", "idna", ""],
)
def test_text_is_read_in_its_charset_or_else_in_a_common_one(charset: str) -> None:
    used = charset if charset in ("utf-8", "windows-1252", "iso-8859-15", "utf-16") else "utf-8"
    assert lines(mail("Grüße\na3-b4".encode(used), f"text/plain; charset={charset}")) == ["Grüße", "a3-b4"]


@pytest.mark.parametrize(("charset", "word"), [("koi8-r", "привет"), ("iso-2022-jp", "こんにちは"), ("big5", "你好")])
def test_text_may_be_in_other_scripts(charset: str, word: str) -> None:
    assert lines(mail(f"{word}\na3-b4".encode(charset), f"text/plain; charset={charset}")) == [word, "a3-b4"]


def test_text_that_no_charset_fits_is_still_read() -> None:
    assert lines(mail(b"a3-b4\n\x81\x8d\xff")) == ["a3-b4", "\x81\x8dÿ"]


def test_halves_of_characters_are_left_out() -> None:
    assert lines(mail(b"a3+2AA--b4", "text/plain; charset=utf-7")) == ["a3-b4"]


def test_text_is_read_from_base64_and_quoted_printable() -> None:
    assert lines(mail(base64.encodebytes(b"a3-b4\nhelp"), encoding="base64")) == ["a3-b4", "help"]
    assert lines(mail(b"a3=2Db4=20\r\nhe=\r\nlp", encoding="quoted-printable")) == ["a3-b4", "help"]


def test_the_first_text_part_counts_and_attached_files_do_not() -> None:
    parts = (
        b"--x\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename=a.txt\r\n\r\ne3-f4\r\n"
        b"--x\r\nContent-Type: multipart/alternative; boundary=y\r\n\r\n"
        b"--y\r\nContent-Type: text/html\r\n\r\n<p>g3-h4</p>\r\n"
        b"--y\r\nContent-Type: text/plain\r\n\r\na3-b4\r\n--y--\r\n"
        b"--x\r\nContent-Type: message/rfc822\r\n\r\nSubject: forwarded\r\n\r\nc3-d4\r\n--x--\r\n"
    )
    assert lines(mail(parts, "multipart/mixed; boundary=x")) == ["a3-b4"]


def test_html_is_read_where_no_text_part_has_words() -> None:
    parts = (
        b"--x\r\nContent-Type: text/plain\r\n\r\n \r\n--x\r\nContent-Type: text/html\r\n\r\n"
        b"<style>b4</style><div>a3-b4<br>help</div><blockquote>c3-d4</blockquote>\r\n--x--\r\n"
    )
    assert lines(mail(parts, "multipart/alternative; boundary=x")) == ["a3-b4", "help", ">"]


@pytest.mark.parametrize(("html", "expected"), table(__file__, "html is read up to what it quotes"))
def test_html_is_read_up_to_what_it_quotes(html: str, expected: list[str]) -> None:
    assert [plain for line in text_of_html(html).splitlines() if (plain := plain_line(line))] == expected


def test_paragraphs_that_were_broken_are_joined() -> None:
    text = "if a3-b4 \nthen c3-d4\n-- \nme \n> quoted \n> text\n>> deeper \n from here\n  stuffed"
    assert unflowed(text, False) == ("if a3-b4 then c3-d4\n-- \nme \n> quoted text\n>> deeper \nfrom here\n stuffed")
    assert unflowed("a3- \nb4", True) == "a3-b4"


def test_invisible_and_wide_characters_do_not_matter() -> None:
    assert plain_line("\ufeff ａ３\u200b\u00a0–\u2011 b４\u200e  ×\ufe0f") == "a3 -- b4 x"
    assert len(plain_line("\ufdfa" * 1000)) <= MAX_LINE_CHARACTERS


def test_only_line_feeds_and_carriage_returns_end_a_line() -> None:
    assert lines(mail("> quoted\u2028a3-b4\x0bc3-d4\x85e3-f4")) == ["> quoted a3-b4 c3-d4 e3-f4"]


@pytest.mark.parametrize("content", [b"", b"\r\n\r\n", mail(" \r\n\u200b"), mail(b"x", "image/png"), b"Subject: x"])
def test_a_mail_without_text_has_no_lines(content: bytes) -> None:
    assert read_body(content) == Body((), NO_TEXT)


def test_costly_mail_is_not_parsed() -> None:
    nested = b"".join(b"Content-Type: multipart/mixed; boundary=%d\r\n\r\n--%d\r\n" % (n, n) for n in range(2000))
    parameters = b"Content-Type: text/plain" + b";" * 200_000 + b"\r\n\r\na3-b4"
    folded = b"Content-Type: text/plain" + b";x=y\r\n " * 50_000 + b"\r\n\r\na3-b4"
    for content in (nested, parameters, folded):
        assert read_body(content) == Body((), TOO_COMPLICATED)


def test_the_top_of_a_long_mail_is_read() -> None:
    assert lines(mail("a3-b4\n" + "x" * 2 * MAX_READ_BYTES))[0] == "a3-b4"


HEADERS = (
    *(b"Content-Type: text/plain", b"Content-Type: text/html", b"Content-Type: multipart/mixed; boundary=x", b"--x"),
    *(b"Content-Type: text/plain; charset=utf-7", b"; format=flowed; delsp=yes", b"; charset*0*=x", b"--x--", b"--"),
    *(b"Content-Transfer-Encoding: base64", b"Content-Transfer-Encoding: x-uuencode", b"begin 644 x", b"\x00", b"=?"),
    *(b"Content-Disposition: attachment", b"Content-Type:", b"<p>", b"<![", b"&#xD800;", b"> ", b"\xff\xfe", b"a3-b4"),
)


@given(st.lists(st.sampled_from(HEADERS) | st.binary(max_size=8), max_size=12), st.sampled_from([b"\r\n", b"\n", b""]))
def test_any_bytes_have_lines(parts: list[bytes], end: bytes) -> None:
    body = read_body(end.join(parts))
    assert bool(body.fault) != any(body.lines)
