"""Texts that are public, kept in ``tests/snapshots``: a change shows as a diff to review.

``assert text == snapshot("pack/example.txt", text)``; UPDATE_SNAPSHOTS=1 writes what is current.
"""

import os
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "snapshots"


def snapshot(name: str, current: str) -> str:
    """Return the text kept as *name*, byte for byte; a missing one is a failure."""
    path = FOLDER / name
    if os.environ.get("UPDATE_SNAPSHOTS") == "1":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(current.encode())
    if not path.exists():
        raise AssertionError(f"no snapshot {name}; write it with UPDATE_SNAPSHOTS=1")
    return path.read_bytes().decode()
