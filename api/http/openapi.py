"""Resources that are described as they behave: the blueprint, its strict parser, and the OpenAPI document."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, wraps
from http import HTTPStatus
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import flask_smorest
import marshmallow as ma
from apispec.ext.marshmallow import MarshmallowPlugin
from apispec.ext.marshmallow.openapi import OpenAPIConverter
from flask import Flask, Response, g, request
from werkzeug.exceptions import HTTPException, RequestEntityTooLarge

from api.http.messages import sentences
from api.http.problem_explanations import EXPLANATIONS
from api.http.problems import JSON_PROBLEM, KINDS, Problem, answer, listed_errors
from api.http.schemas import Either, Flag, Instant, ProblemShown, QueryNumber, Text, Whole, flattened

LARGEST_BODY = 64 * 1024
PREFIX = "/api/v1"
EXAMPLES = Path(__file__).with_name("examples.json")
SIGNED_IN: list[dict[str, list[str]]] = [{"session": []}, {"token": []}]

View = TypeVar("View", bound=Callable[..., Any])


def json_response(payload: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return ``payload`` as a compact JSON response."""
    body = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    return Response(body, status, headers, content_type="application/json")


def read_json() -> Any:
    """Return the body of the request, read strictly.

    Raises the problems not-json (another content type) and malformed-json (not UTF-8, not JSON, a key twice in one
    object, NaN, a number or a nesting beyond reason).
    """
    if request.mimetype != "application/json":
        raise Problem("not-json", "Send a JSON body with Content-Type: application/json.")
    try:
        return json.loads(_body().decode(), object_pairs_hook=_object, parse_constant=_refuse_constant)
    except RecursionError:
        raise Problem("malformed-json", "The body is nested too deeply.") from None
    except ValueError as error:
        raise Problem("malformed-json", f"The body cannot be read: {error}.") from None


def _body() -> bytes:
    try:
        body = request.get_data()
    except HTTPException:
        raise
    except Exception as error:  # each server has errors of its own for chunks that are none, or do not come
        raise Problem("malformed-json", "The body breaks off, or its chunks cannot be read.") from error
    if request.content_length is None and len(body) >= LARGEST_BODY:
        raise RequestEntityTooLarge  # werkzeug cuts a body of unknown length there, and says nothing
    return body


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    if len(read) != len(pairs):
        raise ValueError("an object has the same key twice")
    return read


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def read_query() -> dict[str, str]:
    """Return the query of the request; raises the problem invalid-fields when a name stands twice."""
    for name, values in request.args.lists():
        if len(values) > 1:
            raise Problem("invalid-fields", f"{name} stands twice in the query.", {name: ["stands twice"]})
    return request.args.to_dict()


class _Parser:
    """Reads a body or a query by a schema, in the place of webargs, which does more and costs more."""

    DEFAULT_VALIDATION_STATUS = 422

    def use_args(self, schema: type[ma.Schema], location: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        loader = schema()
        read = {"json": read_json, "query": read_query}[location]

        def decorate(view: Callable[..., Any]) -> Callable[..., Any]:
            @wraps(view)
            def reading(*args: Any, **kwargs: Any) -> Any:
                g.body = read()
                try:
                    arguments = loader.load(g.body)
                except ma.ValidationError as error:
                    raise _invalid(error) from error
                return view(*args, arguments, **kwargs)

            return reading

        return decorate


def _invalid(error: ma.ValidationError) -> Problem:
    errors = flattened(error.messages)
    listed = listed_errors(errors)
    return Problem("invalid-fields", sentences(listed, len(errors) - len(listed)), errors)


class Blueprint(flask_smorest.Blueprint):  # type: ignore[misc]
    """A blueprint whose views answer with finished responses and say in ``documents`` what these can be."""

    ARGUMENTS_PARSER = _Parser()

    def route(self, rule: str, **options: Any) -> Callable[[View], View]:
        """Register a view for ``rule``."""
        register: Callable[[View], View] = super().route(rule, **options)
        return register

    def arguments(
        self, schema: type[ma.Schema], *, location: str = "json", **options: Any
    ) -> Callable[[Callable[..., Response]], Callable[..., Response]]:
        """Read the body or the query by ``schema`` and pass it to the view as its first argument."""
        read: Callable[..., Any] = super().arguments(schema, location=location, **options)
        return read

    def documents(
        self,
        status: int,
        schema: type[ma.Schema] | Mapping[str, Any] | None = None,
        *,
        problems: Sequence[int] = (),
        signed_in: bool = False,
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
        parameters: Sequence[Mapping[str, Any]] = (),
        also: Sequence[int] = (),
    ) -> Callable[[View], View]:
        """Describe a view: the answer on success, further statuses without a body, and the statuses of its problems.

        It wraps nothing: a view costs as much as without. Every view can refuse with 400, 429 and 503.
        """
        refusals = {400, 403, 413, 429, 503, *problems} | ({401} if signed_in else set())

        def describe(view: View) -> View:
            doc = view.__dict__.setdefault("_apidoc", {})
            responses: dict[Any, Any] = doc.setdefault("response", {}).setdefault("responses", {})
            success: dict[str, Any] = {"description": HTTPStatus(status).phrase, "content_type": content_type}
            if schema is not None:
                success["schema"] = schema() if isinstance(schema, type) else dict(schema)
            if headers:
                success["headers"] = {
                    name: {"description": text, "schema": {"type": "string"}} for name, text in headers.items()
                }
            responses[status] = [success]
            for plain in also:
                responses[plain] = [{"description": HTTPStatus(plain).phrase, "content_type": content_type}]
            for refusal in sorted(refusals):
                responses[refusal] = [HTTPStatus(refusal).name]
            manual = doc.setdefault("manual_doc", {})
            manual["security"] = SIGNED_IN if signed_in else [{}, *SIGNED_IN]
            if parameters:
                doc.setdefault("arguments", {}).setdefault("parameters", []).extend(dict(each) for each in parameters)
            return view

        return describe


class _Converter(OpenAPIConverter):
    def schema2jsonschema(self, schema: ma.Schema) -> dict[str, Any]:
        described: dict[str, Any] = super().schema2jsonschema(schema)  # type: ignore[no-untyped-call]
        if isinstance(schema, Either):
            described["oneOf"] = [{"required": [name]} for name in schema.EITHER]
        return described


class _Plugin(MarshmallowPlugin):
    Converter = _Converter


class Api(flask_smorest.Api):  # type: ignore[misc]
    """The OpenAPI document and the registration of the blueprints; errors are answered by ``api.http.problems``."""

    ERROR_SCHEMA = ProblemShown
    DEFAULT_ERROR_RESPONSE_NAME = None

    def __init__(self, app: Flask, session_cookie: str) -> None:
        """Describe ``app``, whose sessions are in the cookie ``session_cookie``."""
        app.config.update(
            API_TITLE="Rookery",
            API_VERSION="1",
            OPENAPI_VERSION="3.1.0",
            OPENAPI_URL_PREFIX="/",
            OPENAPI_JSON_PATH="openapi.json",
            API_SPEC_OPTIONS={"servers": [{"url": "/", "description": "This server"}]},
        )
        super().__init__(app, spec_kwargs={"marshmallow_plugin": _Plugin()})
        for field, kind in ((Text, "string"), (Whole, "integer"), (Flag, "boolean"), (QueryNumber, "integer")):
            self.register_field(field, kind, None)
        self.register_field(Instant, "string", "date-time")
        app.extensions["rookery-api"] = self
        schemes = self.spec.components.security_scheme
        schemes("session", {"type": "apiKey", "in": "cookie", "name": session_cookie})
        schemes("token", {"type": "http", "scheme": "bearer"})

    def handle_http_exception(self, error: Exception) -> Response:
        """Answer werkzeug's errors as problems."""
        return answer(error)

    @cached_property
    def document(self) -> dict[str, Any]:
        """The OpenAPI document, with an example of each main operation (``api/http/examples.json``)."""
        document: dict[str, Any] = self.spec.to_dict()
        for name, example in json.loads(EXAMPLES.read_text()).items():
            method, _, path = name.partition(" ")
            operation = document["paths"][path][method.lower()]
            if "request" in example:
                operation["requestBody"]["content"]["application/json"]["example"] = example["request"]
            answer = operation["responses"][str(example["status"])]
            answer["content"]["application/json"]["example"] = example["answer"]
        return document

    @cached_property
    def _document_text(self) -> str:
        return json.dumps(self.document, ensure_ascii=False)

    def _openapi_json(self) -> Response:
        return Response(self._document_text, content_type="application/json")

    def _register_responses(self) -> None:
        for status in HTTPStatus:
            if status >= 400:
                content: dict[str, dict[str, Any]] = {JSON_PROBLEM: {"schema": ProblemShown}}
                kinds = [code for code, (usual, _) in KINDS.items() if usual == status]
                if kinds:
                    content[JSON_PROBLEM]["example"] = Problem(kinds[0], EXPLANATIONS[kinds[0]]).as_json()
                self.spec.components.response(
                    status.name, {"description": status.phrase, "content": content}, lazy=True
                )
