"""The published table of tools: which wire operations each sends, and the scope they need.

A copy, as data: what the ledger does is compared with it, not it with what the ledger does.
"""

from typing import Final

TOOLS: Final = """\
pack           read   getTaskCapsule, listTasks                                                    mcp-read
claims         read   getTaskCapsule, listTasks                                                    mcp-read
context        read   none                                                                         none
tasks          read   listTasks                                                                    mcp-read
ledger_verify  read   verifyLedger                                                                 mcp-read
begin          write  listSessions, resolveWorkspace, createTask, listTasks, createSession, transitionTask  mcp-write
checkpoint     write  getTaskCapsule, createCheckpoint, listTasks, listSessions                    mcp-write
decide         write  getTaskCapsule, proposeDecision, listTasks, listSessions                     mcp-write
end            write  endSession, getTaskCapsule, listSessions, listTasks                          mcp-write
complete       write  transitionTask, getTaskCapsule, listTasks, listSessions                      mcp-write
"""  # noqa: E501

SCOPES: Final = {
    "mcp-read": "getTaskCapsule listTasks listSessions resolveWorkspace verifyLedger",
    "mcp-write": "createTask transitionTask createSession endSession createCheckpoint"
    " proposeDecision recordRun",
    "owner": "decideDecision issueToken revokeToken rotateKey redactEvent restoreLedger"
    " registerWorkspace",
}


def tools() -> dict[str, tuple[str, frozenset[str], str]]:
    """Return kind, wire operations and scope of each tool."""
    found: dict[str, tuple[str, frozenset[str], str]] = {}
    for line in TOOLS.splitlines():
        name, kind, *names, scope = line.replace(",", " ").split()
        found[name] = (kind, frozenset(names) - {"none"}, scope)
    return found
