"""The log: events linked, committed, signed and verified over a store."""
