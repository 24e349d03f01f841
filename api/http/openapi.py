"""The OpenAPI document, made from the declarations of the endpoints."""

import inspect
import json
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from pathlib import Path
from typing import Any, TypedDict

import marshmallow as ma
import msgspec
from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from apispec.ext.marshmallow.openapi import OpenAPIConverter
from flask import Flask, Response
from werkzeug.routing import Rule

from api.http.answers import JSON, Answer
from api.http.problems import JSON_PROBLEM, KINDS, Problem, ProblemDocument
from api.http.schemas import ExactlyOne, InstantField, KindField

EXTENSION = "rookery-openapi"
EXAMPLES = Path(__file__).with_name("examples.json")
DESCRIPTION = (
    "Correspondence matches of tower games: every move is an event. Errors are RFC 9457 problems. Requests that act on "
    "a match take an Idempotency-Key, and If-Match with the version that they are meant for."
)
RETRY_AFTER = {"Retry-After": {"description": "Seconds to wait before trying again", "schema": {"type": "integer"}}}
LIMIT_HEADERS = {
    "RateLimit-Policy": {"$ref": "#/components/headers/RateLimit-Policy"},
    "RateLimit": {"$ref": "#/components/headers/RateLimit"},
}
SIGNED_IN: list[dict[str, list[str]]] = [{"session": []}, {"token": []}]
_PARAMETER = re.compile(r"<(?:(int):)?(\w+)>")
_REFERENCE = "#/components/schemas/{name}"


class Described(TypedDict, total=False):
    """The statements of the document about a view that cannot be derived.

    ``content`` is the JSON Schema of an answer of ``content_type`` that is not an ``Answer``, ``headers`` are those of
    the answer, ``parameters`` headers of the request, ``also`` further statuses without a body, and ``problems``
    statuses of refusals beside those that the declaration implies.
    """

    problems: Sequence[int]
    content: Mapping[str, Any]
    content_type: str
    headers: Mapping[str, str]
    parameters: Sequence[Mapping[str, Any]]
    also: Sequence[int]


@dataclass(frozen=True, kw_only=True)
class OperationDeclaration:
    """The declaration of a view. ``refusals`` are the statuses of its problems, implied ones among them."""

    status: int
    answer: type[Answer] | None
    body: type[ma.Schema] | None
    query: type[ma.Schema] | None
    signed_in: bool
    costly: bool
    refusals: Sequence[int]
    described: Described


class OpenApi:
    """The document of ``app``, whose sessions are in the cookie ``session_cookie``.

    ``tags`` are the names of the blueprints with their titles, in the order of the document. ``payload`` is the body of
    all webhooks; ``webhooks`` has for each type of them a summary and the schema of its answer.
    """

    def __init__(
        self,
        app: Flask,
        tags: Mapping[str, str],
        session_cookie: str,
        payload: type[Answer],
        webhooks: Mapping[str, tuple[str, type[Answer] | None]],
    ) -> None:
        self._app = app
        self._tags = tags
        self._payload = payload
        self._webhooks = webhooks
        self._session_cookie = session_cookie
        app.extensions[EXTENSION] = self
        app.add_url_rule("/openapi.json", "openapi", lambda: Response(self._text, content_type=JSON))

    @cached_property
    def document(self) -> dict[str, Any]:
        """The document, with an example of each main operation (``examples.json``)."""
        spec = APISpec(
            "Rookery",
            "1",
            "3.1.0",
            plugins=[_Plugin()],
            info={"description": DESCRIPTION, "contact": {"name": "The operator of this server"}},
            servers=[{"url": "/", "description": "This server"}],
            tags=[{"name": name, "description": title} for name, title in self._tags.items()],
        )
        spec.components.security_scheme("session", {"type": "apiKey", "in": "cookie", "name": self._session_cookie})
        spec.components.security_scheme("token", {"type": "http", "scheme": "bearer"})
        routes = [
            (rule, view, view.endpoint)
            for rule in self._app.url_map.iter_rules()
            if hasattr(view := self._app.view_functions[rule.endpoint], "endpoint")
        ]
        answers = {endpoint.answer for _, _, endpoint in routes if endpoint.answer}
        of_webhooks = {self._payload, *(answer for _, answer in self._webhooks.values() if answer)}
        for name, schema in _answer_schemas(answers | of_webhooks).items():
            spec.components.schema(name, schema)
        for status in sorted({status for _, _, endpoint in routes for status in endpoint.refusals}):
            spec.components.response(HTTPStatus(status).name, _refusal(HTTPStatus(status)))
        spec.components.header(
            "RateLimit-Policy",
            {"description": 'The limit that counts this request: "writes";q=600;w=60', "schema": {"type": "string"}},
        )
        spec.components.header(
            "RateLimit", {"description": 'What remains of it: "writes";r=593;t=42', "schema": {"type": "string"}}
        )
        for rule, view, endpoint in routes:
            methods = (rule.methods or set()) - {"HEAD", "OPTIONS"}
            operations = {method.lower(): _operation(rule.endpoint, view, endpoint) for method in methods}
            spec.path(document_path(rule), operations=operations, parameters=_parameters(rule))
        document: dict[str, Any] = spec.to_dict()
        webhooks = {name: {"post": self._webhook(name, *described)} for name, described in self._webhooks.items()}
        return {**_with_examples(document), "webhooks": webhooks}

    def _webhook(self, name: str, summary: str, answer: type[Answer] | None) -> dict[str, Any]:
        """Return the operation of a type of webhook, which its receiver implements (OpenAPI 3.1, section 4.8.1)."""
        taken: dict[str, Any] = {"description": "The webhook has arrived"}
        if answer:
            taken["content"] = {JSON: {"schema": _reference(answer)}}
        return {
            "operationId": name.replace(".", "_"),
            "summary": summary,
            "description": "Signed as Standard Webhooks has it. Any status from 200 to 299 says that it has arrived."
            + (" With 200 the body may ask for what is to be done." if answer else ""),
            "parameters": [
                {"name": header, "in": "header", "required": True, "schema": {"type": "string"}}
                for header in ("webhook-id", "webhook-timestamp", "webhook-signature")
            ],
            "requestBody": {"required": True, "content": {JSON: {"schema": _reference(self._payload)}}},
            "responses": {"200": taken, "2XX": {"description": "The webhook has arrived"}},
        }

    @cached_property
    def _text(self) -> str:
        return json.dumps(self.document, ensure_ascii=False)


class _Converter(OpenAPIConverter):
    field_mapping = {  # noqa: RUF012
        **OpenAPIConverter.field_mapping,
        InstantField: ("string", "date-time"),
    }

    def init_attribute_functions(self) -> None:
        """Add descriptions of the fields of our own."""
        super().init_attribute_functions()  # type: ignore[no-untyped-call]
        self.add_attribute_function(_Converter.one_of_kinds)  # type: ignore[no-untyped-call]

    def schema2jsonschema(self, schema: ma.Schema) -> dict[str, Any]:
        described: dict[str, Any] = super().schema2jsonschema(schema)  # type: ignore[no-untyped-call]
        if isinstance(schema, ExactlyOne):
            return {"oneOf": [_only(described, name, schema) for name in schema.FIELDS]}
        return described

    def field2default(self, field: ma.fields.Field[Any], **options: Any) -> dict[str, Any]:
        """Return the default of ``field``; None stands for a field that is not sent, and has no type."""
        default: dict[str, Any] = super().field2default(field, **options)
        return {} if default.get("default", ...) is None else default

    def one_of_kinds(self, field: ma.fields.Field[Any], **_: Any) -> dict[str, Any]:
        """Return the alternatives of a ``KindField``."""
        if not isinstance(field, KindField):
            return {}
        return {"oneOf": [self._reference(schema) for schema in field.schemas.values()]}

    def _reference(self, schema: ma.Schema) -> Any:
        return self.resolve_nested_schema(schema)  # type: ignore[no-untyped-call]


def _only(described: Mapping[str, Any], name: str, schema: ExactlyOne) -> dict[str, Any]:
    """Return the alternative of ``schema`` that has the field ``name``, with a title by which clients can call it."""
    properties = {
        field: inner for field, inner in described["properties"].items() if field == name or field not in schema.FIELDS
    }
    required = [name, *described.get("required", ())]
    return {
        **described,
        "title": f"{type(schema).__name__}With{name.title()}",
        "properties": properties,
        "required": required,
    }


class _Plugin(MarshmallowPlugin):
    Converter = _Converter


def _reference(answer: type[Answer]) -> dict[str, str]:
    return {"$ref": _REFERENCE.format(name=answer.__name__)}


def _answer_schemas(answers: Set[type[Answer]]) -> dict[str, Any]:
    _, schemas = msgspec.json.schema_components([ProblemDocument, *answers], ref_template=_REFERENCE)
    for schema in schemas.values():
        del schema["title"]
        if "description" in schema:
            schema["description"] = inspect.cleandoc(schema["description"])
    return dict(sorted(schemas.items()))


def _refusal(status: HTTPStatus) -> dict[str, Any]:
    content: dict[str, Any] = {"schema": {"$ref": _REFERENCE.format(name=ProblemDocument.__name__)}}
    codes = [code for code, kind in KINDS.items() if kind.status == status]
    if codes:
        content["example"] = msgspec.to_builtins(Problem(codes[0], KINDS[codes[0]].explanation).document)
    described = {"description": status.phrase, "content": {JSON_PROBLEM: content}}
    return {**described, "headers": RETRY_AFTER} if status in (429, 503) else described


def document_path(rule: Rule) -> str:
    """Return the path of a rule by the names that are published: ``match_id`` is {match}."""
    return _PARAMETER.sub(lambda match: f"{{{match[2].removesuffix('_id')}}}", rule.rule)


def _parameters(rule: Rule) -> list[dict[str, Any]]:
    return [
        {
            "in": "path",
            "name": name.removesuffix("_id"),
            "required": True,
            "schema": {"type": "integer", "minimum": 0} if kind else {"type": "string", "minLength": 1},
        }
        for kind, name in _PARAMETER.findall(rule.rule)
    ]


def _operation(name: str, view: Any, endpoint: OperationDeclaration) -> dict[str, Any]:
    summary, _, description = inspect.cleandoc(view.__doc__).partition("\n\n")
    parameters = [dict(parameter) for parameter in endpoint.described.get("parameters", ())]
    if endpoint.query:
        parameters.append({"in": "query", "schema": endpoint.query})
    operation: dict[str, Any] = {
        "operationId": view.__name__,
        "summary": summary,
        "tags": [name.partition(".")[0]],
        "security": SIGNED_IN if endpoint.signed_in else [{}, *SIGNED_IN],
        "responses": {str(endpoint.status): _success(endpoint)},
    }
    if description:
        operation["description"] = description
    if parameters:
        operation["parameters"] = parameters
    if endpoint.body:
        # A request without a body sends an empty object.
        required = bool(endpoint.body().validate({}))
        operation["requestBody"] = {"required": required, "content": {JSON: {"schema": endpoint.body}}}
    for status in endpoint.described.get("also", ()):
        operation["responses"][str(status)] = {"description": HTTPStatus(status).phrase}
    for status in endpoint.refusals:
        operation["responses"][str(status)] = HTTPStatus(status).name
    return operation


def _success(endpoint: OperationDeclaration) -> dict[str, Any]:
    success: dict[str, Any] = {"description": HTTPStatus(endpoint.status).phrase}
    described = endpoint.described
    headers = {
        name: {"description": text, "schema": {"type": "string"}} for name, text in described.get("headers", {}).items()
    }
    success["headers"] = {**headers, **LIMIT_HEADERS}
    if endpoint.answer:
        success["content"] = {JSON: {"schema": _reference(endpoint.answer)}}
    elif "content" in described:
        success["content"] = {described.get("content_type", JSON): {"schema": described["content"]}}
    return success


def _with_examples(document: dict[str, Any]) -> dict[str, Any]:
    for name, example in json.loads(EXAMPLES.read_text()).items():
        method, _, path = name.partition(" ")
        operation = document["paths"][path][method.lower()]
        if "request" in example:
            operation["requestBody"]["content"][JSON]["example"] = example["request"]
        if "answer" in example:
            operation["responses"][str(example["status"])]["content"][JSON]["example"] = example["answer"]
    return document
