"""Secrets that only the argument before them, or the command, gives away."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from memprove.ledger.domain.lazy import lazily

_SECRET_FLAG: Final = lazily(
    r"(?i)--?(?!(?:show|no|has|use|with|without|print|list|revoke|require|skip)[-_])(?:[\w.-]*[-_.])?(?:password|passwd|pass|passphrase|passcode|pwd|secret|token|pat"
    r"|credentials?|cookie|bearer|(?:api|access|secret|private|account|auth|signing|encryption|master"
    r"|shared|subscription|service)[-_]?key|secret-access-key|oauth2-bearer|authtoken|requirepass)"
)
# Another flag, a template nobody filled in, or what was cut before.
_NO_SECRET: Final = lazily(
    r"-|<.*>\Z|\$\{?\w+\}?\Z|\{+.*\}+\Z|\[REDACTED:[a-z0-9-]+\]\Z", re.DOTALL
)
# Letters that carry a password, by command: in the next argument, in the same one, or both.
_NEXT: Final[dict[str, tuple[str, ...]]] = {
    command: tuple(flags.split())
    for commands, flags in (
        (
            "sshpass mongo mongosh mongodump mongorestore mongoexport login twine beeline cqlsh",
            "-p",
        ),
        ("security psexec evil-winrm crackmapexec netexec", "-p"),
        ("redis-cli valkey-cli", "-a --pass"),
        ("ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ldapcompare ldapmodrdn", "-w"),
        ("ldappasswd", "-w -s -a"),
        ("sqlcmd bcp zip unzip ipmitool mosquitto_pub mosquitto_sub osql", "-P"),
        ("ssh-keygen", "-N -P"),
        (
            "keytool jarsigner apksigner",
            "-storepass -keypass -srcstorepass -deststorepass"
            " -srckeypass -destkeypass -new --ks-pass --key-pass",
        ),
        ("snmpwalk snmpget snmpset snmpbulkwalk snmptrap", "-A -X -c"),
        ("codecov codecovcli", "-t"),
        ("plink pscp psftp putty", "-pw"),
        ("nuget", "-k -apikey -ApiKey"),
        ("openssl", "-k -K"),
        ("kinit", "--password"),
    )
    for command in commands.split()
}
_ATTACHED: Final = {
    "sshpass": "-p", "mysql": "-p", "mysqldump": "-p", "mysqladmin": "-p", "mysqlimport": "-p",
    "mysqlsh": "-p", "mariadb": "-p", "mariadb-dump": "-p", "mariadb-admin": "-p", "7z": "-p",
    "7za": "-p", "7zz": "-p", "unrar": "-p", "rar": "-p", "sqlcmd": "-P",
}  # fmt: skip
# Commands whose operands are: after these words, so many others, then the secret.
_OPERANDS: Final = {
    "rabbitmqctl": (("add_user", "change_password", "authenticate_user"), 1),
    "nuget": (("setapikey",), 0),
    "mc": (("alias", "set"), 3),
    "cargo": (("login",), 0),
    "vault": (("login",), 0),
    "wpa_passphrase": (("wpa_passphrase",), 1),
    "nmcli": (("password",), 0),
    "rclone": (("obscure",), 0),
    "radtest": (("radtest",), 1),
}  # fmt: skip
# Commands and flags that take ``user:password`` (smbclient: ``user%password``).
_USER_COMMANDS: Final = frozenset({
    "curl", "http", "https", "xh", "smbclient", "rpcclient", "smbget", "winexe", "lftp", "etcdctl",
})  # fmt: skip
_USER_FLAGS: Final = lazily(
    r"(?P<flag>-u|-U|-a|--user|--proxy-user|--auth)(?P<attached>=?.*)", re.DOTALL
)
_USER: Final = lazily(r"=?[^:%,]{1,128}[:%,](?=.)", re.DOTALL)
COMMANDS: Final = frozenset(_NEXT) | frozenset(_ATTACHED) | _USER_COMMANDS | frozenset(_OPERANDS)
"""The commands of which it is known how they are given a secret."""


def secret_arguments(argv: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the index of each argument that holds a secret, and where in it that begins."""
    command = ""
    for index, word in enumerate(argv):
        following = argv[index + 1] if index + 1 < len(argv) else ""
        cookie = command == "curl" and word == "-b" and "=" in following  # else a file
        if (cookie or _takes_secret(command, word)) and _may_be_secret(following):
            yield index + 1, 0
        elif word.startswith(_ATTACHED.get(command, "\0")) and _may_be_secret(word[2:]):
            if not word.startswith("-port"):
                yield index, 2
        elif command in _USER_COMMANDS:
            yield from _user_password(index, word, following)
        elif command in _OPERANDS:
            yield from _operand(command, argv, index)
        command = _command(word) or command


def _operand(command: str, argv: Sequence[str], index: int) -> Iterator[tuple[int, int]]:
    """Yield the secret that follows the word at *index*, if that announces one."""
    announcing, skipped = _OPERANDS[command]
    if argv[index] not in announcing:
        return
    last = argv[index] == announcing[-1] or command == "rabbitmqctl"
    place = index + 1 + skipped
    if last and place < len(argv) and _may_be_secret(argv[place]):
        yield place, 0


def _takes_secret(command: str, word: str) -> bool:
    return word in _NEXT.get(command, ()) or _SECRET_FLAG.fullmatch(word) is not None


def _may_be_secret(word: str) -> bool:
    return word != "" and _NO_SECRET.match(word) is None


def _user_password(index: int, word: str, following: str) -> Iterator[tuple[int, int]]:
    flag = _USER_FLAGS.fullmatch(word)
    if flag is None:
        return
    place, value = (index, flag["attached"]) if flag["attached"] else (index + 1, following)
    user = _USER.match(value)
    if user is not None and _may_be_secret(value[user.end() :]):
        yield place, user.end() + (len(flag["flag"]) if flag["attached"] else 0)


def _command(word: str) -> str | None:
    """Return the name of the command that *word* may be, without its folder and ``.exe``."""
    name = re.split(r"[/\\]", word)[-1].removesuffix(".exe")
    return name if name in COMMANDS else None
