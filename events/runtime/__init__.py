"""Settings, connections, logs and the wall clock."""
