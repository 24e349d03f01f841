"""Checkpoints timestamped (RFC 3161) by a service that openssl answers for."""

import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from deploy.cli import main
from events.proof.checkpoints import write_checkpoint
from events.proof.documents import DocumentError
from events.proof.transparency.timestamps import Timestamps, check_timestamp
from events.runtime.egress import Egress
from tests.support.matches import T0
from tests.support.receivers import LOOPBACK, Received, Receiver, Reply, receiving
from tests.support.server import RealServer
from tests.support.stepped_installation import SteppedInstallation

CONFIGURATION = """
[tsa]
default_tsa = service
[service]
serial = {directory}/serial
default_policy = 1.2.3.4
digests = sha256
signer_digest = sha256
ess_cert_id_alg = sha256
"""


def name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def certificate(
    subject: str, key: ec.EllipticCurvePrivateKey, issuer: str, issuer_key: ec.EllipticCurvePrivateKey
) -> x509.Certificate:
    is_root = subject == issuer
    made = (
        x509.CertificateBuilder()
        .subject_name(name(subject))
        .issuer_name(name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime.now(UTC) - timedelta(days=1))
        .not_valid_after(datetime.now(UTC) + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=is_root, path_length=None), critical=True)
    )
    if not is_root:
        made = made.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.TIME_STAMPING]), critical=True)
    return made.sign(issuer_key, hashes.SHA256())


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("authority")
    root, service = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    for key, subject in ((root, "root"), (service, "service")):
        made = certificate(subject, key, "root", root)
        (place / f"{subject}.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    encoded = service.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (place / "service.key").write_bytes(encoded)
    (place / "serial").write_text("01\n")
    (place / "openssl.cnf").write_text(CONFIGURATION.format(directory=place))
    return place


@pytest.fixture
def service(directory: Path) -> Iterator[Receiver]:
    def answer(received: Received) -> Reply:
        assert received.headers["content-type"] == "application/timestamp-query"
        (directory / "query").write_bytes(received.body)
        command = ["openssl", "ts", "-reply", "-config", "openssl.cnf", "-queryfile", "query", "-out", "reply"]
        signer = ["-signer", "service.pem", "-inkey", "service.key"]
        subprocess.run([*command, *signer], cwd=directory, check=True, capture_output=True)
        return Reply(200, (directory / "reply").read_bytes(), {"Content-Type": "application/timestamp-reply"})

    with receiving(answer) as receiver:
        yield receiver


@pytest.fixture
def shop(server: RealServer) -> SteppedInstallation:
    return SteppedInstallation(server.url)


def timestamps(shop: SteppedInstallation, service: Receiver) -> Timestamps:
    return Timestamps(shop.parts.timestamps, shop.checkpoints, service.url, Egress(LOOPBACK))


def test_a_checkpoint_a_day_is_timestamped_and_proved_by_the_command(
    shop: SteppedInstallation, service: Receiver, directory: Path, tmp_path: Path
) -> None:
    shop.start("alice", "bob")
    assert not timestamps(shop, service).request_due(T0)
    checkpoint = shop.checkpoints.sign(T0)
    assert timestamps(shop, service).request_due(T0)
    assert not timestamps(shop, service).request_due(T0)
    kept = shop.parts.timestamps.of_day(checkpoint.day)
    document, answer = tmp_path / "checkpoint.json", tmp_path / "answer.tsr"
    document.write_bytes(write_checkpoint(checkpoint))
    answer.write_bytes(kept)

    def run(*more: object) -> str:
        result = CliRunner().invoke(main, ["audit", "timestamp", str(document), str(answer), *map(str, more)])
        return f"{result.exit_code} {result.output}"

    assert run("--roots", directory / "root.pem").startswith(f"0 The checkpoint of {checkpoint.day} of server ")
    assert "was NOT checked" in run()
    other = ec.generate_private_key(ec.SECP256R1())
    stranger = certificate("root", other, "root", other)
    (tmp_path / "stranger.pem").write_bytes(stranger.public_bytes(serialization.Encoding.PEM))
    assert run("--roots", tmp_path / "stranger.pem").startswith("1 NOT PROVED: signature")
    document.write_bytes(write_checkpoint(checkpoint._replace(size=checkpoint.size + 1)))
    assert (
        run("--roots", directory / "root.pem")
        == "1 NOT PROVED: messageImprint: it is the timestamp of something else\n"
    )


@pytest.mark.parametrize("reply", [Reply(500), Reply(200, b"no DER"), Reply(200, bytes.fromhex("30053003020102"))])
def test_a_service_that_fails_is_asked_again_later(shop: SteppedInstallation, service: Receiver, reply: Reply) -> None:
    shop.checkpoints.sign(T0)
    able, service.reply = service.reply, lambda _: reply
    assert not timestamps(shop, service).request_due(T0)
    service.reply = able
    assert shop.parts.timestamps.waiting(T0 + 59_000) is None
    assert shop.parts.timestamps.of_day("attempts") is None, "what is kept beside the days is no timestamp"
    assert timestamps(shop, service).request_due(T0 + 60_000)
    assert len(service.received) == 2


def test_an_answer_to_another_request_is_not_kept(shop: SteppedInstallation, service: Receiver) -> None:
    shop.checkpoints.sign(T0)
    able, answers = service.reply, list[Reply]()

    def repeat(received: Received) -> Reply:
        answers.append(able(received))
        return answers[0]

    service.reply = repeat
    assert timestamps(shop, service).request_due(T0)
    shop.client.delete(f"{shop.settings.prefix}{{proof}}:log:timestamps")
    assert not timestamps(shop, service).request_due(T0)


def test_what_is_no_timestamp_is_refused() -> None:
    for packed in (b"", b"\0", bytes(70_000)):
        with pytest.raises(DocumentError):
            check_timestamp(packed, b"document", [])
