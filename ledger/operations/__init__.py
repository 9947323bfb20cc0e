"""Requests: one frozen class each, which knows what it needs and how to run."""
