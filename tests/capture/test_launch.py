import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from memprove.ledger import problems
from memprove.ledger.capture.launch import NotStarted, start


def output_of(
    command: Sequence[str], *, path: str = "/bin:/usr/bin", cwd: str | None = None
) -> str:
    reading, writing = os.pipe()
    child = start(command, cwd=cwd, env={"PATH": path}, stdin=None, stdout=writing, stderr=writing)
    os.close(writing)
    with open(reading, encoding="utf-8") as pipe:
        text = pipe.read()
    child.wait()
    return text


def program(file: Path, text: str | bytes, mode: int = 0o755) -> str:
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    file.chmod(mode)
    return str(file)


def refused(command: Sequence[str], path: str = "/bin:/usr/bin") -> NotStarted:
    with pytest.raises(NotStarted) as caught:
        output_of(command, path=path)
    return caught.value


def test_a_command_is_searched_in_its_own_path(tmp_path: Path) -> None:
    program(tmp_path / "our-tool", "#!/bin/sh\necho found $1\n")
    assert output_of(["our-tool", "x"], path=str(tmp_path)) == "found x\n"
    assert refused(["our-tool"]).code == 127


def test_a_file_that_cannot_be_executed_does_not_end_the_search(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.mkdir()
    second.mkdir()
    program(first / "tool", "#!/bin/sh\necho first\n", 0o644)
    program(second / "tool", "#!/bin/sh\necho second\n")
    assert output_of(["tool"], path=f"{first}:{second}") == "second\n"
    assert refused(["tool"], path=str(first)).code == 126


def test_a_relative_path_is_below_the_commands_directory(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    program(tmp_path / "bin" / "tool", "#!/bin/sh\npwd\n")
    assert output_of(["./bin/tool"], cwd=str(tmp_path)) == f"{tmp_path.resolve()}\n"
    assert output_of(["bin/tool"], cwd=str(tmp_path)) == f"{tmp_path.resolve()}\n"


@pytest.mark.parametrize("called", ["./tool", "tool"])
def test_a_script_without_an_interpreter_line_is_run_by_the_shell(
    tmp_path: Path, called: str
) -> None:
    program(tmp_path / "tool", 'echo "$# $2"\n')
    text = output_of([called, "a", "b c"], cwd=str(tmp_path), path=f"{tmp_path}:/bin")
    assert text == "2 b c\n"


def test_a_file_that_is_neither_program_nor_text_is_not_executable(tmp_path: Path) -> None:
    refusal = refused([program(tmp_path / "tool", b"\x01\x02\0\x03")])
    assert refusal.code == 126
    assert "format" in refusal.reason


def test_an_argument_list_that_is_too_long_is_refused() -> None:
    assert refused(["echo", "x" * 10_000_000]).code == 126


@pytest.mark.parametrize("argument", ["a\0b", "\ud800"])
def test_an_argument_that_is_no_bytes_is_refused(argument: str) -> None:
    assert refused(["echo", argument]).code == 126


def test_an_empty_command_is_not_found() -> None:
    assert refused([]).code == 127
    assert refused([""]).code == 127


def test_a_directory_that_is_gone_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(problems.Problem) as caught:
        output_of(["true"], cwd=str(tmp_path / "gone"))
    assert caught.value.kind is problems.COMMAND_GONE


def test_the_command_sees_only_the_environment_it_is_given() -> None:
    assert "PATH=/bin:/usr/bin\n" in output_of(["env"])
    assert "HOME=" not in output_of(["env"])


def test_the_command_is_not_deaf_to_sigpipe() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    child = start(
        ["echo", "x"],
        cwd=None,
        env={"PATH": "/bin:/usr/bin"},
        stdin=None,
        stdout=writing,
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    assert child.wait() == -13
