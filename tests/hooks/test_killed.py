"""A hook that is killed at any moment leaves a ledger that is whole and can be written."""

import subprocess
import time

from support.command_line import MEMPROVE, Desk
from support.hook_samples import OLD, claude, data, shell
from support.ledgers import Project

ENV = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": OLD}
MOMENTS = 20


def test_the_next_write_succeeds_whenever_a_hook_is_killed(desk: Desk) -> None:
    assert desk.memprove("begin", "it", env=ENV).code == 0
    document = data(claude("PostToolUse", **shell("pytest -q")), str(desk.folder))
    began = time.monotonic()
    command = [*MEMPROVE, "hook", "PostToolUse"]
    subprocess.run(command, input=document, env={**desk.env, **ENV}, check=True)
    whole = time.monotonic() - began
    for moment in range(MOMENTS):
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, env={**desk.env, **ENV}, start_new_session=True
        ) as process:
            assert process.stdin is not None
            process.stdin.write(document)
            process.stdin.close()
            try:
                process.wait(whole * moment / MOMENTS)
            except subprocess.TimeoutExpired:
                process.kill()
        assert desk.memprove("checkpoint", "--next", f"step {moment}", env=ENV).code == 0
    Project(desk.folder, desk.config, desk.data, desk.env).check_green()
