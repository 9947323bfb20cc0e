"""Into the configuration files of clients, and out again: only ever our own bytes."""
