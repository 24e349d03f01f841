"""Run the command line as ``python -m deploy.cli``."""

from deploy.cli import main

main(prog_name="rookery")
