"""The probe of a container: what hangs is named, and what only waits or has ended is not."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from deploy.cli import main
from events.runtime import beats
from events.runtime.beat_files import BeatFiles, read_liveness


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "beats"


@pytest.fixture
def files(directory: Path) -> BeatFiles:
    return BeatFiles(directory)


@pytest.fixture
def ended_pid() -> int:
    with subprocess.Popen(["true"]) as ended:
        pass
    return ended.pid


@pytest.fixture(autouse=True)
def no_other_test_beats_here() -> Iterator[None]:
    yield
    beats._Files.kept = None


def probe(directory: Path) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["alive", str(directory)])
    return result.exit_code, result.output.strip()


def test_a_part_whose_lines_all_beat_is_alive(directory: Path) -> None:
    beats.keep_in(directory)
    with beats.line("ticker"):
        beats.beat("sweeper")
        assert probe(directory) == (0, "2 lines of work make progress")


def test_a_line_that_is_silent_is_named(directory: Path, files: BeatFiles) -> None:
    files.beat("ticker", -20.0)
    files.beat("sweeper", 0.0)
    code, words = probe(directory)
    assert (code, words) == (1, f"no progress: {os.getpid()}-ticker for 20 s")


def test_a_line_that_has_announced_a_long_task_is_given_the_time(directory: Path, files: BeatFiles) -> None:
    files.beat("loop", 100.0)
    assert read_liveness(directory, max_silence_s=-50.0).alive
    assert not read_liveness(directory, max_silence_s=-150.0).alive


def test_a_line_that_has_ended_is_not_missed_and_a_part_without_waits(directory: Path, files: BeatFiles) -> None:
    files.beat("loop", -60.0)
    files.rest("loop")
    assert probe(directory) == (0, "0 lines of work make progress")


def test_a_process_of_a_pool_that_was_killed_does_not_count(directory: Path, files: BeatFiles, ended_pid: int) -> None:
    (directory / f"{ended_pid}-process-1").write_text("1.0")
    assert read_liveness(directory).alive


def test_a_part_that_has_ended_or_never_began_is_not_alive(directory: Path, ended_pid: int) -> None:
    assert probe(directory) == (1, f"nothing beats in {directory}: No such file or directory")
    directory.mkdir()
    (directory / str(ended_pid)).touch()
    (directory / f"{os.getpid()}-process-1").write_text("1e12")
    assert probe(directory) == (1, f"no process that beats in {directory} runs")


def test_what_an_earlier_process_left_is_removed(directory: Path) -> None:
    directory.mkdir()
    (directory / "1-loop").write_text("1.0")
    (directory / "notes.txt").touch()
    beats.keep_in(directory)
    assert read_liveness(directory).alive
    assert sorted(path.name for path in directory.iterdir()) == [str(os.getpid()), "notes.txt"]


def test_a_directory_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refused = CliRunner().invoke(main, ["relay", "--heartbeat", str(tmp_path / "file" / "beats")])
    assert refused.exit_code == 1
    assert "no beats can be kept in" in refused.output
