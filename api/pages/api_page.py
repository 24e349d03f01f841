"""The reference of the API for people, made from the OpenAPI document, and the explanations of its problems."""

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from flask import current_app, render_template

from api.http.openapi import EXTENSION, OpenApi
from api.http.problems import KINDS
from api.pages.layout import blueprint

MAX_BODY_DEPTH, MAX_ANSWER_DEPTH = 3, 1
"""Levels of nested objects whose fields are listed."""

Schema = dict[str, Any]
"""A part of the OpenAPI document."""


class Field(NamedTuple):
    """A parameter or a field of a body: its dotted name, its kind and its description."""

    name: str
    kind: str
    required: bool
    description: str


class Operation(NamedTuple):
    """One operation; ``status`` is that of success, ``problems`` are the statuses of refusals."""

    method: str
    path: str
    anchor: str
    summary: str
    description: str
    signed_in: bool
    parameters: list[Field]
    body: list[Field]
    body_example: str
    status: str
    answer: list[Field]
    answer_example: str
    problems: list[str]


class OperationSection(NamedTuple):
    """The operations of one subject."""

    name: str
    title: str
    operations: list[Operation]


@blueprint.get("/docs/api")
def api_page() -> str:
    """Return the reference of the API."""
    return render_template("api.html", sections=_sections(current_app.extensions[EXTENSION]))


@blueprint.get("/problems")
def problems_page() -> str:
    """Return the explanations of all problems, with their codes as anchors."""
    kinds = [(code, *kind) for code, kind in sorted(KINDS.items())]
    return render_template("problems.html", kinds=kinds)


@lru_cache(maxsize=1)
def _sections(api: OpenApi) -> list[OperationSection]:
    document = api.document
    sections = {tag["name"]: OperationSection(tag["name"], tag["description"], []) for tag in document["tags"]}
    for path, operations in document["paths"].items():
        shared = operations.get("parameters", [])
        for method, operation in operations.items():
            if method != "parameters":
                described = _operation(document, method, path, shared, operation)
                sections[operation["tags"][0]].operations.append(described)
    return list(sections.values())


def _operation(document: Schema, method: str, path: str, shared: list[Schema], operation: Schema) -> Operation:
    status = min(operation["responses"])
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    answer: Schema = next(iter(operation["responses"][status].get("content", {}).values()), {})
    parameters = [
        Field(
            f"{parameter['name']} ({parameter['in']})",
            _kind(document, parameter["schema"]),
            bool(parameter.get("required")),
            parameter.get("description", parameter["schema"].get("description", "")),
        )
        for parameter in (*shared, *operation.get("parameters", ()))
    ]
    return Operation(
        method=method.upper(),
        path=path,
        anchor=re.sub("[^a-z0-9]+", "-", f"{method} {path.removeprefix('/api/v1')}".lower()).strip("-"),
        summary=operation["summary"],
        description=operation.get("description", ""),
        signed_in={} not in operation.get("security", [{}]),
        parameters=parameters,
        body=_fields(document, body.get("schema", {}), MAX_BODY_DEPTH),
        body_example=_example(body),
        status=status,
        answer=_fields(document, answer.get("schema", {}), MAX_ANSWER_DEPTH),
        answer_example=_example(answer),
        problems=sorted(status_code for status_code in operation["responses"] if status_code >= "400"),
    )


def _example(content: Schema) -> str:
    return json.dumps(content["example"], ensure_ascii=False, indent=2) if "example" in content else ""


def _fields(document: Schema, schema: Schema, depth: int, prefix: str = "") -> list[Field]:
    fields: list[Field] = []
    schema = _resolved(document, schema)
    if not prefix and "oneOf" in schema:
        schema = _with_all_fields(schema["oneOf"])
    for name, inner in schema.get("properties", {}).items() if depth else ():
        nested, dotted = _resolved(document, inner), f"{prefix}{name}."
        description = inner.get("description") or nested.get("description", "")
        fields.append(Field(prefix + name, _kind(document, inner), name in schema.get("required", ()), description))
        if nested.get("type") == "array":
            nested, dotted = _resolved(document, nested["items"]), f"{prefix}{name}[]."
        fields += _fields(document, nested, depth - 1, dotted)
    return fields


def _with_all_fields(alternatives: Sequence[Schema]) -> Schema:
    """Return an object that has the fields of all alternatives; required are those that all of them require."""
    required = set.intersection(*(set(alternative["required"]) for alternative in alternatives))
    properties = {name: inner for alternative in alternatives for name, inner in alternative["properties"].items()}
    return {"type": "object", "properties": properties, "required": sorted(required)}


def _resolved(document: Schema, schema: Schema) -> Schema:
    """Return the schema that a reference leads to; for a nullable one, the schema of its other values."""
    for keyword in ("anyOf", "allOf"):
        choices = [choice for choice in schema.get(keyword, ()) if choice.get("type") != "null"]
        if len(choices) == 1:
            return _resolved(document, choices[0])
    if "$ref" not in schema:
        return schema
    resolved: Schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return resolved


def _kind(document: Schema, schema: Schema) -> str:
    nullable = any(choice.get("type") == "null" for choice in schema.get("anyOf", ()))
    schema = _resolved(document, schema)
    kinds = schema.get("type", "object")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    kind = " or ".join(type_name for type_name in kinds if type_name != "null")
    if "enum" in schema:
        kind = ", ".join(str(value) for value in schema["enum"] if value is not None)
    elif kind == "array":
        kind = f"list of {_kind(document, schema['items'])}"
    elif schema.get("format") == "date-time":
        kind = "instant"
    if "oneOf" in schema:
        kind = "one of " + "; ".join(_alternative(document, alternative) for alternative in schema["oneOf"])
    return f"{kind} or null" if nullable or "null" in kinds else kind


def _alternative(document: Schema, schema: Schema) -> str:
    properties = _resolved(document, schema).get("properties", {})
    inner = ", ".join(f"{name}: {_kind(document, property_schema)}" for name, property_schema in properties.items())
    return f"{{{inner}}}" if inner else _kind(document, schema)
