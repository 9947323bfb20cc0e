"""Evidence in a folder that is no repository, through the command."""

import shutil
from pathlib import Path

import pytest
from support.command_line import Desk, new_desk
from support.git_repository import git, isolate

TEST = ("run", "--kind", "build", "sh", "-c", "sort a.txt")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    isolate(monkeypatch, tmp_path / "home")
    desk = new_desk(tmp_path)
    shutil.rmtree(desk.folder / ".git")
    assert desk.memprove("init").code == 0
    desk.begin()
    return desk


def proof(desk: Desk) -> str:
    """Return the Pack's lines about claim c1."""
    lines = desk.memprove("resume", "--pack").out.splitlines()
    (place,) = (number for number, line in enumerate(lines) if line.startswith("  c1 "))
    return f"{lines[place - 1]}\n{lines[place]}"


def test_a_claim_is_proven_then_stale_then_proven_again(desk: Desk) -> None:
    assert desk.memprove(*TEST).code == 0
    assert desk.memprove("checkpoint", "--fact", "it builds [r1]").code == 0
    proven = proof(desk)
    (desk.folder / "dir" / "c.txt").write_text("changed\n")
    (desk.folder / "new.txt").write_text("new\n")
    stale, refused = proof(desk), desk.memprove("complete")
    again = desk.memprove("rerun", "--stale", "--yes")

    assert proven.startswith("Proven (1)\n")
    assert stale.startswith("Stale (1)\n")
    assert "`dir/c.txt`, `new.txt` changed" in stale
    assert refused.problem == "evidence_stale"
    assert again.code == 0
    assert proof(desk).startswith("Proven (1)\n")
    assert desk.memprove("complete").code == 0


def test_a_run_may_make_new_files_but_not_change_those_that_were_there(desk: Desk) -> None:
    desk.memprove("run", "--kind", "build", "sh", "-c", "echo > out.txt")
    desk.memprove("run", "--kind", "build", "sh", "-c", "echo more > a.txt; rm b.txt")
    made, changed = (desk.memprove("show", run).out for run in ("r1", "r2"))

    assert "  verdict passed" in made
    assert "  produced `out.txt`\n" in made
    assert "  verdict moved" in changed
    assert "  changed `a.txt`, `b.txt`\n" in changed


def test_outputs_and_what_gitignore_names_may_be_rewritten(desk: Desk) -> None:
    (desk.folder / ".gitignore").write_text("*.log\n")
    (desk.folder / ".memprove" / "config.toml").write_text('[evidence]\noutputs = ["/a.txt"]\n')
    script = "echo $$ | tee -a a.txt x.log"
    desk.memprove("run", "--kind", "build", "sh", "-c", script)
    desk.memprove("run", "--kind", "build", "sh", "-c", script)

    verdicts = [desk.memprove("show", run, "--json").json["verdict"] for run in ("r1", "r2")]
    assert verdicts == ["passed", "passed"]
    assert desk.memprove("complete").code == 0


def test_a_folder_that_becomes_a_repository_makes_its_runs_stale(desk: Desk) -> None:
    desk.memprove(*TEST)
    desk.memprove("checkpoint", "--fact", "it builds [r1]")
    git(desk.folder, "init", "--quiet")

    assert "paths unknown" in proof(desk)


def test_without_git_installed_a_folder_has_a_tree_all_the_same(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for program in ("sh", "sort"):
        (tmp_path / "bin" / program).symlink_to(shutil.which(program) or "")
    env = {"PATH": str(tmp_path / "bin")}
    desk.memprove(*TEST, env=env)

    assert desk.memprove("complete", env=env).code == 0


def test_without_git_installed_a_repository_has_no_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    isolate(monkeypatch, tmp_path / "home")
    desk = new_desk(tmp_path)
    assert desk.memprove("init").code == 0
    desk.begin()
    (tmp_path / "bin").mkdir()
    for program in ("sh", "sort"):
        (tmp_path / "bin" / program).symlink_to(shutil.which(program) or "")
    env = {"PATH": str(tmp_path / "bin")}
    desk.memprove(*TEST, env=env)

    refused = desk.memprove("complete", env=env)

    assert refused.problem == "evidence_stale"
    assert "no_git" in refused.err
