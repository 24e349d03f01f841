"""The small pages that links in mail lead to. To follow a link changes nothing: a button does."""

from flask import render_template, url_for

from api.operations.mail_links import confirmable_address, refusing_player, resettable_account
from api.pages.layout import blueprint
from api.services import services


@blueprint.get("/mail/confirm/<token>")
def confirm_mail(token: str) -> str:
    """Return the page that confirms a mail address."""
    person, address, _ = confirmable_address(token)
    return render_template(
        "mail_page.html",
        title="Confirm your mail address",
        text=f"Shall {address} be the mail address of the account {person.name}?",
        button="Confirm it",
        call="POST /api/v1/mail-confirmations",
        token=token,
        said=f"{address} is confirmed: notices can be sent there.",
        after=url_for("web.notice_settings"),
    )


@blueprint.get("/mail/stop/<token>")
def stop_mail(token: str) -> str:
    """Return the page that stops notices by mail."""
    player = refusing_player(token)
    person = services().people.person(player)
    return render_template(
        "mail_page.html",
        title="Stop notices by mail",
        text=f"Shall no more notices about the matches of {person.name if person else player} be sent by mail?",
        button="Stop them",
        call=f"POST /api/v1/mail-refusals/{token}",
        token=None,
        said="No more notices are sent by mail. The settings of notices let them be sent again.",
        after=url_for("web.notice_settings"),
    )


@blueprint.get("/password-reset")
def password_reset() -> str:
    """Return the form that asks for a link to choose a new password."""
    return render_template("password_reset.html", mail_is_sent=services().settings.mail is not None)


@blueprint.get("/password-reset/<token>")
def new_password(token: str) -> str:
    """Return the form for a new password."""
    return render_template("new_password.html", name=resettable_account(token).person.name, token=token)
