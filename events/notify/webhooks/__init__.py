"""Webhooks by the Standard Webhooks specification: payloads, signatures and what is read from answers."""
