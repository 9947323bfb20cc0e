import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memprove.ledger.capture.commands import classify, mask


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
        ("out=$(pytest); echo $out", "substitution"),
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
        ("command make || true", "(||)"),
        ("command pytest; true", "(;)"),
        ("true || make", "(||)"),
        ("test -f .gitignore || make all", "(||)"),
        ("[ -n x ] || pytest || exit 1", "(||)"),
        ("pytest || { exit 0; false; }", "(||)"),
        ("pytest || { >log; }", "(||)"),
        ("pytest || exit & true", "(&)"),
        ("true && exit 0 && make", "exit"),
        ("set -e; exit 0; make", "exit"),
        ("{ exit 0; } && make", "exit"),
        ("builtin exit 0 && make", "exit"),
        ("return 0 && make", "return"),
        ("exec true && make", "exec"),
        ("$LEAVE && make", "$LEAVE"),
        ("{exit,0} && make", "{exit,0}"),
        ("eval 'exit 0' && make", "eval"),
        (". ./exits.sh && make", "."),
        ("set -- -e; make; true", "(;)"),
        ("set -ex; set -+e; make; true", "(;)"),
        ("set -e; set $X; make; true", "(;)"),
        ("set -e; $S +e; make; true", "(;)"),
        ("set -e; command set +e; make; true", "(;)"),
        ("set -e; eval 'set +e'; make; true", "(;)"),
        ("set -e; shopt -uo errexit; make; true", "(;)"),
        ("set -e | cat; make; true", "(;)"),
        ("false && set -e; make; true", "(;)"),
        ("(set -e); make; true", "(;)"),
        ("{ set -e; make; true; } && echo ok", "(;)"),
        ("(set -e; make; true) || exit 1", "(;)"),
        ("set -e; { make && echo; }; true", "(;)"),
        ("set -n; make", "-n"),
        ("true && set -o noexec && make", "noexec"),
        ("MAKEFLAGS=-k make", "MAKEFLAGS"),
        ("MAKEFLAGS+=i make", "MAKEFLAGS"),
        ("export MAKEFLAGS=-i; make", "MAKEFLAGS"),
        ("make $FLAGS", "make"),
        ("SHELLOPTS=noexec bash -c make", "SHELLOPTS"),
        ("alias pytest=true; pytest", "(;)"),
        ("pytest && alias make=true", "alias"),
        ("trap 'exit 0' EXIT && pytest", "trap"),
        ("coproc pytest", "coproc"),
        ("time ! pytest", "!"),
        ("set -e; time if make; then :; fi", "if"),
        ("pytest &>log", "(&)"),
        ("echo $(make)", "substitution"),
        ('echo "$(make) ${x:-`make`}"', "substitution"),
        ("cat <(make)", "substitution"),
        ("cat < <(make)", "substitution"),
        ("x=$((make) | (cat))", "substitution"),
        ("(( 1 )) || make", "(("),
        ('sh -c "$TEXT"', "put together"),
        ("xargs sh -c 'pytest || true'", "(||)"),
        ("setsid make", "setsid"),
        ("find . -exec make {} \\;", "find"),
        ('make <<"E "\nE\nE \ntrue', "(;)"),
        ("cat <<E\na\\\nE\nset -e\nE\nmake; true", "followed"),
        ("cat <<E\n$(make)\nE", "followed"),
        ('make "${x:-\'}" || true #\'}"', "followed"),
        ('make "a <(b" || true #)"', "(||)"),
        ("make |\\\n| true", "followed"),
        ("pytest; rc=$?; rc=0; exit $rc", "(;)"),
        ("pytest; rc=$?; : $((rc=0)); exit $rc", "(;)"),
        ("ruff; pytest; rc=$?; exit $rc", "(;)"),
        ("pytest & rc=$?; exit $rc", "(&)"),
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
        "pytest; rc=$?; exit $rc",
        'pytest\nrc=$?\necho "ended: $rc"\nexit ${rc}',
        "pytest; exit $?",
        "cd $(git rev-parse --show-toplevel) && make -j$(nproc)",
        "VERSION=$(git describe); make -j$(( $(nproc) * 2 ))",
        "MAKEFLAGS='-j4 -s' make",
        "set -euo pipefail; (cd a && ruff); pytest | tee log",
        "set -e -- a b; ruff; pytest",
        "command -v uv || exit 1; command cd sub; pytest",
        "exec > log 2>&1; pytest",
        "exec pytest",
        "pytest &> log",
        "pytest -k $'a'",
        "$PYTHON -m pytest",
        "make <<E\nE \nE",
        "test -f .env && . ./.env; pytest",
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
    assert mask(["bash", "-nc", "pytest"]) != ""
    assert mask(["bash", "--version", "-c", "pytest"]) != ""
    assert mask(["bash", "-eo", "$X", "-c", "ruff; pytest"]) != ""


def test_quotes_that_shells_end_at_different_places_are_not_followed() -> None:
    assert mask(["bash", "-c", r"make $'\'' || true #'"]) != ""
    assert mask(["dash", "-c", r"make $'\'' || true #'"]) != ""


@pytest.mark.parametrize(
    "argv",
    ["make -i", "make -ki test", "gmake -j4k", "env A=1 make --keep-going", "make -C sub -k",
     "timeout 5 bash -lc 'pytest || true'", "uv run sh -c 'pytest; true'",
     "make --keep test", "make --ignore test", "make --ig", "make MAKEFLAGS=-i test",
     "make 'MAKEFLAGS += -i'", "make --eval=.IGNORE:", "make -E .IGNORE:", "make SHELL=true",
     "env MAKEFLAGS=k make", "env -S 'MAKEFLAGS=-k make'", "docker run i sh -c 'make || true'",
     "busybox sh -c 'make; true'", "ruff check -qe", "mvn -fn test", "npm run build --if-present",
     "setsid make", "script -qc make log"],
)  # fmt: skip
def test_masks_are_seen_through_wrappers_and_in_options(argv: str) -> None:
    assert mask(shlex.split(argv)) != ""


@pytest.mark.parametrize(
    "argv", ["make test", "make -C kit", "make -Ckit", "make -f -k", "make -Oline -j4", "bash x.sh",
             "sh -c", "sh", "pytest -k i", "ruff check", "npm publish --dry-run", "setsid -w make",
             "make MAKEFLAGS=-j4 test", "make --no-print-directory", "make SHELL=/bin/bash",
             "script -qec make log", "find . -exec make {} +", "sh -c 'MAKEFLAGS=-j4 make'"]
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


@given(shell_text)
def test_any_shell_text_is_judged(text: str) -> None:
    assert classify(["sh", "-c", text]) in ("test", "build", "lint", "other")
    assert isinstance(mask(["sh", "-c", text]), str)


@given(shell_text.filter(lambda text: "<<" not in text))
def test_a_text_whose_failure_is_caught_is_never_trusted(text: str) -> None:
    assert mask(["sh", "-c", f"( pytest {text}\n) || true"]) != ""
