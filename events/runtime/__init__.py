"""Settings, connections, logs and the wall clock."""

import sys

# redis-py imports the metrics of OpenTelemetry's SDK wherever the SDK is installed, and nothing here uses them: without
# them every process starts 50 ms earlier. Python takes a module that is None for one that is not installed.
sys.modules.setdefault("opentelemetry.sdk.metrics", None)  # type: ignore[arg-type]
