"""Hostile repositories: each row of HOSTILE plants one thing that makes git run a program.

A row's function takes a repository made by ``git_repository.new_repository`` and the path of a
marker; the program, if it ever runs, creates the marker. It returns what to add to the environment.
"""

import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from support.git_repository import commit_all, git

Environment = dict[str, str]


@dataclass(frozen=True, slots=True)
class Hostile:
    """One hostile thing."""

    plant: Callable[[Path, Path], Environment]
    control: tuple[str, ...]
    """A plain command, to be run in (a copy of) the planted repository, that does fire it."""

    @property
    def name(self) -> str:
        return self.plant.__name__


def fsmonitor(repository: Path, marker: Path) -> Environment:
    git(repository, "config", "core.fsmonitor", str(_program(marker)))
    return {}


def filter_clean(repository: Path, marker: Path) -> Environment:
    _filter(repository, "evil")
    git(repository, "config", "filter.evil.clean", str(_program(marker)))
    return {}


def filter_process(repository: Path, marker: Path) -> Environment:
    _filter(repository, "evil")
    git(repository, "config", "filter.evil.process", str(_program(marker)))
    git(repository, "config", "filter.evil.required", "true")
    return {}


def filter_with_equals_sign_in_its_name(repository: Path, marker: Path) -> Environment:
    _filter(repository, "e=vil")
    git(repository, "config", "filter.e=vil.clean", str(_program(marker)))
    return {}


def filter_without_a_name(repository: Path, marker: Path) -> Environment:
    _filter(repository, "")
    _append_config(repository, f'[filter ""]\n\tclean = {_program(marker)}\n')
    return {}


def filter_that_shadows_the_owners(repository: Path, marker: Path) -> Environment:
    _filter(repository, "evil")
    git(repository, "config", "--global", "filter.evil.clean", "cat")
    git(repository, "config", "filter.evil.clean", str(_program(marker)))
    return {}


def filter_of_an_included_file(repository: Path, marker: Path) -> Environment:
    _filter(repository, "evil")
    (repository / "shared.cfg").write_text(f'[filter "evil"]\n\tclean = {_program(marker)}\n')
    git(repository, "config", "include.path", "../shared.cfg")
    return {}


def filter_of_a_conditionally_included_file(repository: Path, marker: Path) -> Environment:
    _filter(repository, "evil")
    (repository / "shared.cfg").write_text(f'[filter "evil"]\n\tclean = {_program(marker)}\n')
    git(repository, "config", "includeIf.onbranch:main.path", "../shared.cfg")
    return {}


def filter_of_the_worktree_scope(repository: Path, marker: Path) -> Environment:
    _filter(repository, "evil")
    git(repository, "config", "extensions.worktreeConfig", "true")
    git(repository, "config", "--worktree", "filter.evil.clean", str(_program(marker)))
    return {}


def filter_by_info_attributes(repository: Path, marker: Path) -> Environment:
    (repository / ".git" / "info").mkdir(exist_ok=True)
    (repository / ".git" / "info" / "attributes").write_text("* filter=evil\n")
    git(repository, "config", "filter.evil.clean", str(_program(marker)))
    return {}


def hook_in_the_repository(repository: Path, marker: Path) -> Environment:
    hooks = repository / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-index-change", "reference-transaction", "pre-commit"):
        _program(marker, hooks / name)
    return {}


def hook_of_another_folder(repository: Path, marker: Path) -> Environment:
    (repository / "hooks").mkdir()
    _program(marker, repository / "hooks" / "post-index-change")
    git(repository, "config", "core.hooksPath", "hooks")
    return {}


def textconv(repository: Path, marker: Path) -> Environment:
    (repository / ".gitattributes").write_text("*.txt diff=evil\n")
    git(repository, "config", "diff.evil.textconv", str(_program(marker)))
    return {}


def diff_command(repository: Path, marker: Path) -> Environment:
    (repository / ".gitattributes").write_text("*.txt diff=evil\n")
    git(repository, "config", "diff.evil.command", str(_program(marker)))
    return {}


def diff_external(repository: Path, marker: Path) -> Environment:
    git(repository, "config", "diff.external", str(_program(marker)))
    return {}


def submodule_with_fsmonitor(repository: Path, marker: Path) -> Environment:
    git(_submodule(repository), "config", "core.fsmonitor", str(_program(marker)))
    return {}


def submodule_with_filter(repository: Path, marker: Path) -> Environment:
    submodule = _submodule(repository)
    (submodule / ".git" / "info" / "attributes").write_text("* filter=evil\n")
    git(submodule, "config", "filter.evil.clean", str(_program(marker)))
    (submodule / "inner.txt").write_text("INNER\n")  # the same size: git must read it
    return {}


def nested_repository_with_fsmonitor(repository: Path, marker: Path) -> Environment:
    nested = _repository_in(repository / "nested")
    git(nested, "config", "core.fsmonitor", str(_program(marker)))
    return {}


def embedded_bare_repository(repository: Path, marker: Path) -> Environment:
    bare = repository / "bare"
    git(repository, "clone", "--quiet", "--bare", str(repository), str(bare))
    git(bare, "config", "core.bare", "false")
    git(bare, "config", "core.worktree", str(repository))
    git(bare, "config", "core.fsmonitor", str(_program(marker)))
    return {}


def promisor_remote_with_a_command(repository: Path, marker: Path) -> Environment:
    _promisor(repository, f"ext::{shlex.quote(str(_program(marker)))}")
    git(repository, "config", "protocol.ext.allow", "always")
    return {}


def promisor_remote_with_an_ssh_command(repository: Path, marker: Path) -> Environment:
    _promisor(repository, "ssh://localhost/x")
    git(repository, "config", "core.sshCommand", str(_program(marker)))
    git(repository, "config", "protocol.ssh.allow", "always")
    return {}


def promisor_remote_with_an_upload_pack(repository: Path, marker: Path) -> Environment:
    _promisor(repository, str(repository))
    git(repository, "config", "remote.origin.uploadpack", str(_program(marker)))
    return {}


def ssh_command_in_the_environment(repository: Path, marker: Path) -> Environment:
    _promisor(repository, "ssh://localhost/x")
    return {"GIT_SSH_COMMAND": str(_program(marker)), "GIT_ALLOW_PROTOCOL": "ssh"}


def external_diff_in_the_environment(repository: Path, marker: Path) -> Environment:
    return {"GIT_EXTERNAL_DIFF": str(_program(marker))}


def config_in_the_environment(repository: Path, marker: Path) -> Environment:
    return {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": str(_program(marker)),
    }


def config_parameters_in_the_environment(repository: Path, marker: Path) -> Environment:
    return {"GIT_CONFIG_PARAMETERS": f"'core.fsmonitor'='{_program(marker)}'"}


def config_file_in_the_environment(repository: Path, marker: Path) -> Environment:
    _filter(repository, "evil")
    config = repository / "global.cfg"
    config.write_text(f'[filter "evil"]\n\tclean = {_program(marker)}\n')
    return {"GIT_CONFIG_GLOBAL": str(config)}


def git_dir_in_the_environment(repository: Path, marker: Path) -> Environment:
    other = _repository_in(repository / "ignored" / "other")
    (repository / "ignored" / ".gitignore").write_text("*\n")
    git(other, "config", "core.fsmonitor", str(_program(marker)))
    return {"GIT_DIR": str(other / ".git"), "GIT_WORK_TREE": str(other)}


def trace_in_the_environment(repository: Path, marker: Path) -> Environment:
    return {"GIT_TRACE": str(marker), "GIT_TRACE2_EVENT": str(marker)}


def git_in_a_relative_entry_of_path(repository: Path, marker: Path) -> Environment:
    _program(marker, repository / "git")
    return {"PATH": f".{os.pathsep}{os.environ['PATH']}"}


def git_in_an_empty_entry_of_path(repository: Path, marker: Path) -> Environment:
    _program(marker, repository / "git")
    return {"PATH": f"{os.pathsep}{os.environ['PATH']}"}


def git_in_an_absolute_entry_of_path(repository: Path, marker: Path) -> Environment:
    (repository / "bin").mkdir()
    _program(marker, repository / "bin" / "git")
    return {"PATH": f"{repository / 'bin'}{os.pathsep}{os.environ['PATH']}"}


def git_behind_a_link_outside(repository: Path, marker: Path) -> Environment:
    _program(marker, repository / "tool")
    outside = marker.parent / "outside"
    outside.mkdir()
    (outside / "git").symlink_to(repository / "tool")
    return {"PATH": f"{outside}{os.pathsep}{os.environ['PATH']}"}


def owners_filter_found_in_the_repository(repository: Path, marker: Path) -> Environment:
    _filter(repository, "owners")
    git(repository, "config", "--global", "filter.owners.clean", "owners-tool")
    _program(marker, repository / "owners-tool")
    return {"PATH": f".{os.pathsep}{os.environ['PATH']}"}


_STATUS = ("git", "status")
_ADD = ("git", "add", "--all")
_DIFF = ("git", "diff")
_SHELL = ("sh", "-c", "git status")

HOSTILE: tuple[Hostile, ...] = (
    Hostile(fsmonitor, _STATUS),
    Hostile(filter_clean, _ADD),
    Hostile(filter_process, _ADD),
    Hostile(filter_with_equals_sign_in_its_name, _ADD),
    Hostile(filter_without_a_name, _ADD),
    Hostile(filter_that_shadows_the_owners, _ADD),
    Hostile(filter_of_an_included_file, _ADD),
    Hostile(filter_of_a_conditionally_included_file, _ADD),
    Hostile(filter_of_the_worktree_scope, _ADD),
    Hostile(filter_by_info_attributes, _ADD),
    Hostile(hook_in_the_repository, _ADD),
    Hostile(hook_of_another_folder, _ADD),
    Hostile(textconv, _DIFF),
    Hostile(diff_command, _DIFF),
    Hostile(diff_external, _DIFF),
    Hostile(submodule_with_fsmonitor, _STATUS),
    Hostile(submodule_with_filter, _STATUS),
    Hostile(nested_repository_with_fsmonitor, ("git", "-C", "nested", "status")),
    Hostile(embedded_bare_repository, ("git", "-C", "bare", "status")),
    Hostile(promisor_remote_with_a_command, _DIFF),
    Hostile(promisor_remote_with_an_ssh_command, _DIFF),
    Hostile(promisor_remote_with_an_upload_pack, _DIFF),
    Hostile(ssh_command_in_the_environment, _DIFF),
    Hostile(external_diff_in_the_environment, _DIFF),
    Hostile(config_in_the_environment, _STATUS),
    Hostile(config_parameters_in_the_environment, _STATUS),
    Hostile(config_file_in_the_environment, _ADD),
    Hostile(git_dir_in_the_environment, _STATUS),
    Hostile(trace_in_the_environment, _STATUS),
    Hostile(git_in_a_relative_entry_of_path, _SHELL),
    Hostile(git_in_an_empty_entry_of_path, _SHELL),
    Hostile(git_in_an_absolute_entry_of_path, _SHELL),
    Hostile(git_behind_a_link_outside, _SHELL),
    Hostile(owners_filter_found_in_the_repository, _ADD),
)


def _program(marker: Path, path: Path | None = None) -> Path:
    """Make a program that creates *marker*."""
    program = path or marker.parent / "program"
    program.write_text(f"#!/bin/sh\n: >{shlex.quote(str(marker))}\n")
    program.chmod(0o755)
    return program


def _filter(repository: Path, name: str) -> None:
    (repository / ".gitattributes").write_text(f"*.txt filter={name}\n")


def _append_config(repository: Path, text: str) -> None:
    with (repository / ".git" / "config").open("a") as config:
        config.write(text)


def _repository_in(folder: Path) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet")
    (folder / "inner.txt").write_text("inner\n")
    commit_all(folder, "inner")
    return folder


def _submodule(repository: Path) -> Path:
    submodule = _repository_in(repository / "sub")
    git(repository, "add", "sub")
    git(repository, "commit", "--quiet", "--message", "with a submodule")
    return submodule


def _promisor(repository: Path, url: str) -> None:
    """Take the content of ``a.txt`` away, so that git would fetch it from *url*."""
    missing = git(repository, "rev-parse", "HEAD:a.txt")
    (repository / ".git" / "objects" / missing[:2] / missing[2:]).unlink()
    git(repository, "config", "core.repositoryFormatVersion", "1")
    git(repository, "config", "extensions.partialClone", "origin")
    git(repository, "config", "remote.origin.promisor", "true")
    git(repository, "config", "remote.origin.url", url)
