"""The ledger of notices as a page: what the person was told, how and why."""

from collections.abc import Mapping, Sequence

from flask import render_template, request
from werkzeug.wrappers import Response

from api.access.auth import current_person
from api.access.matches import listed_for
from api.operations.notice_targets import targets_of
from api.pages.layout import blueprint, sign_in_first
from api.pages.notice_wording import CHANNELS, KINDS, STATES
from api.representations.matches import MatchSummary, represent_summaries
from api.services import services
from domain.match.terms import duration
from events.notices.ledger import KEPT_MS, MAX_NOTICES
from events.notices.notice import Notice
from events.people.person import Person

NOTICES_PER_PAGE = 30


@blueprint.get("/notices")
def notices() -> str | Response:
    """Return the notices of the person, of one match if the query names one, the latest first."""
    person = current_person()
    if person is None:
        return sign_in_first()
    match, cursor = request.args.get("match"), request.args.get("cursor")
    page = services().ledger.page(person.id, cursor, NOTICES_PER_PAGE, match)
    return render_template(
        "notices.html",
        page=page,
        matches=_matches_of(page.notices, person),
        match=match,
        is_first_page=not cursor,
        targets=targets_of(person.id),
        kinds=KINDS,
        channels=CHANNELS,
        states=STATES,
        max_notices=MAX_NOTICES,
        kept=duration(KEPT_MS),
    )


def _matches_of(listed: Sequence[Notice], person: Person) -> Mapping[str, MatchSummary]:
    """Return the matches of the ``listed`` notices that ``person`` may see, by their ids, as lists have them."""
    ids = sorted({notice.match for notice in listed if notice.match is not None})
    shown = listed_for(person, ids)
    summaries = [each.summary for each in services().readmodels.projected(sorted(shown)) if each is not None]
    return {match.id: match for match in represent_summaries(summaries)}
