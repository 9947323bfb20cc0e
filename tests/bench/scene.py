"""Where the benchmark measures: scratch folders, a repository of 2,000 files, a peer beside us."""

import os
import subprocess
import sys
import time
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from platformdirs import user_cache_path
from support.ledgers import Project, unset

FILES: Final = 2_000
IN_TOTO: Final = "in-toto==3.1.0"
HOUR: Final = 3_600


@dataclass(frozen=True, slots=True)
class Scene:
    """How one run of the benchmark measures.

    *base* is a scratch folder on the disk to measure; *quick* asks for a tenth of the samples.
    *gigabytes* go through a pipe; 0: as many as are usual.
    """

    base: Path
    events: int
    quick: bool
    gigabytes: int = 0

    def rounds(self, number: int) -> int:
        """Return how many rounds to measure where *number* are usual."""
        return max(3, number // 10) if self.quick else number

    def folder(self, name: str) -> Path:
        """Return a new folder *name*."""
        folder = self.base / name
        folder.mkdir()
        return folder


def memprove() -> list[str]:
    """Return the command as it is installed beside the Python that runs this."""
    script = Path(sys.executable).with_name("memprove")
    return [str(script)] if script.exists() else [sys.executable, "-P", "-m", "memprove.cli"]


def repository(base: Path) -> Project:
    """Return a Workspace with a ledger: a git repository of 2,000 files, all of them committed."""
    project = unset(base)
    home = base / "home"
    home.mkdir()
    project.env.update(HOME=str(home), LANG="C.UTF-8")
    fill(project.folder, FILES)
    commit_all(project.folder)
    project.set_up()
    return project


def fill(folder: Path, files: int) -> list[Path]:
    """Return *files* new files below *folder*, as of an hour ago, 50 or fewer in each folder."""
    made = []
    for number in range(files):
        file = folder / f"part{number * 40 // files:02}" / f"{number // 50}" / f"module{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"VALUE_{number} = {number}\n" * (20 + number % 200))
        old = file.stat().st_mtime - HOUR  # else git must read what is as new as its index
        os.utime(file, (old, old))
        made.append(file)
    return made


def commit_all(folder: Path) -> None:
    """Make *folder* a git repository with one commit of all that is in it."""
    time.sleep(1.1)  # what is as young as the index is read again, for its ctime if not its mtime
    settings = {
        "user.name": "bench",
        "user.email": "bench@example.org",
        "core.looseCompression": "0",
        "gc.auto": "0",  # else it packs in the background what is being measured
    }
    git = ["git", *(word for name in settings for word in ("-c", f"{name}={settings[name]}"))]
    for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "-m", "all"]):
        subprocess.run([*git, *command], cwd=folder, check=True)


def in_toto_run(base: Path) -> list[str]:
    """Return in-toto's command that records ``true`` as ours does, with a key made for it.

    It is installed once, into a virtual environment below the user's cache folder.
    """
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    file, links = base / "in-toto.pem", base / "links"
    file.write_bytes(key)
    links.mkdir()
    program = str(_installed() / "bin" / "in-toto-run")
    words = ["-n", "step", "--signing-key", str(file), "-m", ".", "-p", ".", "-d", str(links)]
    return [program, *words, "--", "true"]


def _installed() -> Path:
    version = ".".join(map(str, sys.version_info[:2]))
    folder = user_cache_path("memprove-bench") / f"{IN_TOTO.replace('==', '-')}-python{version}"
    done = folder / "installed"
    if not done.exists():
        venv.create(folder, clear=True, with_pip=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", IN_TOTO]
        tried = subprocess.run(pip, capture_output=True, text=True, check=False)
        if tried.returncode:
            raise RuntimeError(f"{IN_TOTO} cannot be installed: {tried.stderr.strip()}")
        done.touch()
    return folder
