"""Programs from npm in a folder of their own, and a Node new enough for them."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

NODE: Final = "node@22"
FOLDER: Final = Path(__file__).resolve().parents[2] / ".venv" / "npm"


class Missing(Exception):
    """What is asked for cannot be had here; the text says why."""


def installed(name: str, *packages: str) -> dict[str, str]:
    """Install *packages* in folder *name*, once; return the environment in which they are found."""
    if shutil.which("npm") is None:
        raise Missing("there is no npm here")
    folder = FOLDER / name
    done = folder / "installed"
    wanted = " ".join((NODE, *packages))
    if not done.exists() or done.read_text() != wanted:
        _install(folder, packages)
        done.write_text(wanted)
    return with_path(folder, os.environ)


def with_path(folder: Path, env: Mapping[str, str]) -> dict[str, str]:
    """Return *env* with the programs that are installed in *folder* before all others."""
    return {**env, "PATH": f"{folder / 'node_modules' / '.bin'}{os.pathsep}{env['PATH']}"}


def _install(folder: Path, packages: tuple[str, ...]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "package.json").write_text('{"private": true}\n')
    # Node itself comes first: packages that look at the version must find the new one.
    for wanted in ((NODE,), packages):
        done = subprocess.run(
            ("npm", "install", "--no-audit", "--no-fund", "--loglevel=error", *wanted),
            cwd=folder,
            env=with_path(folder, os.environ),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise Missing(f"npm cannot install {' '.join(wanted)}: {done.stderr.strip()[-300:]}")
