"""The deployment files fit each other and the product."""

import re
import runpy
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PRODUCTION = ROOT / "deploy" / "production"
COMPOSE = yaml.safe_load((PRODUCTION / "compose.yaml").read_text())


def test_store_and_broker_are_different_servers() -> None:
    environment = COMPOSE["services"]["api"]["environment"]
    assert environment["REDIS_URL"].startswith("redis://store:")
    assert environment["BROKER_URL"].startswith("redis://broker:")


@pytest.mark.parametrize("name", ["store", "broker"])
def test_a_server_keeps_its_database_in_a_volume_and_reads_files_that_exist(name: str) -> None:
    volumes = COMPOSE["services"][name]["volumes"]
    assert f"{name}:/data" in volumes
    assert name in COMPOSE["volumes"]
    mounted = {
        inside: PRODUCTION / outside for outside, inside, *_ in (v.split(":") for v in volumes) if outside != name
    }
    assert all(path.is_file() for path in mounted.values())
    configuration = COMPOSE["services"][name]["command"][1]
    included = re.findall(r"^include (.+)$", mounted[configuration].read_text(), re.M)
    assert set(included) == set(mounted) - {configuration}


@pytest.mark.parametrize("name", ["redis-common", "redis-store", "redis-broker"])
def test_nothing_is_evicted_or_kept_in_memory_only(name: str) -> None:
    lines = (PRODUCTION / f"{name}.conf").read_text().splitlines()
    settings = dict(line.split(None, 1) for line in lines if line and not line.startswith("#"))
    assert settings.get("appendonly", "yes") == "yes"
    assert settings.get("maxmemory-policy", "noeviction") == "noeviction"


def test_the_store_syncs_every_write_before_it_replies() -> None:
    assert "\nappendfsync always\n" in (PRODUCTION / "redis-store.conf").read_text()


def test_gunicorn_serves_complete_requests_with_threads_and_has_no_control_socket() -> None:
    settings = runpy.run_path(str(PRODUCTION / "gunicorn.conf.py"))
    assert (settings["worker_class"], settings["workers"], settings["threads"]) == (
        "deploy.production.web_worker.WebWorker",
        2,
        8,
    )
    assert settings["control_socket_disable"] is True


def test_the_image_holds_every_package_of_the_product() -> None:
    text = (PRODUCTION / "Dockerfile").read_text()
    assert {"domain", "events", "workers", "api", "deploy"} <= set(re.findall(r"^COPY (\w+) \w+$", text, re.M))


@pytest.mark.parametrize(
    "script", [ROOT / "tests" / "programs.sh", ROOT / ".ci" / "run", PRODUCTION / "join-cluster.sh"]
)
def test_scripts_are_sound_and_can_be_run(script: Path) -> None:
    assert script.stat().st_mode & 0o111
    checked = subprocess.run(["bash", "-n", script], capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")
