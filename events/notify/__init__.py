"""Notices: the ledger and its settings, the outbox, and the channels mail, push and webhooks.

- From events to notices: ``facts``, ``contest_facts``, ``policy``, ``wording``, ``notice``, ``ledger``, ``outbox``,
  ``scheduled_checks``, ``presence``.
- People: ``preferences`` (a ``player_store``), mail ``addresses``, webhook ``endpoints``, push ``subscriptions``,
  ``feed_addresses``.
- Mail: ``letters``, ``mail_links``, the ``inbox``, and ``mail``; the other channels are ``push`` and ``webhooks``.
"""
