import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memprove.ledger.capture.commands import classify, is_no_op, mask


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


@pytest.mark.parametrize(
    "command",
    [
        *("gcc --version", "make -n test", "make --version", "make --just build", "make -kq all"),
        *("make -t", "make help", "make -h", "ruff --version", "ruff check --help", "ruff help"),
        *("cargo build --help", "cargo help build", "cargo -V", "tsc --version", "mypy -V"),
        *("mypy --version", "pytest --version", "pytest --help", "pytest -h", "npm test --help"),
        *("pytest --fixtures", "pytest --markers", "python -m pytest --version", "go help build"),
        *("uv run pytest --version", "sh -c 'cd a && make -n'", "ninja -n", "go help vet"),
        *("npm run build -- --help", "rake -n", "uv build --help", "rspec --dry-run"),
    ],
)
def test_commands_that_only_tell(command: str) -> None:
    assert classify(shlex.split(command)) == "other"
    assert is_no_op(shlex.split(command))


@pytest.mark.parametrize(
    ("command", "kind"),
    [("ctest -V", "test"), ("mvn -V test", "test"), ("javac -h out A.java", "build"),
     ("clang-format --dry-run -Werror a.c", "lint"), ("pytest -n 4", "test"),
     ("ruff check -n", "lint"), ("make -C -n", "build")],
)  # fmt: skip
def test_commands_that_only_seem_to_tell(command: str, kind: str) -> None:
    assert classify(shlex.split(command)) == kind
    assert not is_no_op(shlex.split(command))


@pytest.mark.parametrize(
    "command",
    ["true", ":", "false", "/bin/true", "echo built", "printf x", "test -f a", "[ -f a ]", "exit 0",
     "sleep 1", "cat a", "ls", "pwd", "cd a", "date", "env", "env A=1", "env -i true", "sh -c ''",
     "sh -c true", "sh -c 'cd a && (echo b; exit 0)'", "timeout 5 bash -lc 'ls | cat > log'",
     "memprove run -- true", "sh -c '>log'"],
)  # fmt: skip
def test_commands_that_do_nothing(command: str) -> None:
    assert is_no_op(shlex.split(command))


@pytest.mark.parametrize(
    "command",
    ["make", "./build.sh", "sh build.sh", "sh", "sh -c 'true; make'", "sh -c 'if true; then m; fi'",
     "sh -c 'echo ('", "python setup.py build", "grep -r TODO src", "sort a",
     "sh -c 'echo a | tee b'"],
)  # fmt: skip
def test_commands_that_may_do_something(command: str) -> None:
    assert not is_no_op(shlex.split(command))


def test_a_test_command_without_counts_is_what_else_it_is() -> None:
    assert classify(["make", "test"], counted=False) == "build"
    assert classify(["cargo", "test"], counted=False) == "build"
    assert classify(["pytest"], counted=False) == "other"
    assert classify(["sh", "-c", "ruff check && pytest"], counted=False) == "lint"


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
