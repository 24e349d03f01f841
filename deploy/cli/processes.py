"""The option of commands that start workers of their own where no worker of the fleet runs."""

import os

import click

processes_option = click.option(
    "--processes",
    type=click.IntRange(1),
    default=os.cpu_count() or 1,
    show_default="one for each processor",
    help="Where no worker of the fleet runs: the number of workers that this command starts.",
)
