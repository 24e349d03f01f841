"""The nginx of the example in front of a running installation: really started, with its own configuration."""

import gzip
import http.client
import json
import os
import re
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from deploy.local.child import bound_to_parent
from deploy.local.installation import LocalInstallation
from tests.support.eventually import DEADLINE_S, eventually
from tests.support.programs import UNPACKED, find_program

ROOT = Path(__file__).parents[3]
HOST = "localhost"
"""A host that the installation of the tests serves, in the place of that of the example."""
API = "/api/v1"


class Front:
    """nginx with the configuration of the example; only places, ports and the longest of its waits are changed."""

    def __init__(self, directory: Path, api: int, stream: int) -> None:
        probes = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
        self.port, self.tls_port = (probe.getsockname()[1] for probe in probes)
        for probe in probes:
            probe.close()
        binary = find_program(["nginx"], "nginx", path=f"/usr/sbin:{UNPACKED}/usr/sbin")
        installed = Path("/etc/nginx/mime.types")
        mime_types = installed if installed.exists() else UNPACKED / "etc/nginx/mime.types"
        certify(directory)
        text = (ROOT / "deploy" / "production" / "nginx.conf").read_text()
        for written, meant in (
            ("rookery.example", HOST),
            ("/etc/nginx/mime.types", mime_types),
            ("/etc/nginx/tls", directory),
            ("/var/log/nginx", directory),
            ("listen 80", f"listen 127.0.0.1:{self.port}"),
            ("listen 443 ", f"listen 127.0.0.1:{self.tls_port} "),
            ("server api:8000;", f"server 127.0.0.1:{api};"),
            ("server stream:8001;", f"server 127.0.0.1:{stream};"),
            ("client_header_timeout 10s;", "client_header_timeout 1s;"),
        ):
            assert written in text
            text = text.replace(written, str(meant))
        self.log, self.error_log = directory / "access.log", directory / "error.log"
        places = [
            f"{kind}_temp_path {directory / kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        ]
        ciphers = "ssl_ciphers ALL:@SECLEVEL=0;"  # with which old versions of TLS are spoken where nothing forbids them
        text = text.replace("http {", "\n".join(["http {", ciphers, *places]), 1)
        configuration = directory / "nginx.conf"
        configuration.write_text(f"daemon off; pid {directory}/pid; error_log {directory}/error.log;\n{text}")
        command = [binary, "-e", str(directory / "error.log"), "-p", str(directory), "-c", str(configuration)]
        checked = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stderr
        self._process = subprocess.Popen(bound_to_parent(command))
        eventually(self._listens, "nginx listens")

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()

    def connect(self, source: str = "127.0.0.1", name: str = HOST) -> ssl.SSLSocket:
        """Return a connection over TLS from the loopback address ``source``; it would speak HTTP/2 if asked to."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        raw = socket.create_connection(("127.0.0.1", self.tls_port), DEADLINE_S, source_address=(source, 0))
        return context.wrap_socket(raw, server_hostname=name)

    @contextmanager
    def client(self, source: str = "127.0.0.1") -> Iterator[http.client.HTTPConnection]:
        """Yield a client over TLS that calls the site by its public name."""
        client = http.client.HTTPConnection(HOST)
        client.sock = self.connect(source)
        with closing(client):
            yield client

    def _listens(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.tls_port), 1).close()
        except OSError:
            return False
        return True


def certify(directory: Path) -> None:
    """Write a certificate that signs itself, and its key."""
    key, certificate = str(directory / "privkey.pem"), str(directory / "fullchain.pem")
    names = ["-keyout", key, "-out", certificate, "-subj", f"/CN={HOST}"]
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", *names]
    subprocess.run(command, check=True, capture_output=True)


def ask(client: http.client.HTTPConnection, method: str, path: str, body: Any = None, **headers: str) -> Any:
    """Return the answer, read to its end, and its JSON as ``json``."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    if body is not None:
        sent["Content-Type"] = "application/json"
    client.request(method, path, None if body is None else json.dumps(body), sent)
    answer: Any = client.getresponse()
    answer.content = answer.read()
    answer.json = json.loads(answer.content) if b"{" in answer.content[:1] else None
    return answer


def readable_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory that nginx can read: it gives its own privileges up before it does."""
    directory = tmp_path_factory.mktemp("nginx")
    os.chmod(directory.parent, 0o755)  # noqa: S103
    os.chmod(directory, 0o755)  # noqa: S103
    return directory


@pytest.fixture(scope="module")
def front(installation: LocalInstallation, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    front = Front(readable_directory(tmp_path_factory), installation.ports.api, installation.ports.stream)
    yield front
    front.close()


def test_pages_come_compressed_over_tls_and_plain_requests_are_sent_there(front: Front) -> None:
    with front.client() as client:
        page = ask(client, "GET", "/", Accept_Encoding="gzip, br")
        match_id, cookie = match_of_a_guest(client)
        answer = ask(client, "GET", f"{API}/matches/{match_id}", Accept_Encoding="gzip", Cookie=cookie)
    assert (page.status, page.headers["Content-Encoding"]) == (200, "br")
    assert answer.headers["Content-Encoding"] == "gzip"
    assert answer.headers["ETag"] == f'"{json.loads(gzip.decompress(answer.content))["version_tag"]}"'
    assert page.headers["Strict-Transport-Security"]
    assert "nginx/" not in page.headers.get("Server", "")
    with closing(http.client.HTTPConnection("127.0.0.1", front.port, timeout=DEADLINE_S)) as plain:
        moved = ask(plain, "GET", "/games?x=1", Host=HOST)
    assert (moved.status, moved.headers["Location"]) == (301, f"https://{HOST}/games?x=1")


def test_secrets_in_addresses_are_not_logged(front: Front) -> None:
    with front.client() as client:
        for path in ("/feeds/SECRET/deadlines.ics", "/password-reset/SECRET", "/mail/stop/SECRET", "/lobby?last"):
            ask(client, "GET", path)
    eventually(lambda: "/lobby?last" in front.log.read_text(), "the log of the last request")
    assert "SECRET" not in front.log.read_text()


def test_secrets_in_addresses_are_not_logged_with_errors(tmp_path_factory: pytest.TempPathFactory) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    front = Front(readable_directory(tmp_path_factory), port, port)
    with closing(front), front.client() as client:
        for path in ("/feeds/SECRET/deadlines.ics", "/password-reset/SECRET", "/mail/stop/SECRET", "/lobby?last"):
            assert ask(client, "GET", path).status == 502
        eventually(lambda: "/lobby?last" in front.error_log.read_text(), "the error of the last request")
    assert "SECRET" not in front.error_log.read_text()


def test_other_hosts_get_no_answer(front: Front) -> None:
    with pytest.raises(ssl.SSLError, match="unrecognized name"):
        front.connect(name="evil.example")
    with front.client() as client, pytest.raises(http.client.RemoteDisconnected):
        ask(client, "GET", "/games", Host="evil.example")
    with closing(http.client.HTTPConnection("127.0.0.1", front.port)) as plain:
        with pytest.raises(http.client.RemoteDisconnected):
            ask(plain, "GET", "/games", Host="evil.example")
        assert ask(plain, "GET", "/games", Host=HOST).status == 301


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1_1 is deprecated")
def test_only_tls_1_2_and_1_3_are_spoken(front: Front) -> None:
    spoken = set()
    for version in (ssl.TLSVersion.TLSv1_1, ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version = context.maximum_version = version
        with (
            suppress(ssl.SSLError),
            socket.create_connection(("127.0.0.1", front.tls_port)) as raw,
            context.wrap_socket(raw, server_hostname=HOST) as connection,
        ):
            spoken.add(connection.version())
    assert spoken == {"TLSv1.2", "TLSv1.3"}


def test_browsers_are_offered_http_2(front: Front) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2", "http/1.1"])
    with (
        socket.create_connection(("127.0.0.1", front.tls_port)) as raw,
        context.wrap_socket(raw, server_hostname=HOST) as connection,
    ):
        assert connection.selected_alpn_protocol() == "h2"


def test_figures_are_not_shown_outside(front: Front) -> None:
    with front.client() as client:
        assert ask(client, "GET", "/metrics").status == 404


def test_events_arrive_as_they_happen(front: Front) -> None:
    with front.client() as client:
        match, cookie = match_of_a_guest(client)
        hear_a_move(front, client, match, cookie)


def match_of_a_guest(client: http.client.HTTPConnection) -> tuple[str, str]:
    """Return a match against an opponent, in which a guest has the first move, and the guest's cookie."""
    guest = ask(client, "POST", f"{API}/guests", {})
    cookie = re.split("[;,]", guest.headers["Set-Cookie"])[0]
    seats = [{"kind": "me"}, {"kind": "opponent", "level": 1}]
    body = {"game": "bashni", "setup": "start", "seats": seats, "rated": False}
    created = ask(client, "POST", f"{API}/matches", body, Cookie=cookie, Idempotency_Key="front")
    assert created.status == 201, created.content
    return created.json["id"], cookie


def hear_a_move(front: Front, client: http.client.HTTPConnection, match_id: str, cookie: str) -> None:
    """Play a move while the streams of the match and the account are open, and wait until it is heard there."""
    with front.connect() as stream, front.connect() as account:
        for opened, path in ((stream, f"matches/{match_id}/stream"), (account, "me/stream")):
            opened.sendall(f"GET {API}/{path} HTTP/1.1\r\nHost: {HOST}\r\nCookie: {cookie}\r\n\r\n".encode())
        read_until(stream, b"event: match-started")
        read_until(account, b"event: pending")
        legal = ask(client, "GET", f"{API}/matches/{match_id}/legal-moves", Cookie=cookie)
        moved = ask(
            client, "POST", f"{API}/matches/{match_id}/moves", {"move": legal.json["legal_moves"][0]}, Cookie=cookie
        )
        assert moved.status == 201, moved.content
        read_until(stream, b"event: move-submitted")
        read_until(account, b'"events":["move-submitted"')


def read_until(stream: ssl.SSLSocket, wanted: bytes) -> None:
    """Read from an open stream until ``wanted`` has been told."""
    heard = b""
    while wanted not in heard:
        piece = stream.recv(65536)
        assert piece, "the stream stays open"
        heard += piece


def test_who_sends_a_request_slowly_is_given_up(front: Front) -> None:
    with front.connect() as slow:
        slow.sendall(f"GET / HTTP/1.1\r\nHost: {HOST}\r\n".encode())
        answer = slow.recv(1000)
        assert answer == b"" or b" 408 " in answer


def test_one_address_cannot_ask_without_end_and_others_do_not_notice(front: Front) -> None:
    with front.client("127.0.0.9") as client:
        answers = [ask(client, "GET", "/healthz") for _ in range(400)]
    assert {answer.status for answer in answers} == {200, 429}
    assert answers[0].status == 200
    with front.client("127.0.0.10") as other:
        assert ask(other, "GET", "/healthz").status == 200
