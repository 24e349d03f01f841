"""How servers, gunicorn and containers are configured, on one machine or many."""
