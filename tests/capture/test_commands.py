import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memprove.ledger.capture.commands import classify, mask


@pytest.mark.parametrize(
    "command",
    [
        "pytest -q",
        "py.test",
        "/venv/bin/pytest tests",
        "python -m pytest -x",
        "python3.12 -W ignore -X dev -m unittest",
        "uv run pytest",
        "uv run --with hypothesis -m pytest",
        "poetry run python -m pytest",
        "pipenv run pytest",
        "coverage run -m pytest",
        "env -u HOME A=1 timeout -k 5 60 nice -n 3 pytest",
        "memprove run --timeout 5 -- pytest",
        "sh -c 'cd sub && FOO=1 pytest -q'",
        "bash -lc pytest",
        "tox -e py312",
        "nox",
        "npm test",
        "npm run test:unit",
        "pnpm run e2e",
        "npx jest",
        "npx --yes vitest run",
        "node_modules/.bin/mocha",
        "node --test",
        "bun test",
        "deno test",
        "go test ./...",
        "cargo test --release",
        "cargo +nightly nextest run",
        "bundle exec rspec",
        "vendor/bin/phpunit",
        "ctest --output-on-failure",
        "prove -r t",
        "npm t",
        "npm test --workspaces",
        "pnpm -r test",
        "pnpm --filter web run test:unit",
        "pnpm vitest run",
        "pnpm exec vitest run",
        "yarn test",
        "yarn mocha",
        "yarn workspaces foreach run test",
        "bun run test",
        "bunx vitest",
        "npx mocha --reporter tap",
        "npm exec -- jest",
        "node node_modules/.bin/jest",
        "node node_modules/mocha/bin/mocha.js",
        "node --test --test-reporter=tap",
        "go test -json ./...",
        "gotestsum -- ./...",
        "cargo t",
        "cargo nextest run --profile ci",
        "bin/rspec",
        "rake spec",
        "php vendor/bin/phpunit",
        "php artisan test",
        "composer test",
        "cmake --build b --target test",
        "ninja -C b test",
        "make check",
        "perl -Ilib t/it.t",
        "./t/it.t",
        "make test",
        "make -C sub -j4 check",
        "./gradlew test",
        "python manage.py test",
        "python tests/test_it.py",
        "./scripts/run-tests.sh",
        "sh -c 'ruff check . && pytest'",
    ],
)
def test_commands_that_test(command: str) -> None:
    assert classify(shlex.split(command)) == "test"


@pytest.mark.parametrize(
    "command",
    ["make", "make all", "cargo build", "tsc --noEmit", "go build ./...", "docker build -t x .",
     "cmake --build b", "npm run build", "python -m build", "uv build", "dotnet build"],
)  # fmt: skip
def test_commands_that_build(command: str) -> None:
    assert classify(shlex.split(command)) == "build"


@pytest.mark.parametrize(
    "command",
    ["ruff check", "mypy --strict .", "python -m mypy .", "npx eslint src", "flake8",
     "cargo clippy -- -D warnings", "cargo fmt --check", "golangci-lint run", "go vet ./...",
     "pre-commit run -a", "npm run lint", "make lint", "uvx ruff check"],
)  # fmt: skip
def test_commands_that_lint(command: str) -> None:
    assert classify(shlex.split(command)) == "lint"


@pytest.mark.parametrize(
    "command",
    ["true", "ls tests", "cat tests/test_x.py", "git commit -m test", "grep -r pytest .",
     "echo pytest", "python -c 'import pytest'", "python app.py", "docker run image", "sh", "''",
     "sh -c 'echo \"pytest; make\"'", "npm install", "npm install jest",
     "yarn add vitest", "cargo run"],
)  # fmt: skip
def test_commands_that_are_something_else(command: str) -> None:
    assert classify(shlex.split(command)) == "other"


def test_a_test_command_without_counts_is_what_else_it_is() -> None:
    assert classify(["make", "test"], counted=False) == "build"
    assert classify(["cargo", "test"], counted=False) == "build"
    assert classify(["pytest"], counted=False) == "other"
    assert classify(["sh", "-c", "ruff check && pytest"], counted=False) == "lint"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("pytest || true", "(||)"),
        ("pytest || :", "(||)"),
        ("pytest || exit 0", "(||)"),
        ("pytest || exit 256", "(||)"),
        ("pytest || echo failed", "(||)"),
        ("pytest || { exit 1; echo; }", "(||)"),
        ("ruff && pytest || true", "(||)"),
        ("(pytest || true)", "(||)"),
        ("{ pytest || true; }", "(||)"),
        ("bash -c 'pytest || true'", "(||)"),
        ("eval 'pytest || true'", "(||)"),
        ("pytest>log||true", "(||)"),
        ("pytest; true", "(;)"),
        ("pytest; echo $?", "(;)"),
        ("pytest; exit 0", "(;)"),
        ("pytest\necho done", "(;)"),
        ("ruff check; pytest", "(;)"),
        ("set -e; ruff && mypy; pytest", "(;)"),
        ("set -e; set +e; ruff; pytest", "(;)"),
        ("out=$(pytest); echo $out", "(;)"),
        ("exit; pytest", "(;)"),
        ("exit 0; pytest", "(;)"),
        ("pytest || false; echo", "(;)"),
        ("pytest || (echo failed; exit 1); echo", "(;)"),
        ("ruff || exit 1 && pytest; echo", "(;)"),
        ("pytest &", "(&)"),
        ("pytest & wait", "(&)"),
        ("pytest | tail", "pipefail"),
        ("pytest 2>&1 | tee log", "pipefail"),
        ("pytest |& cat", "pipefail"),
        ("set -o pipefail; set +o pipefail; pytest | tail", "pipefail"),
        ("! pytest", "(!)"),
        ("if pytest; then echo ok; fi", "if"),
        ("for d in a b; do pytest $d; done", "for"),
        ("while ! pytest; do :; done", "while"),
        ("t() { pytest; }; t", "function"),
        ("make -k test", "make"),
        ("pytest && make --ignore-errors", "make"),
        ("ruff check --exit-zero", "--exit-zero"),
        ("rspec --dry-run", "--dry-run"),
        ("npm test -- --dry-run", "--dry-run"),
        ("pytest &&", "followed"),
        ("pytest 'a", "followed"),
        ("cat <<E\ntext\nE\npytest || true", "(||)"),
    ],
)
def test_an_exit_code_that_cannot_be_trusted(text: str, reason: str) -> None:
    assert reason in mask(["sh", "-c", text])


@pytest.mark.parametrize(
    "text",
    [
        "pytest",
        "pytest\n",
        "pytest;",
        "cd sub && pytest -q > log 2>&1",
        "cd sub; export A=1; . venv/bin/activate; pytest",
        "FOO=1 pytest",
        "VERSION=3\npytest",
        "pytest && echo ok",
        "pytest || exit 1",
        "pytest || exit $?",
        "pytest || false",
        "pytest || { echo failed; exit 1; }",
        "(cd a && pytest) && (cd b && pytest)",
        "test -d out || mkdir out; pytest",
        "command -v uv || exit 1; uv run pytest",
        "cd sub || exit; pytest",
        "ruff && mypy || exit 1; pytest",
        "pytest || { echo failed; exit 2; }; echo ok",
        "echo yes | ./configure",
        "cat input | pytest",
        "set -o pipefail; pytest | tail",
        "set -euo pipefail\nruff check\npytest | tee log",
        "echo 'pytest || true'; pytest",
        "pytest -k 'a or b; c | d'",
        'pytest -k "a || true; $(echo "b | c")"',
        "pytest # || true",
        "pytest \\\n -q",
        "cat <<'E'\npytest || true\nE\npytest",
        "pytest > >(tee log)",
    ],
)
def test_an_exit_code_that_can_be_trusted(text: str) -> None:
    assert mask(["bash", "-c", text]) == ""


def test_the_options_of_the_shell_count() -> None:
    assert mask(["bash", "-o", "pipefail", "-c", "pytest | tail"]) == ""
    assert mask(["bash", "-euo", "pipefail", "-c", "ruff; pytest | tail"]) == ""
    assert mask(["bash", "--norc", "-eo", "pipefail", "-c", "a | b", "name"]) == ""
    assert mask(["sh", "-ec", "ruff; pytest"]) == ""
    assert mask(["bash", "+o", "pipefail", "-c", "pytest | tail"]) != ""


@pytest.mark.parametrize(
    "argv",
    ["make -i", "make -ki test", "gmake -j4k", "env A=1 make --keep-going", "make -C sub -k",
     "timeout 5 bash -lc 'pytest || true'", "uv run sh -c 'pytest; true'"],
)  # fmt: skip
def test_masks_are_seen_through_wrappers_and_in_options(argv: str) -> None:
    assert mask(shlex.split(argv)) != ""


@pytest.mark.parametrize(
    "argv", ["make test", "make -C kit", "make -Ckit", "make -f -k", "make -Oline -j4", "bash x.sh",
             "sh -c", "sh", "pytest -k i", "ruff check", "npm publish --dry-run"]
)  # fmt: skip
def test_what_looks_like_a_mask_but_is_none(argv: str) -> None:
    assert mask(shlex.split(argv)) == ""


@pytest.mark.parametrize("nested", ["(", "{ ", "$(", "`", "'", "a |", "! ", "${"])
def test_text_that_is_nested_without_end_is_not_followed(nested: str) -> None:
    assert mask(["sh", "-c", nested * 5_001]) != ""


shell_text = st.lists(
    st.sampled_from(
        [*"|&;()<>!{}#$`'\"\\\n \t", "pytest", "true", "if", "set -e", "sh -c", "<<E", "$(", "make"]
    )
).map("".join)


@given(
    st.lists(st.one_of(st.text(), shell_text, st.sampled_from(["sh", "-c", "env", "uv", "run"])))
)
def test_any_arguments_have_a_kind(argv: list[str]) -> None:
    assert classify(argv) in ("test", "build", "lint", "other")
    assert isinstance(mask(argv), str)


@given(shell_text)
def test_any_shell_text_is_judged(text: str) -> None:
    assert classify(["sh", "-c", text]) in ("test", "build", "lint", "other")
    assert isinstance(mask(["sh", "-c", text]), str)


@given(shell_text.filter(lambda text: "<<" not in text))
def test_a_text_whose_failure_is_caught_is_never_trusted(text: str) -> None:
    assert mask(["sh", "-c", f"( pytest {text}\n) || true"]) != ""
