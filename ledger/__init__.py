"""The product without argv, JSON-RPC or printing: events, the log, folds and operations."""
