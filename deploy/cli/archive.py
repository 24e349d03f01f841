"""The archive of matches that have been over for some time."""

import click

from deploy.cli.output import CliError, escape_unprintable, progress_bar
from deploy.cli.target import open_installation, target_options, without_secrets
from events.installation import Installation
from events.store.archive.archive import find_fault, verify_matches, verify_tables
from events.store.archive.catalogue import Archived


@click.group()
def archive() -> None:
    """Move old matches out of live memory, and look after them there."""


@archive.command()
@target_options
def run() -> None:
    """Archive all matches that are due, without waiting for the relay to do it.

    Then merge what was written, and delete files to which nothing has referred for 30 days. It may be stopped and run
    again at any time.
    """
    installation = _with_archive()
    archived = installation.archiver.archive_all(installation.store.all_live_streams())
    installation.archiver.move_notes()
    installation.archiver.merge_tables()
    deleted = installation.archiver.collect()
    click.echo(f"{archived} matches archived, {len(deleted)} files without reference deleted")


@archive.command()
@target_options
def status() -> None:
    """Show the archived matches and the storage they take."""
    installation = open_installation()
    catalogue = installation.store.archive.catalogue
    matches = sum(1 for _ in catalogue.archived())
    packs = catalogue.packs()
    tables = catalogue.tables()
    url = installation.settings.archive_url
    click.echo(f"Archive: {'not set (ROOKERY_ARCHIVE_URL)' if url is None else without_secrets(url)}")
    click.echo(f"{matches} matches archived")
    click.echo(f"{len(packs)} packs, {sum(pack.size for pack in packs)} bytes")
    click.echo(f"{len(tables)} tables of lists, {sum(table.size for table in tables)} bytes")


@archive.command()
@target_options
def verify() -> None:
    """Read all files of the archive, and recompute the chain of every match from its stored events.

    The digest that it leads to must be the one in the catalogue, and every match must be in the tables of lists. Of a
    damaged file the matches are named that cannot be read; the others are intact.
    """
    installation = _with_archive()
    store, damaged, intact, changed, unlisted = installation.store.archive, 0, 0, 0, False
    unnamed = {archived.locator for archived in store.catalogue.archived()}
    packs: dict[str, dict[str, Archived]] = {}
    for match, archived in installation.store.archived():
        packs.setdefault(archived.locator.pack, {})[match] = archived
        unnamed.discard(archived.locator)
    with progress_bar(len(packs), "Verifying") as step:
        for name, matches in sorted(packs.items()):
            if (fault := find_fault(store, name)) is not None:
                changed += 1
                click.echo(f"DAMAGED FILE {name}: {fault}")
            for match, fault in verify_matches(store, matches):
                intact += fault is None
                if fault is not None:
                    damaged += 1
                    click.echo(escape_unprintable(f"DAMAGED {match}: {fault}"))
            step()
    for pack, number in sorted(unnamed):
        damaged += 1
        click.echo(f"DAMAGED match {number} of the pack {pack}: the list of archived matches lacks it")
    places = {name: [archived.locator.place for archived in of.values()] for name, of in packs.items()}
    for place, fault in verify_tables(store, places):
        unlisted = True
        click.echo(f"DAMAGED LISTS {place}: {fault}")
    click.echo(f"{intact} archived matches intact, {damaged} damaged")
    if unlisted:
        click.echo("rookery archive relist writes the lists of archived matches again.")
    if damaged or changed or unlisted:
        raise SystemExit(1)


@archive.command()
@target_options
def relist() -> None:
    """Write the lists of archived matches again from their summaries, where they are damaged or lost."""
    installation = _with_archive()
    listed = installation.archiver.relist()
    installation.archiver.merge_tables()
    click.echo(f"{listed} archived matches are listed")


@archive.command()
@target_options
@click.argument("match")
def restore(match: str) -> None:
    """Bring a match back into live memory. Whatever changes an archived match does so by itself."""
    installation = open_installation()
    if not installation.store.restore(match):
        raise CliError(f"{match} is not archived")
    installation.projector.project([match])
    click.echo(f"{match} is live again; it is archived again when it is due")


def _with_archive() -> Installation:
    installation = open_installation()
    if installation.settings.archive_url is None:
        raise CliError("no archive is set: ROOKERY_ARCHIVE_URL says where it is")
    return installation
