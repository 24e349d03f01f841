"""The event store: envelopes, codec, contract, Redis and memory, hash chain, snapshots, feed and archive.

- Events: ``contract``, ``envelope``, ``codec`` with ``converter``, ``kinds`` of streams, ``chain``, ``snapshots``,
  ``logged_leaves``.
- Redis: ``redis``, the ``feed`` with ``wake_ups``, ``time`` that both sides agree on, ``copies`` on replicas.
- Losses: the ``mark`` in a file, ``high_water_mark`` that compares it, ``incidents``, ``servers`` and
  ``rewriting`` of their files. ``archive``: packs of finished matches.
"""
