"""Private keys: kept for their owner's eyes, and used only if they are his."""

import os
import stat
from pathlib import Path

import pytest
from support.expected import problem

from memprove.ledger.log.keys import Keys
from memprove.ledger.tlog.note import Signer

ORIGIN = "memprove.local/x"
SEED = bytes(range(32))


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    return Keys(tmp_path, "led")


@pytest.fixture
def file(tmp_path: Path, keys: Keys) -> Path:
    keys.create(1, SEED)
    return tmp_path / "keys" / "led" / "1.key"


def test_a_key_comes_back_as_it_was_kept(keys: Keys, file: Path) -> None:
    assert keys.signer(1, ORIGIN).verifier == Signer(ORIGIN, SEED).verifier


def test_only_its_owner_can_read_it(tmp_path: Path, file: Path) -> None:
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    for folder in (tmp_path / "keys", tmp_path / "keys" / "led"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_an_epoch_has_one_key(keys: Keys, file: Path) -> None:
    kept = file.read_bytes()
    with problem("ledger_exists"):
        keys.create(1, bytes(32))
    assert file.read_bytes() == kept
    keys.create(2, bytes(32))
    assert keys.signer(2, ORIGIN).verifier != keys.signer(1, ORIGIN).verifier


def test_a_key_that_is_not_there_is_missing(keys: Keys, file: Path) -> None:
    with problem("key_missing", "2.key"):
        keys.signer(2, ORIGIN)
    file.unlink()
    with problem("key_missing", "1.key"):
        keys.signer(1, ORIGIN)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o606, 0o610, 0o601, 0o777])
def test_a_key_that_others_can_reach_is_not_used(keys: Keys, file: Path, mode: int) -> None:
    file.chmod(mode)
    with problem("key_unsafe", "can be read by others"):
        keys.signer(1, ORIGIN)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_key_of_another_user_is_not_used(keys: Keys, file: Path) -> None:
    os.chown(file, 12_345, -1)
    with problem("key_unsafe", "belongs to another user"):
        keys.signer(1, ORIGIN)


def test_what_is_no_regular_file_is_not_used(tmp_path: Path, keys: Keys, file: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)
    with problem("key_unsafe"):
        keys.signer(1, ORIGIN)
    file.unlink()
    file.mkdir()
    with problem("key_unsafe"):
        keys.signer(1, ORIGIN)
    file.rmdir()
    os.mkfifo(file, 0o600)
    with problem("key_unsafe", "no regular file"):
        keys.signer(1, ORIGIN)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "memprove-ed25519 1",
        "memprove-ed25519 2 {seed}",
        "memprove-ed25519 1 {seed} more",
        "memprove-rsa 1 {seed}",
        "memprove-ed25519 1 AAAA",
        "memprove-ed25519 1 {seed}=",
        "memprove-ed25519 1 not base64",
        "é" * 300,
    ],
)
def test_a_file_that_holds_no_key_of_the_epoch_is_not_used(
    keys: Keys, file: Path, text: str
) -> None:
    seed = file.read_text().split()[2]
    file.write_text(text.replace("{seed}", seed), encoding="utf-8")
    with problem("key_unsafe", "holds no key of epoch 1") as _:
        keys.signer(1, ORIGIN)


def test_a_problem_never_shows_the_key(keys: Keys, file: Path) -> None:
    seed = file.read_text().split()[2]
    file.write_text(f"memprove-ed25519 9 {seed}\n")
    with pytest.raises(Exception, match="key_unsafe") as caught:
        keys.signer(1, ORIGIN)
    assert seed not in str(caught.value)
