"""Who calls a tool, looked at anew on each call: the server keeps nothing of the last one."""

import os
from collections.abc import Mapping
from pathlib import Path

from memprove.ledger.settings import Caller

FACE = "mcp"


def caller(config_dir: Path | None = None, env: Mapping[str, str] | None = None) -> Caller:
    """Return the caller as its environment and working directory are now.

    The Workspace is that of CLAUDE_PROJECT_DIR, else of the working directory. *config_dir* is the
    option that the server was started with.
    """
    variables = dict(os.environ if env is None else env)
    here = Caller(FACE, _working_directory(variables), variables, config_option=config_dir)
    project = here.variable("CLAUDE_PROJECT_DIR")
    if project is None:
        return here
    return Caller(FACE, here.cwd / project, variables, config_option=config_dir)


def _working_directory(variables: Mapping[str, str]) -> Path:
    """Return the working directory; one that was removed under us, by the name it had."""
    try:
        return Path.cwd()
    except OSError:
        return Path(variables.get("PWD") or os.sep)
