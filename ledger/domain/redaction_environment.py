"""Which values of environment variables are secrets, to be cut wherever they are printed.

A value is one if its variable's name tells so (``DB_PASSWORD``, ``NPM_TOKEN``, ``AUTH_KEY``; not
``TOKEN_FILE``, ``SSH_KEY_TYPE``, ``GPG_KEY``, ``KEYBOARD``) and it has at least 8 characters. So is
the password in the address that any variable holds (``DATABASE_URL=postgres://app:…@db``), and all
of that address if the variable is secret-named.

No secret, since cutting it everywhere would make output unreadable, is

- a common word or weak password of the list ``_COMMON``, in any case (``changeme``);
- a mask or a template: ``********``, ``<token>``, ``${TOKEN}``, ``{{ token }}``;
- a path: under a known root (``/home``, ``/run`` …), under a directory that another variable names
  (``HOME``, an entry of ``PATH`` …), from ``~`` or ``.`` on, or on a drive;
- an address without a password;
- one word in lower case of less than 12 letters, unless the name says password, and words joined by
  hyphens, underscores or dots where the name says just key, auth, pat, cookie or dsn;
- what another variable holds too, if it reads like a name: letters, or words joined like these.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from memprove.ledger.domain.lazy import lazily

_SHORTEST: Final = 8
_LONGEST_WORD: Final = 11

_PASSWORD: Final = lazily(r"(?i)passw|passphrase|passcode|(?:^|_)(?:pass|pwd)(?:$|_)")
_TOKEN: Final = lazily(
    r"(?i)token|secret|credential|private_?key|api_?key|access_?key|encryption|signing"
    r"|connection_?string"
)
_KEY: Final = lazily(r"(?i)(?:^|_)(?:auth|key|pat|cookie|dsn)(?:$|_)")
_OTHER: Final = lazily(
    r"(?i)(?:_|^)(?:file|path|dir|home|url|uri|host|port|sock|socket|id|name|user|username|email|type"
    r"|ttl|alg|algorithm|format|length|size|limit|count|expires|expiry|expiration|lifetime|timeout"
    r"|version|region|provider|backend|store|helper|mode|policy|method|prefix|enabled|rotation)$"
    r"|^(?:old)?pwd$|public_?key|gpg_?key$|max_.*tokens$"
)
_COMMON: Final = frozenset({
    "password", "password1", "password123", "passw0rd", "passphrase", "changeme", "changeit",
    "change-me", "change_me", "letmein", "secret-key", "topsecret", "my-secret", "mysecret",
    "your-password", "your-token", "your-secret", "your-api-key", "placeholder", "example-key",
    "undefined", "disabled", "required", "optional", "redacted", "development", "production",
    "staging-env", "testing-only", "localhost", "database", "postgres", "postgresql", "mariadb",
    "mongodb", "rabbitmq", "username", "administrator", "anonymous", "automatic", "default-value",
    "environment", "container", "kubernetes", "keychain", "osxkeychain", "keyring", "basic-auth",
    "ed25519", "ssh-ed25519", "ecdsa-sha2-nistp256", "rsa-sha2-256", "rsa-sha2-512",
    "aes-256-gcm", "aes-256-cbc", "12345678", "123456789", "1234567890", "00000000", "11111111",
})  # fmt: skip
_TEMPLATE: Final = lazily(
    r"(.)\1*|<[^<>]*>|\$\{?\w+\}?|\$?\{\{.*\}\}|%\w+%|\[REDACTED:[a-z0-9-]+\]|\[[\w -]*\]"
)
_ROOTED: Final = lazily(
    r"~?/?\Z|~[\w-]*/|\.{1,2}/|[A-Za-z]:[\\/]"
    r"|/(?:home|Users|root|etc|usr|var|opt|run|tmp|srv|mnt|media|dev|proc|sys|private|Library"
    r"|Applications|Volumes|nix|builds|workspaces?|github|secrets|snap|bin|lib)(?:/|\Z)"
)
_ADDRESS: Final = lazily(r"[A-Za-z][A-Za-z0-9+.-]*://")
_PASSWORD_OF_ADDRESS: Final = lazily(r"://[^\s/:@]*:(?P<password>[^\s/]+)@")
_WORDS: Final = lazily(r"[A-Za-z]+(?:[-_.][A-Za-z]+)*")


def environment_secrets(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the secrets among the values of *environment*, the longest first."""
    named = {name: value for name, value in environment.items() if _is_secret_name(name)}
    other = {value for name, value in environment.items() if name not in named}
    folders = _folders(other)
    values = {value for name, value in named.items() if _is_secret(name, value, other, folders)}
    values.update(part for value in environment.values() for part in _passwords(value))
    return tuple(sorted(values, key=lambda value: (-len(value), value)))


def _is_secret_name(name: str) -> bool:
    telling = _PASSWORD.search(name) or _TOKEN.search(name) or _KEY.search(name)
    return telling is not None and _OTHER.search(name) is None


def _is_secret(name: str, value: str, other: set[str], folders: Iterable[str]) -> bool:
    """Return whether the *value* of the secret-named variable is to be cut everywhere."""
    if not _may_be_secret(value) or _is_path(value, folders):
        return False
    if _ADDRESS.match(value):
        return _PASSWORD_OF_ADDRESS.search(value) is not None
    if value in other and _WORDS.fullmatch(value):
        return False
    if _PASSWORD.search(name):
        return True
    if len(value) <= _LONGEST_WORD and value.isalpha() and value.islower():
        return False
    return _TOKEN.search(name) is not None or not (value.islower() and _WORDS.fullmatch(value))


def _may_be_secret(value: str) -> bool:
    return (
        len(value) >= _SHORTEST
        and value.lower() not in _COMMON
        and _TEMPLATE.fullmatch(value) is None
    )


def _is_path(value: str, folders: Iterable[str]) -> bool:
    return _ROOTED.match(value) is not None or any(value.startswith(folder) for folder in folders)


def _folders(values: Iterable[str]) -> set[str]:
    """Return the absolute directories that *values* name, each with a slash at its end."""
    return {
        entry.rstrip("/") + "/"
        for value in values
        if value.startswith("/")
        for entry in value.split(":")
        if entry.startswith("/") and entry.strip("/")
    }


def _passwords(value: str) -> Iterator[str]:
    """Yield the password in an address as it stands there, and as it is meant."""
    found = _PASSWORD_OF_ADDRESS.search(value) if "://" in value else None
    if found is not None:
        from urllib.parse import unquote  # late: few environments hold one

        yield from filter(_may_be_secret, {found["password"], unquote(found["password"])})
