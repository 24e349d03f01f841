"""The manifest of the append-only files, as different servers write it."""

from pathlib import Path

import pytest

from deploy.local.aof import AOF_DIRECTORY, AOF_FILE, DamagedFileError, flush, incremental_files


def written(directory: Path, *lines: str) -> Path:
    """Write a manifest with ``lines`` and the files that they name; return their folder."""
    folder = directory / AOF_DIRECTORY
    folder.mkdir()
    (folder / f"{AOF_FILE}.manifest").write_text("".join(f"{line}\n" for line in lines))
    for line in lines:
        if line.startswith("file "):
            (folder / line.split()[1]).write_bytes(b"*1\r\n")
    return folder


@pytest.mark.parametrize("facts", ["", " startoffset 224", " startoffset 224 endoffset 532"])
def test_logs_of_writes_are_found_whatever_facts_the_server_adds(tmp_path: Path, facts: str) -> None:
    folder = written(
        tmp_path,
        "file appendonly.aof.2.base.rdb seq 2 type b",
        "file appendonly.aof.1.incr.aof seq 1 type h",
        f"file appendonly.aof.2.incr.aof seq 2 type i{facts}",
        f"file appendonly.aof.3.incr.aof seq 3 type i{facts}",
    )
    assert incremental_files(tmp_path) == [folder / f"appendonly.aof.{number}.incr.aof" for number in (2, 3)]
    assert flush(tmp_path) == ("appendonly.aof.3.incr.aof", 4)


def test_a_manifest_that_cannot_be_understood_is_refused(tmp_path: Path) -> None:
    written(tmp_path, "file appendonly.aof.2.base.rdb seq 2 type b", "\0\0\0")
    with pytest.raises(DamagedFileError, match=r"manifest cannot be understood in line 2"):
        incremental_files(tmp_path)
