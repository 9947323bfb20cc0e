"""What programs are for: test, build, lint, or something else.

Names alone decide, so this is a hint for showing and for asking the right question; what a test
run proves is decided by its counts.
"""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from memprove.ledger.capture import make_options

Kind = Literal["test", "build", "lint", "other"]

STRONGEST_FIRST: tuple[Kind, ...] = ("test", "build", "lint")


def strongest(kinds: Iterable[Kind]) -> Kind:
    """Return the kind that says most about *kinds* together."""
    seen = set(kinds)
    return next((kind for kind in STRONGEST_FIRST if kind in seen), "other")


def kind_of(words: Sequence[str]) -> Kind:
    """Return what one command, without wrappers, is for; one that only tells is for nothing."""
    return "other" if only_tells(words) else program_kind(words)


def only_tells(words: Sequence[str]) -> bool:
    """Return whether the command prints its version or a help, or what it would do."""
    name = program(words[0])
    if name == "make" and make_options.builds_nothing(words):
        return True
    asked = (word for word in words[1:] if word.partition("=")[0] in TELLING)
    if any(name not in MEANING_ELSE.get(word, ()) for word in asked):
        return True
    if name in ("pytest", "py.test"):
        return not PYTEST_TELLING.isdisjoint(words)
    if name in PRETENDING_BY_N and "-n" in words:
        return True
    has_verbs = name in VERBS or name in TARGETS or name in SCRIPTS
    return words[1:2] == ["help"] and (has_verbs or PROGRAMS.get(name, "test") != "test")


def program_kind(words: Sequence[str]) -> Kind:
    """Return what the program of *words* is for, whatever its options make of that."""
    name = program(words[0])
    if name in PROGRAMS:
        return PROGRAMS[name]
    if name in INTERPRETERS:
        return _of_interpreter(words)
    operands = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    if name in VERBS:
        return next((VERBS[name][verb] for verb in operands if verb in VERBS[name]), "other")
    if name in TARGETS:
        return strongest(map(of_name, operands)) if _says(operands) else "build"
    if name in SCRIPTS:
        return "other" if INSTALLING & set(operands[:1]) else _of_scripts(operands)
    return of_name(name) if "/" in words[0] else "other"


def builds(words: Sequence[str]) -> bool:
    """Return whether the command builds what it tests, so that it says something without counts."""
    return program(words[0]) in TARGETS or program(words[0]) in COMPILING


def program(word: str) -> str:
    """Return the plain name of the program that *word* calls: ``/usr/bin/python3.11`` is python."""
    name = os.path.basename(word.replace("\\", "/")).lower()
    name = re.sub(r"\.(exe|cmd|bat)$", "", name)
    name = re.sub(r"^(python|pypy|pip)[0-9.]+$", r"\1", name)
    return {"gmake": "make", "gradlew": "gradle", "mvnw": "mvn", "nodejs": "node"}.get(name, name)


def of_name(name: str) -> Kind:
    """Return what a target, script or file is for, by the words in its name."""
    if name.endswith(".t"):  # the ending of the Test Anything Protocol's scripts
        return "test"
    words = set(re.split(r"[^a-z0-9]+", os.path.basename(name).lower()))
    return next((kind for kind in STRONGEST_FIRST if words & NAMES[kind]), "other")


def _of_interpreter(words: Sequence[str]) -> Kind:
    if program(words[0]) in ("node", "ruby") and "--test" in words:
        return "test"
    script = next((at for at, word in enumerate(words) if at and not word.startswith("-")), None)
    if script is None or {"-c", "-e"} & set(words[:script]):
        return "other"
    if os.path.basename(words[script]) in ("manage.py", "setup.py", "artisan"):
        return strongest(map(of_name, words[script + 1 :]))
    return of_name(words[script])


def _of_scripts(operands: Sequence[str]) -> Kind:
    short = {"t", "tst"} & set(operands[:1])  # npm's own short names for test
    programs = (PROGRAMS.get(operand, "other") for operand in operands)
    return "test" if short else strongest((*programs, *map(of_name, operands)))


def _says(operands: Iterable[str]) -> bool:
    return any(of_name(operand) != "other" for operand in operands)


def _table(kinds: Mapping[Kind, str]) -> dict[str, Kind]:
    return {name: kind for kind, names in kinds.items() for name in names.split()}


TELLING = frozenset(
    ("--version", "--help", "--help-all", "-h", "-V", "--dry-run", "--dryrun", "--show-config")
)
MEANING_ELSE: dict[str, tuple[str, ...]] = {
    "-h": ("javac",),
    "-V": ("ctest", "mvn", "robot"),
    "--dry-run": ("clang-format",),
    "--dryrun": ("semgrep",),
}
"""Options of ``TELLING`` that tell a few programs something else."""

PYTEST_TELLING = frozenset(("--fixtures", "--funcargs", "--fixtures-per-test", "--markers"))
PRETENDING_BY_N = frozenset(("go", "just", "ninja", "rake", "scons", "task"))

PROGRAMS = _table(
    {
        "test": """pytest py.test unittest tox nox trial nose2 nosetests stestr behave robot ward
            jest vitest mocha ava tap jasmine karma cypress gotestsum ginkgo cargo-nextest
            rspec cucumber phpunit pest paratest codecept ctest prove bats shellspec busted""",
        "build": """tsc webpack rollup esbuild gcc g++ cc c++ clang clang++ javac rustc
            sphinx-build pyproject-build build maturin compileall buildah""",
        "lint": """ruff mypy pyright basedpyright ty flake8 pylint pycodestyle pydocstyle pyflakes
            black isort bandit vulture codespell lint-imports pre-commit semgrep
            eslint prettier biome stylelint oxlint standard markdownlint markdownlint-cli2
            golangci-lint staticcheck gofmt clippy rustfmt rubocop phpstan psalm phpcs
            shellcheck shfmt hadolint yamllint actionlint clang-tidy clang-format cppcheck
            ktlint detekt swiftlint tflint""",
    }
)
"""Programs, and modules of ``python -m``, that are for one thing."""

VERBS: dict[str, dict[str, Kind]] = {
    "bazel": _table({"test": "test coverage", "build": "build"}),
    "bun": _table({"test": "test", "build": "build"}),
    "cargo": _table(
        {"test": "test t nextest", "build": "build b check c rustc", "lint": "clippy fmt"}
    ),
    "dart": _table({"test": "test", "build": "compile", "lint": "analyze format"}),
    "deno": _table({"test": "test", "build": "compile", "lint": "lint check fmt"}),
    "docker": _table({"build": "build buildx"}),
    "dotnet": _table({"test": "test", "build": "build publish", "lint": "format"}),
    "flutter": _table({"test": "test", "build": "build", "lint": "analyze"}),
    "go": _table({"test": "test", "build": "build install", "lint": "vet fmt"}),
    "hatch": _table({"test": "test", "build": "build", "lint": "fmt"}),
    "meson": _table({"test": "test", "build": "compile"}),
    "mix": _table({"test": "test", "build": "compile", "lint": "credo format dialyzer"}),
    "playwright": _table({"test": "test"}),
    "podman": _table({"build": "build"}),
    "poetry": _table({"build": "build"}),
    "stack": _table({"test": "test", "build": "build"}),
    "swift": _table({"test": "test", "build": "build"}),
    "uv": _table({"build": "build"}),
    "vite": _table({"build": "build"}),
    "zig": _table({"test": "test", "build": "build"}),
}
"""Programs whose first known verb says what they are for."""

TARGETS = frozenset(("make", "cmake", "ninja", "gradle", "mvn", "rake", "scons"))
"""Builders: their targets say more, if they say anything."""

SCRIPTS = frozenset(("npm", "yarn", "pnpm", "just", "task", "invoke", "composer"))
"""Runners of scripts that are known by name, and of programs."""

INSTALLING = frozenset(("add", "audit", "ci", "i", "install", "remove", "uninstall", "update"))
"""What they do with packages: a package may be called as a test runner is."""

COMPILING = frozenset(("cargo", "go", "swift", "dotnet", "bazel", "meson", "mix", "stack", "zig"))

INTERPRETERS = frozenset(("python", "pypy", "node", "ruby", "php", "perl", "bash", "sh", "zsh"))

NAMES: dict[Kind, frozenset[str]] = {
    "test": frozenset(
        (
            *("test", "tests", "check", "spec", "specs", "unit", "e2e", "integration"),
            *("pytest", "jest", "vitest", "mocha", "nextest", "rspec", "phpunit", "ctest"),
        )
    ),
    "build": frozenset(("build", "compile", "dist", "bundle", "package", "assemble")),
    "lint": frozenset(
        ("lint", "linter", "typecheck", "types", "format", "fmt", "mypy", "ruff", "eslint")
    ),
}
