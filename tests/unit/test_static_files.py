"""The files of the pages: browsers keep them, ask again when one has changed, and hear of every type of event."""

import re
from pathlib import Path

import pytest

from api.pages.static_files import CONTENTS, STATIC, VERSION, modules_of, trim, version_of
from domain.match.event_types import TYPES
from tests.support.callers import Caller, app_on

NO_STORE = "redis://127.0.0.1:1/0"


def test_browsers_keep_the_files_that_a_page_names_without_asking_again() -> None:
    client = Caller(app_on(NO_STORE)).client
    page = client.get("/lobby", headers={"Accept": "text/html"}).get_data(as_text=True)
    named = re.findall(r'(?:href|src)="(/static/[^"]+)"', page)
    assert {path.rpartition(".")[2] for path in named} == {"css", "js", "svg"}
    for path in named:
        with client.get(path) as answer:
            assert answer.status_code == 200, path
            assert answer.headers["Cache-Control"] == "max-age=31536000, immutable"


def test_a_file_of_another_version_is_answered_and_not_kept() -> None:
    client = Caller(app_on(NO_STORE)).client
    with client.get(f"/static/{VERSION[::-1]}x/style.css") as answer:
        assert answer.status_code == 200
        assert answer.headers["Cache-Control"] == "no-cache"


@pytest.mark.parametrize("path", ["no-such-file.js", "..%2fframe.py", "../frame.py"])
def test_only_files_of_the_pages_are_answered(path: str) -> None:
    with Caller(app_on(NO_STORE)).client.get(f"/static/{VERSION}/{path}") as answer:
        assert answer.status_code == 404


def test_the_version_changes_with_the_contents_and_with_the_names_of_the_files(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text("1")
    (tmp_path / "b.js").write_text("2")
    versions = {version_of(tmp_path)}
    (tmp_path / "a.js").write_text("3")
    versions.add(version_of(tmp_path))
    (tmp_path / "a.js").rename(tmp_path / "c.js")
    versions.add(version_of(tmp_path))
    assert len(versions) == 3


def test_scripts_and_style_sheets_are_sent_without_comments_and_indentation() -> None:
    script = b"// What it does.\n\nexport function f(url) {\n  // why\n  return `//${url}`; // so\n}\n"
    assert trim("a.js", script) == b"export function f(url) {\nreturn `//${url}`; // so\n}"
    assert trim("a.css", b"/* One\n   and two. */\na { b: c; }\n  /* x */ d { e: f; }\n") == b"a { b: c; }\nd { e: f; }"
    assert trim("a.svg", b"  <svg/>\n") == b"  <svg/>\n"


def test_no_text_in_a_script_goes_on_over_several_lines() -> None:
    for path in STATIC.rglob("*.js"):
        lines = (line for line in path.read_text().splitlines() if not line.strip().startswith("//"))
        assert [line for line in lines if line.count("`") % 2 or line.endswith("\\") or "/*" in line] == [], path.name


def test_a_page_names_every_module_that_its_scripts_import() -> None:
    page = Caller(app_on(NO_STORE)).client.get("/lobby", headers={"Accept": "text/html"}).get_data(as_text=True)
    assert re.findall(r'<link rel="modulepreload" href="/static/[^/]+/([^"]+)">', page) == list(modules_of("site.js"))
    for path in STATIC.rglob("*.js"):
        imported = set(re.findall(r'(?:from|import\()\s*"\./([^"]+)"', path.read_text()))
        dynamic = set(re.findall(r'import\("\./([^"]+)"', path.read_text()))
        folder = path.parent.relative_to(STATIC)
        named = {str(folder / name) for name in imported - dynamic}
        assert named <= set(modules_of(str(path.relative_to(STATIC)))), path.name


def test_pages_and_single_pictures_have_one_style_sheet() -> None:
    shared = Path(__file__).parents[2] / "events" / "pictures" / "picture.css"
    assert (STATIC / "picture.css").resolve() == shared


def test_a_page_hears_of_every_type_of_event() -> None:
    assert f'const EVENTS = "{" ".join(TYPES)}".split(" ");' in CONTENTS["live.js"].decode()
