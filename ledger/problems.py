"""Every failure that a user can meet: a stable code and a fixed sentence (after RFC 9457).

A Problem is raised as ``raise TASK_UNKNOWN("7")`` and reads ``task_unknown: no such task; list
tasks with `memprove tasks`: 7``. The code and the sentence never change with the arguments; the
variable part follows them. This is the ground floor: every package may import it, it imports none.
"""

import errno
from typing import Final

import msgspec

NO_SPACE: Final = (errno.ENOSPC, errno.EDQUOT)


class ProblemKind(msgspec.Struct, frozen=True):
    """A kind of failure: call it with the variable part to get the exception."""

    code: str
    sentence: str

    def __call__(self, detail: object = "") -> "Problem":
        """Return the Problem with *detail* as its variable part."""
        return Problem(self, str(detail))


class Problem(Exception):
    """A failure that is told to the user in one line."""

    def __init__(self, kind: ProblemKind, detail: str = "") -> None:
        super().__init__(kind, detail)
        self.kind = kind
        self.detail = detail

    @property
    def code(self) -> str:
        """Return the stable code."""
        return self.kind.code

    def __str__(self) -> str:
        text = f"{self.kind.code}: {self.kind.sentence}"
        return f"{text}: {self.detail}" if self.detail else text


KINDS: dict[str, ProblemKind] = {}
"""All kinds, by code."""


def _kind(code: str, sentence: str) -> ProblemKind:
    if code in KINDS:
        raise ValueError(f"two problems have the code {code}")
    KINDS[code] = ProblemKind(code, sentence)
    return KINDS[code]


def at_file(error: OSError, file: object, otherwise: ProblemKind) -> Problem:
    """Return what *error* at *file* means: a full disk, else *otherwise*."""
    kind = DISK_FULL if error.errno in NO_SPACE else otherwise
    return kind(f"{file}: {error.strerror}")


# Where things are
CONFIG_UNREADABLE = _kind(
    "config_unreadable", "the configuration cannot be read; check the path and its permissions"
)
CONFIG_INVALID = _kind("config_invalid", "the configuration is not valid; correct or remove it")
DATA_DIR_MISSING = _kind(
    "data_dir_missing", "no ledger is set up here; run `memprove init` in your project"
)
DATA_DIR_UNREADABLE = _kind(
    "data_dir_unreadable", "the data directory cannot be used; check the path and its permissions"
)
NETWORK_FILESYSTEM = _kind(
    "network_filesystem",
    "the data directory is on a network file system, where SQLite can lose data;"
    " set MEMPROVE_DATA_DIR to a local folder",
)

# Tokens
TOKEN_MISSING = _kind("token_missing", "no token; run `memprove init`, or set MEMPROVE_TOKEN")
TOKEN_UNREADABLE = _kind(
    "token_unreadable", "the token cannot be read; check the file and its permissions"
)
TOKEN_UNKNOWN = _kind("token_unknown", "the ledger does not know this token; issue a new one")
TOKEN_REVOKED = _kind("token_revoked", "this token was revoked; issue a new one")
TOKEN_LAST = _kind(
    "token_last", "this is the ledger's last owner token; issue another one before you revoke it"
)
ROLE_FORBIDDEN = _kind(
    "role_forbidden", "not allowed here; use the scope, or the Session, that is named"
)
OWNER_IN_AGENT_SHELL = _kind(
    "owner_in_agent_shell",
    "this is for the owner, and an agent's environment is seen here;"
    " the owner runs it in a terminal of their own",
)

# The ledger as a store
LEDGER_BUSY = _kind("ledger_busy", "another process is writing to the ledger; try again")
LEDGER_DAMAGED = _kind(
    "ledger_damaged", "the ledger is not what was written; run `memprove verify --full`"
)
LEDGER_TRUNCATED = _kind(
    "ledger_truncated",
    "the ledger holds less than was seen of it; bring back the newest copy,"
    " or go on from a backup with `memprove restore`",
)
LEDGER_FORKED = _kind(
    "ledger_forked",
    "the ledger tells another history than the one that was seen; keep every copy of it,"
    " and look at the evidence",
)
LEDGER_REPLACED = _kind(
    "ledger_replaced",
    "another ledger lies where a known one was; put the known one back",
)
WRONG_EPOCH = _kind(
    "wrong_epoch",
    "a head is signed with the key of another epoch, which should be gone or was not there yet;"
    " run `memprove verify --full`",
)
LEDGER_RESTORED = _kind(
    "restored",
    "the ledger goes on under a new origin since it was restored or adopted; see what was lost with"
    " its owner, then pin the new origin's key in your trust file",
)
BACKUP_UNFIT = _kind("backup_unfit", "this is no backup of this ledger that verifies")
KEY_HERE = _kind(
    "key_here",
    "the signing key of this ledger is here; if this is a copy whose original goes on elsewhere,"
    " say so with --copied",
)
NOT_AS_WRITTEN: Final = (
    LEDGER_DAMAGED,
    LEDGER_TRUNCATED,
    LEDGER_FORKED,
    LEDGER_REPLACED,
    WRONG_EPOCH,
)
"""What `memprove verify` reports of a ledger, and what stops every other operation on it."""
LEDGER_NEWER = _kind(
    "ledger_newer", "a newer memprove wrote this ledger; upgrade memprove to write to it"
)
LEDGER_UNWRITABLE = _kind(
    "ledger_unwritable", "the ledger cannot be written; check the disk and its permissions"
)
LEDGER_EXISTS = _kind("ledger_exists", "there is a ledger already; nothing was changed")
ERASURE_UNFINISHED = _kind(
    "erasure_unfinished",
    "the event is erased, but its bytes are not out of the files yet;"
    " any later command that writes finishes it, or this one again",
)
DISK_FULL = _kind("disk_full", "the disk is full; nothing was recorded; free space and try again")
BACKUP_UNWRITABLE = _kind(
    "backup_unwritable", "the backup cannot be written; check the path and its permissions"
)
KEY_MISSING = _kind(
    "key_missing",
    "the signing key of this ledger is not here; it can be read and verified;"
    " to go on with another key, the owner runs `memprove adopt`",
)
KEY_UNSAFE = _kind(
    "key_unsafe",
    "the signing key is not a private file of yours; make it so (chmod 600, chown) to sign with it",
)
TRUST_INVALID = _kind("trust_invalid", "the trust file is not valid; correct it")
TRUST_MISSING = _kind("trust_missing", "no pinned key for this ledger; see the guide on trust")
BUNDLE_INVALID = _kind("bundle_invalid", "the bundle does not hold; do not rely on it")
BUNDLE_TOO_LARGE = _kind(
    "bundle_too_large", "a bundle cannot hold that much; export without --outputs, or as jsonl"
)
FILE_UNREADABLE = _kind("file_unreadable", "the file cannot be read; check the path")
FILE_UNWRITABLE = _kind(
    "file_unwritable", "the file cannot be written, and was not touched; check the path"
)
HEAD_INVALID = _kind("head_invalid", "not a signed head of this ledger; see `memprove head`")
EVENT_TOO_LARGE = _kind("event_too_large", "the event is larger than the log takes; shorten it")

# The Workspace
WORKSPACE_UNREGISTERED = _kind(
    "workspace_unregistered", "this folder is no Workspace; run `memprove init` in its root"
)
WORKSPACE_MISMATCH = _kind(
    "workspace_mismatch",
    "this folder is not the one that was registered; run `memprove workspace attach`",
)
WORKSPACE_CONFIG_INVALID = _kind(
    "workspace_config_invalid", ".memprove/config.toml is not valid; correct it"
)
WORKSPACE_TOO_WIDE = _kind(
    "workspace_too_wide",
    "a home folder or the root of the file system is no project; go to a project's folder",
)
WORKSPACE_GONE = _kind("workspace_gone", "the working directory does not exist any more; change it")
WORKSPACE_UNWRITABLE = _kind(
    "workspace_unwritable", ".memprove/ cannot be written; check the disk and its permissions"
)
REPOSITORY_UNREADABLE = _kind(
    "repository_unreadable", "git cannot read this repository; see what `git status` says"
)
REVISION_UNKNOWN = _kind(
    "revision_unknown", "git has no such commit, or no such file in it, here; fetch it first"
)
PATH_UNSAFE = _kind("path_unsafe", "a path in the Workspace cannot be trusted; remove it")
MEMPROVE_FILES_TRACKED = _kind(
    "memprove_files_tracked",
    "git tracks local files of memprove; take them out with `git rm --cached`",
)
CONTEXT_INVALID = _kind(
    "context_invalid", "the context does not fit the ledger; name the Session or begin a new one"
)

# Files of clients
CLIENT_FILE_INVALID = _kind(
    "client_file_invalid",
    "a client's file is not what it should be; nothing was written; correct it, or put the entry"
    " that `memprove mcp print-config` prints where the client reads it",
)
CLIENT_ENTRY_FOREIGN = _kind(
    "client_entry_foreign",
    "something else is named memprove in a client's file; nothing was written; rename or remove it",
)
CLIENT_FILE_CHANGED = _kind(
    "client_file_changed",
    "somebody else wrote to a client's file meanwhile; nothing of ours was left in any; try again",
)
CLIENT_FILE_UNWRITABLE = _kind(
    "client_file_unwritable",
    "a client's file cannot be written here; run `memprove init` in a terminal of your own, or put"
    " the entry that `memprove mcp print-config` prints where the client reads it",
)

# Tasks, Sessions, labels
TASK_UNKNOWN = _kind("task_unknown", "no such Task; list Tasks with `memprove tasks`")
TASK_COMPLETED = _kind("task_completed", "the Task is completed already")
TRANSITION_FORBIDDEN = _kind("transition_forbidden", "a Task cannot go from this state to that one")
SESSION_MISSING = _kind("session_missing", "no Session is open here; start one: `memprove begin`")
SESSION_UNKNOWN = _kind("session_unknown", "no such Session in this Workspace")
SESSION_ENDED = _kind("session_ended", "the Session has ended; start one with `memprove begin`")
SESSION_AMBIGUOUS = _kind(
    "session_ambiguous", "several Sessions are open here; name one with --session"
)
LABEL_UNKNOWN = _kind("label_unknown", "no such label here; see `memprove show` and `memprove log`")
LABEL_INVALID = _kind("label_invalid", "not a label; labels are r3, r3:test, !r3, c7, o4, d1")

# Erasing
NOT_REDACTABLE = _kind(
    "not_redactable", "this has to stay for the ledger to hold; see `memprove redact --help`"
)
FIELD_UNKNOWN = _kind("field_unknown", "no such field here; see `memprove redact --help`")
NOTHING_TO_ERASE = _kind("nothing_to_erase", "there is no text in it that could be erased")

# Evidence
RUN_FAILED = _kind("run_failed", "a failed Run is no evidence; fix, run again, or cite it as !r")
RUN_PASSED = _kind("run_passed", "a passed Run was cited as failed; cite it without the !")
RUN_VACUOUS = _kind("run_vacuous", "a Run without a single test is no evidence; run the tests")
RUN_MASKED = _kind(
    "run_masked", "the exit code of this Run cannot be trusted; run the command by itself"
)
RUN_MOVED = _kind("run_moved", "the Run changed tracked files and proves nothing; run it again")
RUN_LOST = _kind("run_lost", "the Run never ended and proves nothing; run it again")
RUN_INTERRUPTED = _kind("run_interrupted", "the Run was interrupted; run it again")
TEST_UNKNOWN = _kind("test_unknown", "that test has no passed outcome in that Run")
EVIDENCE_STALE = _kind("evidence_stale", "the code changed since the Run; run it again")
NO_PASSED_RUN = _kind(
    "no_passed_run", "no passed Run of tests, build or lint; use `memprove run -- <command>`"
)
COMMAND_REDACTED = _kind(
    "command_redacted", "the recorded command holds a cut secret; run it by hand"
)
COMMAND_GONE = _kind("command_gone", "the recorded directory is not here any more")
RERUN_UNCONFIRMED = _kind(
    "rerun_unconfirmed", "these commands would be run; repeat with --yes to run them"
)
RERUN_UNTRUSTED = _kind(
    "rerun_untrusted", "this command was only spooled; whoever spooled it could have named any"
)
RUN_SPOOLED = _kind(
    "run_spooled",
    "this Run was only spooled, which shows that it was said here, not that it was made; run it"
    " where the ledger can be written, or let the owner allow spooled Runs",
)
SPOOL_REFUSED = _kind(
    "spool_refused", "a spooled Run was not adopted; its file was set aside, nothing was lost"
)

# What was said
TEXT_TOO_LONG = _kind("text_too_long", "the text is longer than the limit; shorten it")
TOO_MANY = _kind("too_many", "more entries than the limit; use several")
ARGUMENT_MISSING = _kind("argument_missing", "something that is needed was not given")
ARGUMENT_INVALID = _kind("argument_invalid", "an argument is not valid")
TEXT_INVALID = _kind("text_invalid", "the text is not valid Unicode")
BUDGET_INVALID = _kind("budget_invalid", "the budget is a number from 200 to 50000")
CLAIM_WITHDRAWN = _kind("claim_withdrawn", "the claim was withdrawn; state it again as a fact")
OPEN_ITEM_CLOSED = _kind("open_item_closed", "the open item is closed already")
DECISION_DECIDED = _kind("decision_decided", "the Decision was decided already")

# Anything else
OUTPUT_UNWRITABLE = _kind(
    "output_unwritable", "the answer could not be written; what was asked for is done"
)
INTERNAL = _kind("internal", "memprove met a fault of its own; please report it")
