"""The main job of memprove on a small project, step by step: ``make demo``.

A copy of ``nested-lists`` becomes a real repository in a temporary folder, which is the home
directory of all that is run here: nothing of yours is read or written. Each command is printed as
you would type it, with what it really prints. Its exit code is checked, and so is what a step is
there to show; where that fails, the demo ends with exit code 1.
"""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parent / "nested-lists"
PATCH = "fix.patch"
BESIDE = Path(sys.executable).parent
"""Where ``memprove`` and ``pytest`` are: beside this Python."""

INHERITED = ("PATH", "TMPDIR")
"""All that is taken over of the caller's environment."""


class Failed(Exception):
    """A step did not do what it is there to show."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A project in a home directory of its own, and whoever watches."""

    home: Path
    env: Mapping[str, str]
    colour: bool

    @property
    def project(self) -> Path:
        return self.home / "nested-lists"

    def say(self, *lines: str) -> None:
        """Tell what to notice."""
        self._print()
        for line in lines:
            self._print(f"# {line}", style="2")

    def run(self, command: str, *shows: str, code: int = 0) -> None:
        """Run *command* as typed; print it and its output, which must hold each of *shows*."""
        self._print(f"$ {command}", style="1")
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=self.project,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        output = done.stdout.decode("utf-8", "replace")
        self._print(output, end="")
        if done.returncode != code:
            raise Failed(f"`{command}` ended with exit code {done.returncode}, not {code}")
        for text in shows:
            if text not in output:
                raise Failed(f"`{command}` does not show: {text}")

    def _print(self, text: str = "", *, style: str = "", end: str = "\n") -> None:
        shown = f"\x1b[{style}m{text}\x1b[0m{end}" if self.colour and style else f"{text}{end}"
        sys.stdout.buffer.write(shown.encode())
        sys.stdout.buffer.flush()


def main() -> int:
    """Show the story; return the exit code."""
    if shutil.which("memprove", path=BESIDE) is None:
        print(f"demo: there is no memprove in {BESIDE}; use `make demo`", file=sys.stderr)
        return 1
    try:
        with tempfile.TemporaryDirectory(prefix="memprove-demo-") as folder:
            show(set_stage(Path(folder).resolve()))
    except Failed as failure:
        print(f"\ndemo: FAILED: {failure}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # whoever watched has left
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def set_stage(home: Path) -> Stage:
    """Copy the example into *home*; return the stage."""
    # The configuration of whoever runs this, and an agent around it, stay outside.
    env = {name: os.environ[name] for name in INHERITED if name in os.environ}
    env |= {
        "PATH": f"{BESIDE}{os.pathsep}{env.get('PATH', os.defpath)}",
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "XDG_STATE_HOME": str(home / ".local" / "state"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "MEMPROVE_CONFIG_DIR": str(home / "config"),
        "MEMPROVE_DATA_DIR": str(home / "data"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "LC_ALL": "C",
        "PYTHONUTF8": "1",
        "COLUMNS": "100",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    stage = Stage(home, env, colour)
    unwanted = shutil.ignore_patterns(PATCH, "__pycache__", ".pytest_cache")
    shutil.copytree(EXAMPLE, stage.project, ignore=unwanted)
    shutil.copy(EXAMPLE / PATCH, home / PATCH)
    return stage


def show(stage: Stage) -> None:
    """Show all of it."""
    set_up(stage)
    reproduce(stage)
    mend(stage)
    go_stale(stage)
    complete(stage)
    hand_over(stage)
    tamper(stage)
    stage.say("That was all of it. README.md says how to use memprove in a project of yours.")


def set_up(stage: Stage) -> None:
    """Make the repository, the ledger and the Workspace."""
    stage.say(
        "A small parser of nested lists, in a repository of its own. Home is a temporary folder."
    )
    stage.run("git init --quiet")
    stage.run("git config user.name Demo && git config user.email demo@example.org")
    stage.run("git add --all && git commit --quiet --message 'Read nested lists'")
    stage.say(
        "init makes the ledger, its signing key and two tokens, and registers this folder.",
        "It is done once. Nothing in the project changes but for .memprove/, which ignores itself.",
    )
    stage.run("memprove init", "ledger made", "Workspace 1 registered")


def reproduce(stage: Stage) -> None:
    """Begin, and record that the tests fail."""
    stage.say("An agent begins a Session on a new Task.")
    stage.run('memprove begin "Fix nested list parsing" --agent claude-code', "new Task 1")
    stage.say(
        "It runs the tests through memprove. They fail, and so does the command: the output and",
        "the exit code are pytest's own. What is new is the last line.",
    )
    stage.run("memprove run -- pytest -q", "2 failed, 14 passed", "memprove: r1 failed", code=1)
    stage.say("[!r1] cites Run r1 as one that failed. What is left to do is said, too.")
    stage.run(
        r'''memprove checkpoint \
    --fact "lists side by side count as deep ones [!r1]" \
    --open "an unclosed bracket should be named in the error" \
    --next "count the depth down again where a list ends"''',
        "c1 o1 recorded",
    )
    stage.say("r1 cannot be cited as a Run that passed. Nothing is recorded.")
    stage.run('memprove checkpoint --fact "the parser works [r1]"', "run_failed", code=1)


def mend(stage: Stage) -> None:
    """Mend the bug, and state what the passing tests show."""
    stage.say("The agent mends the parser and runs the same command again.")
    stage.run(f"git apply ~/{PATCH}")
    stage.run("memprove run -- pytest -q", "16 passed", "memprove: r2 passed")
    stage.say("Two facts cite r2. The third cites nothing: it stays what somebody said.")
    stage.run(
        r'''memprove checkpoint \
    --fact "any number of lists may stand side by side [r2]" \
    --fact "a list more than 64 deep is refused where it opens [r2]" \
    --fact "nobody needs more than 64" \
    --next "name the unclosed bracket"''',
        "c2 c3 c4 recorded",
    )
    stage.run(
        r"""memprove decide "depth limit" --choice "64, counted by the parser" \
    --rationale "the recursion limit of Python must not decide" \
    --alternative "no limit" --cites r2""",
        "d1 proposed",
    )
    stage.say("Evidence belongs to the content of the files. A commit does not change that.")
    stage.run("git commit --quiet --all --message 'Count the depth down again'")
    stage.run("memprove claims c2", "proof proven")


def go_stale(stage: Stage) -> None:
    """Change a file that the Run was about."""
    stage.say("One more line in one file, and what r2 showed is no longer about this code.")
    stage.run('echo "# Whole numbers only: 1.5 is refused." >> nested_lists/lexer.py')
    stage.run("memprove claims --stale", "then `nested_lists/lexer.py` changed", "proof stale")
    stage.say("Nor can the Task be completed on it.")
    stage.run("memprove complete", "evidence_stale", code=1)


def complete(stage: Stage) -> None:
    """Run it again, and complete the Task on that."""
    stage.say("rerun runs the recorded command on the files as they are now: a new Run, r3.")
    stage.run("memprove rerun r2", "16 passed", "r3 passed", "c2 was stale, is proven")
    stage.run("git commit --quiet --all --message 'Say which numbers are read'")
    stage.run("memprove complete", "Task 1 completed", "r3 passed")
    stage.run('memprove end --note "the error text is left for later"', "Session 1 ended")


def hand_over(stage: Stage) -> None:
    """Show what the next agent reads, and that the record is as it was written."""
    stage.say(
        "Tomorrow another agent asks what stands. Each claim shows what it rests on:",
        "the Run, its command, its counts; or that nobody ever showed it.",
    )
    stage.run(
        "memprove resume --pack --task 1",
        "Task 1 · completed · “Fix nested list parsing”",
        "o1 “an unclosed bracket should be named in the error”",
        "Proven (2)",
        "c2 r3 `pytest -q` test 16/16",
        "c1 !r1 `pytest -q` test 14/16",
        "c4 “nobody needs more than 64”",
    )
    stage.say("Is the record what was written? All of it is computed again, and the signatures.")
    stage.run("memprove verify", "events verified")


def tamper(stage: Stage) -> None:
    """Edit a copy of the ledger, and let it be found."""
    stage.say("Somebody edits a copy of the ledger: r1 shall have ended with exit code 0.")
    stage.run("cp -R ~/data ~/tampered")
    seq = forge_exit_code(stage.home / "tampered" / "ledger.db")
    stage.say(f"That was event {seq}, edited with SQLite. verify names it; its exit code is 3.")
    stage.run(
        "MEMPROVE_DATA_DIR=~/tampered memprove verify",
        "FAILED payloads",
        f"event {seq}: its payload is not what its leaf commits to",
        code=3,
    )


def forge_exit_code(database: Path) -> int:
    """Let the first Run that ended have ended well; return the number of the event edited."""
    with closing(sqlite3.connect(database)) as ledger, ledger:
        find = "SELECT seq, payload FROM event WHERE kind = 'run.ended' ORDER BY seq LIMIT 1"
        seq, payload = ledger.execute(find).fetchone()
        forged = payload.replace(b'"exit":1,', b'"exit":0,')
        if forged == payload:
            raise Failed("the first Run did not end with exit code 1")
        # The guard against accidents goes, and comes back: the tables look as before.
        name = "event_is_never_changed"
        (guard,) = ledger.execute(
            "SELECT sql FROM sqlite_schema WHERE name = ?", (name,)
        ).fetchone()
        ledger.execute(f"DROP TRIGGER {name}")
        ledger.execute("UPDATE event SET payload = ? WHERE seq = ?", (forged, seq))
        ledger.execute(guard)
    return int(seq)


if __name__ == "__main__":
    sys.exit(main())
