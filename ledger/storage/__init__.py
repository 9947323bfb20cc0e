"""Where a log is kept: one small protocol and its implementations. Knows no event kind."""
