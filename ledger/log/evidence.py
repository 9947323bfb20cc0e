"""Evidence that a log contradicts a head of it that was seen: a file for third parties.

It is plain text: a first line that names the finding, the two heads as signed notes, each under the
vkey that it holds under, and where both are of one log and the second is not the smaller one, the
proof that its tree has another root at the first one's size::

    memprove evidence v1: ledger_forked

    seen <vkey>
    <signed note>

    found <vkey>
    <signed note>

    root <size of the seen head> <base64: root of the found tree at that size>
    <base64 of each hash of the RFC 6962 consistency proof from there to the found head>

Who trusts the vkeys needs nothing else: both heads are signed, the proof shows that the found tree
begins with *root*, and the seen head signs another root of the same size.
"""

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from memprove.ledger.log import state_files
from memprove.ledger.log.append import node_reader
from memprove.ledger.problems import Problem
from memprove.ledger.storage.interface import Reader
from memprove.ledger.tlog import Invalid, merkle
from memprove.ledger.tlog.head import Head, parse_head
from memprove.ledger.tlog.note import encode_base64


def shown(reader: Reader, code: str, seen: tuple[str, bytes], found: tuple[str, bytes]) -> str:
    """Return the text; *seen* and *found* are each a vkey and a note that holds under it."""
    parts = [f"memprove evidence v1: {code}\n"]
    for word, (vkey, note) in (("seen", seen), ("found", found)):
        parts.append(f"{word} {vkey}\n{note.decode()}")
    parts += _proof(reader, _head(seen[1]), _head(found[1]))
    return "\n".join(parts)


def written(state_dir: Path, code: str, text: str) -> Path | None:
    """Write *text* to a file of its own; the same once. None where nothing can be written."""
    folder = state_dir / "evidence"
    file = folder / f"{code}-{sha256(text.encode()).hexdigest()[:16]}.txt"
    beside = folder / f".{file.name}.{os.getpid()}.tmp"
    with suppress(OSError):
        if not file.exists():
            state_files.make_private(folder)
            beside.write_text(text, encoding="utf-8", newline="\n")
            os.replace(beside, file)
        return file
    with suppress(OSError):
        beside.unlink(missing_ok=True)
    return None


def _proof(reader: Reader, seen: Head, found: Head) -> list[str]:
    """Return the proof that *found* begins otherwise, where there is one and the tree is whole."""
    if seen.origin != found.origin or seen.size > found.size:
        return []
    nodes = node_reader(reader)
    try:
        root = merkle.root(seen.size, nodes)
        proof = merkle.prove_consistency(seen.size, found.size, nodes)
        merkle.check_consistency(seen.size, found.size, proof, root, found.root)
    except (Problem, Invalid):
        return []
    hashes = "".join(f"{encode_base64(digest)}\n" for digest in proof)
    return [f"root {seen.size} {encode_base64(root)}\n{hashes}"]


def _head(note: bytes) -> Head:
    return parse_head(note.decode().partition("\n\n")[0] + "\n")
