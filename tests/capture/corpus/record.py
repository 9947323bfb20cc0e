"""Record what test runners write, as golden files: `python -m capture.corpus.record RUNNER [NAME]`.

Run it in `tests`, with the runner first in the PATH and under a neutral folder (such as /tmp/venv
or /tmp/runners/node_modules), for its place shows in some outputs. Each case is a real run in
/tmp/project; nothing is edited afterwards. index.json says how each file came to be, and holds the
counts that a person read off the case, not off the output. What could not be recorded was written
after the runner's documentation: its entry says `"recorded": false` and from where.
"""

import datetime
import json
import os
import pty
import re
import shlex
import shutil
import subprocess
import sys
import termios
from pathlib import Path

from capture.corpus import (
    cases_compiled,
    cases_javascript,
    cases_junit,
    cases_python,
    cases_scripts,
)
from capture.corpus.case import Case

HERE = Path(__file__).parent
PROJECT = Path("/tmp/project")

CASES: dict[str, dict[str, Case]] = {
    "pytest": cases_python.PYTEST,
    "unittest": cases_python.UNITTEST,
    "jest": cases_javascript.JEST,
    "vitest": cases_javascript.VITEST,
    "mocha": cases_javascript.MOCHA,
    "node": cases_javascript.NODE,
    "go": cases_compiled.GO,
    "cargo": cases_compiled.CARGO,
    "nextest": cases_compiled.NEXTEST,
    "ctest": cases_compiled.CTEST,
    "rspec": cases_scripts.RSPEC,
    "phpunit": cases_scripts.PHPUNIT,
    "prove": cases_scripts.PROVE,
    "tap": cases_scripts.TAP,
    "junit": cases_junit.JUNIT,
}

VERSIONS = {
    "unittest": "python --version",
    "go": "go version",
    "nextest": "cargo nextest --version",
    "tap": "perl --version",
    "gotestsum": "go version",
}
"""How to ask for a version, where it is not `RUNNER --version`."""

SETTINGS = {
    "LANG": "C.UTF-8",
    "HOME": "/tmp",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    "CARGO_TARGET_DIR": "/tmp/target",
    "CARGO_NET_OFFLINE": "true",
    "GOFLAGS": "-mod=mod",
    "GOPROXY": "off",
}


def main(runner: str, *wanted: str) -> None:
    """Record all cases of *runner*, or those that are *wanted*."""
    version = "" if runner == "junit" else version_of(runner)
    index_file = HERE / "index.json"
    index = json.loads(index_file.read_text())
    for name, case in CASES[runner].items():
        if not wanted or name in wanted:
            key = f"{runner}/{version}/{name}" if version else f"{runner}/{name}"
            writer = name.split("-")[0] if runner == "junit" else runner
            index[key] = {
                **record(case, HERE / key),
                "runner": f"{writer} {version or version_of(writer)}",
                "recorded": datetime.date.today().isoformat(),
                **({} if case.report else {"counts": case.counts}),
            }
    index_file.write_text(json.dumps(index, indent=1, sort_keys=True) + "\n")


def version_of(runner: str) -> str:
    """Return the version that *runner* states."""
    command = VERSIONS.get(runner, f"{runner} --version")
    said = subprocess.run(shlex.split(command), env=environment(), capture_output=True, text=True)
    found = re.search(r"\d+(?:\.\d+)+", said.stdout)
    assert found, said
    return found.group()


def record(case: Case, stem: Path) -> dict[str, object]:
    """Run *case*; write its two streams or its report; return how it was run and how it ended."""
    shutil.rmtree(PROJECT, ignore_errors=True)
    for name, content in case.files.items():
        file = PROJECT / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    PROJECT.mkdir(exist_ok=True)
    if modules := os.environ.get("NODE_PATH"):
        (PROJECT / "node_modules").symlink_to(modules)
    code, out, err = in_terminal(case) if case.terminal else in_pipes(case)
    stem.parent.mkdir(parents=True, exist_ok=True)
    if case.report:
        shutil.copyfile(PROJECT / case.report, f"{stem}.xml")
    else:
        Path(f"{stem}.stdout").write_bytes(out)
        Path(f"{stem}.stderr").write_bytes(err)
    return {"command": case.command, "exit": code}


def in_pipes(case: Case) -> tuple[int, bytes, bytes]:
    """Run *case* with its streams apart, as they are where nobody looks on."""
    command = ["sh", "-c", case.command]
    if case.report:  # reports name the machine
        command = ["unshare", "--uts", "sh", "-c", f"hostname builder; {case.command}"]
    ended = subprocess.run(command, cwd=PROJECT, env=environment(), capture_output=True)
    return ended.returncode, ended.stdout, ended.stderr


def in_terminal(case: Case) -> tuple[int, bytes, bytes]:
    """Run *case* in a terminal of 80 columns, where runners colour and redraw."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(PROJECT)
        os.execve("/bin/sh", ["sh", "-c", case.command], {**environment(), "TERM": "xterm"})
    termios.tcsetwinsize(terminal, (24, 80))
    pieces = []
    try:
        while piece := os.read(terminal, 65536):
            pieces.append(piece)
    except OSError:  # the terminal is gone with its last process
        pass
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status), b"".join(pieces), b""


def environment() -> dict[str, str]:
    """Return the variables a runner sees: few, so that none of this machine shows."""
    kept = {name: os.environ[name] for name in ("PATH", "RUSTUP_HOME") if name in os.environ}
    return kept | SETTINGS


if __name__ == "__main__":
    main(*sys.argv[1:])
