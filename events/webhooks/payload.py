"""What webhooks say: JSON of one shape for each type. Pure."""

MAX_PAYLOAD_BYTES = 20_000
