"""Verify a memprove bundle without memprove: verify_bundle.py BUNDLE TRUST.

Written from docs/log-format.md; needs Python 3.11 and `cryptography`. It says what the bundle
proves of the log; what that means for your files is for `memprove verify --bundle` to say.
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
    """Return the document; there is one spelling of it."""
    stream = zlib.decompressobj(wbits=31)
    plain = stream.decompress(data, (1 << 28) + 1)
    check(len(plain) <= 1 << 28 and stream.eof and not stream.unused_data, "gzip")
    document = json.loads(plain)
    again = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    check(again.encode() == plain and document.get("bundle") == 1, "form or version")
    return document


def public_key(vkey):
    name, key_id, encoded = vkey.split("+", 2)
    key = base64.b64decode(encoded, validate=True)
    check(key[:1] == b"\x01" and len(key) == 33, "vkey")
    check(sha256(name.encode() + b"\n" + key).digest()[:4].hex() == key_id, "vkey")
    return name, key_id, Ed25519PublicKey.from_public_bytes(key[1:])


def open_head(note, vkey):
    """Return size and root of a signed head, once the key of its origin signed it."""
    name, key_id, key = public_key(vkey)
    text, _, signatures = note.rpartition("\n\n")
    text, signed = text + "\n", False
    for line in signatures.splitlines():
        dash, signer, value = line.split(" ")
        value = base64.b64decode(value, validate=True)
        if (dash, signer, value[:4].hex()) == ("—", name, key_id):
            key.verify(value[4:], text.encode())
            signed = True
    origin, size, root, end = text.split("\n")
    check(signed and origin == name and end == "", "the head is not signed by the key")
    return int(size), base64.b64decode(root, validate=True)


def leaf_hash(leaf):
    return sha256(b"\x00" + leaf.encode()).digest()


def node(left, right):
    return sha256(b"\x01" + left + right).digest()


def check_included(leaf, seq, size, root, proof):
    """RFC 9162, 2.1.3.2."""
    place, last, digest = seq - 1, size - 1, leaf_hash(leaf)
    check(0 <= place <= last, "number of a leaf")
    for sibling in map(bytes.fromhex, proof):
        check(last > 0, "inclusion")
        if place & 1 or place == last:
            digest = node(sibling, digest)
            while place and not place & 1:
                place, last = place >> 1, last >> 1
        else:
            digest = node(digest, sibling)
        place, last = place >> 1, last >> 1
    check(last == 0 and digest == root, f"event {seq} is not in the signed tree")


def check_continues(old, old_root, new, new_root, proof):
    """RFC 9162, 2.1.4.2; an epoch has an event, so *old* is smaller than *new*."""
    check(0 < old < new, "sizes of heads")
    path = [old_root] * (old & (old - 1) == 0) + [bytes.fromhex(digest) for digest in proof]
    place, last = old - 1, new - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    older = newer = path[0]
    for sibling in path[1:]:
        check(last > 0, "consistency")
        if place & 1 or place == last:
            older, newer = node(sibling, older), node(sibling, newer)
            while place and not place & 1:
                place, last = place >> 1, last >> 1
        else:
            newer = node(newer, sibling)
        place, last = place >> 1, last >> 1
    check(last == 0 and (older, newer) == (old_root, new_root), "a head does not continue another")


def payload_of(event, leaf):
    salt, payload = bytes.fromhex(event["salt"]), event["payload"].encode()
    committed = sha256(b"memprove payload v1\n" + salt + payload).hexdigest()
    check(len(salt) == 16 and committed == leaf["payload"], f"payload of event {leaf['seq']}")
    return json.loads(payload)


def verify(document, trust):
    lines = [line.split("#")[0].split() for line in trust.splitlines()]
    vkey = dict(line[:2] for line in lines if line).get(document["head"].split("\n")[0])
    check(vkey, "no key is trusted for this log")
    heads = []
    for epoch, handover in enumerate(document.get("epochs", []), 2):
        size, root = open_head(handover["head"], vkey)
        leaf = json.loads(handover["event"]["leaf"])
        check((leaf["seq"], leaf["kind"]) == (size, "key.rotated"), "a rotation of keys")
        check_included(handover["event"]["leaf"], size, size, root, handover["inclusion"])
        rotated = payload_of(handover["event"], leaf)
        check(rotated["epoch"] == epoch, "the number of an epoch")
        check(rotated["key"].split("+")[0] == vkey.split("+")[0], "a key of another log")
        heads.append((size, root, handover["consistency"]))
        vkey = rotated["key"]
    size, root = open_head(document["head"], vkey)
    for (old, old_root, proof), newer in zip(heads, [*heads, (size, root)][1:], strict=True):
        check_continues(old, old_root, newer[0], newer[1], proof)
    tip = json.loads(document["tip"]["leaf"])
    check_included(document["tip"]["leaf"], size, size, root, document["tip"]["inclusion"])
    prev, seq, stream = None, 0, None
    for number, event in enumerate(document["events"], 1):
        leaf = json.loads(event["leaf"])
        stream = stream or leaf["stream"]
        place = (leaf["v"], leaf["stream"], leaf["stream_seq"], leaf.get("stream_prev"))
        check(place == (1, stream, number, prev) and leaf["seq"] > seq, f"event {number}")
        payload = payload_of(event, leaf)
        check(number > 1 or (leaf["kind"], f"task/{payload['id']}") == ("task.created", stream), 1)
        prev, seq = leaf_hash(event["leaf"]).hex(), leaf["seq"]
    check_included(document["events"][-1]["leaf"], seq, size, root, document["inclusion"])
    for digest, data in document.get("blobs", {}).items():
        check(sha256(base64.b64decode(data)).hexdigest() == digest, f"blob {digest}")
    when = datetime.fromtimestamp(tip["at"] / 1000, UTC).isoformat(timespec="seconds")
    return f"{len(document['events'])} events of {stream}, in a log of {size} events at {when}"


if __name__ == "__main__":
    try:
        print(verify(read(Path(sys.argv[1]).read_bytes()), Path(sys.argv[2]).read_text()))
    except Exception as error:  # whatever is wrong with it
        sys.exit(f"the bundle does not hold: {type(error).__name__}: {error}")
