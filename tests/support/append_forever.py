"""Append to the ledger in argv[1]: argv[2] events, or until killed. Print each number once it is
durable.
"""

import sys
from itertools import count
from pathlib import Path

from support.stores import add_event

from memprove.ledger.storage.registry import open_store


def main() -> None:
    store = open_store(Path(sys.argv[1]))
    for _ in range(int(sys.argv[2])) if len(sys.argv) > 2 else count():
        with store.write() as writer:
            seq = add_event(writer).seq
            writer.put_row("sizes", "size", b"%d" % seq)
        print(seq, flush=True)


if __name__ == "__main__":
    main()
