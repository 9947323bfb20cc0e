"""docs/log-format.md is enough to verify a log: nothing of memprove is imported here."""

import base64
import json
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "log-format.md").read_text(encoding="utf-8")
VECTORS = json.loads((ROOT / "tests" / "vectors" / "events.json").read_text(encoding="utf-8"))
PREFIX = b"memprove payload v1\n"


def section(heading: str) -> str:
    """Return the part of the page below *heading*."""
    return PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def blocks(heading: str, language: str) -> list[str]:
    """Return the fenced blocks of *language* below *heading*."""
    return re.findall(rf"^```{language}\n(.*?)^```$", section(heading), re.M | re.S)


LINES, NOTE = blocks("Worked example", "text")
EXAMPLE = {
    match[1]: match[2]
    for match in re.finditer(r"^(\w+(?: \d(?:/\d)?)?) +(\S.*)$", LINES, re.MULTILINE)
}
events = pytest.mark.parametrize("seq", [1, 2, 3])


def leaf_hash(seq: int) -> bytes:
    return sha256(b"\x00" + EXAMPLE[f"leaf {seq}"].encode()).digest()


def node(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


def root() -> bytes:
    return node(node(leaf_hash(1), leaf_hash(2)), leaf_hash(3))


def canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@events
def test_the_example_is_in_canonical_form(seq: int) -> None:
    for text in (EXAMPLE[f"leaf {seq}"], EXAMPLE[f"payload {seq}"]):
        assert canonical(json.loads(text)) == text


@events
def test_leaf_hash_and_commitment_of_the_example_come_out(seq: int) -> None:
    payload = EXAMPLE[f"payload {seq}"].encode()
    salt = bytes.fromhex(EXAMPLE[f"salt {seq}"])
    assert len(salt) == 16
    commitment = sha256(PREFIX + salt + payload).hexdigest()
    assert json.loads(EXAMPLE[f"leaf {seq}"])["payload"] == commitment
    assert leaf_hash(seq).hex() == EXAMPLE[f"hash {seq}"] == EXAMPLE[f"node 0/{seq - 1}"]


def test_both_chains_of_the_example_hold() -> None:
    first, second, third = (json.loads(EXAMPLE[f"leaf {seq}"]) for seq in (1, 2, 3))
    assert "prev" not in first
    assert (second["prev"], third["prev"]) == (leaf_hash(1).hex(), leaf_hash(2).hex())
    assert "stream_prev" not in first | second
    assert (third["stream"], third["stream_seq"]) == (first["stream"], 2)
    assert third["stream_prev"] == leaf_hash(1).hex()


def test_the_tree_of_the_example_comes_out() -> None:
    assert node(leaf_hash(1), leaf_hash(2)).hex() == EXAMPLE["node 1/0"]
    assert root().hex() == EXAMPLE["root"]


def test_the_head_of_the_example_is_signed_by_its_key() -> None:
    name, key_id, encoded = EXAMPLE["vkey"].split("+", 2)
    key = base64.b64decode(encoded)
    assert key[:1] == b"\x01"
    assert sha256(name.encode() + b"\n" + key).digest()[:4].hex() == key_id
    text, signature_line = NOTE.split("\n\n")
    assert text == f"{name}\n3\n{base64.b64encode(root()).decode()}"
    dash, signer, value = signature_line.split()
    assert (dash, signer) == ("—", name)
    signature = base64.b64decode(value)
    assert signature[:4].hex() == key_id
    public = Ed25519PublicKey.from_public_bytes(key[1:])
    public.verify(signature[4:], f"{text}\n".encode())
    with pytest.raises(InvalidSignature):
        public.verify(signature[4:], text.encode())


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["kind"])
def test_the_vectors_come_out_as_the_page_says(vector: dict[str, str]) -> None:
    payload, salt = vector["payload"].encode(), bytes.fromhex(vector["salt"])
    assert sha256(PREFIX + salt + payload).hexdigest() == vector["commitment"]
    assert sha256(b"\x00" + vector["leaf"].encode()).hexdigest() == vector["leaf_hash"]
    assert json.loads(vector["leaf"])["payload"] == vector["commitment"]
    assert canonical(json.loads(vector["leaf"])) == vector["leaf"]
    assert canonical(json.loads(vector["payload"])) == vector["payload"]


# The page's own verifier, on a database made of the page's own tables and example


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """Return a database with the example's log."""
    database = tmp_path / "ledger.db"
    with closing(sqlite3.connect(database)) as connection:
        connection.executescript(blocks("The bytes in SQLite", "sql")[0])
        for seq in (1, 2, 3):
            leaf = EXAMPLE[f"leaf {seq}"]
            said = json.loads(leaf)
            row = (
                *(said[field] for field in ("seq", "stream", "stream_seq", "kind")),
                leaf.encode(),
                EXAMPLE[f"payload {seq}"].encode(),
                bytes.fromhex(EXAMPLE[f"salt {seq}"]),
            )
            connection.execute("INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        connection.execute("INSERT INTO head VALUES (3, ?, 0)", (NOTE.encode(),))
        connection.commit()
    return database


def verify(database: Path, vkey: str) -> subprocess.CompletedProcess[str]:
    """Run the page's verifier as a reader would."""
    program = database.with_name("verify_log.py")
    program.write_text(blocks("A verifier in Python", "python")[0], encoding="utf-8")
    command = [sys.executable, "-I", str(program), str(database), vkey]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_verifier_of_the_page_accepts_the_example(ledger: Path) -> None:
    done = verify(ledger, EXAMPLE["vkey"])
    assert (done.stdout, done.stderr) == ("3 events are as they were signed\n", "")


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE event SET payload = CAST(replace(CAST(payload AS TEXT), 'owner', 'agent') AS BLOB)",
        "UPDATE event SET leaf = CAST(replace(CAST(leaf AS TEXT), '1500', '1501') AS BLOB)",
        "UPDATE event SET salt = zeroblob(16) WHERE seq = 2",
        "UPDATE event SET stream = 'ledger', stream_seq = 9 WHERE seq = 2",
        "DELETE FROM event WHERE seq = 3",
        "DELETE FROM event WHERE seq = 1",
        "DELETE FROM head",
        "UPDATE head SET size = 2",
        "UPDATE head SET note = CAST(replace(CAST(note AS TEXT), 'O8t3', 'O8t4') AS BLOB)",
    ],
)
def test_the_verifier_of_the_page_refuses_an_edited_log(ledger: Path, change: str) -> None:
    with closing(sqlite3.connect(ledger)) as connection:
        assert connection.execute(change).rowcount > 0
        connection.commit()
    done = verify(ledger, EXAMPLE["vkey"])
    assert done.returncode == 1
    assert done.stdout == ""


def test_the_verifier_of_the_page_refuses_another_key(ledger: Path) -> None:
    name, _, _ = EXAMPLE["vkey"].split("+", 2)
    key = b"\x01" + bytes.fromhex(
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"  # RFC 8032, test 1
    )
    key_id = sha256(name.encode() + b"\n" + key).digest()[:4].hex()
    done = verify(ledger, f"{name}+{key_id}+{base64.b64encode(key).decode()}")
    assert done.returncode == 1
    assert "AssertionError" in done.stderr
