"""What tests of several kinds share. A map, by what it stands for.

Servers and processes: server topologies three_masters watched_servers proxy pauses rabbitmq celery_worker relays
streams served_app processes.
People and programs outside: callers api_client mailbox mail_* post_office push_service receivers webhook_* quoting.
Installations driven step by step: stepped_installation timekept watch eventually projected fleet jobs memory_*.
Matches and stores: matches cases drafts rating_book dumps stored chains worst tables.
Proof: bundles forging verifying verdicts log_tiles tlog_proofs player_keys judge; plain_bundles, odd_keys and *_vectors
write what is published in docs/proof; forgeries and second_verifier compare two verifiers.
Games: tiny_game toy_games rulesets; slow_* and specified_ratings read the rules a second time.
"""
