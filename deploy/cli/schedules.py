"""The schedules of tournaments, and how balanced they are."""

from itertools import groupby, product

import click

from domain.contest.balance import Span, count_balance
from domain.contest.schedules import Form, schedule as pairings_of, sizes


@click.command("schedules")
@click.option("--people", type=click.IntRange(3, 64), help="Only those for this number of people, with their pairings.")
def schedules(people: int | None) -> None:
    """Print the schedules of tournaments: matches, meetings of two people, seats of each, neighbours, opposites.

    Numbers of people with the same counts share a line. A range is the least and the most of all people, or of all
    pairs of people. "before" is how often one person plays
    directly before another one, "opposite" how often two sit opposite each other.
    """
    click.echo("form          seats  people  pairings  matches  meetings  each seat  before  opposite")
    for form, seats in product(Form, (2, 4)):
        chosen = [size for size in sizes(form, seats) if people in (None, size)]
        balances = [(size, count_balance(pairings_of(form, seats, size), size)) for size in chosen]
        for counts, group in groupby(balances, lambda counted: counted[1]._replace(pairings=0)):
            alike = list(group)
            (least, of_least), (most, of_most) = alike[0], alike[-1]
            pairings = Span(of_least.pairings, of_most.pairings)
            opposite = str(counts.opposite) if seats == 4 else "-"
            click.echo(
                f"{form:<13} {seats:>5} {Span(least, most)!s:>7} {pairings!s:>9} {counts.matches!s:>8} "
                f"{counts.meetings!s:>9} {counts.seats!s:>10} {counts.before!s:>7} {opposite:>9}"
            )
            if people is not None:
                drawn = pairings_of(form, seats, people)
                click.echo("  " + " ".join("-".join(str(one + 1) for one in pairing) for pairing in drawn))
