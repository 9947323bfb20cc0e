"""The Model Context Protocol face of the ledger."""
