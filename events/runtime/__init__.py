"""Settings, connections, logs and the wall clock.

- Store: ``connections`` by the URL, ``clients``, ``cluster`` with ``slots``, ``sentinels``, ``topology``, ``errors``.
- Keys and commands: ``keys``, ``notice_keys``, ``queues``, ``scripts``, ``transactions``, ``reads`` that share a round
  trip, ``work_list``, ``counters``.
- Process: ``settings``, ``logs``, ``wall_clock``, ``exit_codes``, ``beats`` and ``beat_files``, ``liveness`` of relays,
  ``metric``, ``remembered`` values, ``origin`` of work, ``tracing`` with ``otlp``.
- Outside: ``egress`` with its ``egress_rules``, ``backoff``, ``durable_files``.
"""

import sys

# redis-py imports the metrics of OpenTelemetry's SDK wherever the SDK is installed, and nothing here uses them: without
# them every process starts 50 ms earlier. Python takes a module that is None for one that is not installed.
sys.modules.setdefault("opentelemetry.sdk.metrics", None)  # type: ignore[arg-type]
