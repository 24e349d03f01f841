"""The proof of matches for those who do not trust the server: replays, signed bundles, keys, a Merkle log of all heads.

- Formats: ``documents``, ``public_keys``, ``player_signatures``, ``bundle``, ``receipts``, ``checkpoints``, ``leaves``,
  ``merkle``, ``notes``, ``tree_heads``, ``policies``; ``verification`` needs them alone.
- The server's side: ``keys`` with ``key_file``, ``leaf_store``, ``log_growth``, ``checkpoint_log``,
  ``signed_checkpoints``, ``guard``; ``transparency`` publishes the log.
- Checks: ``audit`` of matches, ``tournaments``, ``log_audit``, ``administration_audit``; ``witness`` and ``monitor`` of
  other logs.
"""
