"""How Rookery runs: command line, local installation, production configuration."""
