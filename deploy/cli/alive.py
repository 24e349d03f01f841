"""Whether a part of an installation works, asked by the runtime of its container."""

from pathlib import Path

import click

from deploy.cli.output import CliError
from events.runtime import beats
from events.runtime.beat_files import MAX_SILENCE_S, read_liveness

_DIRECTORY = click.Path(file_okay=False, path_type=Path)

heartbeat_option = click.option(
    "--heartbeat", type=_DIRECTORY, help="Keep beats in this directory, for `rookery alive`."
)


def keep_beats(directory: Path | None) -> None:
    """Keep the beats of this process in ``directory``, if one was given; raises CliError where that cannot be done."""
    if directory is not None:
        try:
            beats.keep_in(directory)
        except OSError as error:
            raise CliError(f"no beats can be kept in {directory}: {error.strerror}") from error


@click.command()
@click.argument("directory", type=_DIRECTORY)
@click.option("--max-silence", type=float, default=MAX_SILENCE_S, show_default=True, help="In seconds.")
def alive(directory: Path, max_silence: float) -> None:
    """Tell whether the relay, worker or gateway that was started with --heartbeat DIRECTORY works.

    Exits with 1 when its process does not run, or one of its threads and processes has made no progress.
    """
    liveness = read_liveness(directory, max_silence)
    click.echo(liveness.reason, err=not liveness.alive)
    if not liveness.alive:
        raise SystemExit(1)
