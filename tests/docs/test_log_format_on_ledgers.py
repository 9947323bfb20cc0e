"""The verifier of docs/log-format.md, on a database that memprove wrote."""

import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from support.bundles import two_tasks

from memprove.ledger.storage.registry import FILE_NAME, create_store
from memprove.ledger.tlog.note import format_vkey

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def ledger(tmp_path: Path) -> tuple[Path, list[str]]:
    """A database of three epochs and two origins, in which things were erased; and the keys."""
    log = two_tasks(create_store(tmp_path), rotating=True)
    log.erase(5, reason="first")
    log.rotate()
    old, new = log.adopt()
    log.erase(6, reason="second")
    log.rotate()
    log.erase(8)
    log.store.close()
    return tmp_path / FILE_NAME, [format_vkey(pin.verifier) for pin in (old, new)]


def verify(database: Path, vkeys: list[str]) -> "subprocess.CompletedProcess[str]":
    page = (ROOT / "docs" / "log-format.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
    file = database.with_name("verify_log.py")
    file.write_text(program, encoding="utf-8")
    command = [sys.executable, "-I", str(file), str(database), *vkeys]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_it_accepts_erasures_epochs_and_origins(ledger: tuple[Path, list[str]]) -> None:
    done = verify(*ledger)
    assert (done.returncode, done.stderr) == (0, "")


def test_it_refuses_an_origin_that_is_not_pinned(ledger: tuple[Path, list[str]]) -> None:
    database, (old, _) = ledger
    assert verify(database, [old]).returncode == 1


@pytest.mark.parametrize("seq", [4, 5])
def test_it_refuses_a_payload_that_is_gone_or_back(
    ledger: tuple[Path, list[str]], seq: int
) -> None:
    database, vkeys = ledger
    with closing(sqlite3.connect(database)) as connection:
        triggers = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in triggers.fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        payload, salt = (None, None) if seq == 4 else (b"{}", b"s" * 16)
        change = "UPDATE event SET payload = ?, salt = ? WHERE seq = ?"
        connection.execute(change, (payload, salt, seq))
        connection.commit()
    assert verify(database, vkeys).returncode == 1
