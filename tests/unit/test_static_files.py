"""The files of the pages: browsers keep them, and ask for them again when one has changed."""

import re
from pathlib import Path

import pytest

from api.web.static_files import VERSION, version_of
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
            assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"


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
