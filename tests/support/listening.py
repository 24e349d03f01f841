"""Servers in the test process that do exactly what a test says, byte by byte."""

import contextlib
import datetime
import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

Handle = Callable[[socket.socket, threading.Event], None]
"""Takes a connection, and an event that is set when the test is over."""


class Listener(NamedTuple):
    """A server of a test: its port, and the first bytes of the requests that it has received."""

    port: int
    received: list[bytes]


class Identity(NamedTuple):
    """A certificate for one name: the context of its server, and that of a client which trusts nothing else."""

    server: ssl.SSLContext
    client: ssl.SSLContext


@contextlib.contextmanager
def listening(handle: Handle, tls: ssl.SSLContext | None = None) -> Iterator[Listener]:
    """Accept connections on 127.0.0.1, one after another, and let ``handle`` answer when the request has come."""
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        listener = Listener(server.getsockname()[1], [])

        def accept() -> None:
            while not ended.is_set():
                with contextlib.suppress(OSError):
                    accepted, _ = server.accept()
                    with tls.wrap_socket(accepted, server_side=True) if tls else accepted as connection:
                        listener.received.append(_request(connection))
                        handle(connection, ended)

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield listener
        finally:
            ended.set()
            with contextlib.suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
    thread.join()


def _request(connection: socket.socket) -> bytes:
    """Return what was sent, a request with its body if it is one: what is left unread would reset the connection."""
    request = connection.recv(65_536)
    while request.startswith(b"POST") and not _is_whole(request):
        request += connection.recv(65_536)
    return request


def _is_whole(request: bytes) -> bool:
    head, separator, body = request.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: ([0-9]+)", head)
    return bool(separator) and len(body) >= int(length[1] if length else 0)


def answering(*pieces: bytes) -> Handle:
    """Return what sends ``pieces`` and ends the connection."""

    def handle(connection: socket.socket, ended: threading.Event) -> None:
        for piece in pieces:
            connection.sendall(piece)

    return handle


def hanging(connection: socket.socket, ended: threading.Event) -> None:
    """Never answer."""
    ended.wait()


def dripping(start: bytes, drop: bytes) -> Handle:
    """Return what sends ``start``, then ``drop`` again and again until nobody listens."""

    def handle(connection: socket.socket, ended: threading.Event) -> None:
        connection.sendall(start)
        while not ended.wait(0.01):
            connection.sendall(drop)

    return handle


def identity(name: str, directory: Path) -> Identity:
    """Return a certificate for ``name`` that nobody else has signed; its files are in ``directory``."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file = directory / f"{name}.pem"
    file.write_bytes(secret + pem)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    return Identity(server, ssl.create_default_context(cadata=pem.decode()))
