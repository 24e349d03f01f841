"""The archive in an object storage, which is reached over HTTP."""

import subprocess
import sys
from collections.abc import Iterator

import fsspec
import pytest

from deploy.local.child import bound_to_parent
from deploy.local.ports import responds_ok
from tests.integration.test_archive import archive_all, finish, seen
from tests.support.eventually import eventually
from tests.support.server import RealServer, free_ports
from tests.support.stepped_installation import SteppedInstallation


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Return the URL of a bucket of an S3 server, which is reached over HTTP."""
    # In a process of its own: the modules of moto take half a second of every process that imports them.
    (port,) = free_ports(1)
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(bound_to_parent(command), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    eventually(lambda: responds_ok(f"http://127.0.0.1:{port}/moto-api/data.json"), "the start of the S3 server")
    for name, value in {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    fsspec.filesystem("s3", skip_instance_cache=True).mkdir("rookery")
    yield "s3://rookery/archive"
    server.kill()
    server.wait()


def test_an_archive_in_s3_is_read_over_http(server: RealServer, bucket: str) -> None:
    shop = SteppedInstallation(server.url, archive_url=bucket)
    finish(shop, 2)
    before = seen(shop)
    assert archive_all(shop) == 2
    fresh = SteppedInstallation(server.url, archive_url=bucket)
    assert seen(fresh) == before
    fresh.parts.archiver.collect()
    assert len(fresh.store.archive.storage.names("packs")) == 1
