"""Calls to servers that others name reach what they may reach, and end."""

import threading
from ipaddress import ip_address

import pytest

from events.runtime.egress import Egress, EgressResponse
from events.runtime.egress_rules import EgressError, EgressRefusedError, EgressRules, RequestTarget, why_not_public
from tests.support.listening import Identity, answering, dripping, hanging, identity, listening
from tests.support.tables import table

LOOPBACK = ("127.0.0.0/8",)
SHORT_S = 0.15
OK = b"HTTP/1.1 200 OK\r\n"

PUBLIC = ("8.8.8.8", "1.1.1.1", "93.184.215.14", "2606:4700::1111", "2a00:1450:4001:81d::200e")
NOT_PUBLIC = (
    "0.0.0.1", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1",
    "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.51.100.7",
    "203.0.113.9", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "::", "::1", "::ffff:8.8.8.8",
    "::ffff:127.0.0.1", "::8.8.8.8", "64:ff9b::808:808", "64:ff9b:1::808:808", "2001::1", "2001:2::1", "2001:10::1",
    "2001:db8::1", "2002:0808:0808::1", "3fff::1", "4000::1", "5f00::1", "fc00::1", "fd12:3456::1", "fe80::1",
    "fe80::1%eth0", "fec0::1", "ff02::1",
)  # fmt: skip


def to(port: int, path: str = "/") -> str:
    return f"http://127.0.0.1:{port}{path}"


def post(egress: Egress, url: str) -> EgressResponse:
    return egress.post(url, {"Content-Type": "application/json"}, b"{}")


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Identity:
    return identity("hooks.test", tmp_path_factory.mktemp("tls"))


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_an_address_that_is_not_public_is_refused_with_the_reason(address: str) -> None:
    assert why_not_public(ip_address(address))
    with pytest.raises(EgressRefusedError, match="only public addresses are called"):
        Egress(resolve=lambda host, port: [address]).post("https://hooks.test/", {}, b"")


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_may_be_called_with_https_only(address: str) -> None:
    egress = Egress(resolve=lambda host, port: [address])
    assert egress.checked_addresses(RequestTarget("https", "hooks.test", 443, "/"), 1) == [address]
    for scheme, port in (("http", 80), ("http", 443), ("https", 8443), ("https", 6379)):
        with pytest.raises(EgressRefusedError, match="https"):
            egress.checked_addresses(RequestTarget(scheme, "hooks.test", port, "/"), 1)


def test_one_address_that_is_not_public_is_enough_to_refuse_a_name_and_is_not_told() -> None:
    with pytest.raises(EgressRefusedError, match=r"^The host hooks\.test is private: only public addresses are called"):
        Egress(LOOPBACK, resolve=lambda host, port: ["127.0.0.1", "10.0.0.1"]).post("http://hooks.test/", {}, b"")


@pytest.mark.parametrize("host", ["0x7f.1", "2130706433", "127.1", "0177.0.0.1", "localhost"])
def test_this_machine_is_found_behind_every_way_to_write_it(host: str) -> None:
    with pytest.raises(EgressRefusedError, match="only public addresses"):
        post(Egress(), f"https://{host}/")


@pytest.mark.parametrize(
    ("url", "word"),
    [
        *table(__file__, "an address that can never be called is refused without looking it up"),
        ("https://hooks.test/" + "a" * 2_000, "longer than 2000"),
    ],
)
def test_an_address_that_can_never_be_called_is_refused_without_looking_it_up(url: str, word: str) -> None:
    with pytest.raises(EgressRefusedError, match=word):
        EgressRules().check_url(url)


def test_an_address_that_may_be_called_passes_the_check() -> None:
    EgressRules().check_url("https://hooks.test/rookery?key=1")
    EgressRules(LOOPBACK).check_url("http://127.0.0.1:8080/")
    EgressRules(LOOPBACK).check_url("http://hooks.test:8080/")
    with pytest.raises(EgressRefusedError, match="private"):
        EgressRules(LOOPBACK).check_url("http://10.0.0.1/")


def test_a_name_is_resolved_once_and_the_connection_goes_to_the_checked_address() -> None:
    answers = [["127.0.0.1"], ["10.0.0.1"]]
    egress = Egress(LOOPBACK, resolve=lambda host, port: answers.pop(0))
    with listening(answering(OK + b"Content-Length: 2\r\n\r\nhi")) as server:
        answer = post(egress, f"http://hooks.test:{server.port}/path?a=b")
    assert answer == EgressResponse(200, {"content-length": "2"}, b"hi", True)
    assert answers == [["10.0.0.1"]]
    request = server.received[0]
    assert request.startswith(b"POST /path?a=b HTTP/1.1\r\n")
    assert b"Host: hooks.test:%d\r\n" % server.port in request


def test_the_next_address_is_tried_when_one_does_not_answer() -> None:
    with listening(answering(OK + b"Content-Length: 0\r\n\r\n")) as server:
        egress = Egress(LOOPBACK, resolve=lambda host, port: ["127.9.9.9", "127.0.0.1"])
        assert post(egress, f"http://hooks.test:{server.port}/").status == 200


def test_the_certificate_must_be_valid_for_the_name(hooks: Identity) -> None:
    egress = Egress(LOOPBACK, resolve=lambda host, port: ["127.0.0.1"], trust=hooks.client)
    with listening(answering(OK + b"Content-Length: 0\r\n\r\n"), hooks.server) as server:
        assert post(egress, f"https://hooks.test:{server.port}/").status == 200
        with pytest.raises(EgressError, match="certificate is not valid for it"):
            post(egress, f"https://other.test:{server.port}/")
        with pytest.raises(EgressError, match="certificate is not valid for it"):
            post(Egress(LOOPBACK, resolve=lambda host, port: ["127.0.0.1"]), f"https://hooks.test:{server.port}/")


def test_a_redirect_is_an_answer_like_any_other() -> None:
    redirect = b"HTTP/1.1 307 Go\r\nLocation: http://127.0.0.1:1/\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n"
    with listening(answering(redirect)) as server:
        egress = Egress(LOOPBACK)
        assert post(egress, to(server.port)).status == 307
        assert post(egress, to(server.port)).headers["location"] == "http://127.0.0.1:1/"
    assert len(server.received) == 2
    assert not any(b"cookie" in request.lower() for request in server.received)


def test_the_proxies_of_the_environment_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with listening(answering(OK + b"Content-Length: 0\r\n\r\n")) as server:
        assert post(Egress(LOOPBACK), to(server.port)).status == 200


@pytest.mark.parametrize(
    "handle",
    [hanging, dripping(OK, b"X: y\r\n"), dripping(OK + b"Content-Length: 9999\r\n\r\n", b"x"), dripping(b"", b"H")],
    ids=["hangs", "drips headers", "drips a body", "drips nonsense"],
)
def test_an_exchange_ends_in_time_however_slowly_a_server_answers(
    handle: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("events.runtime.egress.EXCHANGE_TIMEOUT_S", SHORT_S)
    with listening(handle) as server, pytest.raises(EgressError):  # type: ignore[arg-type]
        post(Egress(LOOPBACK), to(server.port))


def test_a_server_that_does_not_even_speak_tls_ends_in_time(hooks: Identity, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("events.runtime.egress.EXCHANGE_TIMEOUT_S", SHORT_S)
    with listening(hanging) as server, pytest.raises(EgressError, match="no complete answer within"):
        post(Egress(LOOPBACK, trust=hooks.client), f"https://127.0.0.1:{server.port}/")


def test_a_resolver_that_hangs_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("events.runtime.egress.EXCHANGE_TIMEOUT_S", SHORT_S)
    ended = threading.Event()

    def never(host: str, port: int) -> list[str]:
        ended.wait()
        return []

    with pytest.raises(EgressError, match=r"within 0\.15 seconds"):
        post(Egress(resolve=never), "https://hooks.test/")
    ended.set()


def test_a_long_answer_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("events.runtime.egress.MAX_ANSWER_BYTES", 1_000)
    body = b"x" * 200_000
    for head in (b"Content-Length: 200000\r\n\r\n", b"\r\n"):
        with listening(answering(OK + head, body)) as server:
            answer = post(Egress(LOOPBACK), to(server.port))
            assert (answer.status, answer.body, answer.is_complete) == (200, b"x" * 1_000, False)


def test_long_headers_are_an_error() -> None:
    with (
        listening(answering(OK, b"X-Long: " + b"x" * 200_000 + b"\r\n\r\n")) as server,
        pytest.raises(EgressError, match="headers of the answer are too long"),
    ):
        post(Egress(LOOPBACK), to(server.port))


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (OK + b"Content-Length: 100\r\n\r\nshort", "not valid HTTP"),
        (OK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", "not valid HTTP"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", "not valid HTTP"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "not valid HTTP"),
        (b"", "not valid HTTP"),
    ],
)
def test_an_answer_that_lies_about_itself_is_an_error(answer: bytes, word: str) -> None:
    with listening(answering(answer)) as server, pytest.raises(EgressError, match=word):
        post(Egress(LOOPBACK), to(server.port))


def test_a_server_that_is_not_there_is_named_in_words() -> None:
    with listening(hanging) as gone:
        port = gone.port
    with pytest.raises(EgressError, match="No connection was made: connection refused"):
        post(Egress(LOOPBACK), to(port))
    with pytest.raises(EgressError, match=r"The name nowhere\.test cannot be found"):
        post(Egress(resolve=_unknown), "https://nowhere.test/")


def _unknown(host: str, port: int) -> list[str]:
    raise OSError("unknown")
