"""The examples for CI: read as their programs read them, and run in a clean clone."""

import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.command_line import Desk, desk_with_ledger
from support.git_repository import commit_all, git, isolate

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ACTION = EXAMPLES / "github-action"


def read(name: str) -> Any:
    return yaml.safe_load((EXAMPLES / name).read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Change:
    """A pull request as CI has it: a clone on the change, and the commit it is made to."""

    desk: Desk
    clone: Path
    base: str

    def run(self, script: str, **env: str) -> "subprocess.CompletedProcess[str]":
        """Run a step in the clone: no configuration of ours, `memprove` where it was installed."""
        temporary = self.desk.base / "runner"
        (temporary / "memprove" / "bin").mkdir(parents=True, exist_ok=True)
        link = temporary / "memprove" / "bin" / "memprove"
        if not link.exists():
            link.symlink_to(Path(sys.executable).with_name("memprove"))
        around = {
            "PATH": f"{link.parent}:{os.environ['PATH']}",
            "HOME": os.environ["HOME"],
            "RUNNER_TEMP": str(temporary),
            "CI_BUILDS_DIR": str(temporary),
            "CI_MERGE_REQUEST_DIFF_BASE_SHA": self.base,
        }
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=self.clone,
            env={**around, **env},
            capture_output=True,
            text=True,
            check=False,
        )

    def commit(self) -> None:
        """Commit all that the clone holds."""
        commit_all(self.clone, "more")


@pytest.fixture
def change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Change:
    isolate(monkeypatch, tmp_path / "home")
    desk = desk_with_ledger(tmp_path)
    local = desk.folder / ".memprove"
    shutil.copy(desk.config / "trust", local / "trust")
    base = commit_all(desk.folder, "trust")
    git(desk.folder, "switch", "--quiet", "--create", "change")
    desk.begin("Sort them")
    (desk.folder / "a.txt").write_text("b\na\n")
    assert desk.memprove("run", "--kind", "build", "--", "sort", "a.txt").code == 0
    assert desk.memprove("checkpoint", "--fact", "it sorts [r1]").code == 0
    assert desk.memprove("complete").code == 0
    (local / "bundles").mkdir()
    bundle = str(local / "bundles" / "task 1.bundle")
    assert desk.memprove("export", "--task", "1", "-o", bundle).code == 0
    commit_all(desk.folder, "the change and its bundle")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--branch", "change", str(desk.folder), str(clone))
    return Change(desk, clone, base)


def github_step(change: Change, **env: str) -> "subprocess.CompletedProcess[str]":
    """Run the second step of the action with the defaults of its inputs."""
    action = read("github-action/action.yml")
    step = action["runs"]["steps"][1]
    inputs = {name: str(field["default"]) for name, field in action["inputs"].items()}
    told = {
        "MEMPROVE_BASE": change.base,
        "MEMPROVE_OPTIONS": inputs["options"],
        "MEMPROVE_OPTIONAL": inputs["optional"],
        "MEMPROVE_SCRIPT": str(ACTION / "verify-bundles.sh"),
        "GITHUB_ACTIONS": "true",
    }
    assert set(told) - set(step["env"]) == {"GITHUB_ACTIONS"}
    return change.run(step["run"], **{**told, **env})


def gitlab_script(change: Change) -> "subprocess.CompletedProcess[str]":
    return change.run("\n".join(read("gitlab-ci.yml")["memprove"]["script"]))


def test_a_change_that_proves_what_it_claims_passes(change: Change) -> None:
    done = github_step(change)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("::notice title=memprove verify::Task 1 · completed")
    assert gitlab_script(change).returncode == 0


def test_a_change_after_the_tests_fails(change: Change) -> None:
    (change.clone / "a.txt").write_text("worse\n")
    change.commit()
    done = github_step(change)
    assert done.returncode == 3
    assert "::error file=a.txt,title=memprove%3A c1 stale::" in done.stdout
    assert gitlab_script(change).returncode != 0


def test_a_change_without_a_bundle_proves_nothing(change: Change) -> None:
    shutil.rmtree(change.clone / ".memprove" / "bundles")
    change.commit()
    done = github_step(change)
    assert (done.returncode, "brings no bundle" in done.stderr) == (3, True)
    assert github_step(change, MEMPROVE_OPTIONAL="true").returncode == 0
    assert gitlab_script(change).returncode == 3


def test_trust_and_ignore_list_of_the_change_itself_are_not_believed(change: Change) -> None:
    local = change.clone / ".memprove"
    (local / "trust").write_text("# nobody\n")
    (local / "config.toml").write_text('[evidence]\nignore = ["*.txt"]\n')
    (change.clone / "a.txt").write_text("worse\n")
    change.commit()
    assert github_step(change).returncode == 3
    (change.clone / "a.txt").write_text("b\na\n")
    change.commit()
    assert github_step(change).returncode == 0


def test_a_bundle_that_was_tampered_with_fails(change: Change) -> None:
    bundle = next((change.clone / ".memprove" / "bundles").iterdir())
    bundle.write_bytes(bundle.read_bytes()[:-9])
    change.commit()
    assert github_step(change).returncode == 3
    assert gitlab_script(change).returncode != 0


def test_a_base_that_is_not_here_is_told(change: Change) -> None:
    done = github_step(change, MEMPROVE_BASE="0" * 40)
    assert done.returncode not in (0, 3)


def test_the_workflow_checks_out_the_change_and_names_its_base() -> None:
    workflow = read("github-workflow.yml")
    checkout, _, verify = workflow["jobs"]["evidence"]["steps"]
    assert checkout["with"]["ref"] == "${{ github.event.pull_request.head.sha }}"
    assert checkout["with"]["fetch-depth"] == 0
    assert verify["with"]["base"] == "${{ github.event.pull_request.base.sha }}"
    assert set(verify["with"]) <= set(read("github-action/action.yml")["inputs"])
    assert workflow[True] == "pull_request"  # `on`, as YAML 1.1 reads it
    assert workflow["permissions"] == {"contents": "read"}


def test_no_step_puts_what_others_wrote_into_a_script() -> None:
    for step in read("github-action/action.yml")["runs"]["steps"]:
        assert "${{" not in step["run"]


def test_the_hook_before_a_push_judges_the_current_task(change: Change) -> None:
    (repo,) = read("pre-commit-config.yaml")["repos"]
    (hook,) = repo["hooks"]
    assert (hook["stages"], hook["pass_filenames"]) == (["pre-push"], False)
    program, *words = shlex.split(hook["entry"])
    assert program == "memprove"
    git(change.desk.folder, "update-ref", "refs/remotes/origin/main", change.base)
    assert change.desk.memprove(*words).code == 0
    (change.desk.folder / "a.txt").write_text("worse\n")
    assert change.desk.memprove(*words).code == 3
