"""Containers, units and Kubernetes start the same parts; deployment files fit each other and the product."""

import configparser
import errno
import logging
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import kubernetes_validate
import pytest
import yaml
from click import Context
from prometheus_client import CollectorRegistry, Counter, values
from prometheus_client.mmap_dict import MmapedDict

from api.counter_files import ENDED
from deploy.cli import main
from deploy.local.ports import Ports
from deploy.local.programs import GUNICORN, programs
from workers.broker import MAX_TASK_S

PRODUCTION = Path(__file__).parents[2] / "deploy" / "production"
UNITS = PRODUCTION / "systemd"
KUBERNETES = PRODUCTION / "kubernetes"
QUEUE_INSTANCES = ("default", "notices", "opponents-quick", "opponents-long")
"""Instances of the unit of workers: ``rookery.target`` wants each of them."""

LOCAL = ("--bind", "--heartbeat", "--port", "--processes")
"""Options that differ from machine to machine."""


def parts_of_compose(name: str) -> dict[str, list[str]]:
    """Return the command of each service of a compose file that is a part of the product, without its addresses."""
    services: dict[str, Any] = yaml.safe_load((PRODUCTION / name).read_text())["services"]
    image = re.findall(r"^CMD (\[.*\])$", (PRODUCTION / "Dockerfile").read_text(), re.M)[0]
    return {
        part: without_addresses(service.get("command") or yaml.safe_load(image))
        for part, service in services.items()
        if service["image"] == "rookery"
    }


def parts_of_units() -> dict[str, list[str]]:
    """Return the command of each unit, named like the services; a unit with instances counts once for each."""
    parts = {}
    for path in UNITS.glob("*.service"):
        unit = read_unit(path)
        command = shlex.split(unit["Service"]["ExecStart"])
        command = [Path(command[0]).name, *command[1:]]
        if path.stem.endswith("@"):
            for queue in QUEUE_INSTANCES:
                name = "worker" if queue == "default" else queue
                parts[name] = without_addresses([queue if word == "%i" else word for word in command])
        else:
            parts[path.stem.removeprefix("rookery-")] = without_addresses(command)
    return parts


def parts_of_kubernetes() -> dict[str, list[str]]:
    return {
        each["metadata"]["name"]: without_addresses(each["spec"]["template"]["spec"]["containers"][0]["command"])
        for each in kubernetes_parts()
    }


def kubernetes_parts() -> list[dict[str, Any]]:
    """Return the objects whose pods are parts of the product."""
    parts = [each for each in kubernetes_objects() if each["kind"] in ("Deployment", "StatefulSet")]
    return [each for each in parts if each["spec"]["template"]["spec"]["containers"][0]["image"] == "rookery"]


def kubernetes_objects() -> Iterator[dict[str, Any]]:
    for path in sorted(KUBERNETES.glob("*/*.yaml")):
        if path.name not in ("kustomization.yaml", "every-pod.yaml", "mark.yaml"):
            yield from yaml.safe_load_all(path.read_text())


def read_unit(path: Path) -> configparser.ConfigParser:
    """Return a unit; of a key that is repeated, the last value."""
    unit = configparser.ConfigParser(interpolation=None, strict=False, delimiters="=")
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string(path.read_text())
    return unit


def without_addresses(command: list[str]) -> list[str]:
    """Return ``command`` without what differs between machines: addresses, beats for probes, number of processes."""
    if command[:2] == ["sh", "-c"]:
        command = shlex.split(command[2])[1:]
    words = [word for argument in command for word in (argument.split("=", 1) if argument[:2] == "--" else [argument])]
    kept = []
    for before, word in pairwise(["", *words]):
        if word not in LOCAL and before not in LOCAL:
            kept.append(word)
    return kept


OPERATORS = (PRODUCTION.parents[1] / "docs" / "operators.md").read_text()
KUBERNETES_VERSION = "1.34"
NOT_ON_KUBERNETES = {"gateway"}
"""Mail arrives at a mail server, which is not part of these manifests."""

PARTS = parts_of_compose("compose-cluster.yaml")


def seconds(text: str) -> int:
    return int(text.removesuffix("s"))


def test_containers_on_one_host_and_on_a_cluster_are_the_same_parts() -> None:
    assert parts_of_compose("compose.yaml") == PARTS


@pytest.mark.parametrize("name", ["compose.yaml", "compose-cluster.yaml"])
def test_containers_get_the_settings_of_calls_to_other_servers(name: str) -> None:
    environment = yaml.safe_load((PRODUCTION / name).read_text())["x-rookery"]["environment"]
    assert {"ROOKERY_EGRESS_ALLOWED", "ROOKERY_CONTACT", "ROOKERY_TIMESTAMP_URL"} <= environment.keys()


def test_units_start_the_same_parts_as_containers() -> None:
    assert parts_of_units() == PARTS


def test_rookery_up_does_what_containers_do_in_fewer_processes(tmp_path: Path) -> None:
    """The tests that run whole installations so start what units and containers start."""
    started = {program.name: list(program.command) for program in programs(tmp_path, Ports(), "127.0.0.1", 2, True)}
    for name, command in started.items():
        module = command[2]
        assert command[:2] == [sys.executable, "-m"]
        command[:3] = ["rookery" if module == "deploy.cli" else module]
        if module == "gunicorn":
            place = command.index("--chdir")
            del command[place : place + 2]
            assert Path(command[2]) == PRODUCTION / "gunicorn.conf.py"
            command[2] = "/etc/rookery/gunicorn.conf.py"
        started[name] = without_addresses(command)
    expected = {name: [word for word in command if word != "--lmtp"] for name, command in PARTS.items()}
    together = [expected.pop(name)[2] for name in ("worker", "notices", "opponents-quick")]
    assert started.pop("worker") == ["rookery", "work", *together]
    one = started["api"].index("--workers")
    assert started["api"][one : one + 2] == ["--workers", "1"]
    del started["api"][one : one + 2]
    assert started == expected


def test_kubernetes_starts_the_same_parts_as_containers() -> None:
    assert parts_of_kubernetes() == {name: PARTS[name] for name in PARTS.keys() - NOT_ON_KUBERNETES}


@pytest.mark.parametrize("part", [name for name, command in PARTS.items() if command[0] == "rookery"])
def test_every_command_exists_with_its_options(part: str) -> None:
    context = Context(main)
    name, command, rest = main.resolve_command(context, PARTS[part][1:])
    command.make_context(name, list(rest), parent=context)


def test_the_probes_of_pods_ask_for_the_beats_that_are_kept() -> None:
    probed = set()
    for each in kubernetes_parts():
        container = each["spec"]["template"]["spec"]["containers"][0]
        if "exec" in container["livenessProbe"]:
            program, command, beats = container["livenessProbe"]["exec"]["command"]
            assert program == "rookery"
            assert main.get_command(Context(main), command) is not None
            assert f"--heartbeat={beats}" in container["command"]
            probed.add(each["metadata"]["name"])
    assert probed == PARTS.keys() - NOT_ON_KUBERNETES - {"api", "stream"}


def test_the_high_water_mark_is_kept_where_it_lasts() -> None:
    for name in ("compose.yaml", "compose-cluster.yaml"):
        file = yaml.safe_load((PRODUCTION / name).read_text())
        assert "mark:/mark" in file["x-rookery"]["volumes"]
        assert "mark" in file["volumes"]
        assert file["x-rookery"]["environment"]["ROOKERY_MARK_FILE"] == "/mark/mark.json"
    [relay] = [each for each in kubernetes_parts() if each["metadata"]["name"] == "relay"]
    assert [volume["metadata"]["name"] for volume in relay["spec"]["volumeClaimTemplates"]] == ["mark"]
    product = (KUBERNETES / "product" / "kustomization.yaml").read_text()
    assert "{ name: mark, mountPath: /mark }" in (KUBERNETES / "product" / "mark.yaml").read_text()
    assert "ROOKERY_MARK_FILE=/mark/mark.json" in product
    assert "ROOKERY_MARK_FILE=/var/lib/rookery/mark.json" in (UNITS / "environment.example").read_text()


def test_a_stop_of_the_opponents_waits_for_the_longest_search() -> None:
    compose = yaml.safe_load((PRODUCTION / "compose-cluster.yaml").read_text())["services"]["opponents"]
    unit = read_unit(UNITS / "rookery-opponents.service")["Service"]
    assert seconds(compose["stop_grace_period"]) > MAX_TASK_S
    assert seconds(unit["TimeoutStopSec"]) > MAX_TASK_S
    graces = [
        each["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
        for each in kubernetes_objects()
        if each["kind"] == "Deployment" and each["metadata"]["name"] in ("opponents", "opponents-quick")
    ]
    assert len(graces) == 2
    assert min(graces) > MAX_TASK_S


COMPOSE_FILES = ("compose.yaml", "compose-cluster.yaml")


@pytest.mark.parametrize("name", COMPOSE_FILES)
def test_containers_have_as_few_rights_as_pods(name: str) -> None:
    services = yaml.safe_load((PRODUCTION / name).read_text())["services"]
    for service, wanted in services.items():
        assert wanted["cap_drop"] == ["ALL"], service
        assert wanted["security_opt"] == ["no-new-privileges:true"], service
        assert wanted["user"].split(":")[0] in ("10001", "999", "100", "101"), service
        assert wanted["read_only"] is not (wanted["image"].startswith("rabbitmq")), service


@pytest.mark.parametrize("name", COMPOSE_FILES)
def test_containers_are_reached_through_nginx_alone(name: str) -> None:
    services = yaml.safe_load((PRODUCTION / name).read_text())["services"]
    published = {port for service in services.values() for port in service.get("ports", ())}
    assert published == {"80:80", "443:443", "127.0.0.1:8025:8025"}, "the last is that of mail"
    nginx = services["nginx"]
    assert "./nginx.conf:/etc/rookery/nginx.conf:ro" in nginx["volumes"]
    (script,) = nginx["command"][2:]
    written = subprocess.run(
        ["sh", "-c", script.replace("$$", "$").replace("/etc/rookery", str(PRODUCTION)).partition(" >")[0]],
        env={"ROOKERY_HOST": "towers.example"}, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert "server_name towers.example;" in written
    assert "server api:8000;" in written
    environment = services["api"]["environment"]
    assert environment["ROOKERY_TRUSTED_PROXIES"] == "${ROOKERY_TRUSTED_PROXIES:-1}"


def test_only_streams_are_passed_on_unbuffered() -> None:
    buffered = {}
    for ingress in kubernetes_objects():
        if ingress["kind"] == "Ingress":
            annotated = ingress["metadata"]["annotations"]["nginx.ingress.kubernetes.io/proxy-buffering"]
            for path in ingress["spec"]["rules"][0]["http"]["paths"]:
                buffered[path["backend"]["service"]["name"]] = annotated
    assert buffered == {"stream": "off", "api": "on", "nothing": "on"}
    nginx = (PRODUCTION / "nginx.conf").read_text()
    assert nginx.count("proxy_buffering off;") == 1
    assert re.search(r"/stream\$ \{[^}]*proxy_pass http://stream;\s+proxy_buffering off;", nginx)


@pytest.mark.parametrize("name", COMPOSE_FILES)
def test_containers_are_made_from_images_with_digests(name: str) -> None:
    wanted = yaml.safe_load((PRODUCTION / name).read_text())
    images = {service["image"] for service in wanted["services"].values()} - {"rookery"}
    assert all(re.search(r"@\$\{[A-Z]+_DIGEST:\?", image) for image in images), images
    assert "${PYTHON_DIGEST:?" in wanted["x-rookery"]["build"]["args"]["PYTHON_DIGEST"]
    based = re.findall("^FROM (\\S+)", (PRODUCTION / "Dockerfile").read_text(), re.M)
    assert set(based) == {"python:3.13-slim@${PYTHON_DIGEST}"}


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed here")
@pytest.mark.parametrize("unit", sorted(UNITS.glob("*.service")), ids=lambda path: path.stem)
def test_units_have_few_rights(unit: Path) -> None:
    command = ["systemd-analyze", "security", "--offline=yes", "--threshold=20", str(unit)]
    judged = subprocess.run(command, capture_output=True, text=True, check=False)
    assert judged.returncode == 0, judged.stdout


def test_the_target_starts_every_unit_but_that_of_mail() -> None:
    wanted = set(re.findall(r"rookery-[a-z@-]+\.service", (UNITS / "rookery.target").read_text()))
    units = {path.name for path in UNITS.glob("*.service")} - {"rookery-gateway.service", "rookery-work@.service"}
    assert wanted == units | {f"rookery-work@{queue}.service" for queue in QUEUE_INSTANCES}


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed here")
def test_systemd_understands_every_line_of_the_units(tmp_path: Path) -> None:
    for path in UNITS.iterdir():
        # Programs must exist: those of this environment stand for those that an operator installs.
        text = path.read_text().replace("/opt/rookery/bin", str(Path(sys.executable).parent))
        (tmp_path / path.name).write_text(text)
    units = [str(path) for path in tmp_path.iterdir() if path.suffix in (".service", ".target")]
    checked = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True, check=False)
    assert [line for line in checked.stderr.splitlines() if "rookery" in line] == []
    assert checked.returncode == 0


@pytest.mark.parametrize("kind", sorted({each["kind"] for each in kubernetes_objects()}))
def test_kubernetes_knows_every_field_of_the_manifests(kind: str) -> None:
    for each in kubernetes_objects():
        if each["kind"] == kind:
            kubernetes_validate.validate(each, KUBERNETES_VERSION, strict=True)


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl, which has Kustomize, is not installed here")
def test_kustomize_makes_valid_objects_of_pods_with_few_rights_and_the_settings() -> None:
    built = subprocess.run(["kubectl", "kustomize", PRODUCTION], capture_output=True, text=True, check=True).stdout
    objects = list(yaml.safe_load_all(built))
    assert len(objects) > len(list(kubernetes_objects()))
    for each in objects:
        kubernetes_validate.validate(each, KUBERNETES_VERSION, strict=True)
        assert each["metadata"]["namespace"] == "rookery"
        if (each["kind"], each["metadata"]["name"]) == ("StatefulSet", "relay") or each["kind"] == "Deployment":
            pod = each["spec"]["template"]["spec"]
            container = pod["containers"][0]
            assert container["envFrom"][0]["configMapRef"]["name"].startswith("environment-")
            assert container["securityContext"]["readOnlyRootFilesystem"] is True
            assert pod["securityContext"]["runAsNonRoot"] is True
        if each["kind"] == "StatefulSet" and each["metadata"]["name"] == "store":
            names = [volume["configMap"]["name"] for volume in each["spec"]["template"]["spec"]["volumes"]]
            assert [name for name in names if name.startswith("store-configuration-")] == names


def test_every_file_that_kustomize_reads_exists() -> None:
    for path in (PRODUCTION / "kustomization.yaml", *KUBERNETES.glob("*/kustomization.yaml")):
        wanted = yaml.safe_load(path.read_text())
        files = [*wanted["resources"], *(patch["path"] for patch in wanted.get("patches", ()))]
        files += [name for made in wanted.get("configMapGenerator", ()) for name in made.get("files", ())]
        assert [name for name in files if not (path.parent / name).exists()] == []


def test_every_setting_that_the_files_name_is_described() -> None:
    files = [*PRODUCTION.glob("*.yaml"), *UNITS.iterdir(), *KUBERNETES.glob("*/*.yaml")]
    named = {name for path in files for name in re.findall(r"\bROOKERY_[A-Z_]+\b", path.read_text())}
    assert {name for name in named if f"`{name}`" not in OPERATORS and f"`{name}=" not in OPERATORS} == set()


WORKER = SimpleNamespace(log=logging.getLogger("worker"))


def test_the_room_for_the_counters_of_a_worker_is_reserved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    runpy.run_path(str(GUNICORN))["post_fork"](None, WORKER)
    found = (tmp_path / f"counter_{os.getpid()}.db").stat()
    assert found.st_blocks * 512 >= found.st_size == 1024 * 1024


def test_a_worker_without_room_for_counters_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    monkeypatch.setattr(os, "posix_fallocate", full)
    monkeypatch.setattr(values, "ValueClass", values.MultiProcessValue())  # as in the process that was forked
    runpy.run_path(str(GUNICORN))["post_fork"](None, WORKER)
    assert "PROMETHEUS_MULTIPROC_DIR" not in os.environ
    Counter("requests", "Counted by this process alone", ["path"], registry=CollectorRegistry()).labels("/").inc()
    assert list(tmp_path.iterdir()) == []


def test_the_next_worker_keeps_the_counters_and_removes_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    hooks, ended = runpy.run_path(str(GUNICORN)), os.getpid()
    hooks["post_fork"](None, WORKER)
    counters = MmapedDict(str(tmp_path / f"counter_{ended}.db"))
    counters.write_value("requests", 3.0, 0.0)
    counters.close()
    hooks["child_exit"](None, SimpleNamespace(pid=ended))
    hooks["post_worker_init"](SimpleNamespace(notify=lambda: None))
    assert [path.name for path in tmp_path.glob("*.db")] == [ENDED]
    kept = MmapedDict.read_all_values_from_file(str(tmp_path / ENDED))
    assert [(key.strip(), value) for key, value, *_ in kept] == [("requests", 3.0)]


ROOT = Path(__file__).parents[2]
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
