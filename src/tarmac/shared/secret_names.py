"""Which environment variables look like secrets. The only rule: the store, the API and exports all ask here.

A variable that is taken for a secret is stored apart and never shown, so a doubtful one counts as a secret.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Dict, Mapping, Optional, Tuple

MASK = "***"

# Words of a name, such as HF_TOKEN, OPENAI_API_KEY, githubToken or MYSQL_PWD.
_WORDS = frozenset(
    (
        "TOKEN", "TOKENS", "SECRET", "SECRETS", "PASSWORD", "PASSWORDS", "PASSWD", "PASS", "PWD", "PASSPHRASE",
        "PASSCODE", "KEY", "KEYS", "CREDENTIAL", "CREDENTIALS", "CRED", "CREDS", "AUTH", "AUTHORIZATION", "BEARER",
        "COOKIE", "COOKIES", "PRIVATE", "DSN", "PAT", "PSK", "JWT", "SALT", "OTP", "TOTP", "WEBHOOK", "WEBHOOKS",
        "JAAS",
    )
)  # fmt: skip
# The end of a word, also with an S behind it, such as PGPASSWORD, MYTOKENS, APIKEY or OAUTH.
_ENDS = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "KEY", "CREDENTIAL", "OAUTH", "WEBHOOK")
_NOT_PASS = frozenset(("BYPASS", "COMPASS", "ENCOMPASS", "SURPASS", "TRESPASS", "OVERPASS", "UNDERPASS"))
_NOT_KEY = frozenset(("MONKEY", "DONKEY", "TURKEY", "HOTKEY", "JOCKEY", "HOCKEY", "WHISKEY", "LACKEY"))
_NOT_SECRET = frozenset(("PWD", "OLDPWD"))
# The variable says where something is, if its value is a path: SSH_AUTH_SOCK, TOKEN_FILE.
_PLACES = frozenset(("SOCK", "SOCKET", "FILE", "PATH", "DIR", "DIRECTORY", "FOLDER"))
_COUNTED = ("TOKENS", "KEYS")  # MAX_TOKENS=4096 is a number of them
_LOOKED_AT = 20_000  # characters of a value: a search must not take long
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

# A URL with a password, or with a token in place of the user: postgres://ann:pw@db, https://ghp_…@github.com
_URL = re.compile(r"[a-z][a-z0-9+.-]{0,19}://(?:[^\s/@:'\"]{0,200}:[^\s/@][^\s@]{0,300}|[^\s/@:]{20,300})@")
# https://example.org/hook?token=…, Server=db;Password=…
_SETTINGS = ("token=", "password=", "passwd=", "pwd=", "secret=", "key=", "sig=", "signature=")
_SETTING = re.compile(
    r"[?&](?:[a-z_-]{0,30}token|password|passwd|pwd|[a-z_-]{0,30}secret|(?:api|access)?_?key|sig|[a-z-]{0,30}signature)"
    r"=[^&\s]|(?:^|[;\s])(?:password|passwd|pwd|accountkey|sharedaccesskey|clientsecret|secret|token)=[^\s;]"
)
# Tokens of well-known services, and keys.
_PREFIXES = ("gh", "glpat-", "hf_", "sk-", "xox", "akia", "asia", "aiza", "eyj", "-----begin ", "bearer ", "basic ")
_TOKEN = re.compile(
    r"(?:gh[pousr]_[a-z0-9]{20}|github_pat_[a-z0-9_]{20}|glpat-[\w-]{16}|hf_[a-z0-9]{20}|sk-[\w-]{20}|"
    r"xox[abprs]-[\w-]{10}|(?:akia|asia)[a-z0-9]{16}|aiza[\w-]{30}|eyj[\w-]{10,500}\.eyj[\w-]{10}|"
    r"-----begin [a-z0-9 ]{0,20}private key-----|(?:bearer|basic) \S{8})"
)


def is_secret(name: str, value: str) -> bool:
    """True if the variable looks like a secret, by its name or by its value."""
    found = _kind(name)
    if found is None or not value:
        return _contains_secret(value[:_LOOKED_AT].lower())
    if found == "place" and value[0] in "/~.":
        return False
    return not (found == "counted" and value.isdecimal() and len(value) <= 9)


def split(variables: Mapping[str, str]) -> Tuple[Dict[str, Optional[str]], Dict[str, str]]:
    """All variables, with None in place of the value of a secret; and the secrets."""
    secrets = {name: value for name, value in variables.items() if is_secret(name, value)}
    return {name: None if name in secrets else value for name, value in variables.items()}, secrets


def _contains_secret(value: str) -> bool:
    """In lower case. Plain searches first: a submit has a hundred values, and nearly all are harmless."""
    if value.startswith(_PREFIXES) and _TOKEN.match(value):
        return True
    if "://" in value and "@" in value and _URL.search(value):
        return True
    return "=" in value and any(word in value for word in _SETTINGS) and _SETTING.search(value) is not None


@lru_cache(maxsize=4096)
def _kind(name: str) -> Optional[str]:
    """None if the name says nothing of a secret."""
    if name in _NOT_SECRET:
        return None
    words = [part.upper() for part in _PART.findall(name)]
    hits = [word for word in words if _is_secret_word(word)]
    if not hits:
        return None
    if words[-1] in _PLACES:
        return "place"
    return "counted" if all(word.endswith(_COUNTED) for word in hits) else "secret"


def _is_secret_word(word: str) -> bool:
    one = word[:-1] if word.endswith("S") else word
    if word in _WORDS or (one.endswith(_ENDS) and one not in _NOT_KEY):
        return True
    return word.endswith("PASS") and word not in _NOT_PASS
