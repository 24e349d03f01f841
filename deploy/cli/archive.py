"""The archive of matches that have been over for some time."""

import click

from deploy.cli.errors import CliError, report_errors
from deploy.cli.output import escape_unprintable, progress_bar
from deploy.cli.target import open_installation, target_options, without_secrets
from events.archive.verification import verify_pack, verify_tables
from events.installation import Installation


@click.group()
def archive() -> None:
    """Move old matches out of live memory, and look after them there."""


@archive.command()
@target_options
def run() -> None:
    """Archive all matches that are due, and their ratings, without waiting for the relay to do it.

    Then merge what was written, and delete files to which nothing has referred for 30 days. It may be stopped and run
    again at any time.
    """
    installation = _with_archive()
    with report_errors():
        archived = installation.archiver.archive_all(installation.store.all_live_streams())
        while installation.archiver.archive_ratings():
            pass
        installation.archiver.move_notes()
        installation.archiver.merge_tables()
        deleted = installation.archiver.collect()
    click.echo(f"{archived} matches archived, {len(deleted)} files without reference deleted")


@archive.command()
@target_options
def status() -> None:
    """Show what is archived, and what storage it takes."""
    installation = open_installation()
    with report_errors():
        catalogue = installation.store.archive.catalogue
        matches = sum(1 for _ in catalogue.archived())
        packs = catalogue.packs()
        tables = catalogue.tables()
        ratings = installation.archived_periods.days(installation.ratings.present_keys())
    url = installation.settings.archive_url
    click.echo(f"Archive: {'not set (ROOKERY_ARCHIVE_URL)' if url is None else without_secrets(url)}")
    click.echo(f"{matches} matches archived")
    click.echo(f"{len(packs)} packs, {sum(pack.size for pack in packs)} bytes")
    click.echo(f"{len(tables)} tables of lists, {sum(table.size for table in tables)} bytes")
    click.echo(f"{len(ratings.files)} files of ratings, {sum(file.size for file in ratings.files)} bytes")


@archive.command()
@target_options
def verify() -> None:
    """Read all files of the archive, and recompute the chain of every match from its stored events.

    The digest that it leads to must be the one in the catalogue, and every match must be in the tables of lists.
    """
    installation = _with_archive()
    store, damaged, intact, unlisted, unrated = installation.store.archive, 0, 0, False, False
    with report_errors():
        wanted: dict[str, list[int]] = {}
        for archived in store.catalogue.archived():
            wanted.setdefault(archived.locator.pack, []).append(archived.locator.place)
        with progress_bar(len(wanted), "Verifying") as step:
            for name, places in sorted(wanted.items()):
                for match, fault in verify_pack(store, store.pack(name), places):
                    intact += fault is None
                    if fault is not None:
                        damaged += 1
                        click.echo(escape_unprintable(f"DAMAGED {match}: {fault}"))
                step()
        for place, fault in verify_tables(store, wanted):
            unlisted = True
            click.echo(f"DAMAGED LISTS {place}: {fault}")
        periods = installation.archived_periods
        for file in periods.days(installation.ratings.present_keys()).files:
            if (fault := periods.files.find_fault(file)) is not None:
                unrated = True
                click.echo(f"DAMAGED RATINGS {file.name}: {fault}")
    click.echo(f"{intact} archived matches intact, {damaged} damaged")
    if unlisted:
        click.echo("rookery archive relist writes the lists of archived matches again.")
    if unrated:
        click.echo("rookery rebuild makes the archived ratings again.")
    if damaged or unlisted or unrated:
        raise SystemExit(1)


@archive.command()
@target_options
def relist() -> None:
    """Write the lists of archived matches again from their summaries, where they are damaged or lost."""
    installation = _with_archive()
    with report_errors():
        listed = installation.archiver.relist()
        installation.archiver.merge_tables()
    click.echo(f"{listed} archived matches are listed")


@archive.command()
@target_options
@click.argument("match")
def restore(match: str) -> None:
    """Bring a match back into live memory. Whatever changes an archived match does so by itself."""
    installation = open_installation()
    with report_errors():
        if not installation.store.restore(match):
            raise CliError(f"{match} is not archived")
        installation.projector.project([match])
    click.echo(f"{match} is live again; it is archived again when it is due")


def _with_archive() -> Installation:
    installation = open_installation()
    if installation.settings.archive_url is None:
        raise CliError("no archive is set: ROOKERY_ARCHIVE_URL says where it is")
    return installation
