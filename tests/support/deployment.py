"""The parts of an installation as the deployment files start them, whatever starts them."""

import configparser
import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

PRODUCTION = Path(__file__).parents[2] / "deploy" / "production"
UNITS = PRODUCTION / "systemd"
KUBERNETES = PRODUCTION / "kubernetes"
QUEUE_INSTANCES = ("default", "notices", "opponents-quick")
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
