"""Who may import whom, what lies at the top, and that all of it is shipped."""

import ast
import importlib.util
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("ledger", "cli", "hooks", "mcp_facade")
GROUND = ("ledger.problems", "ledger.durable")

# Each floor and what of ours it may import beside itself and the ground. The longest name that
# fits a module is its floor; `ledger` stands for the modules directly in that folder.
FLOORS: dict[str, set[str]] = {
    **{name: set() for name in GROUND},
    "ledger.domain": set(),
    "ledger.tlog": set(),
    "ledger.storage": set(),
    "ledger.workspace": set(),
    "ledger.capture": set(),
    "ledger.log": {"ledger.domain", "ledger.tlog", "ledger.storage"},
    "ledger.operations": {
        "ledger.domain",
        "ledger.log.report",
        "ledger.projections",
        "ledger.scopes",
        "ledger.tokens",
        "ledger.workspace.context",
    },
    "ledger": {"ledger"},
    "cli": {"ledger"},
    "hooks": {"ledger"},
    "mcp_facade": {"ledger"},
}
# What a function of a floor may import when it is called, and so starts.
LATE: dict[str, set[str]] = {"cli": {"hooks", "mcp_facade"}}
# Which modules may import a library: those whose names begin so.
LIBRARIES = {
    "apsw": "ledger.storage.sqlite",
    "typer": "cli",
    "rich": "cli",
    "mcp": "mcp_facade",
    "pydantic": "mcp_facade",
}
TOP = {
    *FOLDERS,
    *("tests", "docs", "examples", "pyproject.toml", "requirements.lock", "Makefile"),
    *("README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md"),
}
VAGUE = {"util", "utils", "helper", "helpers", "manager", "managers", "common"}


def files() -> list[Path]:
    """Return the repository's files relative to its root; without git, those that are no output."""
    git = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(git, capture_output=True, check=False).stdout.decode()
    paths = [Path(name) for name in listed.split("\0") if name and (ROOT / name).is_file()]
    if paths:
        return paths
    walked = [path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file()]
    outputs = {"build", "dist", "memprove.egg-info", "__pycache__"}
    return [p for p in walked if not outputs & set(p.parts) and not p.parts[0].startswith(".")]


FILES = files()
PYTHON = [path for path in FILES if path.suffix == ".py"]
SHIPPED = [p for p in FILES if p.parts[0] in FOLDERS and not p.name.startswith(".")]
MODULES = [path for path in SHIPPED if path.suffix == ".py"]


def module(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def floor(name: str) -> str:
    return max((f for f in FLOORS if within(name, f)), key=len)


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield each imported name in full, and whether it is imported only inside a function."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    late = {id(node) for function in functions for node in ast.walk(function)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, id(node) in late) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            yield from ((f"{node.module}.{a.name}", id(node) in late) for a in node.names)


def allowed(here: str, name: str, *, late: bool) -> bool:
    own = floor(here)
    if name.startswith(GROUND) or floor(name) == own:
        return own not in GROUND
    return any(
        within(name, other) for other in FLOORS[own] | (LATE.get(own, set()) if late else set())
    )


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_imports_point_down(path: Path) -> None:
    here = module(path)
    for full, late in imports(path):
        if full.startswith("memprove."):
            name = full.removeprefix("memprove.")
            assert allowed(here, name, late=late), f"{here} may not import {name}"


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_a_library_is_imported_at_its_one_place(path: Path) -> None:
    here = module(path)
    for full, _ in imports(path):
        place = LIBRARIES.get(full.partition(".")[0], "")
        assert here.startswith(place), f"{here} may not import {full}: only {place} may"


def test_the_rules_catch_an_import_that_points_up_or_sideways() -> None:
    assert allowed("ledger.log.verify", "ledger.storage.interface.Store", late=False)
    assert allowed("ledger.tlog.note", "ledger.problems", late=False)
    assert allowed("cli.main", "hooks.main", late=True)
    assert not allowed("cli.main", "hooks.main", late=False)
    assert not allowed("hooks.main", "mcp_facade.stdio", late=True)
    assert not allowed("ledger.domain.pack", "ledger.tlog.merkle", late=True)
    assert not allowed("ledger.operations.runs", "ledger.service", late=False)
    assert not allowed("ledger.problems", "ledger.domain.events", late=False)
    assert not allowed("ledger.service", "cli.app", late=True)


def test_the_top_level_holds_only_what_belongs_there() -> None:
    assert {path.parts[0] for path in FILES if not path.parts[0].startswith(".")} <= TOP


def test_every_package_is_listed_and_every_module_is_in_one() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    folders = {"memprove." + ".".join(path.parent.parts) for path in MODULES}
    packages = {"memprove." + module(path) for path in MODULES if path.name == "__init__.py"}
    assert set(project["tool"]["setuptools"]["packages"]) == packages == folders
    assert all(Path(folder, "py.typed") in SHIPPED for folder in FOLDERS)


def test_what_is_installed_is_this_tree() -> None:
    installed: dict[Path, bytes] = {}
    for folder in FOLDERS:
        spec = importlib.util.find_spec(f"memprove.{folder}")
        assert spec is not None
        assert spec.origin is not None
        top = Path(spec.origin).parent
        found = (path for path in top.rglob("*") if path.is_file() and path.suffix != ".pyc")
        installed |= {Path(folder) / path.relative_to(top): path.read_bytes() for path in found}
    assert installed == {path: (ROOT / path).read_bytes() for path in SHIPPED}


def test_the_lock_names_every_requirement_and_no_address() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    locked = {line.partition("==")[0] for line in lock.splitlines() if "==" in line}
    asked = project["project"]["dependencies"] + project["dependency-groups"]["dev"]
    assert {text.partition(">")[0] for text in asked} <= locked
    assert "://" not in lock
    assert "index-url" not in lock


def test_no_module_is_long_or_vaguely_named() -> None:
    lengths = {p: len((ROOT / p).read_text(encoding="utf-8").splitlines()) for p in PYTHON}
    assert not {path: length for path, length in lengths.items() if length > 400}
    assert not [path for path in PYTHON if VAGUE & set(path.stem.split("_"))]
