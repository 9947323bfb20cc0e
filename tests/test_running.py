"""The command runs, whatever there is too little of."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from memprove.ledger.running import held_signals

PRELUDE = """
import os, resource, sys
from memprove.ledger.capture.streams import Sink
from memprove.ledger.running import run, run_plainly
sink = Sink(lambda data: data)
def told(ended):
    os.write(2, repr((ended.code, ended.signal, type(ended.fault).__name__)).encode())
"""
RUN = "told(run({command}, cwd=None, env=os.environ, timeout_s=None, stdout=sink, stderr=sink))"
PLAINLY = "told(run_plainly({command}, cwd={cwd!r}, env=os.environ, fault=OSError()))"


def python(text: str, cwd: Path) -> tuple[str, str]:
    """Run *text* after the prelude in another process; return its stdout and stderr."""
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + text], cwd=cwd, capture_output=True, text=True, check=True
    )
    return done.stdout, done.stderr


@pytest.mark.parametrize("limit", range(6, 20))
def test_a_command_runs_once_however_few_descriptors_there_are(tmp_path: Path, limit: int) -> None:
    text = f"import subprocess; resource.setrlimit(resource.RLIMIT_NOFILE, ({limit}, {limit}))\n"
    command = ["sh", "-c", "echo ran; exit 3"]
    out, err = python(text + RUN.format(command=command), tmp_path)
    assert out == "ran\n"
    assert err in ("(3, None, 'NoneType')", "(3, None, 'OSError')")


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["sh", "-c", "exit 3"], (3, None)),
        (["sh", "-c", "kill -TERM $$"], (143, 15)),
        (["nosuch-command"], (127, None)),
        (["./text"], (126, None)),
    ],
)
def test_a_plain_run_gives_the_code_of_a_shell(
    tmp_path: Path, command: list[str], told: tuple[int, int | None]
) -> None:
    (tmp_path / "text").write_text("text")
    _, err = python(PLAINLY.format(command=command, cwd=None), tmp_path)
    assert err == repr((*told, "OSError"))


def test_a_plain_run_is_where_it_was_asked_for(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    out, _ = python(PLAINLY.format(command=["pwd"], cwd=str(tmp_path / "inner")), tmp_path)
    assert out == f"{tmp_path / 'inner'}\n"


def test_a_signal_to_us_reaches_a_command_that_runs_plainly(tmp_path: Path) -> None:
    command = ["sh", "-c", "trap 'exit 9' TERM; kill -TERM $PPID; sleep 9 >&- 2>&- & wait"]
    _, err = python(PLAINLY.format(command=command, cwd=None), tmp_path)
    assert err == "(9, None, 'OSError')"


def test_signals_that_are_held_end_nothing_and_an_ignored_one_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with held_signals() as ignore:
            os.kill(os.getpid(), signal.SIGTERM)
            assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
            assert signal.getsignal(signal.SIGTERM) != signal.SIG_IGN
            ignore()
            os.kill(os.getpid(), signal.SIGTERM)
            assert signal.getsignal(signal.SIGTERM) == signal.SIG_IGN
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    finally:
        signal.signal(signal.SIGHUP, before)
