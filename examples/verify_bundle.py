"""Verify a memprove bundle without memprove: verify_bundle.py BUNDLE TRUST.

Written from docs/log-format.md; needs Python 3.11 and `cryptography`. It knows only the bundle.
"""

import base64
import json
import sys
import zlib
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def check(holds, what):
    if not holds:
        raise ValueError(what)


def read(data):
    stream = zlib.decompressobj(wbits=31)
    plain = stream.decompress(data, (1 << 28) + 1)
    check(len(plain) <= 1 << 28 and stream.eof and not stream.unused_data, "gzip")
    document = json.loads(plain)
    again = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    check(again.encode() == plain and document.get("bundle") == 1, "form or version")
    return document


def open_head(note, vkey):
    """Return size and root of a signed head, once the key of its origin signed it."""
    name, key_id, encoded = vkey.split("+", 2)
    key, signed = base64.b64decode(encoded, validate=True), False
    check(sha256(name.encode() + b"\n" + key).hexdigest()[:8] == key_id and key[0] == 1, "vkey")
    text, _, signatures = note.rpartition("\n\n")
    for line in signatures.splitlines():
        dash, signer, value = line.split(" ")
        value = base64.b64decode(value, validate=True)
        if (dash, signer, value[:4].hex()) == ("—", name, key_id):
            Ed25519PublicKey.from_public_bytes(key[1:]).verify(value[4:], f"{text}\n".encode())
            signed = True
    origin, size, root = text.split("\n")
    check(signed and origin == name, "the head is not signed by the key")
    return int(size), base64.b64decode(root, validate=True)


def node(left, right):
    return sha256(b"\x01" + left + right).digest()


def rooted(leaf, place, size, proof):
    """Return the root that the inclusion proof of *leaf* leads to (RFC 6962, 2.1.1)."""
    check(0 <= place < size and (size > 1 or not proof), "inclusion")
    if size == 1:
        return sha256(b"\x00" + leaf.encode()).digest()
    left, sibling = 1 << (size - 1).bit_length() - 1, bytes.fromhex(proof[-1])
    if place < left:
        return node(rooted(leaf, place, left, proof[:-1]), sibling)
    return node(sibling, rooted(leaf, place - left, size - left, proof[:-1]))


def both(old, new, proof, known):
    """Return both roots that a consistency proof leads to (RFC 6962, 2.1.2)."""
    check(0 < old <= new and (old < new or len(proof) == (not known)), "consistency")
    if old == new:
        return known or bytes.fromhex(proof[0]), known or bytes.fromhex(proof[0])
    left, sibling = 1 << (new - 1).bit_length() - 1, bytes.fromhex(proof[-1])
    if old <= left:
        older, newer = both(old, left, proof[:-1], known)
        return older, node(newer, sibling)
    older, newer = both(old - left, new - left, proof[:-1], None)
    return node(sibling, older), node(sibling, newer)


def opened(event):
    """Return leaf and payload of an event; the payload is None if it was erased."""
    leaf = json.loads(event["leaf"])
    if "payload" not in event and "salt" not in event:
        return leaf, None
    salted = bytes.fromhex(event["salt"]) + event["payload"].encode()
    fits = sha256(b"memprove payload v1\n" + salted).hexdigest() == leaf["payload"]
    check(len(event["salt"]) == 32 and fits, f"payload of event {leaf['seq']}")
    return leaf, json.loads(event["payload"])


def verify(document, text):
    trust, origin = {}, document["head"].split("\n")[0]
    for words in filter(None, (line.split("#")[0].split() for line in text.split("\n"))):
        first, rest = (words[3], words[4:]) if words[2:3] == ["from"] else ("1", words[2:])
        check(words[0] not in trust and (not rest or (rest[0], len(rest)) == ("until", 3)), "trust")
        end = (int(rest[1]), base64.b64decode(rest[2])) if rest else None
        trust[words[0]] = words[1], int(first), end
    check(origin in trust, "no key is trusted for this log")
    vkey, first, end = trust[origin]
    begins, heads = {1: vkey}, []
    for handover in document.get("epochs", []):
        text, (leaf, said) = handover["event"]["leaf"], opened(handover["event"])
        begins[leaf["seq"] + 1] = said["key"]
        if leaf["seq"] >= first:
            size, root = open_head(handover["head"], vkey)
            there = rooted(text, leaf["seq"] - 1, size, handover["inclusion"])
            is_next = (leaf["seq"], leaf["kind"], there) == (size, "key.rotated", root)
            check(is_next and said["key"].split("+")[0] == origin, "a rotation of keys")
            heads.append((size, root, handover["consistency"]))
            vkey = said["key"]
    size, root = open_head(document["head"], vkey)
    check(size >= first and end in (None, (size, root)), "the trust file has another end")
    pairs = list(zip(heads, [*heads[1:], (size, root)], strict=False))
    for begun in document.get("origins", []):
        text, (leaf, said) = begun["event"]["leaf"], opened(begun["event"])
        there = rooted(text, leaf["seq"] - 1, size, begun["inclusion"])
        check((leaf["kind"], there) == ("ledger.restored", root), "the beginning of an origin")
        begins[leaf["seq"]] = said["key"]
        if end := trust.get(said["before"], [None])[-1]:
            check(end[0] == leaf["seq"] - 1, "the trust file has another end")
            pairs.append(((*end, begun["consistency"]), (size, root)))
    check(begins.get(first) == trust[origin][0], "where the trusted key begins is not shown")
    for (old, *old_root, proof), newer in pairs:
        roots = both(old, newer[0], proof, *old_root)
        check(old < newer[0] and roots == (*old_root, newer[1]), "a head does not continue another")
    tip, prev, seq = json.loads(document["tip"]["leaf"]), None, 0
    there = rooted(document["tip"]["leaf"], size - 1, size, document["tip"]["inclusion"])
    check((tip["seq"], there) == (size, root), "the tip is not the last leaf")
    events = list(map(opened, document["events"]))
    stream = events[0][0]["stream"]
    for number, (event, (leaf, _)) in enumerate(zip(document["events"], events, strict=True), 1):
        place = (leaf["v"], leaf["stream"], leaf["stream_seq"], leaf.get("stream_prev"))
        check(place == (1, stream, number, prev) and leaf["seq"] > seq, f"event {number}")
        prev, seq = rooted(event["leaf"], 0, 1, []).hex(), leaf["seq"]
    check(rooted(event["leaf"], seq - 1, size, document["inclusion"]) == root, "the last event")
    created = events[0][0]["kind"], f"task/{(events[0][1] or {'id': stream[5:]})['id']}"
    check(created == ("task.created", stream), "the beginning of the Task")
    stones = [pair for pair in events if pair[0]["kind"] == "payload.erased" and pair[1]]
    named = [(leaf["seq"], {said["event"], *said.get("replaces", [])}) for leaf, said in stones]
    erased = {seq for by, seqs in named for seq in seqs if seq < by}
    check(erased == {leaf["seq"] for leaf, said in events if said is None}, "what was erased")
    for digest, data in document.get("blobs", {}).items():
        check(sha256(base64.b64decode(data)).hexdigest() == digest, f"blob {digest}")
    when = datetime.fromtimestamp(tip["at"] / 1000, UTC).isoformat(timespec="seconds")
    return f"{len(events)} events of {stream}, in a log of {size} events at {when}"


if __name__ == "__main__":
    bundle, trust = sys.argv[1:] if len(sys.argv) == 3 else sys.exit(__doc__)
    try:
        print(verify(read(Path(bundle).read_bytes()), Path(trust).read_text()))
    except Exception as error:  # whatever is wrong with it
        sys.exit(f"the bundle does not hold: {type(error).__name__}: {error}")
