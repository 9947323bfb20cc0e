"""Where a caller's configuration, data directory and token are: read anew on every call.

A source that is set but unreadable is a Problem, the next one is not tried. A variable that is
empty or begins with ``${`` (a client that did not expand it) counts as unset.
"""

import os
import stat
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import msgspec

from memprove.ledger.paths import from_text
from memprove.ledger.problems import (
    CONFIG_UNREADABLE,
    DATA_DIR_MISSING,
    DATA_DIR_UNREADABLE,
    TOKEN_MISSING,
    TOKEN_UNREADABLE,
    Problem,
    ProblemKind,
)
from memprove.ledger.tokens import Token, parse_token

AGENT_VARIABLES: Final = ("CLAUDECODE", "GEMINI_CLI", "CURSOR_AGENT", "OPENCODE", "AI_AGENT")
AGENT_PREFIXES: Final = ("CODEX_", "COPILOT_AGENT_")
DATA_DIR: Final = "data-dir"
STATE_DIR: Final = "state-dir"
INSTALLATION: Final = "installation"
_MOST: Final = 4096  # bytes of a token or data-dir file


class Caller(msgspec.Struct, frozen=True):
    """Who calls, from where: all that an operation takes from its surroundings."""

    face: str
    cwd: Path
    env: Mapping[str, str]
    config_option: Path | None = None
    from_agent: bool = False
    patience_s: float = 10.0
    """The longest that the caller waits for git, or for another writer."""
    call: str = ""
    """What the client calls this one call of its agent's, if it says."""

    def variable(self, name: str) -> str | None:
        """Return environment variable *name* if it is set to something."""
        value = self.env.get(name, "")
        return None if not value or value.startswith("${") else value

    @property
    def agent_env(self) -> bool:
        """Tell whether an agent's environment is seen around this process."""
        return any(
            self.env[name] and (name in AGENT_VARIABLES or name.startswith(AGENT_PREFIXES))
            for name in self.env
        )


def config_dir(caller: Caller) -> Path:
    """Return the caller's configuration directory, whether or not it exists.

    Raises Problem ``config_unreadable`` where nothing names it and no home folder is known.
    """
    if caller.config_option is not None:
        return expanded(str(caller.config_option), CONFIG_UNREADABLE).absolute()
    if value := caller.variable("MEMPROVE_CONFIG_DIR"):
        return expanded(value, CONFIG_UNREADABLE).absolute()
    if (usual := _usual("XDG_CONFIG_HOME", ".config")) is not None:
        return usual
    from platformdirs import user_config_path  # late, as below

    return _in_a_home(user_config_path, "MEMPROVE_CONFIG_DIR")


def default_data_dir() -> Path:
    """Return where ``init`` puts a new ledger unless told otherwise."""
    from platformdirs import user_data_path

    return _in_a_home(user_data_path, "MEMPROVE_DATA_DIR")


def state_dir(caller: Caller) -> Path:
    """Return where what was seen is remembered, whether or not it exists.

    The environment names it, else the configuration directory, else it is the user's usual one; it
    is beside the configuration where no home folder is known.
    """
    if value := caller.variable("MEMPROVE_STATE_DIR"):
        return expanded(value, CONFIG_UNREADABLE).absolute()
    file = config_dir(caller) / STATE_DIR
    if (text := _read(file, CONFIG_UNREADABLE)) is not None:
        return _absolute(str(from_text(text)), str(file), CONFIG_UNREADABLE)
    if (usual := _usual("XDG_STATE_HOME", ".local/state")) is not None:
        return usual
    from platformdirs import user_state_path

    try:
        return _in_a_home(user_state_path, "MEMPROVE_STATE_DIR")
    except Problem:
        return config_dir(caller) / "state"


def data_dir(caller: Caller) -> Path:
    """Return the caller's data directory, which holds a ledger."""
    named = named_data_dir(caller)
    if named is None:
        raise DATA_DIR_MISSING()
    if not named.is_dir():
        raise DATA_DIR_UNREADABLE(named)
    return named


def named_data_dir(caller: Caller) -> Path | None:
    """Return the data directory that the environment or the configuration names, if any."""
    if value := caller.variable("MEMPROVE_DATA_DIR"):
        return _absolute(value, "MEMPROVE_DATA_DIR")
    return kept_data_dir(config_dir(caller))


def kept_data_dir(config_dir: Path) -> Path | None:
    """Return the data directory that the configuration directory names, if any."""
    file = config_dir / DATA_DIR
    text = _read(file, CONFIG_UNREADABLE)
    return None if text is None else _absolute(str(from_text(text)), str(file))


def token(caller: Caller, *, owner: bool = False) -> Token:
    """Return the caller's token; for an *owner* operation the owner's file is the last source."""
    if value := caller.variable("MEMPROVE_TOKEN"):
        return parse_token(value, "MEMPROVE_TOKEN")
    if value := caller.variable("MEMPROVE_TOKEN_FILE"):
        file = expanded(value, TOKEN_UNREADABLE)
        text = _read(file, TOKEN_UNREADABLE)
        if text is None:
            raise TOKEN_UNREADABLE(file)
        return parse_token(text, str(file))
    file = config_dir(caller) / ("owner-token" if owner else "token")
    text = _read(file, TOKEN_UNREADABLE)
    if text is None:
        raise TOKEN_MISSING()
    return parse_token(text, str(file))


def installation(caller: Caller) -> str:
    """Return the id that ``init`` gave this installation; empty if the file is gone."""
    return (_read(config_dir(caller) / INSTALLATION, CONFIG_UNREADABLE) or "").strip()[:64]


def expanded(text: str, kind: ProblemKind) -> Path:
    """Return the path *text*; raise *kind* if it begins with ``~`` and no home folder is known."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise kind(f"{text}: no home folder is known") from None


def _usual(variable: str, below: str) -> Path | None:
    """Return what platformdirs says where that is simple: to import it takes 20 ms of every start.

    That is the folder that *variable* names on Linux, else the one *below* the home folder.
    """
    base = os.environ.get(variable, "").strip()
    home = os.environ.get("HOME", "")
    if sys.platform != "linux" or not os.path.isabs(base or home):
        return None
    return Path(base or os.path.join(home, below), "memprove")


def _in_a_home(place: Callable[[str], Path], variable: str) -> Path:
    """Return what platformdirs says is our *place*: a user may have no home folder."""
    try:
        path = place("memprove")
    except RuntimeError:
        path = Path("~")
    if not path.is_absolute():  # it would be made in the working directory
        raise CONFIG_UNREADABLE(f"no home folder is known; set HOME or {variable}")
    return path


def _absolute(text: str, source: str, kind: ProblemKind = DATA_DIR_UNREADABLE) -> Path:
    path = expanded(text.strip(), kind)
    if not path.is_absolute() or "\n" in text.strip():
        raise kind(f"{source} must name one absolute path")
    return path


def _read(file: Path, kind: ProblemKind) -> str | None:
    """Return the text of a small regular file, None if there is none."""
    try:
        descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise kind(f"{file}: {error.strerror}") from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise kind(f"{file} is no regular file")
        with open(descriptor, "rb", closefd=False) as opened:
            data = opened.read(_MOST + 1)
    finally:
        os.close(descriptor)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise kind(f"{file} is not UTF-8") from None
    if len(data) > _MOST or not text.strip():
        raise kind(f"{file} is empty or too large")
    return text
