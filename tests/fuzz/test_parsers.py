"""The fuzzed parsers, for a moment each, where atheris is installed (it is in no lock)."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("parsers.py")
PARSERS = (
    *("note", "head", "signed_head", "vkey", "trust", "remembered"),
    *("json", "leaf", "packed_bundle", "bundle"),
)


@pytest.mark.skipif(importlib.util.find_spec("atheris") is None, reason="needs atheris")
@pytest.mark.parametrize("parser", PARSERS)
def test_a_parser_refuses_whatever_it_is_given_in_one_way(parser: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), parser, "-runs=2000", f"-artifact_prefix={tmp_path}/"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(SCRIPT.parents[1]), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
