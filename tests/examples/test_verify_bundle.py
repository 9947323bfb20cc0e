"""examples/verify_bundle.py: a stranger's program finds in a bundle what ours finds."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from support.bundles import bundle_of, edited, two_tasks
from support.forgeries import DATA_ONE, FORGED, FORGED_EPOCHS, LOG, ROTATED_DATA, ROTATED_LOG
from support.forgeries_of_origins import (
    ERASED_DATA,
    ERASED_FORGED,
    ORIGIN_DATA,
    ORIGIN_FORGED,
    ORIGIN_PINS,
    WRONG_TRUST,
)
from support.logs import ORIGIN, Log

from memprove.ledger.log.trust import format_pin

PROGRAM = Path(__file__).resolve().parents[2] / "examples" / "verify_bundle.py"
TRUST = f"# one line\n{format_pin(LOG.pin)}"
HARMLESS = {"a blob too many", "the beginning twice"}
"""What ours refuses and the example does not look for: it changes nothing that is proven."""


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("verify_bundle", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


EXAMPLE = load()


def verify(data: bytes, trust: str = TRUST) -> str:
    """Return what the example says of a bundle."""
    return str(EXAMPLE.verify(EXAMPLE.read(data), trust))


def run(folder: Path, data: bytes) -> "subprocess.CompletedProcess[str]":
    """Run the program as a stranger does."""
    (folder / "bundle").write_bytes(data)
    (folder / "trust").write_text(TRUST)
    command = [sys.executable, "-I", str(PROGRAM), str(folder / "bundle"), str(folder / "trust")]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_it_is_small_and_needs_nothing_of_ours() -> None:
    text = PROGRAM.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    assert "import memprove" not in text
    assert "from memprove" not in text


def test_it_accepts_real_bundles_of_one_epoch_and_of_several() -> None:
    size = LOG.head().size
    assert verify(DATA_ONE).startswith(f"6 events of task/one, in a log of {size} events at 2026-")
    assert "6 events of task/one, in a log of 10 events" in verify(ROTATED_DATA)
    rotating = two_tasks(rotating=True)
    for options in ({"outputs": True}, {"since": [3, 5]}):
        assert "6 events of task/one" in verify(bundle_of(rotating, **options))


@pytest.mark.parametrize("how", sorted(set(FORGED) - HARMLESS))
def test_it_refuses_a_forged_bundle(how: str) -> None:
    data = edited(DATA_ONE, FORGED[how][0])
    with pytest.raises(Exception):  # noqa: B017, PT011
        verify(data)


@pytest.mark.parametrize("how", FORGED_EPOCHS)
def test_it_refuses_a_forged_epoch(how: str) -> None:
    data = edited(ROTATED_DATA, FORGED_EPOCHS[how][0])
    with pytest.raises(Exception):  # noqa: B017, PT011
        verify(data)


def test_it_refuses_another_key_and_another_ledger() -> None:
    for trust in ("", format_pin(Log(seed=2).pin), TRUST.replace(ORIGIN, "example.org/x")):
        with pytest.raises(Exception):  # noqa: B017, PT011
            verify(DATA_ONE, trust)
    assert ROTATED_LOG.pin == LOG.pin


def test_it_accepts_erasures_and_later_origins_and_refuses_lies_about_them() -> None:
    assert "8 events of task/one" in verify(ERASED_DATA)
    for edit in ERASED_FORGED.values():
        with pytest.raises(Exception):  # noqa: B017, PT011
            verify(edited(ERASED_DATA, edit))
    both = "".join(map(format_pin, ORIGIN_PINS))
    for trust in (both, format_pin(ORIGIN_PINS[1])):
        assert "of task/one, in a log of" in verify(ORIGIN_DATA, trust)
    for how in ORIGIN_FORGED.keys() - HARMLESS:
        edit, _ = ORIGIN_FORGED[how]
        with pytest.raises(Exception):  # noqa: B017, PT011
            verify(edited(ORIGIN_DATA, edit), both)
    for trust in (*WRONG_TRUST, "x", f"{both}also", both + both):
        with pytest.raises(Exception):  # noqa: B017, PT011
            verify(ORIGIN_DATA, trust)


def test_it_ends_with_a_line_and_an_exit_code(tmp_path: Path) -> None:
    good = run(tmp_path, DATA_ONE)
    assert (good.returncode, good.stderr, good.stdout.count("\n")) == (0, "", 1)
    for data in (DATA_ONE[:-1], b"", edited(DATA_ONE, FORGED["a payload edited"][0])):
        bad = run(tmp_path, data)
        assert (bad.returncode, bad.stdout) == (1, "")
        assert bad.stderr.startswith("the bundle does not hold: ")
        assert bad.stderr.count("\n") == 1
