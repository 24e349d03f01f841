"""A client that openapi-python-client generates from the served document, and a match played with nothing else."""

import ast
import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from flask import Flask

from api.services import Services
from tests.support.callers import Caller, app_on
from tests.support.programs import find_program

CONFIGURATION = Path(__file__).parents[3] / "docs" / "examples" / "client.yaml"
PACKAGE = "rookery_client"
SCRIPTS = Path(__file__).parents[3] / ".venv" / "javascript" / "node_modules" / ".bin"


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """Return the document, the folder of the client that was generated from it, and what the generator warned of."""
    # To be read the document needs no store.
    document: Any = app_on("redis://127.0.0.1:1/0").test_client().get("/openapi.json").json
    # Imported when it is needed: every test process collects this file.
    generator = import_module("openapi_python_client")
    config = import_module("openapi_python_client.config")
    folder = tmp_path_factory.mktemp("client")
    (folder / "openapi.json").write_text(json.dumps(document))
    settings = config.ConfigFile.load_from_path(CONFIGURATION).model_copy(update={"post_hooks": []})
    warnings = generator.generate(
        config=config.Config.from_sources(
            settings, meta_type=config.MetaType.NONE, document_source=folder / "openapi.json", file_encoding="utf-8",
            overwrite=False, output_path=folder / PACKAGE,
        )
    )  # fmt: skip
    return SimpleNamespace(document=document, folder=folder, warnings=warnings)


def test_the_generator_has_nothing_to_warn_of_and_leaves_no_operation_out(generated: SimpleNamespace) -> None:
    assert [(warning.header, warning.detail) for warning in generated.warnings] == []
    operations = {
        f"{operation['tags'][0]}/{operation['operationId']}"
        for path in generated.document["paths"].values()
        for method, operation in path.items()
        if method != "parameters"
    }
    modules = (generated.folder / PACKAGE / "api").glob("*/*.py")
    found = {f"{module.parent.name}/{module.stem}" for module in modules if module.stem != "__init__"}
    assert {name.replace("-", "_") for name in operations} == found


def test_every_body_and_answer_in_json_has_a_type(generated: SimpleNamespace) -> None:
    untyped = [
        module.stem
        for module in (generated.folder / PACKAGE / "api").glob("*/*.py")
        for function in ast.parse(module.read_text()).body
        if isinstance(function, ast.FunctionDef) and function.name == "sync_detailed"
        for argument in function.args.kwonlyargs
        if argument.arg == "body" and argument.annotation is not None and ast.unparse(argument.annotation) == "Any"
    ]
    assert untyped == []


def test_spectral_finds_nothing_in_the_document(generated: SimpleNamespace) -> None:
    rules = generated.folder / "spectral.yaml"
    rules.write_text('extends: ["spectral:oas"]\n')
    run_script("spectral", "lint", "--fail-severity", "warn", "--ruleset", rules, generated.folder / "openapi.json")


def test_types_for_typescript_are_generated_and_compile(generated: SimpleNamespace) -> None:
    types = generated.folder / "api.d.ts"
    run_script("openapi-typescript", generated.folder / "openapi.json", "--output", types)
    run_script("tsc", "--noEmit", "--strict", types)


def run_script(name: str, *arguments: str | Path) -> None:
    """Run a program of tests/javascript; it must succeed."""
    program = find_program([name], "npm", path=str(SCRIPTS))
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    ran = subprocess.run([program, *arguments], env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_two_people_play_with_the_generated_client(
    generated: SimpleNamespace, app: Flask, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(generated.folder)
    models = import_module(f"{PACKAGE}.models")
    transport = httpx.WSGITransport(app=app)

    def signed_in(name: str) -> Any:
        token = Caller(app).sign_up(name).token().removeprefix("Bearer ")
        client = import_module(f"{PACKAGE}.client")
        return client.AuthenticatedClient("http://localhost", token, httpx_args={"transport": transport})

    def ask(operation: str, *path: str, client: Any, **more: Any) -> Any:
        return import_module(f"{PACKAGE}.api.{operation}").sync(*path, client=client, **more)

    anna, boris = signed_in("anna"), signed_in("boris")
    seats = [models.OwnSeat(kind="me"), models.InvitedSeat(kind="player", name="boris")]
    match = ask("new_matches.create_match", client=anna, body=models.MatchRequest(game="bashni", seats=seats))
    ask("commands.join", match.id, client=boris, body=models.JoinRequest())
    for player in (anna, boris, anna, boris):
        services.projector.project([match.id])
        [item] = ask("lists.list_pending", client=player).items
        legal = ask("matches.list_legal_moves", item.match.id, client=player)
        played = ask(
            "commands.submit_move", item.match.id, client=player, if_match=f'"{legal.version_tag}"',
            body=models.MoveRequestWithMove(move=legal.legal_moves[0]),
        )  # fmt: skip
        assert played.version == legal.version + 1
    refused = ask("commands.submit_move", match.id, client=boris, body=models.MoveRequestWithMoves(moves=["a1-b2"]))
    assert (refused.code, refused.status) == ("not-your-turn", 409)
    ask("commands.resign", match.id, client=anna, body=models.EmptyBody())
    shown = ask("matches.show_match", match.id, client=boris)
    assert (shown.status, shown.result.scores, shown.ply) == ("finished", [0.0, 1.0], 4)
