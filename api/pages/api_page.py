"""The API as people read it, made from the OpenAPI document, and what each kind of problem means."""

import json
import re
from functools import lru_cache
from typing import Any, NamedTuple

from flask import current_app, render_template

from api.http.openapi import EXTENSION, OpenApi
from api.http.problem_explanations import EXPLANATIONS
from api.http.problems import KINDS
from api.pages.layout import blueprint

BODY_DEPTH, ANSWER_DEPTH = 3, 1
"""Levels of objects in objects whose fields are listed."""


class Field(NamedTuple):
    """A parameter or a field of a body: its name with dots, what it is, and what is said of it."""

    name: str
    kind: str
    required: bool
    description: str


class Operation(NamedTuple):
    """One operation; ``status`` is that of its success, ``problems`` those of its refusals."""

    method: str
    path: str
    anchor: str
    summary: str
    description: str
    signed_in: bool
    parameters: list[Field]
    body: list[Field]
    request: str
    status: str
    answer: list[Field]
    example: str
    problems: list[str]


class Section(NamedTuple):
    """The operations of one subject."""

    name: str
    title: str
    operations: list[Operation]


@blueprint.get("/docs/api")
def api_page() -> str:
    """Return what the OpenAPI document says, for people."""
    return render_template("api.html", sections=_sections(current_app.extensions[EXTENSION]))


@blueprint.get("/problems")
def problems_page() -> str:
    """Return what each kind of problem means; each has its code as an anchor."""
    kinds = [(code, status, title, EXPLANATIONS[code]) for code, (status, title) in sorted(KINDS.items())]
    return render_template("problems.html", kinds=kinds)


@lru_cache(maxsize=1)
def _sections(api: OpenApi) -> list[Section]:
    document = api.document
    sections = {tag["name"]: Section(tag["name"], tag["description"], []) for tag in document["tags"]}
    for path, operations in document["paths"].items():
        shared = operations.get("parameters", [])
        for method, operation in operations.items():
            if method != "parameters":
                found = _operation(document, method, path, shared, operation)
                sections[operation["tags"][0]].operations.append(found)
    return list(sections.values())


def _operation(
    document: dict[str, Any], method: str, path: str, shared: list[Any], operation: dict[str, Any]
) -> Operation:
    status = min(operation["responses"])
    sent = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    answered: dict[str, Any] = next(iter(operation["responses"][status].get("content", {}).values()), {})
    parameters = [
        Field(
            f"{each['name']} ({each['in']})",
            _kind(document, each["schema"]),
            bool(each.get("required")),
            each.get("description", each["schema"].get("description", "")),
        )
        for each in (*shared, *operation.get("parameters", ()))
    ]
    return Operation(
        method.upper(),
        path,
        re.sub("[^a-z0-9]+", "-", f"{method} {path.removeprefix('/api/v1')}".lower()).strip("-"),
        operation["summary"],
        operation.get("description", ""),
        {} not in operation.get("security", [{}]),
        parameters,
        _fields(document, sent.get("schema", {}), BODY_DEPTH),
        _shown(sent),
        status,
        _fields(document, answered.get("schema", {}), ANSWER_DEPTH),
        _shown(answered),
        sorted(each for each in operation["responses"] if each >= "400"),
    )


def _shown(content: dict[str, Any]) -> str:
    return json.dumps(content["example"], ensure_ascii=False, indent=2) if "example" in content else ""


def _fields(document: dict[str, Any], schema: dict[str, Any], depth: int, prefix: str = "") -> list[Field]:
    found: list[Field] = []
    schema = _resolved(document, schema)
    for name, inner in schema.get("properties", {}).items() if depth else ():
        nested, dotted = _resolved(document, inner), f"{prefix}{name}."
        said = inner.get("description") or nested.get("description", "")
        found.append(Field(prefix + name, _kind(document, inner), name in schema.get("required", ()), said))
        if nested.get("type") == "array":
            nested, dotted = _resolved(document, nested["items"]), f"{prefix}{name}[]."
        found += _fields(document, nested, depth - 1, dotted)
    return found


def _resolved(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Return what a reference leads to; of what may also be null, the rest."""
    for way in ("anyOf", "allOf"):
        choices = [each for each in schema.get(way, ()) if each.get("type") != "null"]
        if len(choices) == 1:
            return _resolved(document, choices[0])
    if "$ref" not in schema:
        return schema
    found: dict[str, Any] = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return found


def _kind(document: dict[str, Any], schema: dict[str, Any]) -> str:
    nullable = any(each.get("type") == "null" for each in schema.get("anyOf", ()))
    schema = _resolved(document, schema)
    kinds = schema.get("type", "object")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    said = " or ".join(kind for kind in kinds if kind != "null")
    if "enum" in schema:
        said = ", ".join(str(each) for each in schema["enum"] if each is not None)
    elif said == "array":
        said = f"list of {_kind(document, schema['items'])}"
    elif schema.get("format") == "date-time":
        said = "instant"
    if "oneOf" in schema:
        said = "one of " + "; ".join(_alternative(document, each) for each in schema["oneOf"])
    return f"{said} or null" if nullable or "null" in kinds else said


def _alternative(document: dict[str, Any], schema: dict[str, Any]) -> str:
    properties = _resolved(document, schema).get("properties", {})
    inner = ", ".join(f"{name}: {_kind(document, each)}" for name, each in properties.items())
    return f"{{{inner}}}" if inner else _kind(document, schema)
